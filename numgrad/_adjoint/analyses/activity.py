"""Activity: which numbers and arrays depend on an active argument and reach a result."""

from collections.abc import Iterator

from ..ssa.ir import Classes, Op, Program, Region, Value
from ..ssa.partials import SCALARS


class Activity:
    """The values that need cotangents.

    Parameters
    ----------
    program : Program
    classes : Classes
    active : list of Value
        The parameters that are differentiated.
    outputs : list of Value
        Arrays and numbers that have cotangents at the end: results, and arrays that are written.
    """

    def __init__(
        self, program: Program, classes: Classes, active: list[Value], outputs: list[Value]
    ) -> None:
        self.classes = classes
        self._flows = list(_flows(program.body))
        self.varied = self._closure(active, [(a, b) for a, b in self._flows])
        self.useful = self._closure(outputs, [(b, a) for a, b in self._flows])

    def _closure(self, start: list[Value], flows: list[tuple[Value, Value]]) -> set[Value]:
        """Return all floats that the values of ``start`` flow into along ``flows``."""
        after: dict[Value, list[Value]] = {}
        for source, target in flows:
            after.setdefault(self._node(source), []).append(self._node(target))
        found: set[Value] = set()
        todo = [self._node(value) for value in start if value.type.is_real]
        while todo:
            value = todo.pop()
            if value not in found and value.type.is_real:
                found.add(value)
                todo += after.get(value, [])
        return found

    def _node(self, value: Value) -> Value:
        return self.classes.of(value) if value.type.is_array else value

    def __contains__(self, value: Value) -> bool:
        node = self._node(value)
        return node in self.varied and node in self.useful


def _flows(region: Region) -> Iterator[tuple[Value, Value]]:
    """Yield pairs of values: the second is computed from the first."""
    for op in region.ops:
        yield from _flows_of(op)
        for inner in op.regions:
            yield from _flows(inner)


def _flows_of(op: Op) -> Iterator[tuple[Value, Value]]:
    if op.name == "load":
        yield op.array, op.result
    elif op.name == "copy":
        yield op.args[0], op.result
    elif op.name in ("store", "accum"):
        yield op.stored, op.array
    elif op.name == "if":
        for region in op.regions:
            yield from zip(region.yields, op.results, strict=True)
    elif op.name == "loop":
        body = op.body
        for phi, init, given, result in zip(
            body.phis, op.inits, body.yields, op.results, strict=True
        ):
            yield from ((init, phi), (given, phi), (phi, result))
    elif op.name in SCALARS:
        for arg, adds in zip(op.args, SCALARS[op.name].adds, strict=True):
            if adds is not None:
                yield arg, op.result
