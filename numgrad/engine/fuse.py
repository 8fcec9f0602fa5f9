"""Fusing: elementwise instructions become few kernels that keep what they can in registers.

First it is decided which values are stored: results, what other instructions read, and what would
cost more to compute again, where several readers need it at different elements, than to read. Then
stored values with the same loop are computed together, as long as none reads what another one of
them stores at another element. The kernels depend on the structure alone, so the stages of an
integrator, or another length of it, share them.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from .._specs import FusedSpec
from .expand import Leaf, Step, identity_of, inlined, leaf_of, leaves
from .graph import Shape
from .program import Instruction, Pattern, Program, contiguous_strides, layout_of
from .storing import AGAIN, Values

MOST_STEPS = 64
MOST_OPERANDS = 28
_ROUNDS = 3


def fuse(program: Program, target: Any) -> Program:
    """Return a program with the same results and bits whose elementwise instructions are fused."""
    ordered = [i for i in program.instructions if not i.rows]
    ordered += [i for i in program.instructions if i.rows]
    stored: set[int] = set()
    for _ in range(_ROUNDS):
        values = Values(program, ordered, stored)
        grouping = Grouping(values)
        groups = list(grouping.groups())
        again = _computed_twice(values, groups)
        if again <= stored:
            break
        stored |= again
    result = Program(program.batch)
    result.nbytes, result.rows = program.nbytes, program.rows
    result.row_strides, result.arrays = program.row_strides, program.arrays
    result.arguments, result.results = program.arguments, program.results
    result.uses_blas = program.uses_blas
    result.instructions = [_joined(grouping, group, target) for group in groups]
    return result


def _computed_twice(values: Values, groups: Iterable[Sequence[int]]) -> set[int]:
    """Return the instructions that several kernels would compute, where storing is cheaper."""
    owners: dict[tuple[int, int, Shape], int] = {}
    costly: set[int] = set()
    for group in groups:
        mine: dict[tuple[int, int, Shape], Step] = {}
        for number in group:
            term = values.terms[number]
            if term is not None:
                mine.update(inlined(term))
        for key, step in mine.items():
            owners[key] = owners.get(key, 0) + 1
            if owners[key] > 1 and values.costs[step.number] * (owners[key] - 1) > AGAIN:
                costly.add(step.number)
    return costly


class Grouping:
    """Which roots are computed together, in an order that respects what reads what."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.keys = {n: self._key(n) for n in values.roots}
        self.after: dict[int, list[tuple[int, bool]]] = {n: [] for n in values.roots}
        self.waiting = dict.fromkeys(values.roots, 0)
        self.producers: dict[int, list[int]] = {}
        for number in values.roots:
            instruction = values.instructions[number]
            for index in set(instruction.buffers[instruction.pattern.nin :]):
                self.producers.setdefault(index, []).append(number)
        for number in values.roots:
            for source, same in self._sources(number).items():
                self.after[source].append((number, same))
                self.waiting[number] += 1

    def _key(self, number: int) -> Any:
        if not self.values.fusible[number]:
            return number
        instruction = self.values.instructions[number]
        return (instruction.rows, instruction.pattern.loop)

    def _sources(self, number: int) -> dict[int, bool]:
        """Return the roots that one reads, and whether only element by element."""
        instruction = self.values.instructions[number]
        term = self.values.terms[number]
        found: dict[int, bool] = {}
        if term is None:
            for index in instruction.buffers:
                found.update((n, False) for n in self.producers.get(index, ()) if n < number)
            return found
        for leaf in leaves([term]):
            for source in self.producers.get(leaf.buffer, ()):
                same = self.output_of(source) == leaf and self.keys[source] == self.keys[number]
                found[source] = found.get(source, True) and same
        return found

    def output_of(self, number: int) -> Leaf | None:
        """Return what a root stores, as a leaf of those that read it element by element."""
        if not self.values.fusible[number]:
            return None
        instruction = self.values.instructions[number]
        return leaf_of(self.values.program, instruction, instruction.pattern.nin)

    def is_read_outside(self, number: int, group: Sequence[int]) -> bool:
        """Whether anything but the rest of its group needs what a root stores."""
        instruction = self.values.instructions[number]
        if instruction.buffers[-1] in self.values.results:
            return True
        return not all(same and reader in group for reader, same in self.after[number])

    def groups(self) -> Iterator[list[int]]:
        """Yield the roots to be computed together, group by group."""
        ready = [n for n, count in self.waiting.items() if count == 0]
        heapify(ready)
        pools: dict[Any, list[int]] = {}
        for number in ready:
            heappush(pools.setdefault(self.keys[number], []), number)
        done: set[int] = set()
        while ready:
            first = heappop(ready)
            if first in done:
                continue
            key = self.keys[first]
            members, released, left = self._gather(pools.pop(key), key, done)
            yield members
            for number in (*released, *left):
                heappush(pools.setdefault(self.keys[number], []), number)
            for number in released:
                heappush(ready, number)

    def _gather(
        self, pool: list[int], key: Any, done: set[int]
    ) -> tuple[list[int], list[int], list[int]]:
        """Return a group, the roots that may follow it, and those for which it had no room."""
        members: list[int] = []
        released: list[int] = []
        left: list[int] = []
        blocked: set[int] = set()
        room = _Room(self)
        while pool:
            number = heappop(pool)
            if number in done:
                continue
            if members and not room.has(number):
                left.append(number)
                continue
            members.append(number)
            done.add(number)
            room.take(number)
            for reader, same in self.after[number]:
                self.waiting[reader] -= 1
                if not same:
                    blocked.add(reader)
                if self.waiting[reader] == 0:
                    if self.keys[reader] == key and reader not in blocked:
                        heappush(pool, reader)
                    released.append(reader)
        return members, [n for n in released if n not in done], left


class _Room:
    """How large the kernel of a group is, and may become."""

    def __init__(self, grouping: Grouping) -> None:
        self.grouping = grouping
        self.steps: set[Any] = set()
        self.operands: set[Leaf] = set()

    def _needs(self, number: int) -> tuple[set[Any], set[Leaf]]:
        term = self.grouping.values.terms[number]
        output = self.grouping.output_of(number)
        if term is None or output is None:
            return set(), set()
        return set(inlined(term)), {output, *leaves([term])}

    def has(self, number: int) -> bool:
        """Whether a root fits."""
        steps, operands = self._needs(number)
        return (
            len(self.steps | steps) <= MOST_STEPS
            and len(self.operands | operands) <= MOST_OPERANDS
        )

    def take(self, number: int) -> None:
        """Add a root."""
        steps, operands = self._needs(number)
        self.steps |= steps
        self.operands |= operands


def _joined(grouping: Grouping, group: Sequence[int], target: Any) -> Instruction:
    """Return one instruction for a group."""
    values = grouping.values
    first = values.instructions[group[0]]
    terms = [values.terms[n] for n in group]
    if None in terms or (len(group) == 1 and len(inlined(terms[0])) == 1):
        return first
    assembly = _Assembly(grouping, group)
    spec = assembly.spec()
    loop = first.pattern.loop
    operands = [*assembly.inputs, *assembly.outputs]
    layouts = tuple(_layout(values.program, leaf, loop) for leaf in operands)
    pattern = Pattern(
        target.kernel(spec), spec, layouts, len(assembly.inputs), loop, (),
        [leaf.strides for leaf in operands], (), spec.name,
    )  # fmt: skip
    buffers = tuple(leaf.buffer for leaf in operands)
    return Instruction(pattern, buffers, tuple(leaf.offset for leaf in operands), first.site)


def _layout(program: Program, leaf: Leaf, loop: Shape) -> Any:
    nbytes = program.nbytes[leaf.buffer]
    dense = contiguous_strides(loop, leaf.dtype.itemsize)
    strides = tuple([s if n != 1 else d for s, d, n in zip(leaf.strides, dense, loop, strict=True)])
    layout = layout_of(loop, strides, leaf.dtype, leaf.rows, False)
    whole = strides == dense and layout.nbytes == nbytes and not program.is_outside(leaf.buffer)
    return layout_of(loop, strides, leaf.dtype, leaf.rows, whole)


class _Assembly:
    """The steps of a kernel in order, numbered as they are first needed."""

    def __init__(self, grouping: Grouping, group: Sequence[int]) -> None:
        values = grouping.values
        self.own: dict[Leaf, Step] = {}
        self.inputs: list[Leaf] = []
        self.outputs: list[Leaf] = []
        for number in group:
            output, term = grouping.output_of(number), values.terms[number]
            assert output is not None
            assert term is not None
            self.own[output] = term
            if grouping.is_read_outside(number, group):
                self.outputs.append(output)
        self._numbers: dict[Any, int] = {}
        self._steps: list[tuple[Any, tuple[Any, ...]]] = []
        self._stored = [self._visit(self.own[output]) for output in self.outputs]

    def _visit(self, term: Any) -> Any:
        """Return the mark of a value: a leaf, or the position of a step."""
        if isinstance(term, Leaf):
            inner = self.own.get(term)
            if inner is not None:
                return self._visit(inner)
            if term not in self._numbers:
                self._numbers[term] = len(self.inputs)
                self.inputs.append(term)
            return term
        key = identity_of(term)
        if key not in self._numbers:
            args = tuple([self._visit(arg) for arg in term.args])
            self._numbers[key] = len(self._steps)
            self._steps.append((term.spec, args))
        return self._numbers[key]

    def spec(self) -> FusedSpec:
        """Return the kernel's spec: inputs are numbered first, then the steps."""
        first = len(self.inputs)

        def number(mark: Any) -> int:
            return self._numbers[mark] if isinstance(mark, Leaf) else first + mark

        steps = tuple((s, tuple([number(arg) for arg in args])) for s, args in self._steps)
        names = list(dict.fromkeys(s.name for s, _ in self._steps))
        shown = " ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        return FusedSpec(
            f"fused[{len(steps)}: {shown}]",
            steps,
            tuple(leaf.dtype for leaf in self.inputs),
            tuple(leaf.dtype for leaf in self.outputs),
            tuple(number(mark) for mark in self._stored),
            tuple(not any(leaf.strides) and not leaf.rows for leaf in self.inputs),
        )
