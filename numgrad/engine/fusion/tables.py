"""Tables: operands of a fused kernel that are columns of one array, whose rows have few elements.

A column is strided. A target that knows which operands are columns of the same table moves whole
rows between memory and registers, instead of each column on its own.
"""

from collections.abc import Sequence

from ...ir.kernel_spec import Table
from ..graph.value import Shape
from .expression import Leaf

MOST_COLUMNS = 16
"""Rows of more elements are no tables: most of what is read of a row would not be used."""

LONG_COLUMN = 256
"""A shorter axis may not stay innermost, see `repetition.LONG_STRIDED_ROW`."""


def tables_of(
    inputs: Sequence[Leaf], outputs: Sequence[Leaf], loop: Shape
) -> tuple[Table, ...]:
    """Return the tables of which operands are columns, along the last axis of a loop.

    There are none where the axis is short, or an operand is strided in another way: that operand
    would pass through a buffer, and the others with it.
    """
    if not loop or loop[-1] < LONG_COLUMN:
        return ()
    groups: dict[tuple, list[tuple[int, int]]] = {}
    for number, leaf in enumerate((*inputs, *outputs)):
        step, size = leaf.strides[-1], leaf.dtype.itemsize
        if not step or (step == size and not leaf.turns):
            continue
        if leaf.turns or leaf.dtype.kind != "f" or step % size or leaf.offset % size:
            return ()
        width = step // size
        if not 1 < width <= MOST_COLUMNS:
            return ()
        row, place = divmod(leaf.offset, step)
        key = number < len(inputs), leaf.buffer, leaf.strides, leaf.dtype, leaf.rows, row, width
        groups.setdefault(key, []).append((number, place // size))
    return tuple([Table(key[-1], tuple(columns)) for key, columns in groups.items()])
