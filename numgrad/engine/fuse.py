"""Fusing: elementwise instructions become few kernels that keep what they can in registers.

`storing` has decided which values are stored. Those with the same loop are computed together, as
long as none reads what another one of them stores at another element. The kernels depend on the
structure alone, so the stages of an integrator, or another length of it, share them.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import prod
from typing import Any

from .assembly import kernel_calls
from .expand import Key, Leaf, Step, identity_of
from .halos import Halos
from .program import Instruction, Program
from .storing import AGAIN, LOAD, Root, Uses, Values, cost_of

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
    halos = Halos(result, together)
    for group, roots in zip(groups, together, strict=True):
        if roots[0].unit is None:
            result.instructions.append(roots[0].instruction)
            continue
        outside = [grouping.is_read_outside(number, group) for number in group]
        result.instructions += halos.before(roots)
        result.instructions += kernel_calls(halos, roots, outside, target)
        result.instructions += halos.after(roots)
    return result


def _grouped(
    program: Program, ordered: Sequence[Instruction]
) -> tuple["Grouping", list[list[int]]]:
    """Return the groups of roots, none of which computes again what is dear."""
    uses = Uses(program, ordered)
    stored: set[int] = set()
    while True:
        values = Values(uses, stored)
        grouping = Grouping(values)
        groups = list(grouping.groups())
        again = _computed_twice(values, groups)
        if again <= stored:
            return grouping, groups
        stored |= again


def _computed_twice(values: Values, groups: Sequence[Sequence[int]]) -> set[int]:
    """Return the instructions that several kernels would compute, where storing is cheaper; but not
    those that only go into others that the same kernels compute."""
    owners: dict[Key, set[int]] = {}
    users: dict[Key, set[Key]] = {}
    known: dict[Key, Step] = {}
    for place, group in enumerate(groups):
        for number in group:
            for key, step in values.roots[number].steps.items():
                places = owners.get(key)
                if places is not None:
                    places.add(place)
                    continue
                owners[key], known[key] = {place}, step
                for arg in step.args:
                    if type(arg) is Step:
                        users.setdefault(identity_of(arg), set()).add(key)
    costly: dict[Key, Step] = {}
    for key, places in owners.items():
        dear = values.prices[key[0]] * (len(places) - 1) > AGAIN
        if dear and not any(owners[user] >= places for user in users.get(key, ())):
            costly[key] = known[key]
    numbers = {key[0] for key in costly}
    counts = _uses(values, groups, costly)
    return {
        key[0]
        for key, step in costly.items()
        if _rest_price(values, step, numbers) * (counts[key] - 1) > AGAIN
    }


def _uses(
    values: Values, groups: Sequence[Sequence[int]], costly: Mapping[Key, Step]
) -> Counter[Key]:
    """Return how many kernels would read each of some steps if all of them were stored."""
    counts: Counter[Key] = Counter()
    terms: list[list[Any]] = [[values.roots[n].term for n in group] for group in groups]
    terms += [[*step.args] for step in costly.values()]
    for todo in terms:
        seen: set[Key] = set()
        while todo:
            term = todo.pop()
            if not isinstance(term, Step) or identity_of(term) in seen:
                continue
            seen.add(identity_of(term))
            if identity_of(term) in costly:
                counts[identity_of(term)] += 1
            else:
                todo += term.args
    return counts


def _rest_price(values: Values, step: Step, stored: Collection[int]) -> int:
    """Return the price of a step if the instructions in ``stored`` were stored, but not its own."""
    cost, loads = cost_of(step.spec), set()
    seen: set[Key] = set()
    todo = [*step.args]
    while todo:
        arg = todo.pop()
        if isinstance(arg, Leaf):
            if not arg.is_number:
                loads.add(arg.buffer)
        elif arg.number in stored:
            loads.add(-1 - arg.number)
        elif identity_of(arg) not in seen:
            seen.add(identity_of(arg))
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
        numbers = sum([leaf.is_number for leaf in operands])
        return len(operands) - numbers < MOST_OPERANDS and numbers <= MOST_NUMBERS

    def take(self, root: Root) -> None:
        """Add a root."""
        self.steps.update(root.steps)
        self.operands.update(root.leaves)
        if root.unit is not None:
            self.operands.add(root.unit.output)
