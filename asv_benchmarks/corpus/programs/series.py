"""Time series: residuals of autoregressions, filters, volatilities."""

from typing import Any

import numpy as np

from ..program import Family


def returns(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return np.array([0.5, 0.2, 0.1]), rng.standard_normal(n)


regression = Family("an autoregression of 2000", size=2000, tiny=8, inputs=returns)


@regression.program
def slices(np, p, y):
    e = y[2:] - p[0] * y[1:-1] - p[1] * y[:-2] - p[2]
    return (e * e).sum()


@regression.program
def slices_of_parameters(np, p, y):
    e = y[2:] - p[0:1] * y[1:-1] - p[1:2] * y[:-2] - p[2:3]
    return (e**2).sum()


@regression.program
def a_matrix_of_lags(np, p, y):
    lags = np.stack([y[1:-1], y[:-2], np.ones(len(y) - 2)], axis=1)
    return ((y[2:] - lags @ p) ** 2).sum()


@regression.program
def unpacked_parameters(np, p, y):
    a, b, c = p
    return ((y[2:] - (a * y[1:-1] + b * y[:-2] + c)) ** 2).sum()


volatility = Family("a volatility over 100 days", size=100, tiny=5, inputs=returns)


def likelihood(np: Any, h: Any, y: Any) -> Any:
    return (np.log(h) + y * y / h).sum()


@volatility.program
def a_list_of_states(np, p, y):
    h = np.stack(np.collect(lambda h, v: p[2] + p[1] * h + p[0] * v * v, 1.0, y))
    return likelihood(np, h[:-1], y[1:])


@volatility.program
def a_running_sum(np, p, y):
    def step(s: Any, v: Any) -> Any:
        h, total = s
        return p[2] + p[1] * h + p[0] * v * v, total + np.log(h) + v * v / h

    start = p[2] + p[1] + p[0] * y[0] * y[0]
    return np.fold(step, (start, 0.0), y[1:])[1]


@volatility.program
def parameters_taken_once(np, p, y):
    a, b, c = p[0], p[1], p[2]
    h = np.stack(np.collect(lambda h, v: c + b * h + a * v * v, 1.0, y))
    return likelihood(np, h[:-1], y[1:])


@volatility.program
def squares_taken_once(np, p, y):
    shocks = p[2] + p[0] * y * y
    h = np.stack(np.collect(lambda h, v: v + p[1] * h, 1.0, shocks))
    return likelihood(np, h[:-1], y[1:])


filters = Family(
    "filters", size=60, tiny=4, siblings=False,
    inputs=lambda rng, n: (np.array([0.9, 0.3, 0.5]), rng.standard_normal(n)),
)  # fmt: skip


@filters.program
def a_scalar_kalman_filter(np, p, y):
    def step(s: Any, v: Any) -> Any:
        m, c, total = s
        m, c = p[0] * m, p[0] * c * p[0] + p[1]
        spread = c + p[2]
        gain, error = c / spread, v - m
        return m + gain * error, (1.0 - gain) * c, total + np.log(spread) + error * error / spread

    return np.fold(step, (0.0, 1.0, 0.0), y)[2]


@filters.program
def a_kalman_filter_of_matrices(np, p, y):
    turn = np.asarray([[1.0, 0.1], [-0.1, 1.0]])
    seen = np.asarray([1.0, 0.0])

    def step(s: Any, v: Any) -> Any:
        m, c, total = s
        m, c = p[0] * (turn @ m), p[0] * (turn @ c @ turn.T) + p[1] * np.eye(2)
        spread = seen @ c @ seen + p[2]
        gain, error = (c @ seen) / spread, v - seen @ m
        c = c - np.outer(gain, seen @ c)
        return m + gain * error, c, total + np.log(spread) + error * error / spread

    return np.fold(step, (np.zeros(2), np.eye(2), 0.0), y)[2]


@filters.program
def a_random_walk(np, p, y):
    path = np.cumsum(y * p[1] + p[2], axis=0)
    return (np.exp(-path) * path).sum()


@filters.program
def a_product_of_returns(np, p, y):
    return np.cumprod(1.0 + 0.01 * y * p[0], axis=0).sum()


@filters.program
def correlations(np, p, y):
    z = y * p[0] + p[1] * np.sin(y)
    z = z - z.mean()
    return sum((z[lag:] * z[: len(z) - lag]).sum() for lag in range(1, 4)) / (z * z).sum()


def waves(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    k = np.arange(n // 2 + 1) / 2.0
    return 0.5 * np.sin(np.linspace(0, 2 * np.pi, n, endpoint=False)), 1j * k, -1j * k**3


solitons = Family(
    "20 steps of Korteweg and de Vries by transforms", size=64, tiny=8, inputs=waves,
    siblings=False,
)  # fmt: skip


@solitons.program
def products_of_slopes(np, u, first, third):
    for _ in range(20):
        slope = np.fft.irfft(first * np.fft.rfft(u))
        u = u - 1e-4 * (6.0 * u * slope + np.fft.irfft(third * np.fft.rfft(u)))
    return ((u - 0.1) ** 2).sum()


@solitons.program
def slopes_of_products(np, u, first, third):
    for _ in range(20):
        flux = np.fft.irfft(first * np.fft.rfft(3.0 * u * u))
        u = u - 1e-4 * (flux + np.fft.irfft(third * np.fft.rfft(u)))
    return ((u - 0.1) ** 2).sum()


FAMILIES = [regression, volatility, filters, solitons]
