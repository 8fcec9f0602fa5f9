"""Which values of a program are stored, and what the others are made of.

A value is stored if it is a result, if an instruction reads it that cannot be fused, or if its
readers need it at different elements and computing it again would cost more than reading it.
"""

from collections.abc import Iterable, Sequence
from math import prod

from .._specs import ElementwiseSpec
from .expand import (
    Leaf,
    Step,
    Term,
    Where,
    Writer,
    inlined,
    leaf_of,
    locate,
    shifted,
    step_of,
    writer_of,
)
from .graph import Shape
from .program import Instruction, Program

# A value is computed again rather than stored when that costs no more simple operations than this.
AGAIN = 4
# Larger terms are not copied into several readers.
LARGEST_TERM = 24


def is_fusible(instruction: Instruction) -> bool:
    """Whether an instruction applies a scalar function that cannot fail."""
    pattern = instruction.pattern
    return (
        isinstance(pattern.spec, ElementwiseSpec)
        and len(pattern.layouts) == pattern.nin + 1
        and pattern.replay is None
        and pattern.error is None
    )


def _cost(spec: ElementwiseSpec) -> int:
    """Estimate a scalar function, in simple operations: what it calls counts most."""
    code = spec.function.__code__
    return 1 + 12 * len(code.co_names) + len(code.co_code) // 40


class Values:
    """What every instruction computes, as a term of what is stored.

    Attributes
    ----------
    terms : list
        A step for each instruction that can be fused, None for the others.
    roots : list of int
        The instructions whose result is stored, or that cannot be fused.
    writers : dict
        By buffer, the instructions that store it, as definitions.
    """

    def __init__(
        self, program: Program, instructions: Sequence[Instruction], stored: Iterable[int]
    ) -> None:
        self.program = program
        self.instructions = instructions
        self.fusible = [is_fusible(i) for i in instructions]
        self.terms: list[Step | None] = [None] * len(instructions)
        self.costs = [0] * len(instructions)
        self.writers: dict[int, list[Writer]] = {}
        self._readers: dict[int, list[tuple[int, int]]] = {}
        self.results = {ref.buffer for ref in program.results}
        self._stored: dict[int, bool] = dict.fromkeys(self.results, True)
        self._stored.update((instructions[n].buffers[-1], True) for n in stored)
        self._index()
        for number, instruction in enumerate(instructions):
            if self.fusible[number]:
                self._expand(number, instruction)
        self.roots = [
            n
            for n, i in enumerate(instructions)
            if not self.fusible[n] or self.is_stored(i.buffers[-1])
        ]

    def _index(self) -> None:
        for number, instruction in enumerate(self.instructions):
            nin = instruction.pattern.nin
            for place, index in enumerate(instruction.buffers[:nin]):
                self._readers.setdefault(index, []).append((number, place))
            if self.fusible[number]:
                writer = writer_of(number, instruction)
                self.writers.setdefault(instruction.buffers[-1], []).append(writer)
            else:
                self._stored.update((index, True) for index in instruction.buffers)

    def _expand(self, number: int, instruction: Instruction) -> None:
        args = [self.term(number, place) for place in range(instruction.pattern.nin)]
        step = self.terms[number] = step_of(number, instruction, args)
        self.costs[number] = sum(_cost(s.spec) for s in inlined(step).values())

    def term(self, number: int, place: int) -> Term:
        """Return an operand of an instruction as a term."""
        instruction = self.instructions[number]
        leaf = leaf_of(self.program, instruction, place)
        if self.is_stored(leaf.buffer):
            return leaf
        source = self._source(leaf, instruction.pattern.loop)
        assert source is not None
        term = self.terms[source[0].number]
        assert term is not None
        return shifted(term, source[1])

    def _source(self, leaf: Leaf, loop: Shape) -> tuple[Writer, Where] | None:
        for writer in self.writers.get(leaf.buffer, ()):
            where = locate(writer, leaf.offset, leaf.strides, loop)
            if where is not None:
                return writer, where
        return None

    def is_stored(self, buffer: int) -> bool:
        """Whether a buffer is memory, as opposed to a value that its readers compute."""
        known = self._stored.get(buffer)
        if known is None:
            known = self._stored[buffer] = self._decide(buffer)
        return known

    def _decide(self, buffer: int) -> bool:
        writers = self.writers.get(buffer)
        if not writers or self.program.is_outside(buffer):
            return True
        uses: dict[tuple[int, Where, Shape], int] = {}
        for number, place in self._readers.get(buffer, ()):
            reader = self.instructions[number]
            leaf = leaf_of(self.program, reader, place)
            source = self._source(leaf, reader.pattern.loop)
            if source is None or reader.rows != source[0].instruction.rows:
                return True
            uses[source[0].number, source[1], reader.pattern.loop] = prod(reader.pattern.loop)
        size = sum(prod(writer.loop) for writer in writers)
        again = sum(uses.values()) / max(size, 1) - 1
        cost = max(self.costs[writer.number] for writer in writers)
        steps = max(_steps(self.terms[writer.number]) for writer in writers)
        return steps > LARGEST_TERM or (again > 0.5 and cost * again > AGAIN)


def _steps(term: Step | None) -> int:
    return 0 if term is None else len(inlined(term))
