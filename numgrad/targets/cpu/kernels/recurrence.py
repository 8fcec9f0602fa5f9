"""Recurrences: kernels that apply scalar functions again and again to their own results."""

from typing import Any, NamedTuple

import numpy as np

from numgrad.ir.kernel_spec import ProductSpec

from ..codegen.scalar_graph import ScalarFunction, scalar
from ..compile import disk_cache as disk
from ..compile.compiler import Code, join_keys, obtain, symbol_of

Place = tuple[int, int, np.dtype]
"""The place of a scalar: the number of an operand, the offset there in bytes, and the dtype."""


class Recurrence(NamedTuple):
    """Scalar functions that a kernel applies again and again, to values carried from step to step.

    Values are numbered: the inputs come first, then the result of each step.

    Attributes
    ----------
    steps : tuple of (ElementwiseSpec or ProductSpec, tuple of int)
        A function, and the numbers of the values that the function takes. A step of a matrix
        product takes two factors and, after the first term, the sum so far.
    inputs, outputs : tuple of places
        The scalars that are read and written; see `Place`. Input operands and output operands are
        each numbered from 0.
    values : tuple of int
        For each output the number of the value that is written.
    carried : int
        The first input operands, as many as this number, are carried from step to step. Their
        scalars are read before the first step; at later steps they have the values that the step
        before has written to the same places of the outputs.
    per_step : tuple of bool
        For each input operand, whether its address moves on at each step.
    goes_on : int or None
        The number of a boolean value: the loop ends after a step in which the value is false.
    """

    steps: tuple[tuple[Any, tuple[int, ...]], ...]
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    values: tuple[int, ...]
    carried: int
    per_step: tuple[bool, ...]
    goes_on: int | None = None

    def functions(self) -> list[tuple[ScalarFunction | None, tuple[int, ...]]]:
        """Return the scalar function and the arguments of each step.

        The function is None for a step of a matrix product.
        """
        return [
            (None if isinstance(spec, ProductSpec) else scalar(spec), args)
            for spec, args in self.steps
        ]

    @property
    def key(self) -> str:
        """The cache key of the recurrence's kernel."""
        places: dict[str, int] = {}
        calls = [
            (-1 if one is None else places.setdefault(one.key, len(places)), args)
            for one, args in self.functions()
        ]
        ends = [[(o, n, d.str) for o, n, d in part] for part in (self.inputs, self.outputs)]
        parts = "recurrence", calls, ends, self.values, self.carried, self.per_step
        return join_keys([*places], repr(parts if self.goes_on is None else (*parts, self.goes_on)))


def is_ready(recurrence: Recurrence) -> bool:
    """Whether the kernel of a recurrence is on disk."""
    return disk.has(recurrence.key)


def address(recurrence: Recurrence) -> int:
    """Return the address of the kernel of a recurrence, by the kernel ABI.

    The kernel's ``ptrs`` has the addresses of inputs, then those of outputs; its ``n`` is the
    number of steps, and its ``steps`` has the bytes by which each operand moves on at a step.
    """
    key = recurrence.key
    return obtain(key, lambda: _compiled(recurrence, symbol_of(key)))


def _compiled(recurrence: Recurrence, symbol: str) -> Code:
    from .recurrence_loop import compiled  # it imports Numba

    return compiled(recurrence, symbol)
