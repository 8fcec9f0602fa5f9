"""Copies of operations in which some values are replaced: operations of known integers are
computed, of a branch with a known condition one side is taken, and loops of a few steps are written
step by step."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .ir import Op, Program, Region, Type, Value

Folded = Callable[[str, Sequence[Value]], Any]


class Constants:
    """The values of the known numbers of a program, one value for each number.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.body = program.body
        self._values: dict[tuple[type, str], Value] = {}
        for op in program.body.walk():
            for value in (*op.args, *(v for region in op.regions for v in region.ends())):
                if value.constant is not None:
                    self._values.setdefault(_key(value.constant), value)

    def of(self, number: Any) -> Value:
        """Return the value of a number."""
        if _key(number) not in self._values:
            made = Value(Type(np.dtype(type(number)).name), self.body)
            made.constant = number
            self._values[_key(number)] = made
        return self._values[_key(number)]


def _key(number: Any) -> tuple[type, str]:
    return type(number), repr(number)


def converted(value: Value, dtype: str, region: Region, constants: Constants) -> Value:
    """Return a number converted to another dtype, as an assignment converts it."""
    if value.type.dtype == dtype:
        return value
    if dtype == "float64" and isinstance(value.constant, (bool, int, float)):
        return constants.of(float(value.constant))
    name = dtype if dtype in ("float64", "float32") else "intcast"
    text = "float" if dtype == "float64" and value.type.dtype != "float32" else f"np.{dtype}"
    made = Op(name, [value], region, 0, spelled=text)
    made.results.append(Value(Type(dtype), region, made))
    region.ops.append(made)
    return made.result


class Copier:
    """Copies operations into regions.

    Parameters
    ----------
    program : Program
    folded : callable
        Computes operations of known integers.
    unrolled : iterable of Op
        The loops that are written step by step; their bounds are known where they stand.
    assumed : mapping
        The numbers that some values are taken to be.

    Attributes
    ----------
    instead : dict
        What is put into the place of values.
    """

    def __init__(
        self, program: Program, folded: Folded, unrolled: Iterable[Op], assumed: Mapping[Value, int]
    ) -> None:
        self.program, self.folded, self.unrolled = program, folded, set(unrolled)
        self.assumed = assumed
        self.constants = Constants(program)
        self.instead: dict[Value, Value] = {}

    def run(self) -> None:
        """Copy a whole program into its place."""
        body = self.program.body
        ops, body.ops = body.ops, []
        self.ops(ops, body)
        self.program.results = [self.of(value) for value in self.program.results]

    def of(self, value: Value) -> Value:
        return self.instead.get(value, value)

    def ops(self, ops: Sequence[Op], region: Region) -> None:
        for op in ops:
            self.op(op, region)

    def op(self, op: Op, region: Region) -> None:
        """Copy an operation, or the operations that take its place."""
        args = [self.of(arg) for arg in op.args]
        if op.results and op.result in self.assumed:
            self.instead[op.result] = self.constants.of(self.assumed[op.result])
        elif op.name == "if" and args[0].constant is not None:
            self._taken(op, op.regions[0 if args[0].constant else 1], region)
        elif op in self.unrolled and (steps := steps_of(args)) is not None:
            self._unroll(op, steps, region)
        elif op.name == "check" and args[0].constant is not None and same(*args):
            return
        elif op.results and (known := self._known(op, args)) is not None:
            self.instead[op.result] = self.constants.of(known)
        else:
            self._copied(op, args, region)

    def _known(self, op: Op, args: Sequence[Value]) -> Any:
        if not all(arg.constant is not None for arg in args) or op.regions or not args:
            return None
        return self.folded(op.name, args)

    def _copied(self, op: Op, args: list[Value], region: Region) -> None:
        made = Op(op.name, args, region, op.line, **op.info)
        if "extents" in made.info:
            made.info["extents"] = [self.of(extent) for extent in made.info["extents"]]
        for inner in op.regions:
            self._region(inner, made)
        for result in op.results:
            self.instead[result] = Value(result.type, region, made, result.hint)
            made.results.append(self.instead[result])
        region.ops.append(made)

    def _region(self, region: Region, owner: Op) -> None:
        made = Region(owner)
        owner.regions.append(made)
        if region.index is not None:
            made.index = self._parameter(region.index, made)
        made.phis = [self._parameter(phi, made) for phi in region.phis]
        self.ops(region.ops, made)
        made.yields = [self.of(value) for value in region.yields]
        made.go_on = self.of(region.go_on) if region.go_on is not None else None

    def _parameter(self, value: Value, region: Region) -> Value:
        self.instead[value] = Value(value.type, region, None, value.hint)
        return self.instead[value]

    def _taken(self, op: Op, taken: Region, region: Region) -> None:
        """Copy the operations of the branch that is taken for certain."""
        self.ops(taken.ops, region)
        for result, given in zip(op.results, taken.yields, strict=True):
            self.instead[result] = self._assigned(result, self.of(given), region)

    def _unroll(self, op: Op, steps: range, region: Region) -> None:
        body = op.body
        carried = [
            self._assigned(phi, self.of(init), region)
            for phi, init in zip(body.phis, op.inits, strict=True)
        ]
        for step in steps:
            self.instead.update(zip(body.phis, carried, strict=True))
            assert body.index is not None
            self.instead[body.index] = self.constants.of(step)
            self.ops(body.ops, region)
            carried = [
                self._assigned(phi, self.of(given), region)
                for phi, given in zip(body.phis, body.yields, strict=True)
            ]
        self.instead.update(zip(op.results, carried, strict=True))

    def _assigned(self, name: Value, value: Value, region: Region) -> Value:
        """Return a value for a name, converted to the dtype of the name."""
        if name.type.is_array:
            return value
        return converted(value, name.type.dtype, region, self.constants)


def steps_of(bounds: Sequence[Value]) -> range | None:
    """Return the steps of a loop whose bounds are known."""
    start, stop, step = (bound.constant for bound in bounds[:3])
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int) and step != 0:
        return range(start, stop, step)
    return None


def same(one: Value, other: Value) -> bool:
    """Return whether two numbers are equal for certain."""
    return one is other or (one.constant is not None and one.constant == other.constant)
