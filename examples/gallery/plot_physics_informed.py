"""
A network that solves a boundary value problem
===============================================

A small network is trained to satisfy ``u'' + u' = f`` with ``u(0) = u(1) = 0``: the loss contains
derivatives of the network with respect to its input, and is itself differentiated with respect to
the weights. Forward mode is used within reverse mode.
"""

# %%
# The network, and the residual at many points. ``ng.func.jvp`` gives the derivative along the
# input of all points at once, as each depends on its own alone.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

width = 20
points = np.linspace(0, 1, 60)
shapes = [(1, width), (width,), (width, width), (width,), (width, 1)]
sizes = [int(np.prod(shape)) for shape in shapes]


def exact(x):
    return np.sin(3 * np.pi * x) * x


def source(x):
    k = 3 * np.pi
    first = np.sin(k * x) + k * x * np.cos(k * x)
    second = 2 * k * np.cos(k * x) - k**2 * x * np.sin(k * x)
    return second + first


def network(x, weights):
    parts = ng.split(weights, np.cumsum(sizes)[:-1])
    a, b, c, d, e = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
    hidden = ng.tanh(ng.tanh(x[:, None] @ a + b) @ c + d)
    return (hidden @ e)[:, 0] * x * (1 - x)  # zero at both ends


def along(function, x):
    return ng.func.jvp(function, (x,), (np.ones_like(points),))[1]


def loss(weights):
    def u(x):
        return network(x, weights)

    def slope(x):
        return along(u, x)

    residual = along(slope, points) + slope(points) - source(points)
    return (residual**2).mean()


# %%
# Training. The loss is recorded once by ``ng.jit``, with both derivatives in it.

rng = np.random.default_rng(0)
start = np.concatenate(
    [rng.standard_normal(np.prod(shape)) / np.sqrt(shape[0]) for shape in shapes]
)
fit = ng.interop.scipy.minimize(
    ng.jit(loss), start, method="L-BFGS-B", options={"maxiter": 1500, "maxfun": 3000}
)
found = network(points, fit.x)
error = np.abs(np.asarray(found) - exact(points)).max()
print(f"loss {fit.fun:.1e} after {fit.nfev} gradients, error {error:.1e}")
assert error < 1e-2

plt.plot(points, exact(points), "k--", label="exact")
plt.plot(points, np.asarray(found), label="network")
plt.xlabel("x")
plt.legend()
plt.show()
