"""Rows of a batch, one by one: what a batched pass shows to Python functions, and joins again.

They are no part of the registry: users have ``stack`` and ``unstack`` of the functions.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._declare import Operator
from ...engine.record import apply


def _row(axis: int, index: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that takes element ``index`` along the negative ``axis``."""
    after = (slice(None),) * (-axis - 1)
    return lambda array: array[(..., index, *after)]


class SplitRows(Operator):
    """One output for each element along ``axis``: copies, which a hook may write to."""

    def infer(self, specs: Sequence[Any], static: dict[str, Any]) -> list[Any]:
        (spec,) = specs
        axis = static["axis"] + len(spec.shape)
        shape = (*spec.shape[:axis], *spec.shape[axis + 1 :])
        return [(shape, spec.dtype)] * spec.shape[axis]

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        (array,) = arrays
        axis = static["axis"]
        return [_row(axis, n)(array).copy() for n in range(array.shape[axis])]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Any, static: dict[str, Any]
    ) -> list[Any]:
        return [inputs[0].view(_row(static["axis"], n)) for n in range(len(specs))]


class JoinRows(Operator):
    """The inputs stacked along the new ``axis``."""

    def infer(self, specs: Sequence[Any], static: dict[str, Any]) -> list[Any]:
        shape, dtype = specs[0].shape, specs[0].dtype
        axis = static["axis"] + len(shape) + 1
        return [((*shape[:axis], len(specs), *shape[axis:]), dtype)]

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        return [np.stack(arrays, static["axis"])]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Any, static: dict[str, Any]
    ) -> list[Any]:
        (spec,) = specs
        shape, dtype, rows = spec.shape, spec.dtype, spec.rows
        result = builder.new(shape, dtype, rows)
        for n, operand in enumerate(inputs):
            builder.copy(operand, result.view(_row(static["axis"], n)))
        return [result]


_split = SplitRows("split_rows", register=False)
_join = JoinRows("join_rows", register=False)


@_split.pullback
def split_pullback(context: Any, *gs: Any) -> Any:
    return apply.apply(_join, gs, context.static)[0]


@_join.pullback
def join_pullback(context: Any, g: Any) -> Any:
    return tuple(apply.apply(_split, (g,), context.static))


def split_rows(value: Any) -> list[Any]:
    """Return the elements of ``value`` along its first axis."""
    return apply.apply(_split, (value,), {"axis": -len(value.shape)})


def join_rows(values: Sequence[Any]) -> Any:
    """Stack values of one shape and dtype along a new first axis."""
    return apply.apply(_join, tuple(values), {"axis": -len(values[0].shape) - 1})[0]
