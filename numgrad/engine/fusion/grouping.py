"""Grouping: the stored values that one kernel computes, and the values to be stored besides.

Values with the same loop are computed together, unless a value of the group is read by another one
of the group at other elements. A value that several kernels would compute is stored where storing
it is cheaper; then the groups are made anew.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Any

from ...ir.program import Instruction, Program
from .expression import Leaf, Step
from .materialize import LOAD_COST, MOST_RECOMPUTED_COST, Root, StoredValues, cost_of
from .units import Uses

MOST_STEPS = 400
MOST_OPERANDS = 40
MOST_NUMBERS = 128  # operands of one element, which cost no memory traffic


def grouped(
    program: Program, ordered: Sequence[Instruction], joins: Callable[[Any], bool]
) -> tuple["Grouping", list[list[int]]]:
    """Return the grouping of a program and its groups, stored values added until no kernel computes
    again an expensive value of another kernel."""
    values = StoredValues(Uses(program, ordered, joins))
    stored: set[int] = set()
    while True:
        grouping = Grouping(values)
        groups = list(grouping.groups())
        again = computed_twice(values, groups)
        if again <= stored:
            return grouping, groups
        values.store(again - stored)
        stored |= again


class Grouping:
    """Groups of roots, each computed by one kernel, in an order in which readers follow writers.

    ``after[n]`` lists the roots that read the value of root n, each with whether it reads that
    value only element by element, so that both roots can be in one kernel.
    """

    def __init__(self, values: StoredValues) -> None:
        self.values = values
        self.keys: list[int] = []  # equal for roots that may be computed together
        self.late: list[bool] = []
        self.after: list[list[tuple[int, bool]]] = [[] for _ in values.roots]
        self.waiting = [0] * len(values.roots)
        self._known: dict[Any, int] = {}
        depths: list[int] = []  # the longest chain of roots that cannot be fused, above each root
        writers: dict[int, list[int]] = {}
        for number, root in enumerate(values.roots):
            found = [(at, n) for at, b in enumerate(root.reads) if b in writers for n in writers[b]]
            depth = max([depths[n] for _, n in found]) if found else 0
            self._add(number, root, depth)
            if found:
                self._link(number, root, found)
            depths.append(depth + (root.unit is None))
            for index in root.writes:
                writers.setdefault(index, []).append(number)

    def _add(self, number: int, root: Root, depth: int) -> None:
        """Note the key of a root, equal for roots that may be computed together.

        Small values at different depths have different keys, lest a number wait for a sum over many
        elements: its readers could then not share a kernel, or a segment, with the summands.
        """
        unit = root.unit
        if unit is None:
            self.late.append(True)
            self.keys.append(-1 - number)
            return
        small = unit.size <= MOST_NUMBERS and not unit.output.rows
        key = (unit.output.rows, unit.loop, depth if small else 0)
        self.late.append(not small)
        self.keys.append(self._known.setdefault(key, len(self._known)))

    def _link(self, number: int, root: Root, found: Sequence[tuple[int, int]]) -> None:
        """Note the earlier roots that a root reads, and whether only element by element."""
        sources: dict[int, bool] = {}
        roots, keys, key = self.values.roots, self.keys, self.keys[number]
        for at, source in found:
            same = keys[source] == key and sources.get(source, True)
            if same:
                unit = roots[source].unit  # never None: both roots have the same key
                same = unit is not None and unit.output == root.leaves[at]
            sources[source] = same
        for source, same in sources.items():
            self.after[source].append((number, same))
        self.waiting[number] = len(sources)

    def is_read_outside(self, number: int, group: Collection[int]) -> bool:
        """Whether the value of a root is a result of the program or read outside of its group."""
        unit = self.values.roots[number].unit
        if unit is None or unit.output.buffer in self.values.results:
            return True
        return not all(same and reader in group for reader, same in self.after[number])

    def groups(self) -> Iterator[list[int]]:
        """Yield the groups of roots, in an order for running; groups of small values come as early
        as possible, so that their readers need not wait."""
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
        """Return a group, the roots that become ready with it, and the roots for which it has no
        room."""
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
    """The size of a group's kernel: its steps and operands, with limits on both."""

    def __init__(self) -> None:
        self.steps: set[int] = set()
        self.operands: set[Leaf] = set()
        self.arrays = self.numbers = 0  # among the operands
        self._taken: list[Root] = []

    def has(self, root: Root) -> bool:
        """Whether the kernel has room for one more root."""
        for taken in self._taken:
            self._add(taken)
        self._taken = []
        if len(self.steps.union(root.steps)) > MOST_STEPS:
            return False
        arrays, numbers = self._new_operands(root.leaves)
        return self.arrays + arrays < MOST_OPERANDS and self.numbers + numbers <= MOST_NUMBERS

    def take(self, root: Root) -> None:
        """Add a root to the kernel. Its operands are counted only when `has` is called, which most
        kernels of a single root never need."""
        self._taken.append(root)

    def _add(self, root: Root) -> None:
        self.steps.update(root.steps)
        leaves = root.leaves if root.unit is None else (*root.leaves, root.unit.output)
        arrays, numbers = self._new_operands(leaves)
        self.arrays, self.numbers = self.arrays + arrays, self.numbers + numbers
        self.operands.update(leaves)

    def _new_operands(self, leaves: Sequence[Leaf]) -> tuple[int, int]:
        """Return how many arrays and how many single numbers among leaves are new operands."""
        more = [leaf for leaf in leaves if leaf not in self.operands]
        numbers = sum([leaf.is_number for leaf in more])
        return len(more) - numbers, numbers


def computed_twice(values: StoredValues, groups: Sequence[Sequence[int]]) -> set[int]:
    """Return the instructions that several kernels would compute and that are cheaper to store,
    except for those that go into a step which the same kernels compute.

    Instructions are decided upon in the order of the program, and the price of an instruction that
    is not stored counts for those computed from it. Were all candidates taken to be stored, each
    step of a chain would seem cheap to compute again, none would be stored, and each kernel would
    compute the chain from its beginning.
    """
    kernels = [[values.roots[number] for number in group] for group in groups]
    contents = [_contents(kernel) for kernel in kernels]
    counts = Counter(chain.from_iterable(contents))
    several = {key for key, count in counts.items() if count > 1}
    steps: dict[int, Step] = {}  # by key; the first of several with the same key
    for root in reversed([*chain.from_iterable(kernels)]):
        steps.update(root.steps)
    dear = {
        key
        for key in several
        if values.prices[steps[key].number] * (counts[key] - 1) > MOST_RECOMPUTED_COST
    }
    costly = [steps[key] for key in dear - _inner(dear, [steps[key] for key in several], contents)]
    uses = _uses(kernels, contents, costly)
    chosen: set[int] = set()
    for step in sorted(costly, key=lambda step: step.number):
        if _rest_price(step, chosen) * (uses[step.key] - 1) > MOST_RECOMPUTED_COST:
            chosen.add(step.number)
    return chosen


def _contents(kernel: Sequence[Root]) -> Collection[int]:
    """Return the keys of the steps of a kernel."""
    if len(kernel) == 1:
        return kernel[0].steps.keys()
    return set[int]().union(*[root.steps for root in kernel])


def _inner(
    dear: set[int], users: Sequence[Step], contents: Sequence[Collection[int]]
) -> set[int]:
    """Return the keys of the steps that go into a user which all kernels with the step compute."""
    pairs = [
        (arg.key, user.key)
        for user in users
        for arg in user.args
        if type(arg) is Step and arg.key in dear
    ]
    owners: dict[int, set[int]] = {key: set() for pair in pairs for key in pair}
    for place, keys in enumerate(contents):
        for key in owners.keys() & keys:
            owners[key].add(place)
    return {arg for arg, user in pairs if owners[user] >= owners[arg]}


def _uses(
    kernels: Sequence[Sequence[Root]], contents: Sequence[Collection[int]], costly: Sequence[Step]
) -> Counter[int]:
    """Return how often each costly step would be read, by kernels and by one another, if all costly
    steps were stored."""
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


def _rest_price(step: Step, stored: Collection[int]) -> int:
    """Return the price of computing a step when of all instructions only those in ``stored`` are
    stored."""
    cost, loads = cost_of(step.spec), set()
    seen: set[int] = set()
    todo = [*step.args]
    while todo:
        arg = todo.pop()
        if type(arg) is not Step:
            if not arg.is_number:
                loads.add(arg.buffer)
        elif arg.number in stored:
            loads.add(-1 - arg.number)
        elif arg.key not in seen:
            seen.add(arg.key)
            cost += cost_of(arg.spec)
            todo += arg.args
    return cost + LOAD_COST * max(0, len(loads) - 1)
