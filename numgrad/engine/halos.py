"""Halos: room around a value in which the ends of its rings are repeated.

A kernel that reads around the end of a ring would have to run in parts, one of them an element or
two. So such a value gets a few elements more before and after each ring, to which what is at the
other end is copied once; readers then walk straight on. Room is made in whole cache lines, which
keeps rows aligned and rows of 4096 bytes from falling on each other in the cache.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from .expand import Leaf
from .graph import Shape
from .padded import LINE, Axis, Padded
from .program import Instruction, Program
from .rotated import Rotated, copy_of
from .storing import Root

_PAGE = 4096  # bytes apart, elements share the few places of the cache where they may be
_FEWEST = 4  # a ring is this many times as long as its halo, or more


class Halo:
    """A value with halos: ``buffer`` is where it is, in place of where it was or as a copy.

    Parameters
    ----------
    program : Program
    buffer : int
        Of the value.
    dtype : dtype
        Of its elements.
    padded : Padded
        How it lies with its halos.
    """

    def __init__(self, program: Program, buffer: int, dtype: Any, padded: Padded) -> None:
        self.source, self.dtype, self.padded = buffer, dtype, padded
        self.rows, self.nbytes = program.rows[buffer], padded.nbytes
        self.buffer = -1
        self.in_place, self.is_filled = True, False

    def view(self, leaf: Leaf, loop: Shape) -> Leaf | None:
        """Return a view of the value as one of the value with halos; None if it is none."""
        place = self.padded.place(leaf, loop)
        return None if place is None else Leaf(self.buffer, *place, leaf.dtype, leaf.rows)

    def copied(self) -> Instruction:
        """Return the instruction that copies the value here."""
        padded = self.padded
        axes = [a for a, size in enumerate(padded.shape) if size > 1]
        loop = tuple([padded.shape[a] for a in axes])
        given = (self.source, 0, tuple([padded.dense[a] for a in axes]))
        taken = (self.buffer, padded.origin, tuple([padded.strides[a] for a in axes]))
        return copy_of(loop, given, taken, self)

    def filled(self) -> Iterator[Instruction]:
        """Yield the instructions that fill the halos, the innermost first: outer ones repeat
        them."""
        padded = self.padded
        for axis in range(len(padded.shape) - 1, -1, -1):
            width = padded.widths[axis]
            if width == 0:
                continue
            loop, strides, start = [], [], padded.origin
            for a, size in enumerate(padded.shape):
                more = padded.widths[a] if a > axis else 0
                if a != axis and size + 2 * more > 1:
                    loop.append(size + 2 * more)
                    strides.append(padded.strides[a])
                    start -= more * padded.strides[a]
            length, step = padded.shape[axis], padded.strides[axis]
            both = (*loop, 2, width)
            given = (*strides, (width - length) * step, step)
            taken = (*strides, (length + width) * step, step)
            yield copy_of(
                both,
                (self.buffer, start + (length - width) * step, given),
                (self.buffer, start - width * step, taken),
                self,
            )


class Halos:
    """The halos of a program: which values have one, and the instructions that takes.

    Parameters
    ----------
    program : Program
        The buffers with halos are added to it.
    groups : sequence of sequences of Root
        What is computed together, in order.
    """

    def __init__(self, program: Program, groups: Sequence[Sequence[Root]]) -> None:
        self.program = program
        self._halos: dict[int, Halo] = {}
        self._padded: dict[Any, Padded] = {}
        self._rotated = Rotated(program)
        self._missing: dict[int, int] = {}
        views, others = _views(groups)
        for buffer, leaves in views.items():
            if any(leaf.turns for leaf, _, _ in leaves):
                self._add(buffer, leaves, buffer in others)
        if self._halos:
            for buffer, leaves in views.items():
                if program.rows[buffer] and program.nbytes[buffer] % _PAGE == 0:
                    self._stagger(buffer, leaves, buffer in others)

    def _add(self, buffer: int, leaves: Sequence["_View"], has_others: bool) -> None:
        program = self.program
        axes = _axes(leaves)
        if not axes or not _is_suited(program, buffer, leaves, axes[-1]):
            return
        halo = self._halo(buffer, leaves[0][0].dtype, axes)
        fits = [halo.view(leaf, loop) is not None for leaf, loop, _ in leaves]
        turned = [bool(leaf.turns) for leaf, _, _ in leaves]
        kept = has_others or program.is_outside(buffer) or _is_result(program, buffer)
        rings_fit = all(f for f, t in zip(fits, turned, strict=True) if t)
        if not halo.rows and program.batch is not None:
            if rings_fit:
                self._rotated.buffers.add(buffer)
            return
        if kept or not all(fits):
            halo.in_place = False
            if program.batch is None or not rings_fit:
                return
        self._missing[buffer] = sum([is_output for _, _, is_output in leaves])
        halo.buffer = program.new_buffer(halo.nbytes, halo.rows)
        self._halos[buffer] = halo

    def _halo(self, buffer: int, dtype: Any, axes: Sequence[Axis]) -> Halo:
        nbytes = self.program.nbytes[buffer]
        key = (nbytes, dtype.itemsize, *axes)
        padded = self._padded.get(key)
        if padded is None:
            padded = self._padded[key] = Padded(nbytes, dtype.itemsize, axes)
        return Halo(self.program, buffer, dtype, padded)

    def _stagger(self, buffer: int, leaves: Sequence["_View"], has_others: bool) -> None:
        """Let the rows of a value that has no halos begin at different places of the cache."""
        program = self.program
        kept = has_others or program.is_outside(buffer) or _is_result(program, buffer)
        if kept or buffer in self._halos:
            return
        halo = self._halo(buffer, leaves[0][0].dtype, ())
        halo.nbytes += LINE
        if all(halo.view(leaf, loop) is not None for leaf, loop, _ in leaves):
            self._missing[buffer] = -1
            halo.buffer = program.new_buffer(halo.nbytes, halo.rows)
            self._halos[buffer] = halo

    def view(self, leaf: Leaf, loop: Shape) -> Leaf:
        """Return a view of a value as one of where the value is, without turns if it has halos."""
        if leaf.turns and leaf.buffer in self._rotated.buffers:
            return self._rotated.view(leaf, loop)
        halo = self._halos.get(leaf.buffer)
        if halo is None or not (halo.in_place or leaf.turns):
            return leaf
        found = halo.view(leaf, loop)
        assert found is not None
        return found

    def touch(self, root: Root) -> bool:
        """Whether anything that a root reads or writes is elsewhere because of its halos."""
        assert root.unit is not None
        views = (*root.leaves, root.unit.output)
        return any(self.view(leaf, root.unit.loop) is not leaf for leaf in views)

    def before(self, roots: Sequence[Root]) -> Iterator[Instruction]:
        """Yield what must come before some roots are computed: copies that they are the first to
        read."""
        for root in roots:
            for leaf in root.leaves:
                if leaf.turns and leaf.buffer in self._rotated.buffers:
                    assert root.unit is not None
                    yield from self._rotated.copies(leaf, root.unit.loop)
                halo = self._halos.get(leaf.buffer) if leaf.turns else None
                if halo is not None and not halo.in_place and not halo.is_filled:
                    halo.is_filled = True
                    yield halo.copied()
                    yield from halo.filled()

    def after(self, roots: Sequence[Root]) -> Iterator[Instruction]:
        """Yield what must follow some roots: the filling of halos of values that are complete."""
        for root in roots:
            buffer = root.unit.output.buffer if root.unit is not None else -1
            halo = self._halos.get(buffer)
            if halo is not None and halo.in_place:
                self._missing[buffer] -= 1
                if self._missing[buffer] == 0:
                    yield from halo.filled()


# A view of a buffer, the loop of who uses it, and whether that is the one who writes it.
_View: TypeAlias = tuple[Leaf, Shape, bool]


def _views(groups: Sequence[Sequence[Root]]) -> tuple[Mapping[int, list[_View]], set[int]]:
    """Return the views of each buffer, and the buffers that instructions use as they are."""
    views: dict[int, list[_View]] = {}
    others: set[int] = set()
    for root in (root for group in groups for root in group):
        if root.unit is None:
            others.update(root.instruction.buffers)
            continue
        for leaf in root.leaves:
            views.setdefault(leaf.buffer, []).append((leaf, root.unit.loop, False))
        output = root.unit.output
        views.setdefault(output.buffer, []).append((output, root.unit.loop, True))
    return views, others


def _axes(leaves: Sequence[_View]) -> list[Axis]:
    """Return the rings of a buffer; none where they contradict each other or are too short."""
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
    """Whether all rings are axes of a value in C order, and all views go forward within it."""
    nbytes = program.nbytes[buffer]
    if nbytes % (outermost.stride * outermost.length) or not _is_dense(program, buffer):
        return False  # a ring of every other element of an odd number goes beyond its end
    for leaf, loop, _ in leaves:
        # Of seeds in Fortran's order rows lie between each other; what is read backwards would find
        # a halo on the other side.
        if min(leaf.strides, default=0) < 0 or not _is_inside(leaf, loop, nbytes):
            return False
    return True


def _is_dense(program: Program, buffer: int) -> bool:
    """Whether all elements of a buffer, of one row where there are rows, lie in C order."""
    array = program.arrays.get(buffer)
    if array is None:
        return True
    return (array[0] if program.rows[buffer] else array).flags.c_contiguous


def _is_inside(leaf: Leaf, loop: Shape, nbytes: int) -> bool:
    """Whether a view lies in the memory that a value takes where it is dense."""
    ends = [stride * (size - 1) for stride, size in zip(leaf.strides, loop, strict=True)]
    first = leaf.offset + sum([end for end in ends if end < 0])
    last = leaf.offset + sum([end for end in ends if end > 0])
    return first >= 0 and last + leaf.dtype.itemsize <= nbytes


def _is_result(program: Program, buffer: int) -> bool:
    return any(ref.buffer == buffer for ref in program.results)
