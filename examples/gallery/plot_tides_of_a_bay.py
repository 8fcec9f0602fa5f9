"""
The depth of a bay from its tide gauges: 10 000 steps of shallow water
=======================================================================

A tide and long waves enter a bay from the west, and gauges at a few places record the height of the
water. How deep is the bay? The equations of shallow water are written as loops for Numba, as they
are in every such model, and ``ng.njit`` derives their adjoint: one pass backwards gives the
gradient to the depth of every cell.
"""

# %%
# A step takes the slope of the surface to the speeds on the faces of the cells, and the transport
# through the faces to the height in the cells. Everything is written in place.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import numgrad as ng

nx, ny, steps, every = 14, 10, 10_000, 20
dx, dt, gravity, friction = 500.0, 10.0, 9.81, 2.5e-3
gauges = np.array([[2, 5], [5, 2], [5, 8], [8, 5], [11, 2], [11, 7], [13, 5]])


@ng.njit
def tides(depth, steps, gauges):
    """Return the heights at the gauges, in metres, a row for every 20th step."""
    nx, ny = depth.shape
    h = np.zeros((nx, ny))
    u = np.zeros((nx + 1, ny))
    v = np.zeros((nx, ny + 1))
    seen = np.zeros((steps // every, gauges.shape[0]))
    for n in range(steps):
        t = dt * n
        tide = 0.8 * np.sin(1.4e-4 * t) + 0.2 * np.sin(7e-3 * t) + 0.2 * np.sin(1.3e-2 * t)
        for j in range(ny):
            u[0, j] = np.sqrt(gravity / depth[0, j]) * (2.0 * tide - h[0, j])  # waves leave again
        for i in range(1, nx):
            for j in range(ny):
                column = 0.5 * (depth[i, j] + depth[i - 1, j])
                slowed = u[i, j] - dt * gravity * (h[i, j] - h[i - 1, j]) / dx
                u[i, j] = slowed / (1.0 + dt * friction * abs(u[i, j]) / column)
        for i in range(nx):
            for j in range(1, ny):
                column = 0.5 * (depth[i, j] + depth[i, j - 1])
                slowed = v[i, j] - dt * gravity * (h[i, j] - h[i, j - 1]) / dx
                v[i, j] = slowed / (1.0 + dt * friction * abs(v[i, j]) / column)
        for i in range(nx):
            for j in range(ny):
                here = depth[i, j]
                west = 0.5 * (here + depth[max(i - 1, 0), j]) * u[i, j]
                east = 0.5 * (here + depth[min(i + 1, nx - 1), j]) * u[i + 1, j]
                south = 0.5 * (here + depth[i, max(j - 1, 0)]) * v[i, j]
                north = 0.5 * (here + depth[i, min(j + 1, ny - 1)]) * v[i, j + 1]
                h[i, j] -= dt * (east - west + north - south) / dx
        if n % every == every - 1:
            for k in range(gauges.shape[0]):
                seen[n // every, k] = h[gauges[k, 0], gauges[k, 1]]
    return seen


# %%
# The bay that nobody knows: shallower to the east, with a channel and a bank. The gauges are read
# to a centimetre.

x, y = np.meshgrid(np.linspace(0.0, 1.0, nx), np.linspace(-1.0, 1.0, ny), indexing="ij")
true = 13.0 - 6.0 * x - 2.0 * y**2 - 3.0 * np.exp(-((x - 0.45) ** 2 + 0.3 * (y - 0.3) ** 2) / 0.04)
rng = np.random.default_rng(7)
read = tides(true, steps, gauges)
read = read + 0.01 * rng.standard_normal(read.shape)


# %%
# What is minimised: the misfit in units of its error, and a preference for depths that vary
# smoothly, as seven gauges say little of a single cell.


def objective(depth):
    misfit = (tides(depth, steps, gauges) - read) / 0.01
    slopes = np.sum(np.diff(depth, axis=0) ** 2) + np.sum(np.diff(depth, axis=1) ** 2)
    return np.sum(misfit**2) + 10.0 * slopes


value_and_slope = ng.func.value_and_grad(objective)
start = np.full((nx, ny), true.mean())

# The gradient to 140 depths through 10 000 steps, beside a difference along a direction:
direction = rng.standard_normal(start.shape)
value, slope = value_and_slope(start)
near = [objective(start + h * direction) for h in (1e-4, -1e-4)]
assert np.isclose((slope * direction).sum(), (near[0] - near[1]) / 2e-4, rtol=1e-5)


def flat(d):
    value, slope = value_and_slope(d.reshape(nx, ny))
    return value, slope.ravel()


bounds = [(2.0, 30.0)] * start.size
result = minimize(flat, start.ravel(), jac=True, bounds=bounds, options={"maxiter": 40})
found = result.x.reshape(nx, ny)
error = [np.sqrt(np.mean((d - true) ** 2)) for d in (start, found)]
misfit = np.sqrt(np.mean((tides(found, steps, gauges) - read) ** 2))
print(f"depths are wrong by {error[0]:.2f} m before and {error[1]:.2f} m after")
print(f"the gauges are met to {100 * misfit:.1f} cm")
assert error[1] < 0.3 * error[0]
assert misfit < 0.012

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
for axes, depth, title in ((left, true, "the bay"), (right, found, "found from its gauges")):
    axes.pcolormesh(depth.T, vmin=3.0, vmax=14.0, cmap="viridis_r")
    axes.plot(*(gauges + 0.5).T, "r^")
    axes.set(title=title, aspect="equal")
plt.show()
