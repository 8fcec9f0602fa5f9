"""Halos: copies of the ends of rings, so that a kernel reads around an end without a jump.

A *ring* is an axis that a view reads from the middle to the end, and then on from the beginning.
Without a halo, a kernel that reads around the end of a ring runs in parts, one of them for an
element or two. So a value gets room before and after each ring, into which the elements of the
other end are copied once. The room is whole cache lines, which keeps rows aligned.

A value that all rows of a batch share gets a rotated copy for each view instead: the copy begins
with the element with which the view begins. Such a value is read again for every row, and so should
begin at a cache line.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, TypeAlias

from ...ir.program import Instruction, Pattern, Program, contiguous_strides, extent, layout_of
from ..graph.runtime import runtime
from ..graph.value import Shape
from .expression import Leaf, boxes
from .materialize import Root

_LINE = 64  # bytes


class Axis(NamedTuple):
    """A ring: an axis of a value that views read from the middle on, around its end.

    Attributes
    ----------
    stride, length : int
        The stride of the axis in bytes, and the number of its elements.
    width : int
        The most elements beyond either end that a view reads.
    """

    stride: int
    length: int
    width: int


class Padded:
    """The layout of values of one size with halos: copies of the other end at the ends of axes.

    Attributes
    ----------
    shape : tuple of int
        A shape of the values in which each ring is an axis; the axes between rings are merged.
    dense : tuple of int
        The strides in bytes of the axes of ``shape`` in a value without halos.
    widths : tuple of int
        The number of elements in the halo at either end of each axis; 0 for an axis that is no
        ring.
    strides : tuple of int
        The strides in bytes of the axes of ``shape`` in a value with halos.
    origin, nbytes : int
        The offset of the first element of a value, and the size with halos, in bytes.
    """

    def __init__(self, nbytes: int, itemsize: int, axes: Sequence[Axis]) -> None:
        rings = sorted(axes, key=lambda axis: -axis.stride)
        self._ring_strides = {axis.stride for axis in rings}
        shape, widths, rest = [], [], nbytes
        for axis in rings:
            shape += [rest // (axis.length * axis.stride), axis.length]
            widths += [0, axis.width]
            rest = axis.stride
        shape.append(rest // itemsize)
        self.shape, self.widths = tuple(shape), (*widths, 0)
        self.dense = contiguous_strides(self.shape, itemsize)
        room = [self._room(a) for a in range(len(shape))]
        padded = tuple([n + 2 * r for n, r in zip(shape, room, strict=True)])
        self.strides = contiguous_strides(padded, itemsize)
        self.origin = sum([r * s for r, s in zip(room, self.strides, strict=True)])
        self.nbytes = prod(padded) * itemsize
        self._places: dict[tuple[int, Shape, Shape, Shape], tuple[int, Shape] | None] = {}

    def _room(self, axis: int) -> int:
        """Return how many elements of room an axis gets before its first and after its last one.

        The room is that for the halo of the axis, rounded up to whole cache lines if the stride of
        the axis is less than a line.
        """
        width = self.widths[axis]
        inner = self.dense[axis]
        if width == 0 or inner >= _LINE:
            return width
        return -(-width * inner // _LINE) * _LINE // inner

    def place(self, leaf: Leaf, loop: Shape) -> tuple[int, Shape] | None:
        """Return the offset and strides, in this layout, of a view of a value without halos.

        None where the view goes beyond an axis, or around the end of an axis that is no ring.
        Answers are kept, as the stages of an integrator have equal views.
        """
        key = (leaf.offset, leaf.strides, leaf.turns, loop)
        if key not in self._places:
            self._places[key] = self._place(*key)
        return self._places[key]

    def _place(
        self, rest: int, walks: Shape, turns: Shape, loop: Shape
    ) -> tuple[int, Shape] | None:
        offset = self.origin
        digits = []
        for dense, stride in zip(self.dense, self.strides, strict=True):
            digit, rest = divmod(rest, dense)
            digits.append(digit)
            offset += digit * stride
        strides = []
        for a, stride in enumerate(walks):
            turn = turns[a] if turns else 0
            found = self._walk(stride, digits, loop[a]) if stride else 0
            if found is None or (turn and stride not in self._ring_strides):
                return None
            strides.append(found)
            offset += (turn if 2 * turn <= loop[a] else turn - loop[a]) * found
        return offset, tuple(strides)

    def _walk(self, stride: int, digits: list[int], count: int) -> int | None:
        """Return the stride in this layout for a ``stride`` of a view of a value without halos.

        The view takes ``count`` elements with this stride. None if they go beyond the axis.
        ``digits`` is the index of the last element that the view reaches by the strides before this
        one, and is moved on: several strides along one axis must stay within the axis together.
        """
        for a, (size, dense) in enumerate(zip(self.shape, self.dense, strict=True)):
            if size > 1 and stride >= dense and stride % dense == 0:
                step = stride // dense
                digits[a] += (count - 1) * step
                return step * self.strides[a] if digits[a] < size else None
        return None


_FEWEST = 4  # an axis must be so many times as long as its halo

# A view of a buffer, the loop of the unit that uses it, and whether the unit writes it.
_View: TypeAlias = tuple[Leaf, Shape, bool]


class Halo:
    """A value with halos in ``buffer``, which replaces the value's own buffer or is a copy of it.

    Attributes
    ----------
    padded : Padded
        The layout of the value in ``buffer``.
    in_place : bool
        Whether instructions write the value into ``buffer`` directly.
    missing : int
        How many writes of the value, or copies of it, are to come before the halos can be filled.
    """

    def __init__(self, source: int, like: Leaf, padded: Padded) -> None:
        self.source, self.like, self.padded = source, like, padded
        self.buffer, self.in_place, self.missing = -1, True, 1

    def view(self, leaf: Leaf, loop: Shape) -> Leaf | None:
        """Return the view in ``buffer`` that replaces a view of the value; None if none can.

        `Padded.place` says which views have no place in the layout with halos.
        """
        place = self.padded.place(leaf, loop)
        return None if place is None else Leaf(self.buffer, *place, leaf.dtype, leaf.rows)

    def _at(self, offset: int, strides: Sequence[int]) -> Leaf:
        return Leaf(self.buffer, offset, tuple(strides), self.like.dtype, self.like.rows)

    def copied(self) -> Instruction:
        """Return the instruction that copies the value into ``buffer``."""
        padded = self.padded
        given = self.like._replace(buffer=self.source, offset=0, strides=padded.dense, turns=())
        return _copy(padded.shape, given, self._at(padded.origin, padded.strides))

    def filled(self) -> Iterator[Instruction]:
        """Yield the instructions that fill the halos, the innermost axis first: the halos of outer
        axes contain the filled ones of inner axes."""
        padded = self.padded
        for axis in range(len(padded.shape) - 1, -1, -1):
            width, length, step = padded.widths[axis], padded.shape[axis], padded.strides[axis]
            if width == 0:
                continue
            inner = [w if a > axis else 0 for a, w in enumerate(padded.widths)]
            loop = [n + 2 * w for n, w in zip(padded.shape, inner, strict=True)]
            start = padded.origin
            start -= sum([w * s for w, s in zip(inner, padded.strides, strict=True)])
            loop[axis] = 1
            strides = [*padded.strides]
            # Both halos at once: each gets the elements of the other end.
            given = [*strides, (width - length) * step, step]
            taken = [*strides, (length + width) * step, step]
            yield _copy(
                (*loop, 2, width),
                self._at(start + (length - width) * step, given),
                self._at(start - width * step, taken),
            )


class Halos:
    """The halos of a program: which values have halos, and the instructions that fill these.

    A value that all rows of a batch share has rotated copies instead, one for each view that reads
    the value around an end. In a copy the elements lie in the order in which the view reads them.

    Parameters
    ----------
    program : Program
        The program to which buffers with halos and rotated copies are added.
    groups : sequence of sequences of Root
        The groups of stored values, each computed by one kernel, in the order of running.
    """

    def __init__(self, program: Program, groups: Sequence[Sequence[Root]]) -> None:
        self.program = program
        self._halos: dict[int, Halo] = {}
        self._padded: dict[Any, Padded] = {}
        self._rotated: set[int] = set()  # the buffers with rotated copies
        self._copies: dict[tuple[int, Sequence[Axis], Sequence[int]], int] = {}
        views: dict[int, list[_View]] = {}
        kept = {ref.buffer for ref in program.results}  # buffers that are not replaced
        for root in (root for group in groups for root in group):
            if root.unit is None:
                kept.update(root.instruction.buffers)
                continue
            for leaf in root.leaves:
                views.setdefault(leaf.buffer, []).append((leaf, root.unit.loop, False))
            output = root.unit.output
            views.setdefault(output.buffer, []).append((output, root.unit.loop, True))
        for buffer, leaves in views.items():
            if any(leaf.turns for leaf, _, _ in leaves):
                self._add(buffer, leaves, buffer in kept or program.is_outside(buffer))

    def _add(self, buffer: int, leaves: Sequence[_View], is_kept: bool) -> None:
        program = self.program
        axes = _axes(leaves)
        if not axes or not _is_suited(program, buffer, leaves, axes[-1]):
            return
        like = leaves[0][0]
        halo = Halo(buffer, like, self._layout(buffer, like, axes))
        found = [(halo.view(leaf, loop) is not None, leaf) for leaf, loop, _ in leaves]
        rings_fit = all(fits for fits, leaf in found if leaf.turns)
        if not like.rows and program.batch is not None:
            if rings_fit:
                self._rotated.add(buffer)
            return
        if is_kept or not all(fits for fits, _ in found):
            halo.in_place = False
            if program.batch is None or not rings_fit:
                return
        else:
            halo.missing = sum([is_output for _, _, is_output in leaves])
        halo.buffer = program.new_buffer(halo.padded.nbytes, like.rows)
        self._halos[buffer] = halo

    def _layout(self, buffer: int, like: Leaf, axes: Sequence[Axis]) -> Padded:
        """Return the layout with halos of a buffer with these rings; equal ones are one object."""
        key = (self.program.nbytes[buffer], like.dtype.itemsize, *axes)
        padded = self._padded.get(key)
        if padded is None:
            padded = self._padded[key] = Padded(*key[:2], axes)
        return padded

    def view(self, leaf: Leaf, loop: Shape) -> Leaf:
        """Return the view that an instruction uses instead of ``leaf``.

        The result is a view of a rotated copy or of a buffer with halos, if the value has one that
        serves ``leaf``. A buffer with halos that is a copy of the value serves only views that walk
        around an end. Otherwise the result is ``leaf`` itself.
        """
        if leaf.turns and leaf.buffer in self._rotated:
            copy = self._copies[leaf.buffer, *_rings(leaf, loop)]
            return Leaf(copy, leaf.offset, leaf.strides, leaf.dtype, leaf.rows)
        halo = self._halos.get(leaf.buffer)
        if halo is None or not (halo.in_place or leaf.turns):
            return leaf
        found = halo.view(leaf, loop)
        assert found is not None
        return found

    def touch(self, root: Root) -> bool:
        """Whether halos or rotated copies replace a view that a root reads or writes."""
        assert root.unit is not None
        views = (*root.leaves, root.unit.output)
        return any(self.view(leaf, root.unit.loop) is not leaf for leaf in views)

    def before(self, roots: Sequence[Root]) -> Iterator[Instruction]:
        """Yield the instructions that must run before a group of stored values is computed.

        The instructions make the copies with halos, and the rotated copies, that the group is the
        first to read.
        """
        for root in roots:
            for leaf in root.leaves:
                if not leaf.turns:
                    continue
                assert root.unit is not None
                if leaf.buffer in self._rotated:
                    yield from self._rotate(leaf, root.unit.loop)
                halo = self._halos.get(leaf.buffer)
                if halo is not None and not halo.in_place and halo.missing:
                    halo.missing = 0
                    yield halo.copied()
                    yield from halo.filled()

    def after(self, roots: Sequence[Root]) -> Iterator[Instruction]:
        """Yield the instructions that must run after a group of stored values was computed.

        The instructions fill the halos of the values that the group has completed.
        """
        for root in roots:
            halo = None if root.unit is None else self._halos.get(root.unit.output.buffer)
            if halo is not None and halo.in_place:
                halo.missing -= 1
                if halo.missing == 0:
                    yield from halo.filled()

    def _rotate(self, leaf: Leaf, loop: Shape) -> Iterator[Instruction]:
        """Yield the instructions that copy a value in the order in which a view reads it.

        There are none if that rotated copy was made before.
        """
        axes, turns = _rings(leaf, loop)
        if (leaf.buffer, axes, turns) in self._copies:
            return
        whole = self._layout(leaf.buffer, leaf, axes)
        copy = self.program.new_buffer(self.program.nbytes[leaf.buffer], False)
        self._copies[leaf.buffer, axes, turns] = copy
        # The axes of ``whole`` alternate: the elements outside of a ring, then the ring.
        around = tuple([turns[a // 2] if a % 2 else 0 for a in range(len(whole.shape))])
        given = Leaf(leaf.buffer, 0, whole.dense, leaf.dtype, leaf.rows, around)
        taken = Leaf(copy, 0, whole.dense, leaf.dtype, leaf.rows)
        for box, (source, target) in boxes(whole.shape, (given, taken)):
            yield _copy(box, source, target)


def _rings(leaf: Leaf, loop: Shape) -> tuple[Sequence[Axis], Shape]:
    """Return the axes that a view reads around their ends (rings), the outermost first.

    The second result has for each of these the element with which the view begins.
    """
    walks = zip(leaf.strides, loop, leaf.turns, strict=True)
    rings = sorted([walk for walk in walks if walk[2]], reverse=True)
    return tuple([Axis(stride, n, 0) for stride, n, _ in rings]), tuple([t for _, _, t in rings])


def _copy(loop: Shape, given: Leaf, taken: Leaf) -> Instruction:
    """Return an instruction that copies the elements of the view `given` to the view `taken`."""
    axes = [a for a, size in enumerate(loop) if size > 1]
    loop = tuple([loop[a] for a in axes])
    strides = [tuple([leaf.strides[a] for a in axes]) for leaf in (given, taken)]
    spec = runtime.roles.copy_spec(given.dtype)
    layouts = tuple([layout_of(loop, along, given.dtype, given.rows) for along in strides])
    pattern = Pattern(spec, layouts, 1, loop, (), strides, (), "copy")
    return Instruction(
        pattern, (given.buffer, taken.buffer), (given.offset, taken.offset), None
    )


def _axes(leaves: Sequence[_View]) -> list[Axis]:
    """Return the axes that views of a buffer read around their ends (rings), innermost first.

    The list is empty where views contradict one another, or a ring is too short for a halo.
    """
    found: dict[int, Axis] = {}
    for leaf, loop, _ in leaves:
        if leaf.dtype != leaves[0][0].dtype:
            return []
        for stride, turn, length in zip(leaf.strides, leaf.turns, loop, strict=False):
            if turn == 0:
                continue
            before = found.get(stride, Axis(stride, length, 0))
            width = max(before.width, min(turn, length - turn))
            found[stride] = Axis(stride, length, width)
            if before.length != length or width * _FEWEST > length:
                return []
    axes = sorted(found.values())
    inside = all(b.stride % (a.stride * a.length) == 0 for a, b in pairwise(axes))
    return axes if inside else []


def _is_suited(program: Program, buffer: int, leaves: Sequence[_View], outermost: Axis) -> bool:
    """Whether the value in a buffer can have halos.

    All rings have to be axes of a value in C order, and all views have to go forwards within it.
    """
    nbytes = program.nbytes[buffer]
    if nbytes % (outermost.stride * outermost.length) or not _is_dense(program, buffer):
        return False  # such as a ring over every other one of an odd number of elements
    for leaf, loop, _ in leaves:
        low, high = extent(loop, leaf.strides)
        # The rows of a seed in Fortran order are interleaved; a view with negative strides would
        # meet the halo of the other end.
        if min(low, leaf.offset) < 0 or leaf.offset + high + leaf.dtype.itemsize > nbytes:
            return False
    return True


def _is_dense(program: Program, buffer: int) -> bool:
    """Whether the elements of a buffer, or of one of its rows, lie in C order without gaps."""
    array = program.arrays.get(buffer)
    if array is None:
        return True
    return (array[0] if program.rows[buffer] else array).flags.c_contiguous
