"""Rings: the pieces of a rolled operand become one walk through a ring.

`roll` and its gradient lower to instructions for the elements before and after the end of an axis.
As long as those are told apart, the seam moves on, shifted, into all that is made of the result. So
they are put together again: one loop over the whole axis, of which an operand begins in the middle.
"""

from collections.abc import Sequence
from itertools import pairwise

from .expand import Form, Leaf, Unit
from .graph import Shape


def closed(units: Sequence[Unit]) -> Unit | None:
    """Return one unit that does what all units of one value do, None where there is none."""
    if len(units) < 2 or len({unit.form.spec for unit in units}) > 1:
        return None
    axis = _axis(units)
    if axis is None:
        return None
    return _joined(sorted(units, key=lambda unit: unit.output.offset), axis)


def _axis(units: Sequence[Unit]) -> int | None:
    """Return the one axis along which units may lie side by side."""
    loops = {unit.loop for unit in units}
    if len({len(loop) for loop in loops}) > 1:
        return None
    found = [a for a, sizes in enumerate(zip(*loops, strict=True)) if len(set(sizes)) > 1]
    if not found:  # halves: what lies between them tells
        step = abs(units[1].output.offset - units[0].output.offset)
        walks = enumerate(zip(units[0].form.along, units[0].loop, strict=True))
        found = [a for a, (stride, size) in walks if stride * size == step]
    return found[0] if len(found) == 1 else None


def _joined(units: Sequence[Unit], axis: int) -> Unit | None:
    """Return one unit for units in order along an axis, None where they are no ring."""
    like = max(units, key=lambda unit: unit.loop[axis])
    stride = like.form.along[axis]
    starts = [0]
    for unit, following in pairwise(units):
        starts.append(starts[-1] + unit.loop[axis])
        if following.output.offset - unit.output.offset != stride * unit.loop[axis]:
            return None
    length = starts[-1] + units[-1].loop[axis]
    if like.loop[axis] < 2:
        return None  # nothing says how operands walk
    operands = []
    for place, leaf in enumerate(like.operands):
        ring = _ring([unit.operands[place] for unit in units], starts, axis, length, leaf)
        if ring is None:
            return None
        operands.append(ring)
    loop = (*like.loop[:axis], length, *like.loop[axis + 1 :])
    number = min([unit.number for unit in units])
    form = Form.whole(like.form.spec, loop, like.form.along)
    return Unit(form, number, 0, tuple(operands))


def _ring(
    views: Sequence[Leaf], starts: Sequence[int], axis: int, length: int, like: Leaf
) -> Leaf | None:
    """Return the ring of which views that begin at ``starts`` of the loop are parts, in order."""
    turn, base, step = 0, views[0].offset, like.strides[axis]
    for view, start in zip(views, starts, strict=True):
        if view.buffer != like.buffer or _across(view, axis) != _across(like, axis):
            return None
        away = view.offset - views[0].offset - start * step
        if away == 0 and turn == 0:
            continue
        if step <= 0 or away != -length * step:
            return None
        if turn == 0:
            turn, base = length - start, view.offset
    turns = tuple([turn if a == axis else 0 for a in range(len(like.strides))]) if turn else ()
    return Leaf(like.buffer, base, like.strides, like.dtype, like.rows, turns)


def _across(leaf: Leaf, axis: int) -> Shape:
    return (*leaf.strides[:axis], *leaf.strides[axis + 1 :])
