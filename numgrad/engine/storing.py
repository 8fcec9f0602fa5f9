"""Which values of a program are stored, and what the others are made of.

A value is stored if it is a result, if an instruction reads it that cannot be fused, or if its
readers need it at different elements and computing it again would cost more than reading it.
"""

from collections.abc import Collection, Iterator, Sequence
from math import prod

from .._specs import ElementwiseSpec
from .expand import Leaf, Step, Term, Unit, Where, contents, locate, shifted, step_of, unit_of
from .graph import Shape
from .program import Instruction, Program

# A value is computed again rather than stored when that costs no more simple operations than this.
AGAIN = 8
# A reader is cut into no more parts than this.
MOST_BOXES = 8
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


class Values:
    """The stored values of a program, in order, as terms of one another.

    Parameters
    ----------
    instructions : sequence of Instruction
        In the order in which they run.
    stored : collection of int
        Numbers of instructions whose values are to be stored in any case.
    """

    def __init__(
        self, program: Program, instructions: Sequence[Instruction], stored: Collection[int]
    ) -> None:
        self.program = program
        self.results = {ref.buffer for ref in program.results}
        self._made: list[tuple[Instruction, Unit | None, Step | None]] = []
        self.costs: dict[int, int] = {}
        self._stored: dict[int, bool] = dict.fromkeys(self.results, True)
        self._stored.update((instructions[n].buffers[-1], True) for n in stored)
        self._writers: dict[int, list[tuple[Unit, Step]]] = {}
        self._readers: dict[int, list[tuple[Leaf, Shape, bool]]] = {}
        twice = _written_twice(program, instructions)
        units = [
            unit_of(program, n, i) if is_fusible(i) and i.buffers[-1] not in twice else None
            for n, i in enumerate(instructions)
        ]
        self._index(instructions, units)
        for instruction, unit in zip(instructions, units, strict=True):
            if unit is None:
                self._made.append((instruction, None, None))
            else:
                self._expand(instruction, unit)
        # What nobody reads, nobody has asked about.
        self.roots = [
            Root(*made)
            for made in self._made
            if made[1] is None or self._stored.get(made[1].output.buffer)
        ]

    def _index(
        self, instructions: Sequence[Instruction], units: Sequence[Unit | None]
    ) -> None:
        for instruction, unit in zip(instructions, units, strict=True):
            if unit is None:
                self._stored.update(dict.fromkeys(instruction.buffers, True))
                continue
            rows = instruction.pattern.rows
            for leaf in unit.operands[:-1]:
                self._readers.setdefault(leaf.buffer, []).append((leaf, unit.loop, rows))

    def _expand(self, instruction: Instruction, unit: Unit) -> None:
        """Find the term of a unit, which is cut where what it reads has seams."""
        args: list[Term] = []
        for leaf in unit.operands[:-1]:
            if self.is_stored(leaf.buffer):
                args.append(leaf)
                continue
            (_, term), where, inside = self._source(leaf, unit.loop)
            for axis, (size, limit) in enumerate(zip(unit.loop, inside, strict=True)):
                if limit < size:
                    for part in unit.cut(axis, limit):
                        self._expand(instruction, part)
                    return
            args.append(shifted(term, where))
        step = step_of(unit, args)
        self._writers.setdefault(unit.output.buffer, []).append((unit, step))
        if unit.number not in self.costs:
            self.costs[unit.number] = cost_of(unit.spec) + sum(
                [self.costs[arg.number] for arg in args if type(arg) is Step]
            )
        self._made.append((instruction, unit, step))

    def _source(self, leaf: Leaf, loop: Shape) -> tuple[tuple[Unit, Step], Where, Shape]:
        for writer in self._writers[leaf.buffer]:
            found = locate(writer[0], leaf, loop)
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
        for leaf, loop, reader_has_rows in self._readers[buffer]:
            if reader_has_rows != rows:
                return True
            try:
                for count, (unit, where, box) in enumerate(self._boxes(leaf, loop)):
                    uses[unit.number, unit.start, where, box] = prod(box)
                    if count == MOST_BOXES:
                        return True
            except LookupError:
                return True
        again = sum(uses.values()) / max(sum([prod(unit.loop) for unit, _ in writers]), 1) - 1
        cost = max([self.costs[unit.number] for unit, _ in writers])
        large = max([step.size for _, step in writers]) > LARGEST_TERM
        return large or (again > 0.1 and cost * again > AGAIN)

    def _boxes(self, leaf: Leaf, loop: Shape) -> Iterator[tuple[Unit, Where, Shape]]:
        """Yield the parts of a reader's loop that read from one writer each."""
        (unit, _), where, inside = self._source(leaf, loop)
        for axis, (size, limit) in enumerate(zip(loop, inside, strict=True)):
            if limit < size:
                for first, count in ((0, limit), (limit, size - limit)):
                    box = (*loop[:axis], count, *loop[axis + 1 :])
                    yield from self._boxes(leaf.box(axis, first, count), box)
                return
        yield unit, where, loop
