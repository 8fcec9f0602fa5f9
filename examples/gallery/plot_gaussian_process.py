"""
A Gaussian process whose kernel is fitted to the data
======================================================

The marginal likelihood of a Gaussian process needs a Cholesky factor and a determinant; its
gradient with respect to the parameters of the kernel goes through both.
"""

# %%
# Data: a curve, seen at few points, with noise.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

rng = np.random.default_rng(0)


def curve(x):
    return np.sin(3 * x) * np.exp(-0.3 * x)


x = np.sort(rng.uniform(0, 5, 25))
y = curve(x) + 0.1 * rng.standard_normal(x.size)

# %%
# The model: a squared exponential kernel with an amplitude, a length and a level of noise, all
# positive, so that their logarithms are fitted.


def kernel(a, b, logs):
    amplitude, length = ng.exp(logs[0]), ng.exp(logs[1])
    return amplitude**2 * ng.exp(-0.5 * ((a[:, None] - b) / length) ** 2)


def negative_log_marginal(logs):
    cov = kernel(x, x, logs) + ng.exp(2 * logs[2]) * np.eye(x.size)
    factor = ng.linalg.cholesky(cov)
    white = ng.linalg.solve(factor, y)
    return 0.5 * (white @ white) + ng.log(ng.diagonal(factor)).sum()


# %%
# ``ng.jit`` records the function once; each step of the optimizer is then one program.

fit = ng.interop.scipy.minimize(ng.jit(negative_log_marginal), np.zeros(3), method="L-BFGS-B")
amplitude, length, noise = np.exp(fit.x)
print(f"amplitude {amplitude:.3f}, length {length:.3f}, noise {noise:.3f} (true 0.1)")
assert fit.success
assert 0.05 < noise < 0.2
assert np.abs(ng.func.grad(negative_log_marginal)(fit.x)).max() < 1e-3

# %%
# The prediction, and how certain it is.

grid = np.linspace(-0.5, 5.5, 200)
cov = kernel(x, x, fit.x).numpy() + noise**2 * np.eye(x.size)
across = kernel(grid, x, fit.x).numpy()
mean = across @ np.linalg.solve(cov, y)
spread = np.sqrt(amplitude**2 - np.einsum("ij,ji->i", across, np.linalg.solve(cov, across.T)))

plt.plot(x, y, "k.", label="data")
plt.plot(grid, curve(grid), "k--", lw=1, label="curve")
plt.plot(grid, mean, label="prediction")
plt.fill_between(grid, mean - 2 * spread, mean + 2 * spread, alpha=0.3)
plt.legend()
plt.show()
