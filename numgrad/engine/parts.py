"""Gradients of parts: what arrives at an array that was written part by part.

A read of a part sends its gradient to that part alone, and a write takes what belongs to the part
that it wrote. Both are kept as boxes with their values, not as arrays of the whole: so a loop that
writes an array of many rows is differentiated in time that grows with what it reads and writes.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from .graph import Edge, Node, Value
from .record import runtime
from .rules import as_value, fit
from .select import reachable

_MOST = 512  # parts that are looked through at each write; more become one

Bounds = tuple[tuple[int, int], ...]


class Box(NamedTuple):
    """A region of an array: where it begins and ends along each axis, and which axes an integer
    has dropped."""

    bounds: Bounds
    dropped: tuple[bool, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple([stop - start for start, stop in self.bounds])


class Part(NamedTuple):
    """A gradient of the elements in a box."""

    box: Box
    value: Any


def whole(value: Any) -> Part:
    """Return a gradient of an array as that of a part which is all of it."""
    shape = value.shape
    return Part(Box(tuple([(0, size) for size in shape]), (False,) * len(shape)), value)


def box_of(key: Sequence[Any], shape: Sequence[int]) -> Box | None:
    """Return the region of a key of integers and slices; None for one of another kind."""
    lead = len(shape) - len(key)
    bounds = [(0, size) for size in shape[:lead]]
    dropped = [False] * lead
    for item, size in zip(key, shape[lead:], strict=False):
        if isinstance(item, int):
            start, stop, step = item % size, item % size + 1, 1
        elif item is None:
            return None
        else:
            start, stop, step = slice(*item).indices(size)
        if step != 1 or stop <= start:
            return None
        bounds.append((start, stop))
        dropped.append(isinstance(item, int))
    return Box(tuple(bounds), tuple(dropped))


def read_by(node: Node) -> Box | None:
    """Return the part of an array written in place that a node reads; None for any other node."""
    parent = node.parents[0] if len(node.parents) == 1 else None
    if parent is None or not writes(parent) or "key" not in node.static:
        return None
    if node.operator not in (runtime.roles["index"], runtime.roles["element"]):
        return None
    key, shape = node.static["key"], node.inputs[0].shape
    return box_of(key, shape) if None not in key else None


def written_by(node: Node) -> Box | None:
    """Return the part that a node has written in place; None for any other node, or region."""
    if not writes(node) or node.inputs[0].shape != node.outputs[0].shape:
        return None
    chain = node.static["chain"]
    if len(chain) != 1 or chain[0][0] is not runtime.roles["index"]:
        return None
    key = dict(chain[0][1])["key"]
    return box_of(key, node.inputs[0].shape) if None not in key else None


def writes(node: Node) -> bool:
    """Whether a node has written a part of an array in place."""
    return node.operator is runtime.roles["put_view"]


def of_a_part(node: Node) -> bool:
    """Whether the array of which a node reads or writes a part was written part by part."""
    parent = node.parents[0]
    return parent is not None and writes(parent)


def split(
    parts: Sequence[Part], box: Box, node: Node, wanted: Sequence[bool]
) -> tuple[list[Part], Value | None]:
    """Return what remains of gradients outside of the part that a node has written, and the
    gradient of what was written there."""
    inside: list[Part] = []
    outside: list[Part] = []
    for part in parts:
        common = _common(part.box.bounds, box.bounds)
        if common is None:
            outside.append(part)
        elif common == part.box.bounds:
            inside.append(part)
        else:
            value = _full(part)
            inside.append(_cut(part, value, common))
            if wanted[0]:
                rest = _around(part.box.bounds, common)
                outside += [_cut(part, value, bounds) for bounds in rest]
    if not wanted[1] or not inside:
        return outside, None
    total = total_of(inside, box)
    return outside, fit(total, node.inputs[1])


def total_of(parts: Sequence[Part], box: Box) -> Value:
    """Return the sum of gradients of parts of a box, as one of its elements."""
    if all([part.box == box for part in parts]):  # noqa: C419  a list is faster
        return _sum([as_value(part.value) for part in parts])
    total = _joined(parts, box)
    if not any(box.dropped):
        return total
    key = tuple([0 if dropped else (None,) for dropped in box.dropped])
    return runtime.roles["index"](total, key=key)


def gathered(parts: list[Part], shape: tuple[int, ...]) -> list[Part]:
    """Return parts of an array of a shape, as one where they are too many."""
    if len(parts) <= _MOST:
        return parts
    return [whole(dense(parts, shape))]


def dense(parts: Sequence[Part], shape: tuple[int, ...]) -> Value:
    """Return gradients of parts as one of the whole array."""
    return total_of(parts, Box(tuple([(0, size) for size in shape]), (False,) * len(shape)))


def _sum(values: Sequence[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = runtime.roles["add"](total, value)
    return total


def _common(a: Bounds, b: Bounds) -> Bounds | None:
    """Return the box that two have in common. Most have none, and the first axis may show it."""
    found = []
    for (low, high), (start, stop) in zip(a, b, strict=True):
        first, last = max(low, start), min(high, stop)
        if last <= first:
            return None
        found.append((first, last))
    return tuple(found)


def _around(outer: Bounds, inner: Bounds) -> list[Bounds]:
    """Return boxes that make up what is around a box in another one."""
    found = []
    for axis, ((low, high), (start, stop)) in enumerate(zip(outer, inner, strict=True)):
        before, after = inner[:axis], outer[axis + 1 :]
        sides = [(low, start), (stop, high)]
        found += [(*before, side, *after) for side in sides if side[0] < side[1]]
    return found


def _full(part: Part) -> Value:
    """Return the value of a part with all axes."""
    value, dropped = as_value(part.value), part.box.dropped
    axes = tuple([n - len(dropped) for n, is_dropped in enumerate(dropped) if is_dropped])
    return runtime.roles["expand_dims"](value, axes=axes) if axes else value


def _cut(part: Part, value: Value, bounds: Bounds) -> Part:
    """Return the piece of a part that lies within bounds, from its value with all axes."""
    offsets = [start for start, _ in part.box.bounds]
    key = _slices(bounds, offsets)
    return Part(Box(bounds, (False,) * len(bounds)), runtime.roles["index"](value, key=key))


def _joined(parts: Sequence[Part], box: Box) -> Value:
    """Return the sum of gradients of parts of a box, as one of its elements with all axes: each is
    added where it lies, which a program does without a copy of the rest."""
    zero = np.zeros((), parts[0].value.dtype)
    total: Value = runtime.value(np.broadcast_to(zero, box.sizes))
    offsets = [start for start, _ in box.bounds]
    index, ndim = runtime.roles["index"], len(offsets)
    for n, part in enumerate(parts):
        bounds, value = part.box.bounds, _full(part)
        key = _slices(bounds, offsets)
        is_first = all([_common(p.box.bounds, bounds) is None for p in parts[:n]])  # noqa: C419
        if not is_first:
            value = runtime.roles["add"](index(total, key=key), value)
        chain = ((index, (("key", key),)),)
        if bounds == box.bounds:
            total = value
        else:
            static = {"ncore": ndim, "nregion": ndim, "chain": chain}
            total = runtime.roles["put_view"](total, value, **static)
    return total


def _slices(bounds: Bounds, offsets: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    pairs = zip(bounds, offsets, strict=True)
    return tuple([(start - offset, stop - offset, 1) for (start, stop), offset in pairs])


class Parts:
    """The gradients of parts that have arrived in a pass, by node and slot."""

    __slots__ = ("_arrived",)

    def __init__(self) -> None:
        self._arrived: dict[Any, list[Part]] = {}

    def sent_on(self, node: Node, total: Any, wanted: Sequence[bool]) -> list[Any] | None:
        """Send the gradient of a node to parts where it reads or writes parts in place.

        Returns
        -------
        list or None
            The gradients of its inputs that are not sent to parts; None where nothing was done.
        """
        box = read_by(node)
        if box is not None and total is not None:
            self._send(node.parents[0], node.slots[0], [Part(box, total)], node.inputs[0].shape)
            return [None]
        box = written_by(node)
        parent = node.parents[0]
        if box is None or ((node, 0) not in self._arrived and not (parent and writes(parent))):
            return None
        parts, shape = self._arrived.pop((node, 0), []), node.inputs[0].shape
        if total is not None:  # the array was read as a whole: its parts would be cut ever smaller
            parts = [whole(dense([whole(total), *parts], shape))]
        outside, gv = split(parts, box, node, wanted)
        if not wanted[0] or not outside:
            return [None, gv]
        if parent is not None and writes(parent):
            self._send(parent, node.slots[0], outside, shape)
            return [None, gv]
        return [fit(dense(outside, shape), node.inputs[0]), gv]

    def _send(self, node: Any, slot: int, parts: list[Part], shape: tuple[int, ...]) -> None:
        place = (node, slot)
        self._arrived[place] = gathered([*self._arrived.get(place, ()), *parts], shape)

    def __contains__(self, place: Any) -> bool:
        return place in self._arrived

    def take(self, place: Any) -> Value | None:
        """Return what has arrived at a place, as one gradient."""
        parts = self._arrived.pop(place, None)
        return None if parts is None else dense(parts, place[0].outputs[place[1]].shape)


def zeros_behind(
    missing: Collection[Edge], order: Sequence[Node], request: Any
) -> dict[Edge, Value]:
    """Return zeros for the edges that the nodes of a pass reach only through what was overwritten
    as a whole: no gradient goes there, not even zeros, which an infinite derivative would turn into
    NaN on their way.

    Parameters
    ----------
    missing : collection of Edge
        Those to which no gradient came.
    order : sequence of Node
    request : Request
    """
    above = [node.parents[0] for node in order if _is_overwriting(node)] if missing else []
    roots = [node for node in above if node is not None]
    behind = set(reachable(roots, request.cut, request.ends)) if roots else set()
    return {edge: _zeros(edge) for edge in missing if edge.node in behind}


def _is_overwriting(node: Node) -> bool:
    return not node.is_accumulator and node.operator.covers(node.inputs, node.static)


def _zeros(edge: Edge) -> Value:
    assert edge.node is not None
    spec = edge.node.outputs[edge.slot]
    zero = runtime.value(np.zeros((), spec.dtype))
    return runtime.roles["copy"](runtime.roles["broadcast_to"](zero, spec.shape))


__all__ = ["Parts", "zeros_behind"]
