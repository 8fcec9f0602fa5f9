"""Templates: the instructions of an operator for one kind of operands, with open buffers.

An operator is lowered once for each kind of operands; each further application only fills in its
buffers. So lowering a long graph of few kinds is cheap, and the ``lower`` of an operator need not
be fast.

Common subexpressions are computed once: an instruction is not appended if an earlier one has done
the same with the same operands. The operands have not changed meanwhile: a buffer is written only
by the application of an operator that has made it. An instruction is always appended, however, if
its template writes one of its buffers several times. If a shared instruction fails, the error names
the line of the earlier application.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from ..._settings import settings
from ...ir.program import (
    Instruction,
    Layout,
    Pattern,
    Pieces,
    Program,
    Ref,
    is_contiguous,
)
from ...process.bounded_dict import Bounded
from .builder import Builder, Joined, Operand
from .peephole import Signs

Place: TypeAlias = Ref | Pieces


class Computed(defaultdict[int, dict[Any, int]]):
    """The instructions and arrays that a program has already; see `Template.append_to`.

    Attributes
    ----------
    notes : list or None
        If there is a list, each look-up of an instruction is noted there: its number ``same``, the
        buffers that it reads, the offsets of all operands, the last buffer that it writes, and
        whether it was computed already.
    """

    __slots__ = ("notes",)

    def __init__(self) -> None:
        super().__init__(dict)
        self.notes: list[tuple[int, tuple[int, ...], tuple[int, ...], int, bool]] | None = None

    def note(self, step: "OpenInstruction", read: Any, offsets: Any, known: int, new: int) -> None:
        """Note that an instruction was looked up."""
        assert self.notes is not None
        reads = read if offsets == step.zeros else read[0]
        reads = reads if type(reads) is tuple else (reads,)
        self.notes.append((step.same, reads, offsets, known, known != new))


_KEPT = 1 << 14
_numbers = count(1)  # never reused, as a lowering under way may have a number in its tables
_new = object.__new__
_tuple = tuple.__new__


class OpenInstruction:
    """An instruction of a template: the positions of its buffers in a table, and its offsets.

    The table has the numbers of buffers in a program, and is made for each use of the template.

    Attributes
    ----------
    locals : tuple of int
        The positions in the table of the buffers of all operands.
    pick : callable
        Takes the table and returns the numbers of the buffers of all operands.
    last : int
        The position in the table of the buffer of the last output.
    same : int
        A number, equal for instructions that do the same with their operands; 0 for an instruction
        that is always appended.
    reads : callable
        Takes the table and returns the numbers of the buffers of the inputs.
    others : tuple of int
        The positions in the table of the buffers of all outputs but the last.
    negates : bool
        Whether the instruction is a negation, which `peephole` may remove.
    """

    __slots__ = (
        "last", "locals", "negates", "offsets", "others", "pattern", "pick", "reads", "same",
        "zeros",
    )  # fmt: skip

    def __init__(
        self,
        pattern: Pattern,
        locals_: tuple[int, ...],
        offsets: tuple[int, ...],
        same: int,
        signs: Signs,
    ) -> None:
        self.pattern, self.locals, self.offsets = pattern, locals_, offsets
        self.last, self.zeros = locals_[-1], (0,) * len(locals_)
        self.same = same if pattern.nin else 0
        self.others = locals_[pattern.nin : -1]
        self.pick: Any = itemgetter(*locals_)
        if len(locals_) == 1:  # itemgetter of one item returns no tuple
            self.pick = lambda table, pick=self.pick: (pick(table),)
        self.reads: Any = itemgetter(*locals_[: pattern.nin]) if self.same else None
        self.negates = same > 0 and signs.negates(pattern, offsets)


class Template:
    """The instructions of an application of an operator, with buffers to be filled in.

    Buffers are numbered: first the buffers of the operands, piece by piece, then new buffers.
    """

    __slots__ = (
        "arrays", "nbytes", "only", "outputs", "row_strides", "rows", "steps", "uses_blas"
    )  # fmt: skip

    def __init__(
        self,
        builder: Builder,
        nargs: int,
        outputs: Sequence[Operand | Joined],
        templates: "Templates",
        is_pure: bool = False,
    ) -> None:
        new = builder.buffers[nargs:]
        sames = _share_numbers(builder.steps, nargs, templates.identities, is_pure)
        self.steps = [
            OpenInstruction(*step, same, templates.signs)
            for step, same in zip(builder.steps, sames, strict=True)
        ]
        self.nbytes = [b.nbytes for b in new]
        self.rows = [b.rows for b in new]
        self.row_strides = [b.nbytes if b.rows else 0 for b in new]
        self.arrays: list[tuple[int, np.ndarray]] = [
            (b.index, b.array) for b in new if b.array is not None
        ]
        self.outputs = [_place_of(output) for output in outputs]
        alone = len(self.outputs) == 1 and isinstance(self.outputs[0], Ref)
        self.only: Any = self.outputs[0] if alone else None
        self.uses_blas = builder.uses_blas

    def append_to(
        self,
        program: Program,
        table: list[int],
        moves: list[int],
        site: Any,
        computed: Computed,
    ) -> Place | list[Place]:
        """Append the instructions to a program; return the operand that holds the output.

        For several outputs return a list of operands.

        Parameters
        ----------
        table, moves : list of int
            The buffers of the operands and their offsets there; the new buffers are appended.
        computed : dict
            The instructions and arrays that the program has already; new ones are added. The keys
            are the numbers ``same`` of instructions; an item maps the buffers that such an
            instruction reads to the last buffer that it writes. The item at 0 maps the ids of
            arrays to their buffers.
        """
        if self.nbytes:
            self._allocate(program, table, computed)
        shifts = moves + [0] * len(self.nbytes) if any(moves) else None
        append = program.instructions.append
        for step in self.steps:
            offsets = step.offsets
            if shifts is not None:
                offsets = tuple([o + shifts[n] for o, n in zip(offsets, step.locals, strict=True)])
            if step.same:
                read = step.reads(table)
                if offsets != step.zeros:
                    read = (read, offsets)
                new = table[step.last]
                known = computed[step.same].setdefault(read, new)
                if computed.notes is not None:
                    computed.note(step, read, offsets, known, new)
                if known != new:
                    table[step.last] = known
                    for local in step.others:
                        table[local] = known + local - step.last
                    continue
                if step.negates:
                    program.negations.append(len(program.instructions))
            made = _new(Instruction)
            made.pattern = step.pattern
            made.buffers = step.pick(table)
            made.offsets = offsets
            made.site = site
            append(made)
        if self.uses_blas:
            program.uses_blas = True
        only = self.only
        if only is not None:
            local, offset, layout = only
            return _tuple(Ref, (table[local], offset + shifts[local] if shifts else offset, layout))
        moved = [_moved(output, table, shifts) for output in self.outputs]
        return moved[0] if len(moved) == 1 else moved

    def part_of(self, layout: Layout) -> Layout | None:
        """Return the layout of the output if the template does nothing but read a part of an array
        in C order, whose layout is given; else None."""
        only = self.only
        is_view = not self.steps and only is not None and only.buffer == 0
        if not is_view or not is_contiguous(layout.shape, layout.strides, layout.dtype.itemsize):
            return None
        return only.layout if 0 not in only.layout.shape else None  # type: ignore[no-any-return]

    def _allocate(self, program: Program, table: list[int], computed: Computed) -> None:
        """Add the template's new buffers to a program, and their numbers to the table."""
        first = len(program.nbytes)
        if len(self.nbytes) == 1:
            table.append(first)
        else:
            table += range(first, first + len(self.nbytes))
        program.nbytes += self.nbytes
        program.rows += self.rows
        program.row_strides += self.row_strides
        for local, array in self.arrays:
            index = table[local] = computed[0].setdefault(id(array), table[local])
            program.arrays[index] = array


def _share_numbers(
    steps: Sequence[tuple[Pattern, tuple[int, ...], tuple[int, ...]]],
    nargs: int,
    identities: dict[Hashable, int],
    is_pure: bool,
) -> Iterator[int]:
    """Yield for each instruction the number ``same`` of `OpenInstruction`.

    The number is equal for equal instructions, and 0 for one that must not be shared, as one of its
    buffers is written more than once or its function may have side effects.
    """
    writers = Counter([n for pattern, places, _ in steps for n in places[pattern.nin :]])
    again = {n for n, times in writers.items() if times > 1}
    for pattern, places, _ in steps:
        made = places[pattern.nin :]
        if again.isdisjoint(places) and min(made) >= nargs and _is_sharable(pattern, is_pure):
            key = _identity(pattern, tuple([n - made[-1] for n in made]))
            yield identities.setdefault(key, next(_numbers))
        else:
            yield 0


def _is_sharable(pattern: Pattern, is_pure: bool) -> bool:
    """Whether equal instructions of a pattern can be computed once.

    They have to write all of their outputs, and must not call a function of a user, which may count
    its calls.
    """
    if not is_pure and not pattern.fusible:
        return False
    outputs = pattern.layouts[pattern.nin :]
    if pattern.elementwise and outputs[-1].shape != pattern.loop:
        return False
    return all([output.whole for output in outputs])  # noqa: C419


def _identity(pattern: Pattern, apart: tuple[int, ...]) -> Hashable:
    """Return the key that is equal for instructions which do the same with their operands.

    ``apart`` has the distances of the output buffers from the last one.
    """
    key = (pattern.spec.identity, pattern.layouts, tuple(pattern.strides))
    if pattern.fusible:
        return key
    sizes = pattern.loop, pattern.core, pattern.core_strides
    reports = pattern.name, pattern.error is None, pattern.replay is None
    return (*key, *sizes, *reports, apart)


class Templates:
    """The templates for one target under the present settings.

    Attributes
    ----------
    parts : dict
        For the form of a part, with the operator and the layout of the array that it is read from,
        the layout of the part; None where its place is not known from its beginning alone.
    identities : dict
        For the key of an instruction the number ``same`` of `OpenInstruction`.
    """

    def __init__(self, target: Any) -> None:
        self.target = target
        self.version = settings.version
        self.known: dict[Hashable, Template] = {}
        self.parts: dict[Hashable, Layout | None] = Bounded(_KEPT)
        self.identities: dict[Hashable, int] = {}
        self.signs = Signs()

    def add(self, key: Hashable, template: Template) -> None:
        if len(self.known) >= _KEPT:
            self.known.clear()
            self.identities.clear()
            self.signs = Signs()
        self.known[key] = template


_current: Templates | None = None


def templates_of(target: Any) -> Templates:
    """Return the templates that are valid for a target under the present settings."""
    global _current
    found = _current
    if found is None or found.target is not target or found.version != settings.version:
        found = _current = Templates(target)
    return found


def operand_of(builder: Builder, place: Place) -> Operand | Joined:
    """Return a new operand of a builder that stands for an operand of a program."""
    if isinstance(place, Ref):
        return _operand(builder, place)
    return _joined(builder, place.key, iter(place.leaves))


def _operand(builder: Builder, ref: Ref) -> Operand:
    layout = ref.layout
    buffer = builder.buffer(layout.nbytes if layout.whole else -1, layout.rows)
    return Operand(buffer, 0, layout.shape, layout.strides, layout.dtype, layout.whole)


def _joined(builder: Builder, key: tuple[Any, ...], leaves: Iterator[Ref]) -> Joined:
    axis, *parts = key
    made = [
        _joined(builder, part, leaves) if type(part) is tuple else _operand(builder, next(leaves))
        for part in parts
    ]
    return Joined(axis, tuple(made))


def _place_of(operand: Operand | Joined) -> Place:
    if isinstance(operand, Operand):
        return Ref(operand.buffer.index, operand.offset, operand.layout)
    key: list[Any] = [operand.axis]
    leaves: list[Ref] = []
    for part in operand.parts:
        place = _place_of(part)
        if isinstance(place, Ref):
            key.append(place.layout)
            leaves.append(place)
        else:
            key.append(place.key)
            leaves += place.leaves
    return Pieces(tuple(key), tuple(leaves))


def append_buffers(place: Place, table: list[int], moves: list[int]) -> Any:
    """Append the buffers of an operand to ``table`` and its offsets there to ``moves``.

    Return the operand's part of the key of a template: its layout, or for an operand in pieces the
    layouts of the pieces.
    """
    if isinstance(place, Ref):
        table.append(place.buffer)
        moves.append(place.offset)
        return place.layout
    for leaf in place.leaves:
        table.append(leaf.buffer)
        moves.append(leaf.offset)
    return place.key


def _moved(output: Any, table: Sequence[int], shifts: Sequence[int] | None) -> Any:
    """Return an output of a template as an operand of the program.

    ``table`` has the numbers of the buffers in the program, and ``shifts`` the bytes by which the
    offsets in each buffer are moved.
    """
    if type(output) is Pieces:
        leaves = tuple([_moved(leaf, table, shifts) for leaf in output.leaves])
        return _tuple(Pieces, (output.key, leaves))
    local, offset, layout = output
    if shifts is not None:
        offset += shifts[local]
    return _tuple(Ref, (table[local], offset, layout))
