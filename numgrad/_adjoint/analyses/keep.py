"""Plans of the reverse sweep: which values the tape keeps, and which are computed again. For each
region the plan is a cut of least weight between values that cannot be computed again and values
that the reverse sweep reads."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..ssa.ir import INTEGER, Classes, Op, Program, Region, Value, depth
from ..ssa.partials import COMPARISONS, SCALARS
from .activity import Activity
from .companions import Companions
from .dependence import Dependence
from .whole import Whole


@dataclass
class Plan:
    """The values that the reverse sweep of a region begins with.

    Attributes
    ----------
    taped : list of Value
        What is kept on the tape, in order.
    again : set of Value
        What is computed again.
    arrays : list of Value
        What is kept whole at the end of a step.
    """

    taped: list[Value] = field(default_factory=list)
    again: set[Value] = field(default_factory=set)
    arrays: list[Value] = field(default_factory=list)


class Keeping:
    """Plans the reverse sweeps of all regions.

    Parameters
    ----------
    program, classes, activity, dependence
        The program and what is known of it.
    is_cut : bool
        Whether cuts are sought; else all that is needed is kept.

    Attributes
    ----------
    plans : dict
        The plan of each region that a loop repeats.
    needed : set of Value
        What the reverse sweep needs of the values of regions that run once.
    """

    def __init__(
        self, program: Program, classes: Classes, activity: Activity, dependence: Dependence,
        is_cut: bool = True, is_whole: bool = True,
    ) -> None:  # fmt: skip
        self.program, self.classes, self.activity = program, classes, activity
        self.dependence, self.is_cut = dependence, is_cut
        self.companions = Companions(program)
        self.plans: dict[Region, Plan] = {}
        self.needed: set[Value] = set()
        self._reversed: dict[Op, bool] = {}
        makers = [op for op in program.body.walk() if op.name in ("alloc", "copy", "given")]
        made = [array for op in makers for array in op.results if array.type.is_array]
        self._lost = {classes.of(array) for array in made if depth(array.region) > 0}
        self.whole = Whole(program.body, classes, dependence, self._lost, is_whole)
        self._arrays: dict[Region, dict[Value, None]] = {}
        self.trips: dict[Op, Value] = {}
        self.needed |= self._plan(program.body)

    # What is reversed

    def is_reversed(self, op: Op) -> bool:
        """Whether the reverse sweep has statements for an operation."""
        if op not in self._reversed:
            self._reversed[op] = self._has_part(op)
        return self._reversed[op]

    def _has_part(self, op: Op) -> bool:
        if op.regions:
            inner = any(self.is_reversed(o) for region in op.regions for o in region.ops)
            return inner or any(result in self.activity for result in op.results)
        if op.name in ("store", "accum", "alloc", "copy", "view"):
            array = op.result if op.results else op.array
            return array in self.activity
        return bool(op.results) and op.result in self.activity

    def trips_of(self, op: Op) -> Value | None:
        """Return the value that counts the iterations of a loop; None for a loop whose range says
        it."""
        if op.is_for and op.body.go_on is None:
            return None
        if op not in self.trips:
            self.trips[op] = Value(INTEGER, op.region, None, "steps")
        return self.trips[op]

    # What is needed

    def _plan(self, region: Region) -> set[Value]:
        """Plan a region with its nested regions; return the outer values that it needs."""
        wanted: set[Value] = set()
        for op in region.ops:
            wanted |= set(self._wanted(op))
        arrays = list(self._arrays.get(region, ()))
        for array in arrays:
            wanted.update(extents_of(array))
        own = {v for v in wanted if v.region is region and v.constant is None}
        outer = {v for v in wanted if v.region is not region and v.constant is None}
        if depth(region) == 0:
            self.needed |= own
            return outer
        plan = self._cut(region, own)
        plan.arrays = arrays
        self.plans[region] = plan
        for value in _in_order(plan.again):  # so that the source is the same in each process
            self._note_array(value)
            outer |= {
                v
                for v in self._inputs(value) or []
                if v.region is not region and v.constant is None
            }
        return outer

    def _note_array(self, value: Value) -> None:
        """Note an array that must be kept because a load from it is repeated."""
        if value.op is not None and value.op.name == "load" and self.is_from_tape(value.op):
            region = self.whole.region_of(value.op)
            assert region is not None
            self._arrays.setdefault(region, {})[value.op.array] = None

    def is_from_tape(self, load: Op) -> bool:
        """Whether a load cannot be repeated from its array, so that the tape must keep the value.
        """
        return not self.is_available(load.array) or self.dependence.is_overwritten(load)

    def _wanted(self, op: Op) -> Iterator[Value]:
        """Return the values that the reverse of an operation reads."""
        if not self.is_reversed(op):
            return
        if op.name in SCALARS:
            yield from self._wanted_by_scalar(op)
        elif op.name in ("load", "store", "accum"):
            yield from op.index
            yield from self._array_inputs(op.array)
        elif op.name == "view":
            yield from op.args[1:]
            yield from op.info["extents"]
        elif op.name in ("alloc", "copy"):
            yield from op.info["extents"]
        elif op.name == "if":
            yield op.args[0]
            for region in op.regions:
                yield from self._plan(region)
        elif op.name == "loop":
            yield from self._wanted_by_loop(op)

    def _wanted_by_scalar(self, op: Op) -> Iterator[Value]:
        adds = SCALARS[op.name].adds
        for place, arg in enumerate(op.args):
            if adds[place] is not None and arg in self.activity:
                pattern, slope = self.companions.adds(op, place), self.companions.of(op)
                for part in re.findall(r"\{(\d|r|c)\}", pattern):
                    known = {"r": op.result, "c": slope}
                    yield known[part] or op.result if part in known else op.args[int(part)]

    def _wanted_by_loop(self, op: Op) -> Iterator[Value]:
        trips = self.trips_of(op)
        yield from op.bounds
        if trips is not None:
            yield trips
        yield from self._plan(op.body)

    def _array_inputs(self, array: Value) -> list[Value]:
        """Return the numbers that the reverse sweep needs to have an array, such as the indices of
        a view."""
        found: list[Value] = []
        while array.op is not None and array.op.name == "view":
            found += array.op.args[1:] + array.op.info["extents"]
            array = array.op.args[0]
        return found

    # What can be computed again

    def _inputs(self, value: Value) -> list[Value] | None:
        """Return the operands from which a value is computed again; None for a value that cannot or
        should not be."""
        op = value.op
        if op is None:
            return None
        if op.name in SCALARS:
            return None if self._is_kept_rather(op) else op.computed_from
        if op.name == "load":
            if self.is_from_tape(op) and self.whole.region_of(op) is None:
                return None
            return op.index + self._array_inputs(op.array)
        if op.name == "shape" and self.is_available(op.args[0]):
            return self._array_inputs(op.args[0])
        return None

    def _is_kept_rather(self, op: Op) -> bool:
        if SCALARS[op.name].heavy:
            return True
        inexact = any(arg.type.dtype == "float32" for arg in op.args) or not self.program.is_exact
        to_discrete = not op.result.type.is_real and any(arg.type.is_real for arg in op.args)
        return inexact and (op.name in COMPARISONS or to_discrete)

    def is_available(self, array: Value) -> bool:
        """Whether an array still exists in the reverse sweep; an array that a loop makes does not.
        """
        return self.classes.of(array) not in self._lost

    # The cut

    def _cut(self, region: Region, wanted: set[Value]) -> Plan:
        wanted = wanted - {region.index}
        if not self.is_cut:
            return self._all_taped(region, wanted)
        graph = _Graph()
        todo, seen = list(wanted), set(wanted)
        for value in wanted:
            graph.need(value)
        while todo:
            value = todo.pop()
            inputs = self._inputs(value)
            graph.add(
                value, None if inputs is None else [v for v in inputs if self._is_own(v, region)]
            )
            for other in inputs or []:
                if self._is_own(other, region) and other not in seen:
                    seen.add(other)
                    todo.append(other)
        taped = graph.cut()
        return Plan(_in_order(taped), self._computed_again(region, wanted, taped))

    def _all_taped(self, region: Region, wanted: set[Value]) -> Plan:
        cheap = {
            v
            for v in wanted
            if v.op is not None and v.op.name == "shape" and self._inputs(v) is not None
        }
        return Plan(_in_order(wanted - cheap), self._computed_again(region, wanted, wanted - cheap))

    def _is_own(self, value: Value, region: Region) -> bool:
        return value.region is region and value.constant is None and value is not region.index

    def _computed_again(self, region: Region, wanted: set[Value], taped: set[Value]) -> set[Value]:
        again: set[Value] = set()
        todo = [value for value in wanted if value not in taped]
        while todo:
            value = todo.pop()
            if value in again or value in taped or not self._is_own(value, region):
                continue
            again.add(value)
            todo += self._inputs(value) or []
        return again


def extents_of(array: Value) -> list[Value]:
    """Return the values of the lengths of a new array; nothing for any other array."""
    return [] if array.op is None else array.op.info.get("extents", [])


def _in_order(values: set[Value]) -> list[Value]:
    """Return values in an order that is the same in every run."""

    def key(value: Value) -> tuple[int, int, str]:
        region = value.region
        if value in region.phis:
            return (0, region.phis.index(value), "")
        if value.op is None:
            return (1, 0, value.hint)
        return (2, region.ops.index(value.op), str(value.op.results.index(value)))

    return sorted(values, key=key)


class _Graph:
    """A flow network with capacities at its nodes, and its least cut."""

    def __init__(self) -> None:
        self._inputs: dict[Value, list[Value] | None] = {}
        self._needed: set[Value] = set()

    def need(self, value: Value) -> None:
        self._needed.add(value)

    def add(self, value: Value, inputs: list[Value] | None) -> None:
        self._inputs[value] = inputs

    def cut(self) -> set[Value]:
        """Return the nodes of the cut of least weight: the values to keep."""
        capacity = self._capacities()
        while (path := _path(capacity)) is not None:
            amount = min(capacity[a][b] for a, b in path)
            for a, b in path:
                capacity[a][b] -= amount
                capacity[b].setdefault(a, 0)
                capacity[b][a] += amount
        reached = _reached(capacity)
        return {v for v in self._inputs if (v, 0) in reached and (v, 1) not in reached}

    def _capacities(self) -> dict:
        infinite = 1 << 40
        capacity: dict = {"source": {}, "sink": {}}
        for value in self._inputs:
            weight = 9 if value.type.is_complex else 4
            capacity[value, 0] = {(value, 1): weight}
            capacity[value, 1] = {}
        for value, inputs in self._inputs.items():
            if inputs is None:
                capacity["source"][value, 0] = infinite
            for other in inputs or []:
                capacity[other, 1][value, 0] = infinite
        for value in self._needed:
            capacity[value, 1]["sink"] = infinite
        return capacity


def _path(capacity: dict) -> list | None:
    """Return a path from the source to the sink with capacity left."""
    before: dict = {"source": None}
    todo = deque(["source"])
    while todo:
        node = todo.popleft()
        for other, left in capacity[node].items():
            if left > 0 and other not in before:
                before[other] = node
                if other == "sink":
                    return _steps(before)
                todo.append(other)
    return None


def _steps(before: dict) -> list:
    node, steps = "sink", []
    while before[node] is not None:
        steps.append((before[node], node))
        node = before[node]
    return steps


def _reached(capacity: dict) -> set:
    found, todo = {"source"}, ["source"]
    while todo:
        for other, left in capacity[todo.pop()].items():
            if left > 0 and other not in found:
                found.add(other)
                todo.append(other)
    return found
