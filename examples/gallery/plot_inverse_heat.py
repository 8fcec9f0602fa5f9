"""
Where was the heat? An inverse problem
=======================================

A rod was heated at some places; later its temperature is measured, with noise. Which temperature
did it start with? Heat flow forgets quickly, so a smooth answer is asked for. The gradient with
respect to all the initial temperatures costs about as much as one simulation, however many there
are.
"""

# %%
# The simulation: implicit steps of the heat equation, each a linear system. The matrix is the same
# in all of them, and so is its inverse.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

n, steps = 100, 20
x = np.linspace(0, 1, n)
dt, conductivity = 5e-5, 1.0
second = (np.diag(np.ones(n - 1), 1) - 2 * np.eye(n) + np.diag(np.ones(n - 1), -1)) * n**2
second[0, 0] = second[-1, -1] = -(n**2)  # no heat leaves at the ends
one_step = np.linalg.inv(np.eye(n) - dt * conductivity * second)


def simulate(u):
    for _ in range(steps):
        u = one_step @ u
    return u


# %%
# What is measured.

rng = np.random.default_rng(4)
true = np.exp(-(((x - 0.3) / 0.04) ** 2)) + 0.6 * ((x > 0.6) & (x < 0.75))
measured = simulate(true) + 0.01 * rng.standard_normal(n)

# %%
# The misfit, and a penalty for roughness that lets jumps pass.


def objective(u):
    misfit = ((simulate(u) - measured) ** 2).sum()
    rough = ng.sqrt(ng.diff(u) ** 2 + 1e-6).sum()
    return misfit + 4e-3 * rough


fit = ng.interop.scipy.minimize(
    ng.jit(objective), measured, method="L-BFGS-B", options={"maxiter": 2000, "maxfun": 4000}
)
before, after = (np.sqrt(np.mean((u - true) ** 2)) for u in (measured, fit.x))
print(f"{fit.nfev} gradients; error as measured {before:.3f}, of the answer {after:.3f}")
assert after < 0.6 * before

# %%
# The gradient is that of differences.

direction = rng.standard_normal(n)
slope = ng.func.grad(objective)(measured) @ direction
step = 1e-6
value = [float(objective(ng.tensor(measured + d * direction))) for d in (step, -step)]
assert abs(slope - (value[0] - value[1]) / (2 * step)) < 1e-6 * abs(slope)

plt.plot(x, true, "k--", lw=1, label="start, true")
plt.plot(x, measured, ".", color="0.6", label="measured later")
plt.plot(x, fit.x, label="start, found")
plt.xlabel("place")
plt.ylabel("temperature")
plt.legend()
plt.show()
