"""The parts of a report on a GPU: checks with their outcomes, and figures with their bounds."""

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .sizes import Sizes

OK, FAILED, SKIPPED = "ok", "FAILED", "skipped"


class Skipped(Exception):  # noqa: N818  (it is no error)
    """Raised by a check that is impossible on this machine, with the reason as its text."""


class Check(NamedTuple):
    """A check of correctness.

    Attributes
    ----------
    name : str
    run : callable
        Takes sizes, and returns in a few words what was done. An error says what is wrong.
    """

    name: str
    run: Callable[[Sizes], str]


class Outcome(NamedTuple):
    """The outcome of a check, or of a benchmark that could not be run: a line of the report."""

    name: str
    status: str
    detail: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.status:<8}{self.name:<44}{self.detail} ({self.seconds:.1f} s)"


class Bound(NamedTuple):
    """The bound that a figure of a benchmark has to meet, a lower one unless ``is_upper``."""

    value: float
    is_upper: bool = False

    def is_met(self, value: float) -> bool:
        """Whether the value of a figure is within the bound."""
        return value <= self.value if self.is_upper else value >= self.value

    def __str__(self) -> str:
        return f"{'at most' if self.is_upper else 'at least'} {self.value:g}"


class Figure(NamedTuple):
    """A figure that a benchmark has measured.

    Attributes
    ----------
    name : str
    value : float or None
        None if it could not be measured; the name then says why.
    unit : str
    bound : Bound or None
        The bound that the figure has to meet, if any.
    more : dict, optional
        Further quantities of what was measured, by their units.
    """

    name: str
    value: float | None
    unit: str = ""
    bound: Bound | None = None
    more: dict[str, float] | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the bound is met; None without one."""
        if self.bound is None or self.value is None:
            return None
        return self.bound.is_met(self.value)

    def line(self, means_something: bool) -> str:
        """Return the figure as a line of text.

        Unless ``means_something``, as in the simulator, it is not said whether the bound is met.
        """
        if self.value is None:
            return self.name
        text = f"{self.name:<52}{self.value:>11.4g} {self.unit}"
        text += "".join([f", {value:.4g} {unit}" for unit, value in (self.more or {}).items()])
        if self.bound is None:
            return text
        judged = ("met" if self.is_met else "NOT MET") if means_something else "not judged"
        return f"{text}, wanted {self.bound}: {judged}"


class Benchmark(NamedTuple):
    """A benchmark: ``run`` takes sizes and yields figures, or raises `Skipped` if it cannot."""

    name: str
    run: Callable[[Sizes], Iterator[Figure]]


def outcome_of(name: str, run: Callable[[], str]) -> Outcome:
    """Run a check and return its outcome; an exception becomes part of the outcome."""
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
    """Return the class and the text of an exception as one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:300]}"


def require(condition: Any, message: str) -> None:
    """Raise an error unless a condition holds, even if Python runs without assertions."""
    if not condition:
        raise AssertionError(message)
