"""Estimates of what a turn of a loop costs: as scalar functions in one kernel, and as instructions.

A kernel with a loop computes one number after the other, and starts nothing. Instructions compute
vectors, and are fused with one another; sums and products of matrices stand alone. The estimates
are nanoseconds of one core, near those of least squares through loops of several kinds and sizes
(`docs/engine/measure_rolling_costs.py`). No result depends on an estimate, only which form is run.
"""

import dis
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ...ir.kernel_spec import ProductSpec
from ...ir.program import Pattern

_ALONE, _FUSED = 60.0, 2.0  # an instruction that stands alone, or is fused
_SCALAR, _SCALAR_CALL, _SCALAR_SLOW_CALL, _SCALAR_JOINED = 0.15, 7.0, 20.0, 0.2
_VECTOR, _VECTOR_CALL, _VECTOR_JOINED = 0.05, 2.0, 0.3  # for an element: simple, called, joined
_TURN = 2.0  # of a kernel with a loop: what a turn waits, at least, for the one before
_RUN = 400.0  # of a program that runs for each turn, with its share of a call of 200 turns
_LEAST = 8  # elements for which a vector takes as long as for fewer

STORED = 0.3
"""A number that a turn of one loop stores, and a turn of another one loads."""

_ONE_INSTRUCTION = frozenset(("sqrt", "fabs", "floor", "ceil", "trunc", "copysign"))
_QUICK = frozenset(("exp", "exp2", "log", "log2", "log10", "sin", "cos"))
_SLOW = frozenset(n for n in dir(math) if callable(getattr(math, n))) - _ONE_INSTRUCTION - _QUICK


def is_faster_as_scalars(
    patterns: Sequence[Pattern], batch: int, is_own_program: bool = False
) -> bool:
    """Whether a kernel with a loop is expected to take less time for a turn than the instructions.

    Parameters
    ----------
    patterns : sequence of Pattern
        Those of the instructions of a turn.
    batch : int
        The number of rows.
    is_own_program : bool
        Whether the instructions are a program of their own, which runs for each turn.
    """
    scalars, vectors = _TURN, _RUN if is_own_program else 0.0
    for pattern in patterns:
        size = width(pattern, batch)
        if not pattern.fusible:
            scalars += size * _SCALAR_JOINED
            vectors += size * _VECTOR_JOINED + _ALONE
            continue
        scalar = scalar_cost(getattr(pattern.spec, "function", None))
        scalars += size * scalar
        vector = _VECTOR if scalar == _SCALAR else _VECTOR_CALL
        vectors += max(size, _LEAST) * vector + _FUSED
    return scalars <= vectors


def width(pattern: Pattern, batch: int) -> int:
    """Return the number of elements that an instruction works on, in all rows together."""
    return pattern.work * batch if pattern.rows else pattern.work


def step_cost(spec: Any) -> float:
    """Return what a scalar function of a loop takes: one of elements, or a term of a product."""
    if isinstance(spec, ProductSpec):
        return _SCALAR_JOINED
    return scalar_cost(getattr(spec, "function", None))


@cache
def scalar_cost(function: Callable[..., Any] | None) -> float:
    """Return what an elementwise function takes for an element in a loop: more if the function
    calls others, such as ``exp``, in compiled code too."""
    code = getattr(function, "__code__", None)
    if code is None or not _SLOW.isdisjoint(code.co_names):
        return _SCALAR_SLOW_CALL
    if any(i.argrepr in ("**", "**=") for i in dis.get_instructions(code)):
        return _SCALAR_SLOW_CALL
    return _SCALAR if _QUICK.isdisjoint(code.co_names) else _SCALAR_CALL


__all__ = ["STORED", "is_faster_as_scalars", "scalar_cost", "step_cost", "width"]
