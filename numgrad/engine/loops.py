"""The loops around a kernel: which axes the machine walks along, and in which order."""

from collections.abc import Sequence

from .program import Pattern

# A loop shorter than this is not worth being the inner one when a longer axis is there.
SHORT = 8


def loops(
    pattern: Pattern, row_strides: Sequence[int] | None, first: int = 0
) -> tuple[list[int], list[list[int]], int]:
    """Return counts and per-operand strides of the loop axes from the ``first`` on, outermost
    first, and the index of the row axis.

    Axes that every operand walks through without a gap are merged; where the last one is short,
    another may become the inner one. The count of the row axis is a multiplier of the rows of the
    tile.
    """
    axes: list[tuple[int, list[int], bool]] = []
    if row_strides is not None:
        axes.append((1, list(row_strides), True))
    for axis, count in enumerate(pattern.loop[first:], first):
        if count != 1:
            _append_axis(axes, count, [s[axis] for s in pattern.strides])
    if not axes:
        axes.append((1, [0] * len(pattern.layouts), False))
    if len(axes) > 1 and axes[-1][0] < SHORT:
        axes.append(axes.pop(_inner(pattern, axes)))
    row = next((n for n, axis in enumerate(axes) if axis[2]), -1)
    return [axis[0] for axis in axes], [axis[1] for axis in axes], row


def _inner(pattern: Pattern, axes: Sequence[tuple[int, list[int], bool]]) -> int:
    """Return which axis is to be the inner one: the longest; for a kernel that takes short rows
    together, that along which most operands lie in order, and among equal ones the last."""
    if not getattr(pattern.kernel, "rows_address", 0):
        return max(range(len(axes)), key=lambda n: axes[n][0] * (64 if axes[n][2] else 1))
    sizes = [layout.dtype.itemsize for layout in pattern.layouts]

    def in_order(n: int) -> tuple[int, int]:
        return sum([a == b for a, b in zip(axes[n][1], sizes, strict=True)]), n

    return max(range(len(axes)), key=in_order)


def _append_axis(axes: list[tuple[int, list[int], bool]], count: int, along: list[int]) -> None:
    if axes:
        outer_count, outer, is_row = axes[-1]
        if all(o == s * count for o, s in zip(outer, along, strict=True)):
            axes[-1] = (outer_count * count, along, is_row)
            return
    axes.append((count, along, False))
