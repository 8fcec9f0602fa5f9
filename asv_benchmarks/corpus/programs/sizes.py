"""Tiny programs, where a call costs what overhead costs, and large ones, where memory decides."""

from typing import Any

import numpy as np

from ..program import HESSIAN, HVP, Family


def point(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.uniform(0.5, 1.5, n),)


valley = Family("Rosenbrock's function of 4", size=4, tiny=4, inputs=point)


@valley.program
def slices(np, x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


@valley.program
def elements(np, x):
    return sum(100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2 for i in range(len(x) - 1))


@valley.program
def products(np, x):
    a, b = x[:-1], x[1:]
    d, e = b - a * a, 1.0 - a
    return 100.0 * np.sum(d * d) + np.sum(e * e)


@valley.program
def unpacked(np, x):
    a, b, c, d = x
    first, second, third = b - a * a, c - b * b, d - c * c
    rest = (1.0 - a) ** 2 + (1.0 - b) ** 2 + (1.0 - c) ** 2
    return 100.0 * (first * first + second * second + third * third) + rest


valley_1000 = valley.derived("Rosenbrock's function of 1000", size=1000)
valley_1000.programs = [valley_1000.programs[0], valley_1000.programs[2]]
bent = valley.derived("Rosenbrock's function of 4, Hessian", derivative=HESSIAN)
turned = valley.derived("Rosenbrock's function of 4, Hessian times vector", derivative=HVP)

numbers = Family(
    "functions of one number", size=1, tiny=1, siblings=False,
    inputs=lambda rng, n: (np.array(0.7),),
)  # fmt: skip
numbers.add("a damped wave", lambda np, x: np.sin(3.0 * x) * np.exp(-x))
numbers.add("a polynomial", lambda np, x: 3.0 * x**3 - 2.0 * x**2 + x - 1.0)
numbers.add("a sigmoid", lambda np, x: 1.0 / (1.0 + np.exp(-x)))
numbers.add("a branch", lambda np, x: np.where(x > 0.5, x * x, np.sin(x)))
numbers.add("a root of a sum", lambda np, x: np.sqrt(x * x + 1.0) + np.log(x))


@numbers.program
def newton_steps(np, x):
    y = x
    for _ in range(6):
        y = y - (y * y - x) / (2.0 * y)
    return y


@numbers.program(derivative=HESSIAN)
def a_second_derivative(np, x):
    return np.sin(x) ** 2 * np.exp(x)


def market(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    spot, strike = rng.uniform(80, 120, n), rng.uniform(80, 120, n)
    return spot, strike, rng.uniform(0.1, 2, n), rng.uniform(0.1, 0.5, n)


options = Family("Black and Scholes, 5000 options", size=5000, tiny=3, inputs=market, wrt=4)


@options.program
def by_erf(np, s, k, t, sigma):
    root = sigma * np.sqrt(t)
    d1 = (np.log(s / k) + (0.02 + 0.5 * sigma**2) * t) / root
    up, down = 0.5 + 0.5 * np.erf(d1 / 2**0.5), 0.5 + 0.5 * np.erf((d1 - root) / 2**0.5)
    return (s * up - k * np.exp(-0.02 * t) * down).sum()


@options.program
def by_a_function_called_twice(np, s, k, t, sigma):
    def normal(x: Any) -> Any:
        return 0.5 * (1.0 + np.erf(x / np.sqrt(np.asarray(2.0))))

    root = sigma * t**0.5
    d1 = (np.log(s) - np.log(k) + (0.02 + 0.5 * sigma * sigma) * t) / root
    return np.sum(s * normal(d1) - k * np.exp(-0.02 * t) * normal(d1 - root))


@options.program
def by_columns(np, s, k, t, sigma):
    x = np.stack([s, k, t, sigma], axis=1)
    root = x[:, 3] * np.sqrt(x[:, 2])
    d1 = (np.log(x[:, 0] / x[:, 1]) + (0.02 + 0.5 * x[:, 3] ** 2) * x[:, 2]) / root
    up, down = 0.5 + 0.5 * np.erf(d1 / 2**0.5), 0.5 + 0.5 * np.erf((d1 - root) / 2**0.5)
    return (x[:, 0] * up - x[:, 1] * np.exp(-0.02 * x[:, 2]) * down).sum()


large = Family(
    "a million elements", size=10**6, tiny=4, siblings=False,
    inputs=lambda rng, n: (rng.uniform(0.1, 0.9, n), rng.uniform(0.1, 0.9, n)),
)  # fmt: skip
large.add("sum of squares", lambda np, x, y: (x * x).sum())
large.add("mean squared error", lambda np, x, y: ((x - y) ** 2).mean())
large.add("log likelihood", lambda np, x, y: -(y * np.log(x) + (1 - y) * np.log(1 - x)).sum())
large.add("softplus", lambda np, x, y: np.log1p(np.exp(x)).sum())
large.add("a gate", lambda np, x, y: (np.tanh(x) * y / (1.0 + np.exp(-x))).sum())
large.add("a choice", lambda np, x, y: np.where(x > y, x * y, x + y).sum())
large.add("differences", lambda np, x, y: ((x[1:] - x[:-1]) ** 2).sum())
large.add("a logsumexp", lambda np, x, y: np.logsumexp(x * y, 0))
large.add("a norm", lambda np, x, y: np.norm(x - y))

column = Family(
    "a column and a row of 1000", size=1000, tiny=3, wrt=2,
    inputs=lambda rng, n: (rng.uniform(0.1, 0.9, n), rng.uniform(0.1, 0.9, n)),
)  # fmt: skip
column.add("new axes", lambda np, x, y: np.exp(-((x[:, None] - y[None]) ** 2)).sum())
column.add("reshape", lambda np, x, y: np.exp(-((x.reshape((-1, 1)) - y) ** 2)).sum())
column.add("expanded dims", lambda np, x, y: np.exp(
    -((np.expand_dims(x, 1) - np.expand_dims(y, 0)) ** 2)).sum())  # fmt: skip
column.add("squares and products", lambda np, x, y: np.exp(
    2.0 * np.outer(x, y) - (x * x)[:, None] - y * y).sum())  # fmt: skip

FAMILIES = [valley, valley_1000, bent, turned, numbers, options, large, column]
