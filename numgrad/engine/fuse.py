"""Fusing: elementwise instructions become few kernels that keep what they can in registers.

`storing` has decided which values are stored. Those with the same loop are computed together, as
long as none reads what another one of them stores at another element. The kernels depend on the
structure alone, so the stages of an integrator, or another length of it, share them.
"""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from math import prod
from typing import Any

from .._specs import FusedSpec
from .expand import Leaf, Step, Term, identity_of
from .graph import Shape
from .program import Instruction, Layout, Pattern, Program, contiguous_strides, layout_of
from .storing import AGAIN, Root, Values

MOST_STEPS = 400
MOST_OPERANDS = 40
MOST_NUMBERS = 128  # operands that are one number, which cost no memory traffic


def fuse(program: Program, target: Any) -> Program:
    """Return a program with the same results and bits whose elementwise instructions are fused."""
    ordered = [i for i in program.instructions if not i.rows]
    ordered += [i for i in program.instructions if i.rows]
    grouping, groups = _grouped(program, ordered)
    result = Program(program.batch)
    result.nbytes, result.rows = program.nbytes, program.rows
    result.row_strides, result.arrays = program.row_strides, program.arrays
    result.arguments, result.results = program.arguments, program.results
    result.uses_blas = program.uses_blas
    made = [_joined(grouping, group, target) for group in groups]
    result.instructions = [instruction for instruction in made if instruction is not None]
    return result


def _grouped(
    program: Program, ordered: Sequence[Instruction]
) -> tuple["Grouping", list[list[int]]]:
    """Return the groups of roots, none of which computes again what is dear."""
    stored: set[int] = set()
    while True:
        values = Values(program, ordered, stored)
        grouping = Grouping(values)
        groups = list(grouping.groups())
        again = _computed_twice(values, groups)
        if again <= stored:
            return grouping, groups
        stored |= again


def _computed_twice(values: Values, groups: Sequence[Sequence[int]]) -> set[int]:
    """Return the instructions that several kernels would compute, where storing is cheaper."""
    owners: dict[tuple[int, int, Shape], int] = {}
    costly: set[int] = set()
    for group in groups:
        mine: dict[tuple[int, int, Shape], Step] = {}
        for number in group:
            mine.update(values.roots[number].steps)
        for key, step in mine.items():
            owners[key] = count = owners.get(key, 0) + 1
            if count > 1 and values.costs[step.number] * (count - 1) > AGAIN:
                costly.add(step.number)
    return costly


class Grouping:
    """Which roots are computed together, in an order that respects what reads what.

    ``after[n]`` lists the roots that read what root n stores, and whether each reads it only
    element by element, so that both can be in one kernel.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self.keys: list[Any] = []
        self.depths: list[int] = []
        self.after: list[list[tuple[int, bool]]] = [[] for _ in values.roots]
        self.waiting = [0] * len(values.roots)
        writers: dict[int, list[int]] = {}
        for number, root in enumerate(values.roots):
            self.depths.append(self._depth(root, writers))
            self.keys.append(_key(number, root, self.depths[number]))
            for source, same in self._sources(number, root, writers).items():
                self.after[source].append((number, same))
                self.waiting[number] += 1
            for index in root.writes:
                writers.setdefault(index, []).append(number)

    def _depth(self, root: Root, writers: dict[int, list[int]]) -> int:
        """Return how many instructions that cannot be fused must have run, one after the other."""
        roots, depth = self.values.roots, 0
        buffers = root.reads if root.unit is None else [leaf.buffer for leaf in root.leaves]
        for index in buffers:
            for source in writers.get(index, ()):
                depth = max(depth, self.depths[source] + (roots[source].unit is None))
        return depth

    def _sources(
        self, number: int, root: Root, writers: dict[int, list[int]]
    ) -> dict[int, bool]:
        """Return the earlier roots that one needs, and whether only element by element."""
        found: dict[int, bool] = {}
        if root.unit is None:
            for index in root.reads:
                found.update(dict.fromkeys(writers.get(index, ()), False))
            return found
        for leaf in root.leaves:
            for source in writers.get(leaf.buffer, ()):
                unit = self.values.roots[source].unit
                same = unit is not None and unit.output == leaf and self._is_peer(source, number)
                found[source] = found.get(source, True) and same
        return found

    def _is_peer(self, source: int, number: int) -> bool:
        return self.keys[source] == self.keys[number]

    def is_read_outside(self, number: int, group: Sequence[int]) -> bool:
        """Whether anything but the rest of its group needs what a root stores."""
        unit = self.values.roots[number].unit
        if unit is None or unit.output.buffer in self.values.results:
            return True
        return not all(same and reader in group for reader, same in self.after[number])

    def groups(self) -> Iterator[list[int]]:
        """Yield the roots to be computed together, group by group; a few numbers come as soon as
        they can, so that those that read them are not late."""
        late = [not _is_small(root) for root in self.values.roots]
        ready = [(late[n], n) for n, count in enumerate(self.waiting) if count == 0]
        heapify(ready)
        pools: dict[Any, list[int]] = {}
        for _, number in ready:
            heappush(pools.setdefault(self.keys[number], []), number)
        done: set[int] = set()
        while ready:
            _, first = heappop(ready)
            if first in done:
                continue
            members, released, left = self._gather(pools.pop(self.keys[first]), done)
            yield members
            for number in (*released, *left):
                heappush(pools.setdefault(self.keys[number], []), number)
            for number in released:
                heappush(ready, (late[number], number))

    def _gather(
        self, pool: list[int], done: set[int]
    ) -> tuple[list[int], list[int], list[int]]:
        """Return a group, the roots that may follow it, and those for which it had no room."""
        members: list[int] = []
        released: list[int] = []
        left: list[int] = []
        blocked: set[int] = set()
        room = _Room()
        while pool:
            number = heappop(pool)
            if number in done:
                continue
            root = self.values.roots[number]
            if members and not room.has(root):
                left.append(number)
                continue
            members.append(number)
            done.add(number)
            room.take(root)
            for reader, same in self.after[number]:
                self.waiting[reader] -= 1
                if not same:
                    blocked.add(reader)
                if self.waiting[reader] == 0:
                    if same and reader not in blocked:
                        heappush(pool, reader)
                    released.append(reader)
        return members, [n for n in released if n not in done], left


def _key(number: int, root: Root, depth: int) -> Any:
    """Return what roots have in common that may be computed together.

    Numbers that need not wait for a sum over many elements are not made to: what reads them could
    not be in one kernel with what is summed, nor in one stretch.
    """
    if root.unit is None:
        return number
    return (root.unit.output.rows, root.unit.loop, depth if _is_small(root) else 0)


def _is_small(root: Root) -> bool:
    """Whether a root computes a few numbers once."""
    unit = root.unit
    return unit is not None and not unit.output.rows and prod(unit.loop) <= MOST_NUMBERS


def _is_number(leaf: Leaf) -> bool:
    """Whether an operand is one element for the whole loop, whichever axis is the inner one."""
    return not any(leaf.strides) and not leaf.rows


class _Room:
    """How large the kernel of a group is, and may become."""

    def __init__(self) -> None:
        self.steps: set[Any] = set()
        self.operands: set[Leaf] = set()

    def has(self, root: Root) -> bool:
        """Whether a root fits."""
        if len(self.steps.union(root.steps)) > MOST_STEPS:
            return False
        operands = self.operands.union(root.leaves)
        numbers = sum([_is_number(leaf) for leaf in operands])
        return len(operands) - numbers < MOST_OPERANDS and numbers <= MOST_NUMBERS

    def take(self, root: Root) -> None:
        """Add a root."""
        self.steps.update(root.steps)
        self.operands.update(root.leaves)
        if root.unit is not None:
            self.operands.add(root.unit.output)


def _joined(grouping: Grouping, group: Sequence[int], target: Any) -> Instruction | None:
    """Return one instruction for a group, None if nobody needs what it computes."""
    roots = [grouping.values.roots[number] for number in group]
    first = roots[0]
    if first.unit is None or (
        len(group) == 1
        and len(first.steps) == 1
        and first.unit.loop == first.instruction.pattern.loop
    ):
        return first.instruction
    assembly = _Assembly(grouping, group)
    if not assembly.outputs:
        return None
    spec = assembly.spec()
    loop = first.unit.loop
    operands = [*assembly.inputs, *assembly.outputs]
    program = grouping.values.program
    pattern = Pattern(
        target.kernel(spec), spec, tuple(_layout(program, leaf, loop) for leaf in operands),
        len(assembly.inputs), loop, (), [leaf.strides for leaf in operands], (), spec.name,
    )  # fmt: skip
    buffers = tuple(leaf.buffer for leaf in operands)
    offsets = tuple(leaf.offset for leaf in operands)
    return Instruction(pattern, buffers, offsets, first.instruction.site)


def _layout(program: Program, leaf: Leaf, loop: Shape) -> Layout:
    dense = contiguous_strides(loop, leaf.dtype.itemsize)
    strides = tuple([s if n != 1 else d for s, d, n in zip(leaf.strides, dense, loop, strict=True)])
    layout = layout_of(loop, strides, leaf.dtype, leaf.rows)
    nbytes = program.nbytes[leaf.buffer]
    whole = strides == dense and layout.nbytes == nbytes and not program.is_outside(leaf.buffer)
    return layout_of(loop, strides, leaf.dtype, leaf.rows, whole) if whole else layout


class _Assembly:
    """The steps of a kernel in order, numbered as they are first needed."""

    def __init__(self, grouping: Grouping, group: Sequence[int]) -> None:
        self.own: dict[Leaf, Step] = {}
        self.inputs: list[Leaf] = []
        self.outputs: list[Leaf] = []
        for number in group:
            root = grouping.values.roots[number]
            assert root.unit is not None
            assert root.term is not None
            self.own[root.unit.output] = root.term
            if grouping.is_read_outside(number, group):
                self.outputs.append(root.unit.output)
        self._numbers: dict[Any, int] = {}
        self._steps: list[tuple[Any, tuple[Any, ...]]] = []
        self._stored = [self._visit(self.own[output]) for output in self.outputs]

    def _visit(self, term: Term) -> Any:
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
            tuple(_is_number(leaf) for leaf in self.inputs),
        )
