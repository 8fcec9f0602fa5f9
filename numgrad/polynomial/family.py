"""Families of polynomials, known by the recurrence from one degree to the next."""

import inspect
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from .._tensor import Tensor
from ..functions.products.contraction import tensordot
from ..functions.signal.filtering import convolve

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Step = Callable[[int], tuple[float, float, float]]


class Family:
    """Polynomials of all degrees.

    Parameters
    ----------
    module : str
        Where their functions are, here and in NumPy.
    prefix : str
        How the names of these begin.
    step : callable
        Returns ``a``, ``b`` and ``c`` of the recurrence that leads from degree ``n`` to the next.
    """

    def __init__(self, module: str, prefix: str, step: Step) -> None:
        self.module, self.prefix, self.step = module, prefix, step
        self.called = f"{module}.{prefix}"

    def numpys(self, name: str) -> Any:
        """Return NumPy's function."""
        name = name if name.startswith("poly2") else self.prefix + name
        return getattr(import_module(f"numpy.polynomial.{self.module}"), name)

    def times(self, n: int, x: Any, p: Any) -> Any:
        """Return ``(a * x + b) * p`` of the step from degree ``n``."""
        a, b, _ = self.step(n)
        result = x * p if a == 1 else a * (x * p)
        return result + b * p if b else result

    def less(self, n: int, before: Any, p: Any) -> Any:
        """Return ``p - c * before`` of the step from degree ``n``."""
        c = self.step(n)[2]
        return p - (before if c == 1 else c * before) if c else p

    def product(self, c1: Tensor, c2: Tensor) -> Tensor:
        """Return the coefficients of the product of two series."""
        table = _products(self, len(c1), len(c2)).astype(np.result_type(c1.dtype, c2.dtype))
        return tensordot(tensordot(table, c2, 1), c1, 1)

    def of(
        self, function: Callable[Concatenate["Family", Parameters], Result]
    ) -> Callable[Parameters, Result]:
        """Return a function of this module for the family, under NumPy's name; examples are written
        for Chebyshev's, and hold for all."""

        def named(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            return function(self, *args, **kwargs)

        name = function.__name__
        name = name + self.prefix if name == "poly2" else self.prefix + name
        named.__module__ = f"numgrad.polynomial.{self.module}"
        named.__name__ = named.__qualname__ = name
        named.__doc__ = (function.__doc__ or "").replace("chebyshev.cheb", self.called)
        _, *parameters = inspect.signature(function).parameters.values()
        named.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return named


class PowerFamily(Family):
    """The powers themselves."""

    def product(self, c1: Tensor, c2: Tensor) -> Tensor:
        """Return the coefficients of the product of two series."""
        return convolve(c1, c2)


@lru_cache(256)
def _products(family: Family, n: int, m: int) -> np.ndarray:
    """Return the coefficients of products of two polynomials: at ``[k, i, j]`` that of number ``k``
    in the product of numbers ``i`` and ``j``."""
    multiply, table = family.numpys("mul"), np.zeros((n + m - 1, n, m))
    for i in range(n):
        for j in range(m):
            found = multiply(np.eye(n)[i], np.eye(m)[j])
            table[: len(found), i, j] = found
    return table
