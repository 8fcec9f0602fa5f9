"""Recurrences: kernels that apply scalar functions again and again to their own results."""

from typing import Any, NamedTuple

import numpy as np

from numgrad.ir.kernel_spec import ProductSpec

from ..codegen.scalar_graph import ScalarFunction, scalar
from ..compile import disk_cache as disk
from ..compile.compiler import Code, join_keys, obtain, symbol_of

Place = tuple[int, int, np.dtype]
"""An operand, an offset in it in bytes, and the dtype there."""


class Recurrence(NamedTuple):
    """Scalar functions, applied again and again.

    Values are numbered: the inputs come first, then the result of each step.

    Attributes
    ----------
    steps : tuple of (ElementwiseSpec or ProductSpec, tuple of int)
        For a product of matrices two factors and, if there is one, the sum so far.
    inputs, outputs : tuple of places
        Outputs are operands of their own, numbered from 0.
    values : tuple of int
        The value of each output.
    carried : int
        The number of operands of which the first inputs are; further on an element there is that of
        the output with the same place.
    per_step : tuple of bool
        For each operand of the inputs, whether it moves on at each step.
    goes_on : int or None
        The value, a boolean, without which no further step is taken.
    """

    steps: tuple[tuple[Any, tuple[int, ...]], ...]
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    values: tuple[int, ...]
    carried: int
    per_step: tuple[bool, ...]
    goes_on: int | None = None

    def functions(self) -> list[tuple[ScalarFunction | None, tuple[int, ...]]]:
        """Return the compiled functions of the steps; None for a step of a product."""
        return [
            (None if isinstance(spec, ProductSpec) else scalar(spec), args)
            for spec, args in self.steps
        ]

    @property
    def key(self) -> str:
        """The cache key of the kernel."""
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

    ``ptrs`` has the addresses of inputs, then those of outputs, ``n`` is the number of steps, and
    ``steps`` has how many bytes each operand moves on at a step.
    """
    key = recurrence.key
    return obtain(key, lambda: _compiled(recurrence, symbol_of(key)))


def _compiled(recurrence: Recurrence, symbol: str) -> Code:
    from .recurrence_loop import compiled  # it imports Numba

    return compiled(recurrence, symbol)
