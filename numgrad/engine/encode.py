"""Encoding: instructions with placed buffers to the flat integer code that a machine runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .program import Instruction

# A loop shorter than this is not worth being the inner one when a longer axis is there.
SHORT = 8


def encode(
    instructions: Sequence[Instruction], places: Mapping[int, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the code and the offset of each instruction in it; the layout is described in
    ``targets``."""
    code: list[int] = []
    starts: list[int] = []
    for instruction in instructions:
        starts.append(len(code))
        _encode_one(code, instruction, places)
    return np.array(code, np.int64), np.array(starts, np.int64)


def _encode_one(code: list[int], instruction: Instruction, places: Mapping[int, Any]) -> None:
    operands = [*instruction.inputs, *instruction.outputs]
    spots = [places[o.buffer.index] for o in operands]
    row_strides = [0] * len(operands)
    if instruction.rows:
        row_strides = [
            spot.row_stride if o.buffer.rows else 0 for spot, o in zip(spots, operands, strict=True)
        ]
    counts, strides, row = loops(instruction, row_strides)
    nops = len(operands)
    code += (
        instruction.kernel.address, nops, len(counts), row,
        len(instruction.core), len(instruction.core_strides), instruction.work, 0,
    )  # fmt: skip
    for spot, operand, row_stride in zip(spots, operands, row_strides, strict=True):
        code += (spot.scratch, spot.base + operand.offset, row_stride)
    code += counts
    code += instruction.core
    for along in strides:
        code += along
    code += instruction.core_strides


def loops(
    instruction: Instruction, row_strides: Sequence[int]
) -> tuple[list[int], list[list[int]], int]:
    """Return counts and per-operand strides of the loop axes, outermost first, and the index of
    the row axis.

    Axes that every operand walks through without a gap are merged; the longest axis becomes the
    inner one when the last is short. The count of the row axis is a multiplier of the rows of the
    tile.
    """
    axes: list[tuple[int, list[int], bool]] = []
    if instruction.rows:
        axes.append((1, list(row_strides), True))
    elif len(instruction.loop) <= 1:  # nothing to merge or to choose
        counts = list(instruction.loop) or [1]
        return counts, [[along[0] if along else 0 for along in instruction.strides]], -1
    for axis, count in enumerate(instruction.loop):
        if count != 1:
            _append_axis(axes, count, [s[axis] for s in instruction.strides])
    if not axes:
        axes.append((1, [0] * len(row_strides), False))
    if len(axes) > 1 and axes[-1][0] < SHORT:
        best = max(range(len(axes)), key=lambda n: axes[n][0] * (64 if axes[n][2] else 1))
        axes.append(axes.pop(best))
    row = next((n for n, axis in enumerate(axes) if axis[2]), -1)
    return [axis[0] for axis in axes], [axis[1] for axis in axes], row


def _append_axis(axes: list[tuple[int, list[int], bool]], count: int, along: list[int]) -> None:
    if axes:
        outer_count, outer, is_row = axes[-1]
        if all(o == s * count for o, s in zip(outer, along, strict=True)):
            axes[-1] = (outer_count * count, along, is_row)
            return
    axes.append((count, along, False))
