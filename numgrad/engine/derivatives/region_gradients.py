"""Gradients of regions: the cotangents of an array that was written part by part.

A node that reads a part sends its cotangent to that part alone; a node that wrote a part takes the
cotangents of that part. Cotangents are kept as boxes with values, not as arrays of the whole: so
the backward pass of a loop that writes many rows of an array takes time in proportion to the
elements that the loop reads and writes.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from ...ir.broadcasting import zeros_in
from ..fusion.boxes import Bounds, Box, Boxes, box_of, difference, intersection, slices, whole_of
from ..graph.node import Edge, Node, Value
from ..graph.runtime import deferred_value
from ..graph.traversal import reachable
from ..record.apply import runtime
from .rules import fit


class Part(NamedTuple):
    """The gradient of the elements in a box."""

    box: Box
    value: Any


def whole_part(value: Any) -> Part:
    """Return the gradient of an array as a part whose box is the whole array."""
    return Part(whole_of(value.shape), value)


def boxes_of(parts: Iterable[Part], shape: Sequence[int]) -> Boxes[Part]:
    """Return ``parts`` in a table that finds those overlapping a region fast.

    ``shape`` is that of the whole array.
    """
    found: Boxes[Part] = Boxes(whole_of(shape).bounds)
    for part in parts:
        found.add(part.box.bounds, part)
    return found


def read_by(node: Node) -> Box | None:
    """Return the box that a node reads, if the node reads a part of an array written in place.

    None for other nodes, and for parts that are no box.
    """
    parent = node.parents[0] if len(node.parents) == 1 else None
    if parent is None or not writes(parent) or "key" not in node.static:
        return None
    if node.operator not in (runtime.roles.index, runtime.roles.element):
        return None
    key, shape = node.static["key"], node.inputs[0].shape
    return box_of(key, shape) if None not in key else None


def written_by(node: Node) -> Box | None:
    """Return the box that a node has written in place; None for other nodes, and for writes to
    regions that are no box."""
    if not writes(node) or node.inputs[0].shape != node.outputs[0].shape:
        return None
    chain = node.static["chain"]
    if len(chain) != 1 or chain[0][0] is not runtime.roles.index:
        return None
    key = dict(chain[0][1])["key"]
    return box_of(key, node.inputs[0].shape) if None not in key else None


def writes(node: Node) -> bool:
    """Whether a node has written a part of an array in place."""
    return node.operator is runtime.roles.put_view


def reads_partly_written(node: Node) -> bool:
    """Whether the first input of a node is an array of which a part was written in place."""
    parent = node.parents[0]
    return parent is not None and writes(parent)


def take_written(parts: Boxes[Part], box: Box, node: Node, wanted: Sequence[bool]) -> Value | None:
    """Split the gradient of an array at a node that has written a value into a box of the array.

    Return the gradient of the written value, None if the gradient is zero or not wanted. What
    remains in ``parts``, the gradient outside of the box, is the gradient of the array before the
    write.

    ``wanted`` has two elements: whether the gradient of the array before the write is wanted, and
    whether that of the written value is.
    """
    inside: list[Part] = []
    for part in parts.take(box.bounds):
        shared = intersection(part.box.bounds, box.bounds)
        if shared == part.box.bounds:
            inside.append(part)
            continue
        value = _with_all_axes(part)
        inside.append(_piece(part, value, shared))
        if wanted[0]:
            for bounds in difference(part.box.bounds, shared):
                parts.add(bounds, _piece(part, value, bounds))
    if not wanted[1] or not inside:
        return None
    return fit(total_of(inside, box), node.inputs[1])


def total_of(parts: Sequence[Part], box: Box) -> Value:
    """Return the sum of gradients of parts as the gradient of the box that contains them."""
    if all([part.box == box for part in parts]):  # noqa: C419  a list is faster
        return _sum([deferred_value(part.value) for part in parts])
    total = _joined(parts, box)
    if not any(box.dropped):
        return total
    key = tuple([0 if dropped else (None,) for dropped in box.dropped])
    return runtime.roles.index(total, key=key)


def dense(parts: Iterable[Part], shape: tuple[int, ...]) -> Value:
    """Return the sum of gradients of parts as the gradient of the whole array."""
    return total_of(list(parts), whole_of(shape))


def _sum(values: Sequence[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = runtime.roles.add(total, value)
    return total


def _with_all_axes(part: Part) -> Value:
    """Return the value of a part, with an axis of size 1 for each axis that its box drops."""
    value, dropped = deferred_value(part.value), part.box.dropped
    axes = tuple([n - len(dropped) for n, is_dropped in enumerate(dropped) if is_dropped])
    return runtime.roles.expand_dims(value, axes=axes) if axes else value


def _piece(part: Part, value: Value, bounds: Bounds) -> Part:
    """Return the piece of a part within bounds; ``value`` is the part's value with all axes."""
    key = slices(bounds, part.box.bounds)
    return Part(Box(bounds, (False,) * len(bounds)), runtime.roles.index(value, key=key))


def _joined(parts: Sequence[Part], box: Box) -> Value:
    """Return the sum of gradients of parts as the gradient of a box, without dropping axes.

    Each part is written or added to its own region of the sum. A program does so without a copy of
    the rest.
    """
    total: Value = runtime.value(zeros_in(box.sizes, parts[0].value.dtype))
    index, ndim = runtime.roles.index, len(box.bounds)
    before: Boxes[None] = Boxes(box.bounds)
    for part in parts:
        bounds, value = part.box.bounds, _with_all_axes(part)
        key = slices(bounds, box.bounds)
        if before.overlapping(bounds):
            value = runtime.roles.add(index(total, key=key), value)
        before.add(bounds, None)
        chain = ((index, (("key", key),)),)
        if bounds == box.bounds:
            total = value
        else:
            static = {"ncore": ndim, "nregion": ndim, "chain": chain}
            total = runtime.roles.put_view(total, value, **static)
    return total


class Parts:
    """The gradients of parts that have arrived in a pass, by node and slot."""

    __slots__ = ("_arrived",)

    def __init__(self) -> None:
        self._arrived: dict[Any, Boxes[Part]] = {}

    def send_on(self, node: Node, total: Any, wanted: Sequence[bool]) -> list[Any] | None:
        """Propagate the cotangent of a node that reads or writes a part of an array in place.

        Parameters
        ----------
        node : Node
            Any node of the pass.
        total : Value or None
            The sum of the cotangents that have arrived at the node, other than those of parts.
        wanted : sequence of bool
            Whether the gradient of each input of the node is wanted.

        Returns
        -------
        list or None
            The gradients of the node's inputs, with None for an input whose gradient is zero, not
            wanted, or kept as parts. None in place of the list for a node of another sort, with
            which nothing was done.
        """
        box = read_by(node)
        if box is not None and total is not None:
            self._send((node.parents[0], node.slots[0]), [Part(box, total)], node.inputs[0].shape)
            return [None]
        box = written_by(node)
        parent = node.parents[0]
        if box is None or ((node, 0) not in self._arrived and not (parent and writes(parent))):
            return None
        shape = node.inputs[0].shape
        parts = self._arrived.pop((node, 0), None) or boxes_of([], shape)
        if total is not None:  # merged with the parts, which every write would cut smaller
            parts = boxes_of([whole_part(dense([whole_part(total), *parts], shape))], shape)
        gv = take_written(parts, box, node, wanted)
        if not wanted[0] or not parts:
            return [None, gv]
        if parent is not None and writes(parent):
            self._send((parent, node.slots[0]), parts, shape)
            return [None, gv]
        return [fit(dense(parts, shape), node.inputs[0]), gv]

    def _send(self, place: Any, parts: Iterable[Part], shape: tuple[int, ...]) -> None:
        arrived = self._arrived.get(place)
        if arrived is None:
            self._arrived[place] = parts if isinstance(parts, Boxes) else boxes_of(parts, shape)
            return
        for part in parts:
            arrived.add(part.box.bounds, part)

    def __contains__(self, place: Any) -> bool:
        return place in self._arrived

    def take(self, place: Any) -> Value | None:
        """Remove the parts that have arrived at a place, a node and a slot; return their sum as one
        gradient."""
        parts = self._arrived.pop(place, None)
        return None if parts is None else dense(parts, place[0].outputs[place[1]].shape)


def zeros_behind(
    missing: Collection[Edge], order: Sequence[Node], request: Any
) -> dict[Edge, Value]:
    """Return zeros as the gradients of values that lie behind arrays overwritten as a whole.

    Such a write stops the pass on its way towards the inputs: the overwritten elements have no
    influence. Zeros are not sent on as a cotangent, since an infinite derivative further on would
    turn zeros into NaN.

    Parameters
    ----------
    missing : collection of Edge
        The edges at which no gradient has arrived.
    order : sequence of Node
        The nodes of the pass.
    request : Request
        The request of the pass.
    """
    above = [node.parents[0] for node in order if _is_overwriting(node)] if missing else []
    roots = [node for node in above if node is not None]
    behind = set(reachable(roots, request.cut, request.ends)) if roots else set()
    return {edge: _zeros(edge) for edge in missing if edge.node in behind}


def _is_overwriting(node: Node) -> bool:
    return not node.is_accumulator and node.operator.covers(node.inputs, node.static)


def _zeros(edge: Edge) -> Value:
    zero = runtime.value(zeros_in((), edge.spec.dtype))
    return runtime.roles.copy(runtime.roles.broadcast_to(zero, edge.spec.shape))


__all__ = ["Parts", "writes", "zeros_behind"]
