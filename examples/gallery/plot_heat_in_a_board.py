"""
Where a circuit board gets hot: the adjoint of Gauss-Seidel sweeps
===================================================================

The temperature of a board satisfies an equation of Poisson, and sweeps that overwrite the
temperature in place solve it. Which parts on the board give off how much power is found from a
picture of its temperature: the gradient goes back through the sweeps.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import numgrad as ng

size, sweeps, loss = 32, 150, 0.01


@ng.njit
def temperature(power, sweeps):
    """Return the temperature above the surroundings after sweeps with over-relaxation."""
    n = power.shape[0]
    t = np.zeros((n + 2, n + 2))
    relaxed = 2.0 / (1.0 + np.sin(np.pi / n))
    for _ in range(sweeps):
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                around = t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1]
                balanced = (around + power[i - 1, j - 1]) / (4.0 + loss)
                t[i, j] += relaxed * (balanced - t[i, j])
    return t[1 : n + 1, 1 : n + 1].copy()


# %%
# The sweeps are enough: the temperature is that of the system of equations.

true = np.zeros((size, size))
true[5:9, 6:12], true[20:23, 4:7], true[14:24, 20:24] = 1.0, 2.5, 0.6
second = np.diag(np.full(size, 2.0)) - np.eye(size, k=1) - np.eye(size, k=-1)
one = np.eye(size)
system = np.kron(second, one) + np.kron(one, second) + loss * np.eye(size**2)
exact = np.linalg.solve(system, true.ravel()).reshape(size, size)
assert np.allclose(temperature(true, sweeps), exact, rtol=1e-8, atol=1e-8)

# %%
# The picture has noise. Power is positive, and parts have edges: their total variation counts.

rng = np.random.default_rng(2)
picture = exact + 0.1 * rng.standard_normal(exact.shape)


def objective(power):
    misfit = (temperature(power, sweeps) - picture) / 0.1
    across, down = np.diff(power, axis=0), np.diff(power, axis=1)
    edges = np.sum(np.sqrt(across**2 + 1e-4)) + np.sum(np.sqrt(down**2 + 1e-4))
    return 0.5 * np.sum(misfit**2) + 8.0 * edges


value_and_slope = ng.func.value_and_grad(objective)
direction, start = rng.standard_normal(true.shape), np.full(true.shape, 0.1)
slope = (value_and_slope(start)[1] * direction).sum()
near = [objective(start + h * direction) for h in (1e-4, -1e-4)]
assert np.isclose(slope, (near[0] - near[1]) / 2e-4, rtol=1e-6)


def flat(p):
    value, slope = value_and_slope(p.reshape(size, size))
    return value, slope.ravel()


result = minimize(
    flat, start.ravel(), jac=True, bounds=[(0.0, None)] * size**2, options={"maxiter": 150}
)
found = result.x.reshape(size, size)
wrong = np.abs(found - true).mean() / true.mean()
print(f"total power {found.sum():.1f}, in truth {true.sum():.1f}; wrong by {100 * wrong:.0f} %")
assert abs(found.sum() / true.sum() - 1.0) < 0.03
assert wrong < 0.6

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
left.imshow(picture, cmap="inferno")
left.set(title="the picture")
right.imshow(found, vmax=2.5)
right.set(title="power that was found")
plt.show()
