"""Encoding: instructions with placed buffers become the flat integer code that the machine runs.

The words of an instruction depend on its pattern and on the row strides of its operands; a pattern
caches these words. Only the slots and offsets of buffers are filled in for each program, for all
its instructions together.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ....ir.program import Pattern, Program
from .schedule import ABSOLUTE, BATCH, ELEMENTS, Schedule, Segment
from .tiled_runs import row_splits_of

_HEAD = 8
# An innermost loop shorter than this changes places with a longer axis.
_SHORT = 8
# A kernel that loops over the two innermost axes is called for so many elements, or the longest
# axis becomes the second innermost: a call takes as long as some 60 elements.
_FEW = 64
# A tile of more rows counts as one of so many, where axes are compared by length.
_MOST_ROWS = 64


def encode(plan: Schedule, program: Program, target: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the code of all segments, and where in the code each instruction begins.

    `machine` describes the layout. The target supplies kernels for patterns without one.
    """
    for segment in plan.segments:
        for instruction in segment.instructions:
            pattern = instruction.pattern
            if pattern.kernel is None:
                pattern.kernel = target.kernel(pattern.spec)
    words = list(chain(*[_segment_words(segment, program) for segment in plan.segments]))
    instructions = list(chain(*[segment.instructions for segment in plan.segments]))
    lengths = np.array(list(map(len, words)), np.int64)
    starts = np.cumsum(lengths) - lengths
    code = np.concatenate(words) if words else np.empty(0, np.int64)
    used = [i.buffers for i in instructions]
    counts = np.array(list(map(len, used)), np.int64)
    buffers = np.array(list(chain(*used)), np.int64)
    offsets = np.array(list(chain(*[i.offsets for i in instructions])), np.int64)
    within = np.arange(len(buffers)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(starts + _HEAD, counts) + 3 * within
    code[places] = np.array(plan.slots, np.int64)[buffers]
    code[places + 1] = np.array(plan.offsets, np.int64)[buffers] + offsets
    return code, starts


def _segment_words(segment: Segment, program: Program) -> list[np.ndarray]:
    """Return the words of each instruction of a segment; slots and offsets of operands are left 0.
    """
    if segment.kind != BATCH:
        rows = segment.rows if segment.kind == ELEMENTS else 0
        return [_words_once(i.pattern, rows) for i in segment.instructions]
    row_strides, tile = program.row_strides, min(segment.tile, _MOST_ROWS)
    result = []
    for instruction in segment.instructions:
        along = tuple([row_strides[index] for index in instruction.buffers])
        pattern, key = instruction.pattern, (tile, along)
        found = pattern.codes.get(key)
        if found is None:
            found = _words(pattern, along, *_loops(pattern, along, tile=tile))
            pattern.codes[key] = found
        result.append(found)
    return result


def _words_once(pattern: Pattern, rows: int) -> np.ndarray:
    """Return the words of an instruction outside the batch, cut into ``rows`` rows unless 0."""
    found = pattern.codes.get(rows)
    if found is None:
        if pattern.block:
            found = _block_words(pattern, max(rows, 1))
        elif rows:
            walk = row_splits_of(pattern)[rows]
            found = _words(pattern, walk.strides, *_loops(pattern, walk.strides, walk.axes))
            found[6] = max(1, pattern.work // rows)
        else:
            found = _words(pattern, [0] * len(pattern.layouts), *_loops(pattern, None))
        pattern.codes[rows] = found
    return found


def _block_words(pattern: Pattern, rows: int) -> np.ndarray:
    """Return the words of a reduction in blocks whose input is cut into ``rows`` rows.

    The kernel has a third operand without memory. In place of its address the kernel gets the
    position of a row's first element among all elements: it begins at 0, and the row stride is the
    number of elements in a row.
    """
    (count, *inner), (source, parts) = pattern.core, pattern.layouts
    each, size = count // rows, source.nbytes // count
    part = parts.nbytes // parts.shape[0]
    code = [
        pattern.kernel.address, 3, 1, 0, len(pattern.core), 0, max(1, pattern.work // rows), 0,
        0, 0, each * size, 0, 0, 0, ABSOLUTE, 0, each, each, count, *inner, size, part, 1,
    ]  # fmt: skip
    return np.array(code, np.int64)


def _words(
    pattern: Pattern,
    row_strides: Sequence[int],
    counts: list[int],
    strides: list[list[int]],
    row: int,
) -> np.ndarray:
    """Return the words of one instruction; the slots and offsets of its operands are left 0.

    ``counts``, ``strides`` and ``row`` describe its loops as `_loops` returns them.
    """
    core = getattr(pattern.kernel, "core", pattern.core)
    code = [
        pattern.kernel.address, len(pattern.layouts), len(counts), row,
        len(core), len(pattern.core_strides), pattern.work,
        getattr(pattern.kernel, "rows_address", 0),
    ]  # fmt: skip
    for row_stride in row_strides:
        code += (0, 0, row_stride)
    code += counts
    code += core
    for along in strides:
        code += along
    code += pattern.core_strides
    return np.array(code, np.int64)


def _loops(
    pattern: Pattern, row_strides: Sequence[int] | None, first: int = 0, tile: int = _MOST_ROWS
) -> tuple[list[int], list[list[int]], int]:
    """Return counts and strides of the loop axes from ``first`` on, and the index of the row axis.

    Axes are listed from the outermost on, with a stride for each operand. Neighbouring axes are
    merged if every operand walks over both without a gap; a short last axis may change places with
    a longer one. The count of the row axis is that of one row: 1, or the count of the axes merged
    with the row axis. The machine multiplies that count by the rows of the tile, about ``tile``.
    """
    axes: list[tuple[int, list[int], bool]] = []
    if row_strides is not None:
        axes.append((1, list(row_strides), True))
    for axis, count in enumerate(pattern.loop[first:], first):
        if count != 1:
            _append_axis(axes, count, [s[axis] for s in pattern.strides])
    if not axes:
        axes.append((1, [0] * len(pattern.layouts), False))
    if len(axes) > 1 and axes[-1][0] < _SHORT:
        axes.append(axes.pop(_inner(pattern, axes, tile)))
    if len(axes) > 2 and axes[-1][0] * axes[-2][0] < _FEW:
        axes.insert(-1, axes.pop(_longest(axes[:-1], tile)))
    row = next((n for n, axis in enumerate(axes) if axis[2]), -1)
    return [axis[0] for axis in axes], [axis[1] for axis in axes], row


def _inner(pattern: Pattern, axes: Sequence[tuple[int, list[int], bool]], tile: int) -> int:
    """Return the index of the axis that becomes the innermost one: the longest.

    The row axis counts as ``tile`` times as long. A kernel may itself loop over the two innermost
    axes: then the innermost axis is the one along which most operands are contiguous, and among
    equals the longest, or the last.
    """
    if not getattr(pattern.kernel, "rows_address", 0):
        return _longest(axes, tile)
    sizes = [layout.dtype.itemsize for layout in pattern.layouts]

    def in_order(n: int) -> tuple[int, int, int]:
        return sum([a == b for a, b in zip(axes[n][1], sizes, strict=True)]), axes[n][0], n

    return max(range(len(axes)), key=in_order)


def _longest(axes: Sequence[tuple[int, list[int], bool]], tile: int) -> int:
    """Return the index of the longest axis; the row axis counts as ``tile`` times as long."""
    return max(range(len(axes)), key=lambda n: axes[n][0] * (tile if axes[n][2] else 1))


def _append_axis(axes: list[tuple[int, list[int], bool]], count: int, along: list[int]) -> None:
    """Append a loop axis, or merge it with the axis before if no operand has a gap between them."""
    if axes:
        outer_count, outer, is_row = axes[-1]
        if all(o == s * count for o, s in zip(outer, along, strict=True)):
            axes[-1] = (outer_count * count, along, is_row)
            return
    axes.append((count, along, False))
