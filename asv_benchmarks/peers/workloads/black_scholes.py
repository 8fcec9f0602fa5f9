"""W10: Black-Scholes price of calls and its gradient to S, K, T, r and sigma, 10^6 options."""

import math
from typing import Any

import numpy as np
from numba import prange

from ..limit import erf, exp, kernel, log, parallel
from ..task import CAPTURED, Array, Call, Task, Workload

SQRT_HALF = math.sqrt(0.5)
INVERSE_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
TILE = 4096


def normal(xp: Any, x: Any) -> Any:
    """The normal distribution."""
    return 0.5 * (1.0 + xp.erf(x * SQRT_HALF))


def price(xp: Any, spot: Any, strike: Any, expiry: Any, rate: Any, volatility: Any) -> Any:
    spread = volatility * xp.sqrt(expiry)
    d1 = xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * expiry
    d1 = d1 / spread
    d2 = d1 - spread
    return spot * normal(xp, d1) - strike * xp.exp(-rate * expiry) * normal(xp, d2)


def task(quick: bool) -> Task:
    n = 1000 if quick else 1_000_000
    rng = np.random.default_rng(10)
    ranges = ((80.0, 120.0), (80.0, 120.0), (0.2, 2.0), (0.01, 0.05), (0.1, 0.4))
    return Task(price, tuple(rng.uniform(*r, n) for r in ranges), wrt=5, with_value=True)


@kernel
def block(spot, strike, expiry, rate, volatility, value, gs, gk, gt, gr, gv):
    """Price and the five greeks, in closed form."""
    for i in range(spot.size):
        root = math.sqrt(expiry[i])
        spread = volatility[i] * root
        drift = (rate[i] + 0.5 * volatility[i] * volatility[i]) * expiry[i]
        d1 = (log(spot[i] / strike[i]) + drift) / spread
        d2 = d1 - spread
        n1 = 0.5 * (1.0 + erf(d1 * SQRT_HALF))
        discount = exp(-rate[i] * expiry[i]) * (0.5 * (1.0 + erf(d2 * SQRT_HALF)))
        owed = strike[i] * discount
        vega = spot[i] * (INVERSE_SQRT_2PI * exp(-0.5 * d1 * d1)) * root
        value[i] = spot[i] * n1 - owed
        gs[i] = n1
        gk[i] = -discount
        gt[i] = 0.5 * vega * volatility[i] / expiry[i] + rate[i] * owed
        gr[i] = owed * expiry[i]
        gv[i] = vega


@parallel
def all_blocks(s, k, t, r, v, value, gs, gk, gt, gr, gv, tile):
    n = s.size
    for i in prange((n + tile - 1) // tile):
        a, b = i * tile, min((i + 1) * tile, n)
        inputs = (s[a:b], k[a:b], t[a:b], r[a:b], v[a:b])
        greeks = (gs[a:b], gk[a:b], gt[a:b], gr[a:b], gv[a:b])
        block(*inputs, value[a:b], *greeks)


def hand_written(task: Task) -> Call:
    def call() -> tuple[Array, ...]:
        results = tuple(np.empty_like(task.arguments[0]) for _ in range(6))
        all_blocks(*task.arguments, *results, TILE)
        return results

    return call


def hand_written_reused(task: Task) -> Call:
    """Into the same arrays in every call: what fresh memory for the results costs."""
    results = tuple(np.empty_like(task.arguments[0]) for _ in range(6))

    def call() -> tuple[Array, ...]:
        all_blocks(*task.arguments, *results, TILE)
        return results

    return call


WORKLOAD = Workload(
    key="W10",
    title="Black-Scholes price and gradient to 5 inputs, 10^6 options",
    task=task,
    hand_written=hand_written,
    systems=CAPTURED,
    own={"hand-written, results reused": hand_written_reused},
)
