"""
Forces between atoms from where they went: an integrator with neighbour lists
==============================================================================

A hundred atoms move under forces that end at a cut-off; which pairs are near is kept in a list
that is made anew every few steps. From two pictures of the atoms, the strength and the range of the
force are found: the gradient goes back through the integrator and its lists.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import numgrad as ng

side, cut, skin, dt, steps = 12.0, 2.5, 0.4, 0.004, 100

# %%
# The list says which pairs are near, and is made of integers: no derivative goes through it. All
# else is arithmetic on positions, velocities and the two parameters.


@ng.njit
def near_pairs(x, pairs):
    """Write the pairs within the cut-off and a skin; return how many there are."""
    count = 0
    for i in range(x.shape[0]):
        for j in range(i):
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            dx, dy = dx - side * np.rint(dx / side), dy - side * np.rint(dy / side)
            if dx * dx + dy * dy < (cut + skin) ** 2:
                pairs[count, 0], pairs[count, 1] = i, j
                count += 1
    return count


@ng.njit
def simulate(x0, v0, depth, size, steps):
    """Return where the atoms are after some steps of the rule of Verlet."""
    x, v, force = x0.copy(), v0.copy(), np.zeros(x0.shape)
    pairs = np.zeros((x.shape[0] * 40, 2), np.int64)
    count, sixth = 0, (size / cut) ** 6
    last = 24.0 * depth * (2.0 * sixth * sixth - sixth) / cut**2  # so that it ends at nothing
    for n in range(steps + 1):
        if n % 10 == 0:
            count = near_pairs(x, pairs)
        force[:] = 0.0
        for p in range(count):
            i, j = pairs[p, 0], pairs[p, 1]
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            dx, dy = dx - side * np.rint(dx / side), dy - side * np.rint(dy / side)
            square = dx * dx + dy * dy
            if square > cut * cut:
                continue
            sixth = (size * size / square) ** 3
            f = 24.0 * depth * (2.0 * sixth * sixth - sixth) / square - last
            force[i, 0] += f * dx
            force[i, 1] += f * dy
            force[j, 0] -= f * dx
            force[j, 1] -= f * dy
        v += (0.5 if n == 0 or n == steps else 1.0) * dt * force
        if n < steps:
            x += dt * v
    return x


# %%
# A first picture, and a second one of 100 steps later, read with an error.

rng = np.random.default_rng(5)
grid = np.stack(np.meshgrid(*[np.arange(10) * side / 10] * 2), -1).reshape(-1, 2)
first = grid + 0.02 * rng.standard_normal(grid.shape)
speed = rng.standard_normal(grid.shape)
error = 1e-3
second = simulate(first, speed, 1.0, 1.05, steps) + error * rng.standard_normal(grid.shape)


def residuals(p):
    return ((simulate(first, speed, p[0], p[1], steps) - second) / error).ravel()


jacobian = ng.func.jacobian(residuals)  # 200 residuals, two parameters
p = np.array([0.7, 0.98])
steps_aside = np.eye(2) * 1e-6
columns = [(residuals(p + h) - residuals(p - h)) / 2e-6 for h in steps_aside]
assert np.allclose(jacobian(p), np.transpose(columns), rtol=1e-4, atol=1e-2)

fit = least_squares(residuals, p, jacobian)
spread = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)))
for name, value, one, true in zip(("depth", "size"), fit.x, spread, (1.0, 1.05), strict=True):
    print(f"{name}: {value:.5f} +- {one:.5f}, in truth {true}")
    assert abs(value - true) < 4 * one

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.plot(*(first % side).T, "o", ms=4, mfc="none", label="before")
left.plot(*(second % side).T, ".", label="after")
left.set(aspect="equal", title="two pictures")
left.legend()
r = np.linspace(0.98, cut, 200)
for (depth, size), name in (((1.0, 1.05), "in truth"), (p, "guess"), (fit.x, "found")):
    right.plot(r, 4 * depth * ((size / r) ** 12 - (size / r) ** 6), label=name)
right.set(ylim=(-1.2, 2.0), xlabel="distance", title="energy of a pair")
right.legend()
plt.show()
