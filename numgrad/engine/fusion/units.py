"""Units: the elementwise instructions of a program, and the buffers that each reads and writes.

`numpy.roll` and its gradient lower to two instructions, for the elements before and after the end
of an axis. As two units, the instructions would leave a seam, at which loops must be cut, in every
value computed from their result. So `Uses` merges such pieces into one unit, over an operand that
walks through a *ring*: an axis that is read from the middle to the end and on from the beginning.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

from ...ir.program import Instruction, Pattern, Program
from ..graph.value import Shape
from .expression import Leaf, Unit, UnitKind, moves_of
from .reuse import spreads


def _written_twice(program: Program, instructions: Sequence[Instruction]) -> set[int]:
    """Return the buffers in which elements are overwritten.

    Instructions write more bytes to such a buffer than the buffer has. So the contents depend on
    the order of the instructions, which fusion must not change.
    """
    written: dict[int, int] = {}
    outputs: dict[Pattern, list[tuple[int, int]]] = {}
    for instruction in instructions:
        pattern = instruction.pattern
        if pattern not in outputs:
            nbytes = [layout.nbytes for layout in pattern.layouts]
            outputs[pattern] = [*enumerate(nbytes)][pattern.nin :]
        for place, count in outputs[pattern]:
            index = instruction.buffers[place]
            written[index] = written.get(index, 0) + count
    return {index for index, nbytes in written.items() if nbytes > program.nbytes[index]}


class Uses:
    """The units of a program's instructions, and the reads and writes of each buffer, in order.

    Parameters
    ----------
    program : Program
    instructions : sequence of Instruction
        The instructions of the program, in the order in which they are run.
    joins : callable
        Says of a kernel spec whether the target can fuse its scalar function with others.

    Attributes
    ----------
    units : list
        For each instruction its unit. Pieces of a ring have one unit, at the place of the last
        piece. There is None at the places of the other pieces, and of instructions in ``plain``.
    plain : set of int
        The numbers of the instructions that cannot be fused.
    reads : list
        For each instruction the buffers that its unit reads.
    readers : dict
        For each buffer the operands that read it, each with its unit and whether the instruction
        has rows.
    outputs : dict
        For each buffer the units that write it.
    writers : dict
        For each buffer the numbers of the instructions whose units write it.
    whole : set of int
        The buffers that an instruction in ``plain`` reads or writes; they must be stored.
    has_rings : bool
        Whether an operand of a unit walks through a ring.
    again : dict
        For each buffer the mean number of reads of an element beyond the first; see `reuse`.
    """

    def __init__(
        self, program: Program, instructions: Sequence[Instruction], joins: Callable[[Any], bool]
    ) -> None:
        self.program, self.instructions, self._joins = program, instructions, joins
        self.units: list[Unit | None] = []
        self.plain: set[int] = set()
        self.reads: list[Collection[int]] = []
        self.readers: dict[int, list[tuple[Leaf, Unit, bool]]] = {}
        self.outputs: dict[int, list[Unit]] = {}
        self.writers: dict[int, list[int]] = {}
        self.whole: set[int] = set()
        self.has_rings = False
        self._find_units()
        self._keep_streams_apart()
        self._join_rings()
        self._find_readers()
        self.again = spreads(self.outputs)

    def _kind(self, pattern: Pattern) -> UnitKind | None:
        """Return the kind of the units of a pattern; None for a pattern that cannot be fused."""
        return UnitKind.of(pattern) if pattern.fusible and self._joins(pattern.spec) else None

    def _find_units(self) -> None:
        """Make a unit for each instruction that can be fused."""
        program, twice = self.program, _written_twice(self.program, self.instructions)
        kinds: dict[Pattern, UnitKind | None] = {}
        for number, instruction in enumerate(self.instructions):
            pattern = instruction.pattern
            if pattern not in kinds:
                kinds[pattern] = self._kind(pattern)
            kind = kinds[pattern]
            if kind is None or instruction.buffers[-1] in twice:
                self.plain.add(number)
                self.whole.update(instruction.buffers)
                self.units.append(None)
                continue
            unit = kind.unit(program, number, instruction)
            self.units.append(unit)
            self.outputs.setdefault(unit.output.buffer, []).append(unit)
            self.writers.setdefault(unit.output.buffer, []).append(number)

    def _keep_streams_apart(self) -> None:
        """Store each array that one stream writes and another stream uses: then the instructions of
        a kernel have one stream."""
        of_buffer: dict[int, Any] = {}
        if all([i.site is None or i.site.stream is None for i in self.instructions]):  # noqa: C419
            return
        for instruction in self.instructions:
            for buffer in instruction.buffers:
                if of_buffer.setdefault(buffer, instruction.stream) is not instruction.stream:
                    self.whole.add(buffer)

    def _join_rings(self) -> None:
        """Replace the units that write the pieces of a rolled value by one unit."""
        for buffer, pieces in self.outputs.items():
            streams = {self.instructions[unit.number].stream for unit in pieces}
            can_join = len(pieces) > 1 and len(streams) == 1
            joined = _merged_ring(pieces) if can_join else None
            if joined is None:
                continue
            numbers = self.writers[buffer]
            for number in numbers:
                self.units[number] = None
            self.units[numbers[-1]] = joined
            self.outputs[buffer], self.writers[buffer] = [joined], [numbers[-1]]
            self.has_rings |= any(leaf.turns for leaf in joined.operands)

    def _find_readers(self) -> None:
        readers = self.readers
        for unit, instruction in zip(self.units, self.instructions, strict=True):
            self.reads.append(() if unit is None else instruction.buffers[:-1])
            if unit is None:
                continue
            rows = instruction.pattern.rows
            for leaf in unit.inputs:
                readers.setdefault(leaf.buffer, []).append((leaf, unit, rows))


def _merged_ring(units: Sequence[Unit]) -> Unit | None:
    """Return one unit, over the whole axis, for the units that write a rolled value in pieces.

    None for units that are no such pieces.
    """
    if len(units) < 2 or len({unit.spec for unit in units}) > 1:
        return None
    axis = _axis(units)
    if axis is None:
        return None
    return _joined(sorted(units, key=lambda unit: unit.output.offset), axis)


def _axis(units: Sequence[Unit]) -> int | None:
    """Return the only axis along which the outputs of units may lie side by side, or None."""
    loops = {unit.loop for unit in units}
    if len({len(loop) for loop in loops}) > 1:
        return None
    found = [a for a, sizes in enumerate(zip(*loops, strict=True)) if len(set(sizes)) > 1]
    if not found:  # two halves of equal size: the distance between them tells the axis
        step = abs(units[1].output.offset - units[0].output.offset)
        walks = enumerate(zip(units[0].along, units[0].loop, strict=True))
        found = [a for a, (stride, size) in walks if stride * size == step]
    return found[0] if len(found) == 1 else None


def _joined(units: Sequence[Unit], axis: int) -> Unit | None:
    """Return one unit for units whose outputs follow one another along an axis.

    None where the outputs leave gaps, or the views by which the units read an input do not fit
    together.
    """
    like = max(units, key=lambda unit: unit.loop[axis])
    stride = like.along[axis]
    starts = [0]
    for unit, following in pairwise(units):
        starts.append(starts[-1] + unit.loop[axis])
        if following.output.offset - unit.output.offset != stride * unit.loop[axis]:
            return None
    length = starts[-1] + units[-1].loop[axis]
    if like.loop[axis] < 2:
        return None  # pieces of one element: the strides of the operands are unknown
    operands = []
    for place, leaf in enumerate(like.operands):
        ring = _ring([unit.operands[place] for unit in units], starts, axis, length, leaf)
        if ring is None:
            return None
        operands.append(ring)
    loop = (*like.loop[:axis], length, *like.loop[axis + 1 :])
    number = min([unit.number for unit in units])
    return Unit(like.spec, loop, moves_of(loop), like.along, number, 0, tuple(operands))


def _ring(
    views: Sequence[Leaf], starts: Sequence[int], axis: int, length: int, like: Leaf
) -> Leaf | None:
    """Return one view of ``length`` elements along an axis in place of views of its parts.

    The views follow one another, view n from position ``starts[n]`` on. Together the views must
    read the axis from its beginning to its end, or as a ring: from the middle to the end, and on
    from the beginning. None where that is not so. ``like`` is the longest of the views: a view of a
    single element does not tell its stride.
    """
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
