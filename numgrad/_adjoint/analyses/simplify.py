"""Operations that need not be done twice: equal scalar operations, and loads of elements that were
just loaded or stored."""

from collections.abc import Sequence

from ..ssa.ir import Classes, Op, Program, Region, Value
from ..ssa.partials import SCALARS
from ..ssa.ranges import affine, is_natural

Place = tuple[Value, tuple[Value, ...]]  # an element: an array and an index


def simplify(program: Program) -> None:
    """Remove repeated operations and loads from a program."""
    Simplifier(program).run()


class Simplifier:
    """Replaces values by equal ones that were computed before.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.classes = Classes(program.body)
        self._instead: dict[Value, Value] = {}
        self._written: dict[Region, set[Value]] = {}

    def run(self) -> None:
        self._region(self.program.body, {}, {})
        self.program.results = [self._of(value) for value in self.program.results]

    def _of(self, value: Value) -> Value:
        while value in self._instead:
            value = self._instead[value]
        return value

    def written(self, region: Region) -> set[Value]:
        """The classes of arrays that a region writes."""
        if region not in self._written:
            self._written[region] = {
                self.classes.of(op.array) for op in region.walk() if op.name in ("store", "accum")
            }
        return self._written[region]

    def _region(self, region: Region, known: dict, loaded: dict[Value, dict[Place, Value]]) -> None:
        kept: list[Op] = []
        for op in region.ops:
            op.args = [self._of(arg) for arg in op.args]
            if "extents" in op.info:
                op.info["extents"] = [self._of(extent) for extent in op.info["extents"]]
            if op.regions:
                self._nested(op, known, loaded)
            elif self._is_repeated(op, known, loaded):
                continue
            kept.append(op)
        region.ops = kept
        region.yields = [self._of(value) for value in region.yields]
        if region.go_on is not None:
            region.go_on = self._of(region.go_on)

    def _nested(self, op: Op, known: dict, loaded: dict[Value, dict[Place, Value]]) -> None:
        """Simplify nested regions with the values known here; forget loads from arrays that these
        regions write."""
        written = set().union(*(self.written(region) for region in op.regions))
        if op.name == "loop":
            self._forget(loaded, written)
        for region in op.regions:
            self._region(region, dict(known), {c: dict(table) for c, table in loaded.items()})
        self._forget(loaded, written)

    def _forget(self, loaded: dict[Value, dict[Place, Value]], written: set[Value]) -> None:
        for group in written:
            loaded.pop(group, None)

    def _is_repeated(self, op: Op, known: dict, loaded: dict[Value, dict[Place, Value]]) -> bool:
        if op.name in ("store", "accum"):
            self._store(op, loaded)
            return False
        if op.name == "load":
            return self._is_loaded(op, loaded)
        if op.name not in SCALARS and op.name not in ("shape", "view", "check"):
            return False
        key = (
            op.name,
            tuple(op.args),
            op.info.get("spelled"),
            op.info.get("axis"),
            op.info.get("spec"),
            tuple(op.info.get("extents", ())),
        )
        if op.name == "check":
            return op.args[0] is op.args[1] or known.setdefault(key, op) is not op
        if key in known:
            self._replace(op.result, known[key])
            return True
        known[key] = op.result
        return False

    def _replace(self, value: Value, other: Value) -> None:
        self._instead[value] = other
        if not other.hint and other.op is not None:
            other.hint = value.hint

    def _is_loaded(self, op: Op, loaded: dict[Value, dict[Place, Value]]) -> bool:
        table = loaded.setdefault(self.classes.of(op.array), {})
        place = (op.array, tuple(op.index))
        if place in table:
            self._replace(op.result, table[place])
            return True
        table[place] = op.result
        return False

    def _store(self, op: Op, loaded: dict[Value, dict[Place, Value]]) -> None:
        group = self.classes.of(op.array)
        place = (op.array, tuple(op.index))
        table = loaded.get(group, {})
        loaded[group] = {other: value for other, value in table.items() if are_apart(place, other)}
        same_type = op.stored.type.dtype == op.array.type.dtype
        if op.name == "store" and same_type:
            loaded[group][place] = op.stored


def are_apart(one: Place, other: Place) -> bool:
    """Whether two elements surely differ."""
    if one[0] is not other[0]:
        return False
    return any(_differ(a, b) for a, b in zip(one[1], other[1], strict=False))


def _differ(a: Value, b: Value) -> bool:
    (base, offset), (other_base, other) = affine(a), affine(b)
    return base is other_base and offset != other and is_natural(a) and is_natural(b)


class Liveness:
    """The values, operations and arrays that must be computed for given values and operations.

    Parameters
    ----------
    program : Program
    classes : Classes
    has_slopes : bool
        Whether the slopes of what NumPy's functions give are needed: not for values alone.

    Attributes
    ----------
    values : set of Value
    ops : set of Op
    groups : set of Value
        The classes of arrays whose elements are needed.
    """

    def __init__(self, program: Program, classes: Classes, has_slopes: bool = False) -> None:
        self.classes, self.has_slopes = classes, has_slopes
        self.values: set[Value] = set()
        self.ops: set[Op] = set()
        self.groups: set[Value] = set()
        self._stores: dict[Value, list[Op]] = {}
        for op in program.body.walk():
            if op.name in ("store", "accum"):
                self._stores.setdefault(classes.of(op.array), []).append(op)

    def need(self, values: Sequence[Value] = (), ops: Sequence[Op] = ()) -> None:
        """Add values and operations, and everything that they need."""
        todo: list[Value | Op] = [*values, *ops]
        while todo:
            item = todo.pop()
            if isinstance(item, Op):
                todo += self._needed_by_op(item)
            elif item not in self.values:
                self.values.add(item)
                todo += self._needed_by_value(item)

    def need_elements(self, group: Value) -> None:
        """Add a class of arrays whose elements are needed."""
        if group not in self.groups:
            self.groups.add(group)
            self.need(ops=self._stores.get(group, []))

    def _needed_by_value(self, value: Value) -> list[Value | Op]:
        if value.op is None:
            return self._needed_by_parameter(value)
        op = value.op
        found: list[Value | Op] = [op]
        if op.name == "if":
            place = op.results.index(value)
            found += [region.yields[place] for region in op.regions]
        elif op.name == "loop":
            found.append(op.body.phis[op.results.index(value)])
        return found

    def _needed_by_parameter(self, value: Value) -> list[Value | Op]:
        owner = value.region.owner
        if owner is None:
            return []
        found: list[Value | Op] = [owner]
        if value in owner.body.phis:
            place = owner.body.phis.index(value)
            found += [owner.inits[place], owner.body.yields[place]]
        return found

    def _needed_by_op(self, op: Op) -> list[Value | Op]:
        if op in self.ops:
            return []
        self.ops.add(op)
        owner = op.region.owner
        found: list[Value | Op] = [owner] if owner is not None else []
        if op.name == "loop":
            return found + self._control(op)
        if op.name in ("load", "copy", "given"):
            for array in op.args:
                found += self._stores_to(array) if array.type.is_array else []
        args = op.args if self.has_slopes else op.computed_from
        return found + args + list(op.info.get("extents", ()))

    def _stores_to(self, array: Value) -> list[Op]:
        """Return the stores to a class of arrays whose elements are needed from now on."""
        group = self.classes.of(array)
        if group in self.groups:
            return []
        self.groups.add(group)
        return self._stores.get(group, [])

    def _control(self, op: Op) -> list[Value | Op]:
        """Return the values that decide how often a loop runs."""
        found: list[Value | Op] = list(op.bounds)
        if not op.is_for:
            found.append(op.body.phis[0])
        if op.body.go_on is not None:
            found.append(op.body.go_on)
        return found


def remove_dead(program: Program) -> None:
    """Remove operations and carried values whose results are not used."""
    live = Liveness(program, Classes(program.body), has_slopes=True)
    live.need(values=program.results)
    for value in [*program.parameters, *program.results]:
        if value.type.is_array:
            live.need_elements(live.classes.of(value))
    live.need(ops=[op for op in program.body.walk() if op.name in ("check", "raise", "enough")])
    _prune(program.body, live)


def _prune(region: Region, live: Liveness) -> None:
    region.ops = [op for op in region.ops if op in live.ops]
    for op in region.ops:
        if op.name == "loop":
            _prune_loop(op, live)
        elif op.name == "if":
            kept = [n for n, result in enumerate(op.results) if result in live.values]
            op.results = [op.results[n] for n in kept]
            for inner in op.regions:
                inner.yields = [inner.yields[n] for n in kept]
        for inner in op.regions:
            _prune(inner, live)


def _prune_loop(op: Op, live: Liveness) -> None:
    body = op.body
    kept = [n for n, phi in enumerate(body.phis) if phi in live.values]
    op.args = op.bounds + [op.inits[n] for n in kept]
    op.results = [op.results[n] for n in kept]
    body.phis = [body.phis[n] for n in kept]
    body.yields = [body.yields[n] for n in kept]
