"""The instruction that runs a loop in its kernel, and where its operands are."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ir.kernel_spec import RolledSpec
from ...ir.program import Instruction, Pattern, layout_of

BYTE = np.dtype(np.uint8)


class Place(NamedTuple):
    """An operand of a loop: its buffer and offset at the first turn, and its move at each turn.

    Offset and move are in bytes.
    """

    buffer: int
    offset: int
    move: int


def looping(
    spec: RolledSpec, inputs: Sequence[tuple[Place, int]], results: Sequence[tuple[Place, int]],
    count: int, rows: Sequence[bool], site: Any,
) -> Instruction:  # fmt: skip
    """Return the instruction that runs a loop of ``count`` turns.

    Parameters
    ----------
    inputs, results : sequence of (Place, int)
        The places of the operands, each with the bytes that a turn accesses there.
    rows : sequence of bool
        For each buffer of the program whether it has rows.
    """
    layouts = []
    for place, size in (*inputs, *results):
        shape, strides = ((count, size), (place.move, 1)) if place.move else ((size,), (1,))
        layouts.append(layout_of(shape, strides, BYTE, rows[place.buffer]))
    places = [place for place, _ in (*inputs, *results)]
    pattern = Pattern(
        spec, tuple(layouts), len(inputs), (), (count,), [()] * len(places),
        tuple([place.move for place in places]), spec.name,
    )  # fmt: skip
    buffers, offsets, _ = zip(*places, strict=True)
    return Instruction(pattern, buffers, offsets, site)
