"""Which values of a program are stored, and what the others are made of.

A value is stored if it is a result, if an instruction reads it that cannot be fused, or if its
readers need it at different elements and computing it again would cost more than reading it.
"""

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import NamedTuple

from .._specs import ElementwiseSpec
from .expand import (
    Leaf,
    Shifts,
    Step,
    Term,
    Unit,
    Where,
    contents,
    ends_of,
    locate,
    step_of,
    unit_of,
)  # fmt: skip
from .graph import Shape
from .program import Instruction, Program
from .rings import closed
from .spreading import Spreads

# A value is computed again rather than stored when that costs no more simple operations than this.
AGAIN = 8
# What reading a value costs, in simple operations.
LOAD = 2
# A reader is cut into no more parts than this.
MOST_BOXES = 9
# Larger terms are not copied into their readers.
LARGEST_TERM = 100


def is_fusible(instruction: Instruction) -> bool:
    """Whether an instruction applies a scalar function that cannot fail."""
    pattern = instruction.pattern
    return (
        isinstance(pattern.spec, ElementwiseSpec)
        and len(pattern.layouts) == pattern.nin + 1
        and pattern.replay is None
        and pattern.error is None
    )


def cost_of(spec: ElementwiseSpec) -> int:
    """Estimate a scalar function, in simple operations: what it calls counts most."""
    code = spec.function.__code__
    return 1 + 12 * len(code.co_names) + len(code.co_code) // 40


def _written_twice(program: Program, instructions: Sequence[Instruction]) -> set[int]:
    """Return the buffers of which elements are overwritten: what they hold depends on the order."""
    written: dict[int, int] = {}
    for instruction in instructions:
        pattern = instruction.pattern
        for index, layout in zip(
            instruction.buffers[pattern.nin :], pattern.layouts[pattern.nin :], strict=True
        ):
            written[index] = written.get(index, 0) + layout.nbytes
    return {index for index, nbytes in written.items() if nbytes > program.nbytes[index]}


class Writer(NamedTuple):
    """A unit, and what an element of it is made of."""

    unit: Unit
    term: Step

    def ends(self) -> tuple[Collection[int], ...]:
        """Return where along its axes rings in the term come to their ends."""
        return ends_of(contents(self.term)[1], self.unit.loop)


class Root:
    """A stored unit with its term, or an instruction that cannot be fused.

    ``steps`` and ``leaves`` are those of the term.
    """

    __slots__ = ("instruction", "leaves", "steps", "term", "unit")

    def __init__(
        self, instruction: Instruction, unit: Unit | None = None, term: Step | None = None
    ) -> None:
        self.instruction, self.unit, self.term = instruction, unit, term
        self.steps, self.leaves = contents(term) if term is not None else ({}, [])

    @property
    def writes(self) -> Collection[int]:
        """The buffers that it writes."""
        if self.unit is not None:
            return (self.unit.output.buffer,)
        return set(self.instruction.buffers[self.instruction.pattern.nin :])

    @property
    def reads(self) -> Collection[int]:
        """The buffers that an instruction reads, or wrote before in part."""
        return self.instruction.buffers


def _units(
    program: Program, instructions: Sequence[Instruction]
) -> list[Sequence[Unit] | None]:
    """Return the units of each instruction, None where it cannot be fused. Pieces that are joined
    to a ring belong to the last of their instructions."""
    twice = _written_twice(program, instructions)
    units: list[Sequence[Unit] | None] = []
    pieces: dict[int, list[Unit]] = {}
    for number, instruction in enumerate(instructions):
        if not is_fusible(instruction) or instruction.buffers[-1] in twice:
            units.append(None)
            continue
        unit = unit_of(program, number, instruction)
        pieces.setdefault(unit.output.buffer, []).append(unit)
        units.append([unit])
    for parts in pieces.values():
        joined = closed(parts)
        if joined is not parts:
            for part in parts:
                units[part.number] = ()
            units[parts[-1].number] = joined
    return units


class Uses:
    """The units of a program's instructions, and what reads what of them, in order.

    Attributes
    ----------
    units : list
        For each instruction its units, None where it cannot be fused.
    readers : dict
        For each buffer the operands that read it, with their units and whether these have rows.
    outputs : dict
        For each buffer the units that write it.
    whole : set of int
        The buffers that instructions use which cannot be fused.
    """

    def __init__(self, program: Program, instructions: Sequence[Instruction]) -> None:
        self.program, self.instructions = program, instructions
        self.units = _units(program, instructions)
        self.readers: dict[int, list[tuple[Leaf, Unit, bool]]] = {}
        self.outputs: dict[int, list[Unit]] = {}
        self.whole: set[int] = set()
        self.has_rings = any(
            leaf.turns for parts in self.units for unit in parts or () for leaf in unit.operands
        )
        self._index()
        self.spreads = Spreads(self.readers, self.outputs)

    def _index(self) -> None:
        for instruction, parts in zip(self.instructions, self.units, strict=True):
            if parts is None:
                self.whole.update(instruction.buffers)
                continue
            rows = instruction.pattern.rows
            for unit in parts:
                self.outputs.setdefault(unit.output.buffer, []).append(unit)
                for leaf in unit.operands[:-1]:
                    self.readers.setdefault(leaf.buffer, []).append((leaf, unit, rows))


class Values:
    """The stored values of a program, in order, as terms of one another.

    Parameters
    ----------
    uses : Uses
        Of the program.
    stored : collection of int
        Numbers of instructions whose values are to be stored in any case.
    """

    def __init__(self, uses: Uses, stored: Collection[int]) -> None:
        self._uses, self.program = uses, uses.program
        self.results = {ref.buffer for ref in self.program.results}
        self._made: list[tuple[Instruction, Unit | None, Step | None]] = []
        self.costs: dict[int, int] = {}
        self.prices: dict[int, int] = {}
        self._loads: dict[int, set[int]] = {}
        self._stored: dict[int, bool] = dict.fromkeys((*self.results, *uses.whole), True)
        self._stored.update((uses.instructions[n].buffers[-1], True) for n in stored)
        self._writers: dict[int, list[Writer]] = {}
        self._shifted = Shifts()
        for instruction, parts in zip(uses.instructions, uses.units, strict=True):
            if parts is None:
                self._made.append((instruction, None, None))
                continue
            for unit in parts:
                self._expand(instruction, unit)
        # What nobody reads, nobody has asked about.
        self.roots = [
            Root(*made)
            for made in self._made
            if made[1] is None or self._stored.get(made[1].output.buffer)
        ]

    def _expand(self, instruction: Instruction, unit: Unit) -> None:
        """Find the term of a unit, which is cut where what it reads has seams."""
        args: list[Term] = []
        for leaf in unit.operands[:-1]:
            if self.is_stored(leaf.buffer):
                args.append(leaf)
                continue
            writer, where, inside = self._source(leaf, unit.loop)
            for axis, (size, limit) in enumerate(zip(unit.loop, inside, strict=True)):
                if limit < size:
                    for part in unit.cut(axis, limit):
                        self._expand(instruction, part)
                    return
            args.append(self._shifted(writer.term, where))
        step = step_of(unit, args)
        self._writers.setdefault(unit.output.buffer, []).append(Writer(unit, step))
        if unit.number not in self.costs:
            self._estimate(unit, args)
        self._made.append((instruction, unit, step))

    def _estimate(self, unit: Unit, args: Sequence[Term]) -> None:
        """Note what it costs to compute an element, and to read what that takes."""
        cost, loads = cost_of(unit.spec), set()
        for arg in args:
            if type(arg) is Step:
                cost += self.costs[arg.number]
                loads |= self._loads[arg.number]
            elif type(arg) is Leaf and not arg.is_number:
                loads.add(arg.buffer)
        self.costs[unit.number], self._loads[unit.number] = cost, loads
        self.prices[unit.number] = cost + LOAD * max(0, len(loads) - 1)

    def _source(self, leaf: Leaf, loop: Shape) -> tuple[Writer, Where, Shape]:
        for writer in self._writers[leaf.buffer]:
            found = locate(writer.unit, writer.ends if self._uses.has_rings else None, leaf, loop)
            if found is not None:
                return writer, *found
        raise LookupError(leaf)

    def is_stored(self, buffer: int) -> bool:
        """Whether a buffer is memory, as opposed to a value that its readers compute."""
        known = self._stored.get(buffer)
        if known is None:
            known = self._stored[buffer] = self._decide(buffer)
        return known

    def _decide(self, buffer: int) -> bool:
        """Decide when all of a value is written and the first reader comes."""
        writers = self._writers.get(buffer)
        if not writers or self.program.is_outside(buffer):
            return True
        rows = self.program.rows[buffer]
        uses: dict[tuple[int, int, Where, Shape], int] = {}
        for leaf, reader, reader_has_rows in self._uses.readers[buffer]:
            if reader_has_rows != rows:
                return True
            try:
                for count, (unit, where, box) in enumerate(self._boxes(leaf, reader.loop)):
                    uses[unit.number, unit.start, where, box] = prod(box)
                    if count == MOST_BOXES:
                        return True
            except LookupError:
                return True
        again = sum(uses.values()) / max(sum([prod(w.unit.loop) for w in writers]), 1) - 1
        price = max([self.prices[w.unit.number] for w in writers])
        if max([w.term.size for w in writers]) > LARGEST_TERM:
            return True
        spread = self._uses.spreads.again(buffer)
        if spread > 0.5 and len(writers) > 1:
            return True  # or its seams would be those of each of its readers, shifted
        again = max(again, spread)
        return again > 0.1 and price * again > AGAIN

    def _boxes(self, leaf: Leaf, loop: Shape) -> Iterator[tuple[Unit, Where, Shape]]:
        """Yield the parts of a reader's loop that read from one writer each."""
        (unit, _), where, inside = self._source(leaf, loop)
        for axis, (size, limit) in enumerate(zip(loop, inside, strict=True)):
            if limit < size:
                for first, count in ((0, limit), (limit, size - limit)):
                    box = (*loop[:axis], count, *loop[axis + 1 :])
                    yield from self._boxes(leaf.box(axis, first, count, size), box)
                return
        yield unit, where, loop
