"""Foreign functions: scalar functions of compiled libraries that kernels may call."""

from dataclasses import dataclass
from types import FunctionType
from typing import Any


@dataclass(frozen=True)
class ForeignFunction:
    """A function of ``scipy.special.cython_special`` that kernels call by its name.

    The function takes and returns numbers of double precision; kernels of single precision round
    its result. The function computes one element: tensors need the operator that is made of it.

    Attributes
    ----------
    name : str
        The name of the function in its module.
    kinds : str
        The kind of each argument: ``"d"`` a real number, ``"z"`` a complex one, ``"n"`` an integer.
    result : str
        The kind of the result, or of all the results.
    count : int
        The number of results written through pointers; 0 for a function that returns its result.
    place : int
        The number of the result that is wanted.
    """

    name: str
    kinds: str
    result: str = "d"
    count: int = 0
    place: int = 0

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"scipy.special.{self.name} is called in kernels only")

    @property
    def symbol(self) -> str:
        """The name of the function in kernels: its own name, its signature and its results."""
        return f"{PREFIX}{self.name}:{self.kinds}:{self.result * (self.count or 1)}:{self.count}"


def calls_library(function: FunctionType, callers: tuple[FunctionType, ...] = ()) -> bool:
    """Whether a scalar function calls ``math`` or a foreign function, itself or through a callee.

    ``callers`` are the functions on the way to this one, which may be recursive.
    """
    names, callers = function.__code__.co_names, (*callers, function)
    named = [function.__globals__.get(name) for name in names]
    called = [getattr(value, "function", value) for value in named]  # of operators
    return "math" in names or any(
        calls_library(value, callers)
        if isinstance(value, FunctionType) and value not in callers
        else isinstance(value, ForeignFunction)
        for value in called
    )


PREFIX = "numgrad_special:"
"""The prefix of the names of foreign functions in kernels."""
