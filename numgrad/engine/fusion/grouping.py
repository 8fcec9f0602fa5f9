"""Grouping: which stored values one kernel computes, and what had better be stored as well.

Values with the same loop are computed together, as long as none reads what another one of them
stores at another element. What several kernels would compute again is stored where that is cheaper;
then the groups are made anew.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Any

from ...ir.program import Instruction, Program
from .expression import Leaf, Step
from .materialize import AGAIN, LOAD, Root, Values, cost_of
from .units import Uses

MOST_STEPS = 400
MOST_OPERANDS = 40
MOST_NUMBERS = 128  # operands that are one number, which cost no memory traffic


def grouped(
    program: Program, ordered: Sequence[Instruction], joins: Callable[[Any], bool]
) -> tuple["Grouping", list[list[int]]]:
    """Return the groups of roots, none of which computes again what is dear."""
    values = Values(Uses(program, ordered, joins))
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
    """Which roots are computed together, in an order that respects what reads what.

    ``after[n]`` lists the roots that read what root n stores, and whether each reads it only
    element by element, so that both can be in one kernel.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self.keys: list[int] = []  # the same for those that may be computed together
        self.late: list[bool] = []
        self.after: list[list[tuple[int, bool]]] = [[] for _ in values.roots]
        self.waiting = [0] * len(values.roots)
        self._known: dict[Any, int] = {}
        depths: list[int] = []  # how many that cannot be fused must have run, one after the other
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
        """Note what a root has in common with those that may be computed together.

        Numbers that need not wait for a sum over many elements are not made to: what reads them
        could not be in one kernel with what is summed, nor in one stretch.
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
        """Note the earlier roots that one needs, and whether only element by element."""
        sources: dict[int, bool] = {}
        roots, keys, key = self.values.roots, self.keys, self.keys[number]
        for at, source in found:
            same = keys[source] == key and sources.get(source, True)
            if same:
                unit = roots[source].unit  # as this one, or both would not have one key
                same = unit is not None and unit.output == root.leaves[at]
            sources[source] = same
        for source, same in sources.items():
            self.after[source].append((number, same))
        self.waiting[number] = len(sources)

    def is_read_outside(self, number: int, group: Collection[int]) -> bool:
        """Whether anything but the rest of its group needs what a root stores."""
        unit = self.values.roots[number].unit
        if unit is None or unit.output.buffer in self.values.results:
            return True
        return not all(same and reader in group for reader, same in self.after[number])

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
        self.steps: set[int] = set()
        self.operands: set[Leaf] = set()
        self.arrays = self.numbers = 0  # among the operands
        self._taken: list[Root] = []

    def has(self, root: Root) -> bool:
        """Whether a root fits."""
        for taken in self._taken:
            self._add(taken)
        self._taken = []
        if len(self.steps.union(root.steps)) > MOST_STEPS:
            return False
        arrays, numbers = self._more(root.leaves)
        return self.arrays + arrays < MOST_OPERANDS and self.numbers + numbers <= MOST_NUMBERS

    def take(self, root: Root) -> None:
        """Add a root; most are alone, and nobody asks what has room beside them."""
        self._taken.append(root)

    def _add(self, root: Root) -> None:
        self.steps.update(root.steps)
        leaves = root.leaves if root.unit is None else (*root.leaves, root.unit.output)
        arrays, numbers = self._more(leaves)
        self.arrays, self.numbers = self.arrays + arrays, self.numbers + numbers
        self.operands.update(leaves)

    def _more(self, leaves: Sequence[Leaf]) -> tuple[int, int]:
        """Return how many arrays and single numbers there are that were no operands."""
        more = [leaf for leaf in leaves if leaf not in self.operands]
        numbers = sum([leaf.is_number for leaf in more])
        return len(more) - numbers, numbers


def computed_twice(values: Values, groups: Sequence[Sequence[int]]) -> set[int]:
    """Return the instructions that several kernels would compute, where storing is cheaper; but not
    those that only go into others that the same kernels compute.

    They are decided upon in the order of the program: what is not stored counts as a part of those
    made of it. Were all of them taken to be stored, each step of a chain would seem cheap to
    compute again, none would be stored, and each kernel would compute the chain from its beginning.
    """
    kernels = [[values.roots[number] for number in group] for group in groups]
    contents = [_contents(kernel) for kernel in kernels]
    counts = Counter(chain.from_iterable(contents))
    several = {key for key, count in counts.items() if count > 1}
    steps: dict[int, Step] = {}  # by their keys; of several the first
    for root in reversed([*chain.from_iterable(kernels)]):
        steps.update(root.steps)
    dear = {key for key in several if values.prices[steps[key].number] * (counts[key] - 1) > AGAIN}
    costly = [steps[key] for key in dear - _inner(dear, [steps[key] for key in several], contents)]
    uses = _uses(kernels, contents, costly)
    chosen: set[int] = set()
    for step in sorted(costly, key=lambda step: step.number):
        if _rest_price(step, chosen) * (uses[step.key] - 1) > AGAIN:
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
    """Return those of some steps that go into one of their users in all kernels that compute
    them."""
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


def _rest_price(step: Step, stored: Collection[int]) -> int:
    """Return the price of a step where no other instructions than those in ``stored`` are, and not
    its own."""
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
    return cost + LOAD * max(0, len(loads) - 1)
