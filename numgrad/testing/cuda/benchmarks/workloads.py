"""Benchmarks of gradients of whole functions, compared with other installed libraries.

Batches of cotangents are also compared with a loop of single passes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..report import Benchmark, Bound, Figure, require, said
from ..sizes import Sizes
from .libraries import Numgrad, forget_memory, others
from .timing import milliseconds

LOOP, TORCH = Bound(5.0), Bound(1.0)
"""The speed that is wanted: so many times that of a loop of single passes, and of PyTorch."""

_COMPARED = 1000  # the elements of a gradient that are compared


@dataclass(frozen=True)
class Task:
    """A function, the point where it is differentiated, and the cotangents.

    Attributes
    ----------
    function : callable
        Takes a namespace with functions such as ``exp``, and arrays.
    arguments : tuple of arrays
    wrt : int
        The number of first arguments that the function is differentiated by.
    seeds : ndarray
        One cotangent or, with ``is_batch``, several.
    is_batch : bool
    tolerance : float
        The largest difference that is allowed between libraries, relative to the largest element.
    """

    function: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]
    wrt: int
    seeds: np.ndarray
    is_batch: bool
    tolerance: float

    def of(self, library: Any) -> Callable[[], Any]:
        """Return a call in which a library computes the gradients."""
        return library.gradients(
            self.function, self.arguments, self.wrt, self.seeds, self.is_batch
        )

    def part(self, count: int) -> "Task":
        """Return the task with the first ``count`` of its cotangents."""
        return replace(self, seeds=self.seeds[:count])


# The functions --------------------------------------------------------------------------------


def lorenz(xp: Any, x: Any, steps: int) -> Any:
    """Return the state after some Runge-Kutta steps of the equations of Lorenz (1996)."""

    def slope(x: Any) -> Any:
        return (xp.roll(x, -1) - xp.roll(x, 2)) * xp.roll(x, 1) - x + 8.0

    for _ in range(steps):
        k1 = slope(x)
        k2 = slope(x + 0.005 * k1)
        k3 = slope(x + 0.005 * k2)
        k4 = slope(x + 0.01 * k3)
        x = x + 0.01 / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
    return x


def _lorenz(sizes: Sizes) -> Task:
    start = 8.0 + 0.01 * np.sin(np.arange(float(sizes.ring)))
    function = partial(lorenz, steps=sizes.steps)
    return Task(function, (start,), 1, np.eye(sizes.ring), True, 1e-9)


def perceptron(xp: Any, x: Any, first: Any, second: Any, third: Any) -> Any:
    """Return the output of three layers; ``x`` is a matrix of one row, as products need."""
    return xp.tanh(xp.tanh(x @ first) @ second) @ third


def _perceptron(sizes: Sizes) -> Task:
    n, rng = sizes.width, np.random.default_rng(1)
    weights = rng.standard_normal((3, n, n), np.float32) / np.float32(n**0.5)
    x = rng.standard_normal((1, n), np.float32)
    rows = np.eye(n, dtype=np.float32).reshape(n, 1, n)
    return Task(perceptron, (x, *weights), 1, rows, True, 2e-2)  # TF32 has ten bits


def black_scholes(xp: Any, spot: Any, strike: Any, expiry: Any, rate: Any, volatility: Any) -> Any:
    """Return the prices of call options by the formula of Black and Scholes."""

    def normal(x: Any) -> Any:
        return 0.5 * (1.0 + xp.erf(x * 0.5**0.5))

    spread = volatility * xp.sqrt(expiry)
    d1 = (xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * expiry) / spread
    d2 = d1 - spread
    return spot * normal(d1) - strike * xp.exp(-rate * expiry) * normal(d2)


def _black_scholes(dtype: str, sizes: Sizes) -> Task:
    rng, n = np.random.default_rng(10), sizes.options
    ranges = ((80.0, 120.0), (80.0, 120.0), (0.2, 2.0), (0.01, 0.05), (0.1, 0.4))
    arguments = tuple(rng.uniform(a, b, n).astype(dtype) for a, b in ranges)
    tolerance = 1e-3 if dtype == "float32" else 1e-9
    return Task(black_scholes, arguments, 5, np.ones(n, dtype), False, tolerance)


# Their times ----------------------------------------------------------------------------------


def _batched(make: Callable[[Sizes], Task], sizes: Sizes) -> Iterator[Figure]:
    task = make(sizes)
    yield Figure("cotangents", len(task.seeds))
    batch = 0.0
    for figure in _compared(task, sizes):
        if figure.name == Numgrad.EAGER:
            batch = figure.value or 0.0
        yield figure
    few = task.part(sizes.looped)
    loop = Numgrad().loop(few.function, few.arguments, few.wrt, few.seeds)
    single = milliseconds(loop, sizes) / len(few.seeds)  # measured as the batch was
    yield Figure(f"a single pass, of a loop of {len(few.seeds)}", single, "ms")
    ratio = single * len(task.seeds) / batch
    yield Figure("a batch beside as many single passes", ratio, "times as fast", LOOP)


def _halved(make: Callable[[Sizes], Task], sizes: Sizes) -> Iterator[Figure]:
    """Yield figures for a task, with half as many options each time that memory is too small."""
    while True:
        yield Figure("options", sizes.options)
        try:
            yield from _compared(make(sizes), sizes)
        except MemoryError:
            if sizes.options < 1000:
                raise
        else:
            return
        forget_memory()
        sizes = replace(sizes, options=sizes.options // 2)


def _compared(task: Task, sizes: Sizes) -> Iterator[Figure]:
    """Yield the times of a task by numgrad and other libraries, after a check that results agree.
    """
    ways = [Numgrad(), Numgrad(is_captured=True)]
    expected, own = None, {}
    for way in ways:
        taken, results = _timed(task, way, sizes)
        expected = expected or results
        _require_equal(way.name, results, expected, task)
        own[way.name] = taken
        yield Figure(way.name, taken, "ms")
    libraries, reasons = others()
    for library in libraries:
        try:
            taken, results = _timed(task, library, sizes)
        except library.memory_errors as error:
            reasons.append(f"{library.name}: {said(error)}")
            continue
        _require_equal(library.name, results, expected, task)
        yield Figure(library.name, taken, "ms")
        for name, time in own.items():
            bound = TORCH if library.name == "torch" else None
            yield Figure(f"{name}, beside {library.name}", taken / time, "times as fast", bound)
    for reason in reasons:
        yield Figure(f"not compared: {reason}", None)


def _timed(task: Task, library: Any, sizes: Sizes) -> tuple[float, list[np.ndarray]]:
    """Return the time in which a library computes a task, and some elements of each gradient."""
    forget_memory()
    call = task.of(library)
    found = [library.read(g, max(a.size // _COMPARED, 1))
             for g, a in zip(call(), task.arguments, strict=False)]  # fmt: skip
    return milliseconds(call, sizes), found


def _require_equal(name: str, found: Any, expected: Any, task: Task) -> None:
    require(len(found) == len(expected) == task.wrt, f"{name} returns {len(found)} gradients")
    for one, other in zip(found, expected, strict=True):
        scale = np.abs(other).max() or 1.0
        difference = float(np.abs(one - other).max() / scale)
        require(difference <= task.tolerance, f"{name} differs by {difference:.2g} of the largest")


MAKERS: dict[str, Callable[[Sizes], Task]] = {
    "Lorenz-96: a cotangent for each variable, float64": _lorenz,
    "Perceptron: a cotangent for each output, float32": _perceptron,
    "Black-Scholes: gradient to five inputs, float32": partial(_black_scholes, "float32"),
    "Black-Scholes: gradient to five inputs, float64": partial(_black_scholes, "float64"),
}

BENCHMARKS = tuple(
    Benchmark(name, partial(_halved if name.startswith("Black") else _batched, make))
    for name, make in MAKERS.items()
)
