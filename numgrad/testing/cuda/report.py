"""The parts of a report: checks with their outcomes, and figures with their bounds."""

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .sizes import Sizes

OK, FAILED, SKIPPED = "ok", "FAILED", "skipped"


class Skipped(Exception):  # noqa: N818  (it is no error)
    """Raised by a check that is impossible here; it has the reason."""


class Check(NamedTuple):
    """A check of correctness.

    Attributes
    ----------
    name : str
    run : callable
        Takes sizes, and returns what was done in a few words; raises if something is wrong.
    """

    name: str
    run: Callable[[Sizes], str]


class Outcome(NamedTuple):
    """The outcome of a check, or of a benchmark that could not be run."""

    name: str
    status: str
    detail: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.status:<8}{self.name:<44}{self.detail} ({self.seconds:.1f} s)"


class Bound(NamedTuple):
    """The bound that a figure has to meet."""

    value: float
    is_upper: bool = False

    def is_met(self, value: float) -> bool:
        """Whether a figure is within the bound."""
        return value <= self.value if self.is_upper else value >= self.value

    def __str__(self) -> str:
        return f"{'at most' if self.is_upper else 'at least'} {self.value:g}"


class Figure(NamedTuple):
    """A figure of a benchmark.

    Attributes
    ----------
    name : str
    value : float or None
        None for what could not be measured; the name says why.
    unit : str
    bound : Bound or None
        None for what nothing is wanted of.
    """

    name: str
    value: float | None
    unit: str = ""
    bound: Bound | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the bound is met; None without one."""
        if self.bound is None or self.value is None:
            return None
        return self.bound.is_met(self.value)

    def line(self, means_something: bool) -> str:
        """Return the figure as text; its bound is not judged where times mean nothing."""
        if self.value is None:
            return self.name
        text = f"{self.name:<52}{self.value:>11.4g} {self.unit}"
        if self.bound is None:
            return text
        judged = ("met" if self.is_met else "NOT MET") if means_something else "not judged"
        return f"{text}, wanted {self.bound}: {judged}"


class Benchmark(NamedTuple):
    """Several figures of one kind; it takes sizes, and raises `Skipped` where there are none."""

    name: str
    run: Callable[[Sizes], Iterator[Figure]]


def outcome_of(name: str, run: Callable[[], str]) -> Outcome:
    """Return the outcome of a check; any exception becomes part of the report."""
    begin = time.perf_counter()
    try:
        status, detail = OK, run()
    except Skipped as reason:
        status, detail = SKIPPED, str(reason)
    except Exception as error:
        status, detail = FAILED, said(error)
    if status == FAILED:
        gc.collect()  # frames of a failed check may hold memory of the device
    return Outcome(name, status, detail, time.perf_counter() - begin)


def said(error: BaseException) -> str:
    """Return an exception as one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:300]}"


def require(condition: Any, message: str) -> None:
    """Raise unless a condition holds, also where Python leaves assertions out."""
    if not condition:
        raise AssertionError(message)
