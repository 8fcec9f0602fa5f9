"""The example of the page on profiling: a gradient through twenty steps of the heat equation."""

from typing import Any

import numpy as np

import numgrad as ng


def heat(u: Any, steps: int = 20, r: float = 0.2) -> Any:
    """Return rows of temperatures after some steps."""
    for _ in range(steps):
        u = u + r * (ng.roll(u, 1, axis=1) - 2 * u + ng.roll(u, -1, axis=1))
    return u


def loss(w: Any, u: Any, target: Any) -> Any:
    """Return how far a layer on top of the simulation is from its target."""
    return ng.sum((ng.tanh(heat(u) @ w) - target) ** 2)


rng = np.random.default_rng(0)
w, u, target = (rng.normal(size=shape) for shape in ((200, 50), (300, 200), (300, 50)))
slope = ng.jit(ng.func.value_and_grad(loss))
slope(w, u, target)

with ng.display.profile() as profile:
    for _ in range(10):
        slope(w, u, target)
print(profile)
