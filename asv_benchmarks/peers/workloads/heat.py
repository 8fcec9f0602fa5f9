"""W8: heat equation on 1000 cells, 200 explicit steps, gradient of a misfit to each conductivity.

An insulated rod: ``u_i += C (f_i - f_{i-1})`` with the flux ``f_i = k_{i+1/2} (u_{i+1} - u_i)``
between neighbours and none at the ends.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numba import uint64

from ..limit import kernel
from ..task import CAPTURED, Array, Call, Task, Workload

COURANT = 0.4
STEPS = 200


def advance(xp: Any, u: Any, between: Any, none: Any) -> Any:
    """One explicit step."""
    flux = xp.concatenate([none, between * (u[1:] - u[:-1]), none])
    return u + COURANT * (flux[1:] - flux[:-1])


def misfit(xp: Any, conductivity: Any, start: Any, observed: Any, none: Any) -> Any:
    between = 0.5 * (conductivity[1:] + conductivity[:-1])
    u = start
    for _ in range(STEPS):
        u = advance(xp, u, between, none)
    return xp.sum((u - observed) ** 2)


def task(quick: bool) -> Task:
    n = 50 if quick else 1000
    x = np.linspace(0.0, 1.0, n)
    rng = np.random.default_rng(8)
    conductivity = rng.uniform(0.5, 1.0, n)
    start = np.exp(-(((x - 0.4) / 0.05) ** 2)) + rng.uniform(0.0, 0.1, n)
    observed = np.exp(-(((x - 0.5) / 0.1) ** 2))
    return Task(misfit, (conductivity, start, observed, np.zeros(1)))


@kernel
def forward(states, between, n):
    """All states; every row and `between` have one entry more at each end, which is not used."""
    width = n + uint64(2)
    at = uint64(0)
    for _ in range(STEPS):
        for k in range(n):
            i = uint64(k) + uint64(1)
            p = at + i
            here = states[p]
            gain = between[i] * (states[p + uint64(1)] - here)
            loss = between[i - uint64(1)] * (here - states[p - uint64(1)])
            states[p + width] = here + (gain - loss)
        at += width


@kernel
def backward(states, between, g, h, product, at, n):
    """One step: the transposed step is the step itself; `product` collects for the fluxes."""
    for k in range(n):
        i = uint64(k) + uint64(1)
        rise = g[i + uint64(1)] - g[i]
        product[i] += rise * (states[at + i + uint64(1)] - states[at + i])
        h[i] = g[i] + (between[i] * rise - between[i - uint64(1)] * (g[i] - g[i - uint64(1)]))


@kernel
def gradient(conductivity, start, observed):
    """The gradient; rows of n with one entry more at each end, between which nothing flows."""
    n = uint64(conductivity.size)
    width = n + uint64(2)
    between, states = np.zeros(width), np.empty((STEPS + 1) * width)
    for i in range(1, n):
        between[i] = COURANT * 0.5 * (conductivity[i] + conductivity[i - 1])
    for s in range(STEPS + 1):  # what the ends hold is multiplied by zero
        states[uint64(s) * width] = states[uint64(s) * width + n + uint64(1)] = 0.0
    states[1 : n + uint64(1)] = start
    forward(states, between, n)
    g, h, product = np.zeros(width), np.zeros(width), np.zeros(width)
    at = uint64(STEPS) * width
    for i in range(n):
        g[i + 1] = 2.0 * (states[at + uint64(i) + uint64(1)] - observed[i])
    for _ in range(STEPS):
        at -= width
        backward(states, between, g, h, product, at, n)
        g, h = h, g
    product[0] = product[n] = 0.0
    out = np.empty(conductivity.size)
    for i in range(n):
        out[i] = -0.5 * COURANT * (product[i] + product[i + 1])
    return out


def hand_written(task: Task) -> Call:
    conductivity, start, observed, _ = task.arguments

    def call() -> Array:
        return gradient(conductivity, start, observed)

    return call


def jax_scan(task: Task) -> Call:
    """The steps as lax.scan: unrolled, XLA does not come back."""
    from jax import lax

    from ..systems.jax import jitted

    def scanned(xp: Any, conductivity: Any, start: Any, observed: Any, none: Any) -> Any:
        between = 0.5 * (conductivity[1:] + conductivity[:-1])
        u = lax.scan(lambda u, _: (advance(xp, u, between, none), None), start, None, length=STEPS)[
            0
        ]
        return xp.sum((u - observed) ** 2)

    return jitted(replace(task, function=scanned))


WORKLOAD = Workload(
    key="W8",
    title="Heat equation, 1000 cells, 200 explicit steps, gradient to the conductivities",
    task=task,
    hand_written=hand_written,
    systems=CAPTURED,
    own={"jax scan": jax_scan},
)
