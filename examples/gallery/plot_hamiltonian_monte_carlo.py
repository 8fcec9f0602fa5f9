"""
Hamiltonian Monte Carlo for a logistic regression
==================================================

Samples from the posterior of a logistic regression. Trajectories follow the gradient of the log
density; many chains run at once, and one backward pass gives the gradients of all of them.
"""

# %%
# The posterior: the gradient of the sum over chains has each chain's own gradient in its row.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

rng = np.random.default_rng(5)
count, features, chains = 300, 3, 64
inputs = np.column_stack([np.ones(count), rng.standard_normal((count, features - 1))])
true = np.array([-0.5, 1.0, -1.5])
labels = rng.random(count) < 1 / (1 + np.exp(-inputs @ true))


def log_density(theta):
    logits = theta @ inputs.T
    return (labels * logits - ng.logaddexp(0.0, logits)).sum(axis=-1) - 0.5 * (theta**2).sum(-1)


value_and_slope = ng.jit(
    ng.func.value_and_grad(lambda t: (log_density(t).sum(), log_density(t)), has_aux=True)
)

# %%
# Trajectories by the leapfrog rule, accepted or not, chain by chain.


def step_of_chains(theta, size=0.08, leaps=12):
    momentum = rng.standard_normal(theta.shape)
    (_, density), slope = value_and_slope(theta)
    start = density - 0.5 * (momentum**2).sum(-1)
    place = theta
    for _ in range(leaps):
        momentum = momentum + 0.5 * size * slope
        place = place + size * momentum
        (_, density), slope = value_and_slope(place)
        momentum = momentum + 0.5 * size * slope
    accepted = np.log(rng.random(chains)) < density - 0.5 * (momentum**2).sum(-1) - start
    return np.where(accepted[:, None], place, theta), accepted.mean()


theta, samples, rates = np.zeros((chains, features)), [], []
for number in range(250):
    theta, rate = step_of_chains(theta)
    if number >= 50:
        samples.append(theta)
        rates.append(rate)
samples = np.array(samples)
print(f"{samples.shape[0] * chains} samples, {np.mean(rates):.0%} accepted")

# %%
# Mean and spread, beside the normal approximation at the mode: Newton's method with the exact
# Hessian.

mode = np.zeros(features)
for _ in range(10):
    hessian = ng.func.hessian(lambda t: log_density(t))(mode)
    mode = mode - np.linalg.solve(hessian, ng.func.grad(log_density)(mode))
spread = np.sqrt(np.diag(np.linalg.inv(-hessian)))
mean, deviation = samples.mean(axis=(0, 1)), samples.std(axis=(0, 1))
for name, *numbers in zip(("bias", "first", "second"), mean, deviation, mode, spread, strict=True):
    print("{}: {:.3f} +- {:.3f}; at the mode {:.3f} +- {:.3f}".format(name, *numbers))
assert np.all(np.abs(mean - mode) < 0.3 * spread)
assert np.all(np.abs(deviation / spread - 1) < 0.1)

plt.plot(samples[..., 1].ravel(), samples[..., 2].ravel(), ".", ms=1, alpha=0.3)
plt.plot(*true[1:], "k+", ms=15, mew=2, label="true")
plt.xlabel("first coefficient")
plt.ylabel("second coefficient")
plt.legend()
plt.show()
