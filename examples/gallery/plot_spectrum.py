"""
A spectrum of overlapping lines, with error bars
=================================================

Lines of Gaussian and Lorentzian shape on a sloping background are fitted to counts. The Jacobian of
the model is exact, and so are the standard errors that follow from it.
"""

# %%
# The model: for each line a place, a width, an area, and how much of it is Lorentzian.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

energy = np.linspace(0, 10, 400)


def lines(p):
    place, width, area, mix = (p[k, :, None] for k in range(4))
    z = (energy - place) / width
    gauss = ng.exp(-0.5 * z**2) / (width * np.sqrt(2 * np.pi))
    lorentz = 1.0 / (np.pi * width * (1.0 + z**2))
    share = 1.0 / (1.0 + ng.exp(-mix))
    return area * (share * lorentz + (1.0 - share) * gauss)


def model(parameters):
    background = parameters[0] + parameters[1] * energy
    return background + lines(parameters[2:].reshape(4, -1)).sum(axis=0)


# %%
# Counts of three lines, two of which overlap.

true = np.concatenate(
    [[20.0, -1.0], [3.0, 3.9, 7.0], [0.3, 0.3, 0.5], [150, 90, 120], [-1.0, 0.0, 1.0]]
)
rng = np.random.default_rng(8)
counts = rng.poisson(model(ng.tensor(true)).numpy()).astype(float)
sigma = np.sqrt(np.maximum(counts, 1.0))

# %%
# The fit, from a rough guess.


def residuals(parameters):
    return (model(parameters) - counts) / sigma


guess = np.concatenate([[10, 0], [2.8, 4.1, 6.8], [0.4] * 3, [100.0] * 3, [0.0] * 3])
fit = ng.interop.scipy.least_squares(ng.jit(residuals), guess, x_scale="jac")
errors = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)))
reduced = 2 * fit.cost / (energy.size - true.size)
print(f"{fit.nfev} evaluations, reduced chi squared {reduced:.2f}")
for name, k in zip(("place", "width", "area"), (2, 5, 8), strict=True):
    print(name, *[f"{v:.3f}+-{e:.3f}" for v, e in zip(fit.x[k : k + 3], errors[k:], strict=False)])
assert 0.7 < reduced < 1.3
assert np.all(np.abs(fit.x - true)[2:8] < 5 * errors[2:8])

# %%
# The Jacobian is that of differences.

step = 1e-6
direction = rng.standard_normal(true.size)
ahead, behind = (residuals(ng.tensor(fit.x + d * direction)).numpy() for d in (step, -step))
assert np.abs(fit.jac @ direction - (ahead - behind) / (2 * step)).max() < 1e-5

plt.errorbar(energy, counts, sigma, fmt=".", ms=2, color="0.7", lw=0.5)
plt.plot(energy, model(ng.tensor(fit.x)).numpy(), "k", lw=1)
background = fit.x[0] + fit.x[1] * energy
for line in lines(ng.tensor(fit.x[2:].reshape(4, -1))).numpy():
    plt.plot(energy, background + line, "--", lw=1)
plt.xlabel("energy")
plt.ylabel("counts")
plt.show()
