"""
Noise levels of a tracked object: the likelihood of a Kalman filter
====================================================================

A Kalman filter needs to know how much an object is pushed about and how noisy its measured
positions are. Both can be learnt from the data: the filter also gives the likelihood of what was
measured, and its gradient with respect to the two levels comes from the loop as it is written.
"""

# %%
# Data
# ----
# An object moves on a line with a velocity that random pushes change; its position is measured
# with noise.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

rng = np.random.default_rng(0)
steps, dt = 300, 0.1
true_push, true_noise = 0.8, 0.5
move = np.array([[1.0, dt], [0.0, 1.0]])
gain = np.array([0.5 * dt**2, dt])  # what a push does to position and velocity

state, track = np.zeros(2), []
for _ in range(steps):
    state = move @ state + gain * true_push * rng.standard_normal() / np.sqrt(dt)
    track.append(state[0])
track = np.array(track)
measured = track + true_noise * rng.standard_normal(steps)


# %%
# The filter
# ----------
# Prediction, innovation, update: the textbook's lines, with NumPy's operators on tensors.


def negative_log_likelihood(logs, collect=None):
    push, noise = ng.exp(logs[0]), ng.exp(logs[1])
    pushed = push**2 * np.outer(gain, gain) / dt
    mean, cov, total = np.zeros(2), np.eye(2), 0.0
    for z in measured:
        mean, cov = move @ mean, move @ cov @ move.T + pushed
        innovation, variance = z - mean[0], cov[0, 0] + noise**2
        weight = cov[:, 0] / variance
        mean = mean + weight * innovation
        cov = cov - ng.outer(weight, cov[0])
        total = total + 0.5 * (innovation**2 / variance + ng.log(2 * np.pi * variance))
        if collect is not None:
            collect.append((mean[0].item(), cov[0, 0].item()))
    return total


# %%
# The fit
# -------
# `ng.interop.scipy.minimize` gives SciPy the value and the gradient in one pass. The Hessian at
# the solution says how certain the two levels are.

fit = ng.interop.scipy.minimize(negative_log_likelihood, np.log([0.1, 2.0]), method="BFGS")
errors = np.sqrt(np.diag(np.linalg.inv(ng.func.hessian(negative_log_likelihood)(fit.x))))
for name, log, error, true in zip(
    ("push", "noise"), fit.x, errors, (true_push, true_noise), strict=True
):
    low, high = np.exp(log - 2 * error), np.exp(log + 2 * error)
    print(f"{name}: {np.exp(log):.3f}, between {low:.3f} and {high:.3f}; true {true}")
    assert low < true < high

# %%
# The track
# ---------

filtered: list = []
negative_log_likelihood(ng.tensor(fit.x), filtered)
mean, variance = np.array(filtered).T
time = dt * np.arange(steps)
plt.plot(time, measured, ".", color="0.7", label="measured")
plt.plot(time, track, "k", lw=1, label="true")
plt.plot(time, mean, label="filtered")
plt.fill_between(time, mean - 2 * variance**0.5, mean + 2 * variance**0.5, alpha=0.3)
plt.xlabel("time")
plt.ylabel("position")
plt.legend()
plt.show()
