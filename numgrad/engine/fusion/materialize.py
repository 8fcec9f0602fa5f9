"""Materialization: the values of a fused program that are stored, and the terms of the others.

A *term* is the expression that computes one element of a value, a *root* a stored value with its
term. A value is stored if it is a result, if an instruction that cannot be fused reads it, or if
its readers need different elements of it and computing these again costs more than reading them.
"""

from collections.abc import Collection, Hashable, Iterator, Sequence
from dis import get_instructions
from functools import lru_cache
from math import prod
from typing import Any

from ...ir.kernel_spec import ElementwiseSpec
from ...ir.program import Instruction
from ..graph.value import Shape
from .expression import Leaf, Step, Term, Unit
from .indexing import LoopMap, LoopMaps, Terms, contents, ends_of
from .units import Uses

# A value is computed again rather than stored if this costs at most so many simple operations.
MOST_RECOMPUTED_COST = 8
# The cost of reading a value, in simple operations.
LOAD_COST = 2
# A value that is stored for a reduction, say, is computed again by other readers all the same if
# this costs at most so many simple operations.
MOST_COST_OF_STORED = 4
# A reader is cut into at most so many parts.
MOST_BOXES = 9
# Terms of more steps are not copied into their readers.
LARGEST_TERM = 100


def cost_of(spec: ElementwiseSpec) -> int:
    """Estimate the cost of a spec's scalar function in simple operations.

    Calls and divisions count most: a processor multiplies 16 times while it divides once.
    """
    return _cost(spec.function)


@lru_cache(maxsize=1024)
def _cost(function: Any) -> int:
    code = function.__code__
    divisions = sum([i.argrepr in ("/", "/=") for i in get_instructions(code)])
    return 1 + 12 * len(code.co_names) + 15 * divisions + len(code.co_code) // 40


class Writer:
    """A unit (an instruction or a part of its loop) with the expression of one element (term)."""

    __slots__ = ("_ends", "term", "unit")

    def __init__(self, unit: Unit, term: Step) -> None:
        self.unit, self.term = unit, term
        self._ends: tuple[Collection[int], ...] | None = None

    def ends(self) -> tuple[Collection[int], ...]:
        """Return for each axis of the unit the positions where a view in the unit's term jumps.

        At such a position the view comes to the end of an axis, and goes on from its beginning.
        """
        if self._ends is None:
            self._ends = ends_of(contents(self.term)[1], self.unit.loop)
        return self._ends


class Root:
    """A stored value with the expression of its elements, or an instruction that cannot be fused.

    Attributes
    ----------
    instruction : Instruction
        The instruction that writes the value.
    unit : Unit or None
        The instruction, or a part of its loop; None for an instruction that cannot be fused.
    term : Step or None
        The expression that computes one element of the unit, from elements in memory.
    steps : dict of Step
        The scalar functions in the term, by their keys.
    leaves : list of Leaf
        The views of memory in the term.
    writes : collection of int
        The buffers that the root writes.
    reads : sequence of int
        The buffers that the root reads. For an instruction that cannot be fused ``reads`` includes
        the buffers of its outputs, as earlier instructions may have written parts of them.
    """

    __slots__ = ("instruction", "leaves", "reads", "steps", "term", "unit", "writes")

    def __init__(
        self, instruction: Instruction, unit: Unit | None = None, term: Step | None = None
    ) -> None:
        self.instruction, self.unit, self.term = instruction, unit, term
        self.steps: dict[int, Step] = {}
        self.leaves: list[Leaf] = []
        self.reads: Sequence[int] = instruction.buffers
        self.writes: Collection[int] = ()
        if unit is not None and term is not None:
            self.steps, self.leaves = contents(term)
            self.reads, self.writes = [leaf.buffer for leaf in self.leaves], (unit.output.buffer,)
        else:
            self.writes = set(instruction.buffers[instruction.pattern.nin :])


class StoredValues:
    """Decides which values of a program are stored, and expresses each by other stored values.

    Attributes
    ----------
    roots : list of Root
        The stored units with their terms, and the instructions that cannot be fused.
    costs : dict
        For each instruction the cost of the scalar functions that compute an element.
    prices : dict
        For each instruction the cost of computing an element from stored values, reads included.
    """

    def __init__(self, uses: Uses) -> None:
        count = len(uses.instructions)
        self._uses, self.program = uses, uses.program
        self.has_rings = uses.has_rings
        self._written = {b for i in uses.instructions for b in i.buffers[i.pattern.nin :]}
        self.results = {ref.buffer for ref in self.program.results}
        self.roots: list[Root] = []
        self.costs: dict[int, int] = {}
        self.prices: dict[int, int] = {}
        self._loads: dict[int, set[int]] = {}
        self._forced: dict[int, bool] = dict.fromkeys((*self.results, *uses.whole), True)
        self._stored: dict[int, bool] = {}
        self._writers: dict[int, list[Writer]] = {}
        self._places, self._terms = LoopMaps(), Terms(count, uses.has_rings)
        # For each instruction the writers that its unit was cut into, and their roots, if stored.
        self._made: list[list[Writer]] = [[] for _ in range(count)]
        self._rooted: list[list[Root]] = [[] for _ in range(count)]
        for number in uses.plain:
            self._rooted[number] = [Root(uses.instructions[number])]
        self._renew(everything=True)

    def store(self, numbers: Collection[int]) -> None:
        """Store the values of further instructions, and find the expressions of readers anew."""
        buffers = [self._uses.instructions[number].buffers[-1] for number in numbers]
        self._forced.update(dict.fromkeys(buffers, True))
        self._renew(everything=False)

    def _renew(self, everything: bool) -> None:
        """Find the expressions (terms) of all units, or only of units whose inputs have changed."""
        self._before, self._stored = self._stored, dict(self._forced)
        self._renewed: set[int] = set()  # the buffers whose terms are new
        differing = self._differing = dict[int, bool]()
        self._terms.forget_shifts()
        for number, unit in enumerate(self._uses.units):
            differs = everything
            for buffer in self._uses.reads[number]:  # no early end: every buffer is to be decided
                known = differing.get(buffer)
                if known is None:
                    known = self._differs(buffer)
                if known:
                    differs = True
            if unit is not None and (differs or unit.output.buffer in self._renewed):
                self._find_term(number, unit)
        self._find_roots()

    def _differs(self, buffer: int) -> bool:
        """Whether the terms of a buffer's readers must be found anew.

        That is so if the buffer is stored and was not before, or the other way round, or if the
        buffer is not stored and has a new term. If it is not known yet whether the buffer is
        stored, decide that first.
        """
        before, is_new = self._before.get(buffer), buffer in self._renewed
        stored = self._stored.get(buffer)
        if stored is None:
            stored = before if before is not None and not is_new else self._decide(buffer)
            self._stored[buffer] = stored
        is_read = stored and buffer not in self._uses.whole
        self._differing[buffer] = differs = stored != before or (is_new and not is_read)
        return differs

    def _find_term(self, number: int, unit: Unit) -> None:
        """Find the term of an instruction's unit anew, or the terms of the unit's parts."""
        made: list[Writer] = []
        if self._made[number]:
            self._terms.forget(unit.number)
            self._rooted[number] = []
            del self.costs[unit.number]
        self._made[number] = made
        self._expand(unit, made)
        buffer = unit.output.buffer
        self._renewed.add(buffer)
        pieces = self._uses.writers[buffer]
        if len(pieces) > 1:
            made = [w for n in pieces if n <= number for w in self._made[n]]
        self._writers[buffer] = made

    def _expand(self, unit: Unit, made: list[Writer]) -> None:
        """Append a unit with its term to ``made``, or the parts of the unit with their terms.

        A unit has to be cut into parts where an input comes from different writers.
        """
        args: list[Term] = []
        stored = self._stored
        for leaf in unit.inputs:
            if stored[leaf.buffer] and not self._is_made_again(leaf, unit.loop):
                args.append(leaf)
                continue
            writer, where, inside = self._source(leaf, unit.loop)
            if inside != unit.loop:
                for part in unit.cut(*_first_seam(unit.loop, inside)):
                    self._expand(part, made)
                return
            args.append(self._terms.shifted(writer.term, where))
        made.append(Writer(unit, self._terms.step(unit, args)))
        if unit.number not in self.costs:
            self._estimate(unit, args)

    def _estimate(self, unit: Unit, args: Sequence[Term]) -> None:
        """Note what one element of a unit costs: its scalar functions, and reads of memory.

        ``args`` are the expressions of the unit's inputs.
        """
        cost, loads = cost_of(unit.spec), set()
        for arg in args:
            if type(arg) is Step:
                cost += self.costs[arg.number]
                loads |= self._loads[arg.number]
            elif not arg.is_number:
                loads.add(arg.buffer)
        self.costs[unit.number], self._loads[unit.number] = cost, loads
        self.prices[unit.number] = cost + LOAD_COST * max(0, len(loads) - 1)

    def _find_roots(self) -> None:
        """List the roots: the stored units, and the instructions that cannot be fused.

        A unit that has no readers and is no result is left out: its value is not needed.
        """
        self.roots = []
        for number, unit in enumerate(self._uses.units):
            roots = self._rooted[number]
            if unit is not None and self._stored.get(unit.output.buffer):
                if not roots:
                    instruction = self._uses.instructions[number]
                    roots += [
                        Root(instruction, *self._terms.without_single_axes(w.unit, w.term))
                        for w in self._made[number]
                    ]
            elif unit is not None:
                continue
            self.roots += roots

    def _source(self, leaf: Leaf, loop: Shape) -> tuple[Writer, LoopMap, Shape]:
        """Return the writer of the first elements that a view reads over a reader's loop.

        Return with it the map from the reader's loop to the writer's loop, and the shape of the
        part of the reader's loop that reads from this writer.
        """
        for writer in self._writers[leaf.buffer]:
            ends = writer.ends if self.has_rings else None
            found = self._places.locate(writer.unit, ends, leaf, loop)
            if found is not None:
                return writer, *found
        raise LookupError(leaf)

    def _decide(self, buffer: int) -> bool:
        """Decide whether a buffer is stored, rather than computed by each of its readers."""
        writers = self._writers.get(buffer)
        if not writers or self.program.is_outside(buffer):
            return True
        if max([w.term.size for w in writers]) > LARGEST_TERM:
            return True
        reads = self._reads(buffer)
        if reads is None:
            return True
        again = reads / max(sum([w.unit.size for w in writers]), 1) - 1
        price = max([self.prices[w.unit.number] for w in writers])
        if again > 0.1 and price * again > MOST_RECOMPUTED_COST:
            return True
        spread = self._uses.again[buffer]
        if spread > 0.5 and len(writers) > 1:
            return True  # else its readers would have its seams too, shifted
        return spread > 0.1 and price * spread > MOST_RECOMPUTED_COST

    def _is_made_again(self, leaf: Leaf, loop: Shape) -> bool:
        """Whether a reader computes elements again that are stored for an instruction that cannot
        be fused.

        That costs a few operations, and a read of one array of the same layout from outside of the
        program. If no other instruction reads the value, its memory can be that of a tile.
        """
        writers = self._writers.get(leaf.buffer, ())
        if leaf.buffer not in self._uses.whole or len(writers) != 1 or leaf.rows:
            return False
        unit, term = writers[0].unit, writers[0].term
        if self.costs[unit.number] > MOST_COST_OF_STORED:
            return False
        sizes = [(x, _extent(x, unit.loop)) for x in contents(term)[1]]
        whole = [x for x, size in sizes if size == unit.size]
        few = all([size == unit.size or 8 * size <= unit.size for _, size in sizes])  # noqa: C419
        if not few or len(whole) != 1 or not self._is_alike(whole[0], unit):
            return False
        try:
            return self._source(leaf, loop)[2] == loop
        except LookupError:
            return False

    def _is_alike(self, leaf: Leaf, unit: Unit) -> bool:
        """Whether a view has the layout of a unit's output, in an array from outside of the program
        that no instruction writes."""
        pairs = zip(leaf.strides, unit.output.strides, unit.loop, strict=True)
        if leaf.turns or any([a != b and size > 1 for a, b, size in pairs]):  # noqa: C419
            return False
        is_small = leaf.dtype.itemsize <= unit.output.dtype.itemsize
        outside = self.program.is_outside(leaf.buffer) and leaf.buffer not in self._written
        return is_small and outside

    def _reads(self, buffer: int) -> int | None:
        """Return how many elements of a buffer the readers would compute if it were not stored.

        Readers that need the same elements count once. None where a reader cannot compute the
        elements that it needs, or has to be cut into too many parts to do so.
        """
        rows = self.program.rows[buffer]
        uses: dict[Hashable, int] = {}
        for leaf, reader, has_rows in self._uses.readers[buffer]:
            if has_rows != rows:
                return None
            try:
                for count, (unit, where, box) in enumerate(self._boxes(leaf, reader.loop)):
                    uses[unit, where, box] = prod(box)
                    if count == MOST_BOXES:
                        return None
            except LookupError:
                return None
        return sum(uses.values())

    def _boxes(self, leaf: Leaf, loop: Shape) -> Iterator[tuple[Unit, LoopMap, Shape]]:
        """Yield the parts into which a reader's loop is cut so that each reads from one writer.

        A part is given by the writer's unit, the map to the writer's loop, and the part's shape.
        """
        writer, where, inside = self._source(leaf, loop)
        if inside == loop:
            yield writer.unit, where, loop
            return
        axis, limit = _first_seam(loop, inside)
        size = loop[axis]
        for first, count in ((0, limit), (limit, size - limit)):
            box = (*loop[:axis], count, *loop[axis + 1 :])
            yield from self._boxes(leaf.box(axis, first, count, size), box)


def _extent(leaf: Leaf, loop: Shape) -> int:
    """Return the number of elements that a view reads over a loop."""
    return prod([size for size, step in zip(loop, leaf.strides, strict=True) if step])


def _first_seam(loop: Shape, inside: Shape) -> tuple[int, int]:
    """Return the first axis of a reader's loop where its writer changes, and the position there.

    ``inside`` is the shape of the part of the loop that reads from the first writer.
    """
    return next((a, n) for a, n in enumerate(inside) if n < loop[a])
