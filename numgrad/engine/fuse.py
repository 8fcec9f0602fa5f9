"""Fusing: elementwise instructions become few kernels that keep what they can in registers.

`storing` has decided which values are stored. Those with the same loop are computed together, as
long as none reads what another one of them stores at another element. The kernels depend on the
structure alone, so the stages of an integrator, or another length of it, share them.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Any

from .assembly import Assembler
from .expand import Leaf, Step
from .halos import Halos
from .program import Instruction, Program
from .storing import AGAIN, LOAD, Root, Values, cost_of
from .uses import Uses

MOST_STEPS = 400
MOST_OPERANDS = 40
MOST_NUMBERS = 128  # operands that are one number, which cost no memory traffic


def fuse(program: Program, target: Any) -> Program:
    """Return a program with the same results and bits whose elementwise instructions are fused."""
    ordered = [i for i in program.instructions if not i.rows]
    ordered += [i for i in program.instructions if i.rows]
    grouping, groups = _grouped(program, ordered)
    result = Program(program.batch)
    result.nbytes, result.rows = [*program.nbytes], [*program.rows]
    result.row_strides, result.arrays = [*program.row_strides], program.arrays
    result.arguments, result.results = program.arguments, program.results
    result.uses_blas = program.uses_blas
    together = [[grouping.values.roots[number] for number in group] for group in groups]
    halos = Halos(result, together if grouping.values.has_rings else ())
    assembler = Assembler(halos, target)
    for group, roots in zip(groups, together, strict=True):
        if roots[0].unit is None:
            result.instructions.append(roots[0].instruction)
            continue
        members = set(group)
        outside = [grouping.is_read_outside(number, members) for number in group]
        result.instructions += halos.before(roots)
        result.instructions += assembler.calls(roots, outside)
        result.instructions += halos.after(roots)
    return result


def _grouped(
    program: Program, ordered: Sequence[Instruction]
) -> tuple["Grouping", list[list[int]]]:
    """Return the groups of roots, none of which computes again what is dear."""
    values = Values(Uses(program, ordered))
    stored: set[int] = set()
    while True:
        grouping = Grouping(values)
        groups = list(grouping.groups())
        again = _computed_twice(values, groups)
        if again <= stored:
            return grouping, groups
        values.store(again - stored)
        stored |= again


def _computed_twice(values: Values, groups: Sequence[Sequence[int]]) -> set[int]:
    """Return the instructions that several kernels would compute, where storing is cheaper; but not
    those that only go into others that the same kernels compute."""
    kernels = [[values.roots[number] for number in group] for group in groups]
    contents = [set[int]().union(*[root.steps for root in kernel]) for kernel in kernels]
    counts = Counter(chain.from_iterable(contents))
    several = {key for key, count in counts.items() if count > 1}
    steps: dict[int, Step] = {}  # by their keys; of several the first
    for root in reversed([*chain.from_iterable(kernels)]):
        steps.update(root.steps)
    dear = {key for key in several if values.prices[steps[key].number] * (counts[key] - 1) > AGAIN}
    costly = [steps[key] for key in dear - _inner(contents, several, steps)]
    uses = _uses(kernels, contents, costly)
    numbers = {step.number for step in costly}
    return {
        step.number
        for step in costly
        if _rest_price(values, step, numbers) * (uses[step.key] - 1) > AGAIN
    }


def _inner(
    contents: Sequence[set[int]], several: set[int], steps: Mapping[int, Step]
) -> set[int]:
    """Return those of several steps that go into another one in all kernels that compute them."""
    owners: dict[int, set[int]] = {key: set() for key in several}
    for place, keys in enumerate(contents):
        for key in several & keys:
            owners[key].add(place)
    return {
        arg.key
        for key in several
        for arg in steps[key].args
        if type(arg) is Step and arg.key in several and owners[key] >= owners[arg.key]
    }


def _uses(
    kernels: Sequence[Sequence[Root]], contents: Sequence[set[int]], costly: Sequence[Step]
) -> Counter[int]:
    """Return how many kernels would read each of some steps if all of them were stored."""
    uses: Counter[int] = Counter()
    keys = {step.key for step in costly}
    terms: list[list[Any]] = [
        [root.term for root in kernel]
        for kernel, content in zip(kernels, contents, strict=True)
        if not keys.isdisjoint(content)
    ]
    for todo in (*terms, *[[*step.args] for step in costly]):
        seen: set[int] = set()
        while todo:
            term = todo.pop()
            if type(term) is not Step or term.key in seen:
                continue
            seen.add(term.key)
            if term.key in keys:
                uses[term.key] += 1
            else:
                todo += term.args
    return uses


def _rest_price(values: Values, step: Step, stored: Collection[int]) -> int:
    """Return the price of a step if the instructions in ``stored`` were stored, but not its own."""
    cost, loads = cost_of(step.spec), set()
    seen: set[int] = set()
    todo = [*step.args]
    while todo:
        arg = todo.pop()
        if type(arg) is Leaf:
            if not arg.is_number:
                loads.add(arg.buffer)
        elif arg.number in stored:
            loads.add(-1 - arg.number)
        elif arg.key not in seen:
            seen.add(arg.key)
            cost += cost_of(arg.spec)
            todo += arg.args
    return cost + LOAD * max(0, len(loads) - 1)


class Grouping:
    """Which roots are computed together, in an order that respects what reads what.

    ``after[n]`` lists the roots that read what root n stores, and whether each reads it only
    element by element, so that both can be in one kernel.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self.keys: list[Any] = []
        self.late: list[bool] = []
        self.after: list[list[tuple[int, bool]]] = [[] for _ in values.roots]
        self.waiting = [0] * len(values.roots)
        depths: list[int] = []  # how many that cannot be fused must have run, one after the other
        writers: dict[int, list[int]] = {}
        for number, root in enumerate(values.roots):
            found = [(at, n) for at, b in enumerate(root.reads) if b in writers for n in writers[b]]
            depth = max([depths[n] for _, n in found]) if found else 0
            self._add(number, root, depth)
            for source, same in self._sources(number, root, found).items():
                self.after[source].append((number, same))
                self.waiting[number] += 1
            depths.append(depth + (root.unit is None))
            for index in root.writes:
                writers.setdefault(index, []).append(number)

    def _add(self, number: int, root: Root, depth: int) -> None:
        """Note what a root has in common with those that may be computed together.

        Numbers that need not wait for a sum over many elements are not made to: what reads them
        could not be in one kernel with what is summed, nor in one stretch.
        """
        unit = root.unit
        if unit is None:
            self.late.append(True)
            self.keys.append(number)
            return
        small = not unit.output.rows and unit.size <= MOST_NUMBERS
        self.late.append(not small)
        self.keys.append((unit.output.rows, unit.loop, depth if small else 0))

    def _sources(
        self, number: int, root: Root, found: Sequence[tuple[int, int]]
    ) -> dict[int, bool]:
        """Return the earlier roots that one needs, and whether only element by element."""
        sources: dict[int, bool] = {}
        roots, key, is_unit = self.values.roots, self.keys[number], root.unit is not None
        for at, source in found:
            unit = roots[source].unit
            same = is_unit and unit is not None and unit.output == root.leaves[at]
            same = same and self.keys[source] == key
            sources[source] = sources.get(source, True) and same
        return sources

    def is_read_outside(self, number: int, group: Collection[int]) -> bool:
        """Whether anything but the rest of its group needs what a root stores."""
        unit = self.values.roots[number].unit
        if unit is None or unit.output.buffer in self.values.results:
            return True
        return not all([same and reader in group for reader, same in self.after[number]])

    def groups(self) -> Iterator[list[int]]:
        """Yield the roots to be computed together, group by group; a few numbers come as soon as
        they can, so that those that read them are not late."""
        ready = [(self.late[n], n) for n, count in enumerate(self.waiting) if count == 0]
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
                heappush(ready, (self.late[number], number))

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


class _Room:
    """How large the kernel of a group is, and may become."""

    def __init__(self) -> None:
        self.steps: set[Any] = set()
        self.operands: set[Leaf] = set()
        self._taken: list[Root] = []

    def has(self, root: Root) -> bool:
        """Whether a root fits."""
        for taken in self._taken:
            self._add(taken)
        self._taken = []
        if len(self.steps.union(root.steps)) > MOST_STEPS:
            return False
        operands = self.operands.union(root.leaves)
        numbers = sum([leaf.is_number for leaf in operands])
        return len(operands) - numbers < MOST_OPERANDS and numbers <= MOST_NUMBERS

    def take(self, root: Root) -> None:
        """Add a root; most are alone, and nobody asks what has room beside them."""
        self._taken.append(root)

    def _add(self, root: Root) -> None:
        self.steps.update(root.steps)
        self.operands.update(root.leaves)
        if root.unit is not None:
            self.operands.add(root.unit.output)
