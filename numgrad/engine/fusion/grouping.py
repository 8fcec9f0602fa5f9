"""Grouping: the stored values that one kernel computes, and the values to be stored besides.

A stored value, with the expression that computes its elements, is a *root*; a *step* is a scalar
function in such an expression. Roots with the same loop are computed together, unless a root of the
group reads another one of the group at other elements than its own. A value that several kernels
would compute is stored where storing is cheaper; then the groups are made anew.
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
    """Return the grouping of a program's stored values, and the groups in the order of running.

    A group is a list of numbers of stored values (roots). Further values are stored until no two
    kernels compute the same expensive value.
    """
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
    """Puts the stored values (roots) of a program into groups, each computed by one kernel.

    Attributes
    ----------
    keys : list of int
        For each root a number, equal for roots that one kernel may compute.
    late : list of bool
        True for each root but the small values, whose groups come first where there is a choice.
    after : list of list of (int, bool)
        For each root the roots that read its value, each with whether the value is read only
        element by element, so that both roots can be in one kernel.
    waiting : list of int
        For each root the number of roots that it reads and that are in no group yet.
    """

    def __init__(self, values: StoredValues) -> None:
        self.values = values
        self.keys: list[int] = []  # equal for roots that may be computed together
        self.late: list[bool] = []
        self.after: list[list[tuple[int, bool]]] = [[] for _ in values.roots]
        self.waiting = [0] * len(values.roots)
        self._known: dict[Any, int] = {}
        depths: list[int] = []  # for each root the longest chain of unfusible roots before it
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
        """Note the key of a stored value (root); one kernel may compute roots with equal keys.

        ``depth`` is the number of instructions that cannot be fused, such as sums, on the longest
        path from the inputs of the program to the root. Small values at different depths have
        different keys. Otherwise a number could be put into one kernel with a number that depends
        on a sum over many elements. The readers of the first number would then have to wait for
        the sum, and could not share a kernel, or a segment, with its summands.
        """
        unit = root.unit
        if unit is None:
            self.late.append(True)
            self.keys.append(-1 - number)
            return
        small = unit.size <= MOST_NUMBERS and not unit.output.rows
        key = (unit.output.rows, unit.loop, depth if small else 0, root.instruction.stream)
        self.late.append(not small)
        self.keys.append(self._known.setdefault(key, len(self._known)))

    def _link(self, number: int, root: Root, found: Sequence[tuple[int, int]]) -> None:
        """Note which earlier stored values (roots) a root reads, and which element by element.

        ``found`` has a pair for each such read: the position among the reads of the root, and the
        number of the earlier root.
        """
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
        """Whether a root's value is a result of the program, or is read outside of the group."""
        unit = self.values.roots[number].unit
        if unit is None or unit.output.buffer in self.values.results:
            return True
        return not all(same and reader in group for reader, same in self.after[number])

    def groups(self) -> Iterator[list[int]]:
        """Yield the groups, lists of numbers of roots, in an order in which they can be run.

        Groups of small values come as early as possible, so that their readers need not wait.
        """
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
        """Return the next group, the roots that become ready after it, and the roots left over.

        ``pool`` is a heap of ready roots with equal keys; those for which the group has no room are
        left over. ``done`` has all roots of earlier groups, and gets those of this one.
        """
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
    """The steps and operands of the kernel of a group so far, with limits on their numbers."""

    def __init__(self) -> None:
        self.steps: set[int] = set()
        self.operands: set[Leaf] = set()
        self.arrays = self.numbers = 0  # arrays, and single numbers, among the operands
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
        """Add a root to the kernel.

        The operands of the root are counted only when `has` is called, which most kernels of a
        single root never need.
        """
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
    """Return the numbers of instructions that several kernels compute although storing is cheaper.

    If all kernels that compute an instruction also compute one of its readers, only the reader is
    considered.

    The decisions are made in the order of the program. The price of an instruction includes the
    prices of its inputs that are not stored so far. If all candidates counted as stored inputs,
    each instruction of a chain would seem cheap to compute again. None would be stored, and each
    kernel would compute the chain from its beginning.
    """
    kernels = [[values.roots[number] for number in group] for group in groups]
    contents = [_contents(kernel) for kernel in kernels]
    counts = Counter(chain.from_iterable(contents))
    several = {key for key, count in counts.items() if count > 1}
    steps: dict[int, Step] = {}  # by key; of several with one key the first
    for root in reversed([*chain.from_iterable(kernels)]):
        steps.update(root.steps)
    expensive = {
        key
        for key in several
        if values.prices[steps[key].number] * (counts[key] - 1) > MOST_RECOMPUTED_COST
    }
    inner = _inner(expensive, [steps[key] for key in several], contents)
    costly = [steps[key] for key in expensive - inner]
    uses = _uses(kernels, contents, costly)
    chosen: set[int] = set()
    for step in sorted(costly, key=lambda step: step.number):
        if _rest_price(step, chosen) * (uses[step.key] - 1) > MOST_RECOMPUTED_COST:
            chosen.add(step.number)
    return chosen


def _contents(kernel: Sequence[Root]) -> Collection[int]:
    """Return the keys of the scalar functions (steps) that a kernel computes."""
    if len(kernel) == 1:
        return kernel[0].steps.keys()
    return set[int]().union(*[root.steps for root in kernel])


def _inner(
    expensive: set[int], readers: Sequence[Step], contents: Sequence[Collection[int]]
) -> set[int]:
    """Return the keys of the expensive scalar functions (steps) that need not be stored.

    Every kernel that computes such a step also computes one of the step's readers, which can be
    stored instead.

    Parameters
    ----------
    expensive : set of int
        The keys of the steps in question.
    readers : sequence of Step
        Steps, among them all readers in question.
    contents : sequence of collection of int
        For each kernel the keys of its steps.
    """
    pairs = [
        (arg.key, reader.key)
        for reader in readers
        for arg in reader.args
        if type(arg) is Step and arg.key in expensive
    ]
    owners: dict[int, set[int]] = {key: set() for pair in pairs for key in pair}
    for place, keys in enumerate(contents):
        for key in owners.keys() & keys:
            owners[key].add(place)
    return {arg for arg, reader in pairs if owners[reader] >= owners[arg]}


def _uses(
    kernels: Sequence[Sequence[Root]], contents: Sequence[Collection[int]], costly: Sequence[Step]
) -> Counter[int]:
    """Count how often kernels and costly steps would read each costly step, if all were stored.

    ``contents`` has for each kernel the keys of its steps.
    """
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
    """Return the price of computing a step with all values that it needs and that are not stored.

    The price is in simple operations; a read from memory costs as much as some of them. ``stored``
    has the numbers of the instructions whose values are stored.
    """
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
