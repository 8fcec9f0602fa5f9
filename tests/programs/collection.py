"""Programs as users of NumPy write them, each with the arrays that it is run with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PROGRAMS = []


@dataclass(frozen=True)
class Program:
    """A function ``f(np, *arrays)``; with NumPy as ``np`` it is a program without numgrad.

    Attributes
    ----------
    inputs : tuple
        Its arrays; the gradient is taken of those of floats.
    analytic : bool
        Whether it runs with complex numbers as well, for a derivative by a complex step.
    allocates : bool
        Whether it writes into arrays that it has made by their size, or makes arrays of lists:
        NumPy's do not take tensors, so these programs need numgrad as ``np``.
    decides : bool
        Whether Python branches on its values, so that it cannot be captured.
    """

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    analytic: bool
    allocates: bool
    decides: bool


def program(
    *inputs: Any, analytic: bool = False, allocates: bool = False, decides: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Collect a program."""

    def collect(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, inputs, analytic, allocates, decides))
        return function

    return collect
