"""
The mean of curves that are not in step: gradients of dynamic programming
==========================================================================

Heartbeats, gestures or spectra of one kind have the same shape but not the same pace, and their
mean, point by point, is a blur. The mean in the sense of dynamic time warping is the curve with the
least warped distance to all of them. That distance is a table filled in by a loop; made smooth, it
has a gradient, which ``ng.njit`` derives (Cuturi and Blondel, *Soft-DTW*, 2017, derive it by hand).
"""

import math

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import numgrad as ng


@ng.njit
def warped_distance(x, y, softness):
    """Return the cost of the best alignment of two curves, with a soft minimum."""
    table = np.full((x.size + 1, y.size + 1), 1e10)
    table[0, 0] = 0.0
    for i in range(1, x.size + 1):
        for j in range(1, y.size + 1):
            a, b, c = table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]
            least = min(a, b, c)
            weights = (
                math.exp((least - a) / softness)
                + math.exp((least - b) / softness)
                + math.exp((least - c) / softness)
            )
            table[i, j] = (x[i - 1] - y[j - 1]) ** 2 + least - softness * math.log(weights)
    return table[x.size, y.size]


# %%
# Fifteen curves of one shape, each at a pace of its own.

rng = np.random.default_rng(0)
t = np.linspace(0.0, 1.0, 70)


def shape(t):
    return np.exp(-((t - 0.3) ** 2) / 0.003) - 0.6 * np.exp(-((t - 0.6) ** 2) / 0.006)


paces = [t + 0.12 * rng.uniform(-1, 1) * np.sin(np.pi * t) for _ in range(15)]
curves = [shape(pace) + 0.03 * rng.standard_normal(t.size) for pace in paces]


def cost(mean):
    return sum((warped_distance(mean, curve, 0.05) for curve in curves), np.float64(0.0)) / 15


value_and_slope = ng.func.value_and_grad(cost)
blur = np.mean(curves, axis=0)
result = minimize(value_and_slope, blur, jac=True, method="L-BFGS-B", options={"maxiter": 80})
direction = rng.standard_normal(t.size)
slope = value_and_slope(blur)[1] @ direction
near = [cost(blur + h * direction) for h in (1e-5, -1e-5)]
assert np.isclose(slope, (near[0] - near[1]) / 2e-5, rtol=1e-6)

heights = [np.ptp(c) for c in (shape(t), blur, result.x)]
print("height of the shape {:.2f}, of the mean {:.2f}, of the warped mean {:.2f}".format(*heights))
assert abs(heights[2] - heights[0]) < 0.25 * abs(heights[1] - heights[0])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True)
for curve in curves:
    left.plot(t, curve, color="0.8", lw=1)
left.plot(t, blur, label="mean")
left.legend()
right.plot(t, shape(t), "k:", label="the shape")
right.plot(t, result.x, label="warped mean")
right.legend()
plt.show()
