"""Arguments that reach the results through comparisons only: their derivatives are 0."""

from ..ssa.ir import Classes, Op, Program, Region, Value
from ..ssa.partials import COMPARISONS
from .activity import Activity

_ELEMENTS = ("load", "store", "accum", "copy")


def compared_only(
    program: Program, classes: Classes, activity: Activity, active: list[Value],
    outputs: list[Value],
) -> list[tuple[Value, int]]:  # fmt: skip
    """Return the active arguments that reach a result through comparisons only, with the line of
    the first comparison.

    Parameters
    ----------
    program : Program
    classes : Classes
    activity : Activity
    active : list of Value
        The arguments that are differentiated.
    outputs : list of Value
        What has cotangents at the end.
    """
    silent = [value for value in active if value not in activity]
    if not silent:
        return []
    after = _Influence(program.body, classes)
    ends = {after.node(value) for value in outputs if value.type.is_real}
    found = []
    for value in silent:
        reached = after.closure(value)
        lines = [op.line for op in after.comparisons if after.node(op.result) in reached]
        if lines and reached & ends:
            found.append((value, min(lines)))
    return found


class _Influence:
    """The values that a value influences in any way: by arithmetic, by a condition, or as an index.
    """

    def __init__(self, body: Region, classes: Classes) -> None:
        self.classes = classes
        self.comparisons = [op for op in body.walk() if op.name in COMPARISONS]
        self._after: dict[Value, list[Value]] = {}
        self._add_region(body, [])

    def node(self, value: Value) -> Value:
        return self.classes.of(value) if value.type.is_array else value

    def closure(self, start: Value) -> set[Value]:
        """Return all values that the values of ``start`` influence."""
        found: set[Value] = set()
        todo = [self.node(start)]
        while todo:
            value = todo.pop()
            if value not in found:
                found.add(value)
                todo += self._after.get(value, [])
        return found

    def _flow(self, sources: list[Value], targets: list[Value]) -> None:
        for source in sources:
            self._after.setdefault(self.node(source), []).extend(map(self.node, targets))

    def _add_region(self, region: Region, conditions: list[Value]) -> None:
        for op in region.ops:
            self._add_op(op, conditions)

    def _add_op(self, op: Op, conditions: list[Value]) -> None:
        targets = [op.array] if op.name in ("store", "accum") else op.results
        if op.name == "if":
            inner = [*conditions, op.args[0]]
            for region in op.regions:
                for given, result in zip(region.yields, op.results, strict=True):
                    self._flow([given, op.args[0]], [result])
                self._add_region(region, inner)
        elif op.name == "loop":
            self._add_loop(op, conditions)
        else:
            self._flow([*op.args, *conditions], targets)

    def _add_loop(self, op: Op, conditions: list[Value]) -> None:
        body = op.body
        control = [*op.bounds, *([body.go_on] if body.go_on is not None else [])]
        if not op.is_for:
            control.append(body.phis[0])
        quads = zip(body.phis, op.inits, body.yields, op.results, strict=True)
        for phi, init, given, result in quads:
            self._flow([init, given, *control], [phi, result])
        self._add_region(body, [*conditions, *control])
