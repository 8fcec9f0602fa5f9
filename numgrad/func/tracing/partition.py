"""Split captured expressions into programs, one after the other.

One program ends and the next one begins at a *passage*: an expression that turns an axis of a value
into rows, for a batched pass inside of the function, or rows into an axis.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._declare import registry
from ...engine.capture.capture import TO_AXIS, TO_ROWS, Passage, argument, require_own_placeholders
from ...engine.graph.value import CPU, CapturedStorage, Expr, ForeignStorage, Spec, Storage, Value
from ...engine.lower.executable import Executable
from ...engine.lower.lower import lower, pending_exprs
from ...engine.lower.placeholder import ARGUMENT
from ...engine.record.apply import runtime
from ...ir.broadcasting import are_zeros
from ...ir.device_array import DeviceArray
from ...ir.program import Program
from ..guards.device_check import device_for


class Stage:
    """A program of a trace: its executable, and the numbers of the arrays that it reads."""

    __slots__ = ("plan", "sources")

    def __init__(self, plan: Executable, sources: list[int]) -> None:
        self.plan = plan
        self.sources = sources


class ProgramSequence:
    """The programs that compute ``values`` from arguments.

    Arrays are numbered: the arguments first, then the results of each program in order.

    Parameters
    ----------
    values : sequence of Value
        Made of expressions, arguments and constants; without rows.
    arguments : sequence of Value
        The placeholders of the arguments.
    fuse : str
        When the programs are fused; see `jit`.
    storages : dict
        The storages of values from outside, by the ids of their arrays.
    apart : bool
        Whether one program writes a value that is there twice into two results, where one would do.

    Attributes
    ----------
    finals : list of int
        The number of the array that holds each value.
    carried : list of ndarray
        Arrays of the host that a device gets anew at each call, since they may be written in
        between. Their numbers follow those of the arguments.
    is_single : bool
        Whether there is one program, on the CPU, whose results are the values in order.
    can_enter : bool
        Whether there is one program, on whatever device, whose results are the values in order, and
        which reads its arguments alone: an entry may take the place of a call.
    """

    def __init__(
        self,
        values: Sequence[Value],
        arguments: Sequence[Value],
        fuse: str,
        storages: Mapping[int, Storage],
        apart: bool = False,
    ) -> None:
        count = len(arguments)
        self.specs = [(value.shape, value.dtype) for value in values]
        self.devices = [value.spec.device for value in values]
        self.stages: list[Stage] = []
        given = _Given(values, arguments, storages)
        ends, exprs, device, target = given.ends, given.exprs, given.device, given.target
        numbers: dict[Hashable, int] = {}
        self.carried = given.carried
        first = count + len(self.carried)
        wanted = list(range(first, first + len(ends)))
        if given.is_one:
            program, numbers = given.program(first, apart)
            self.stages.append(Stage(Executable(program, target, fuse), list(range(count))))
        else:
            carried = {id(array): count + n for n, array in enumerate(self.carried)}
            self._cut(_Levels(ends, exprs, carried), numbers, first, target, fuse)
        is_apart = given.is_one and apart
        self.finals = wanted if is_apart else [numbers[_key(value)] for value in ends]
        self.can_enter = (
            len(self.stages) == 1 and not self.carried and self.finals == wanted
            and set(self.devices) <= {device}
        )  # fmt: skip
        self.is_single = device == CPU and self.can_enter

    def _cut(
        self,
        levels: "_Levels",
        numbers: dict[Hashable, int],
        first: int,
        target: Any,
        fuse: str,
    ) -> None:
        """Cut the graph by its levels into programs that run one after the other, and append them
        to `stages`. Arguments of a program are also results of earlier ones.

        ``numbers`` gets the number of each result, counted from ``first`` on.
        """
        for level, wanted in sorted(levels.wanted.items()):
            clone = _ProgramCopy(levels, level, numbers)
            batch = levels.batches.get(level)
            results = [clone(value) for value in wanted.values()]
            program = lower(results, target, batch, open_arguments=True)
            self.stages.append(Stage(Executable(program, target, fuse), clone.sources))
            for key in wanted:
                numbers[key] = first + len(numbers)

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Run the programs on arguments in C order; return the values in new arrays."""
        known = [*arrays, *map(in_order, self.carried)]
        for stage in self.stages:
            known += stage.plan([known[n] for n in stage.sources])
        results, given = [], set()
        for number, (shape, _) in zip(self.finals, self.specs, strict=True):
            array = known[number].copy() if number in given else known[number]
            given.add(number)
            results.append(array if array.shape == shape else array.reshape(shape))
        return list(map(runtime.on_device, results, self.devices))


class _Given:
    """What programs are made of: the parameters are those of `ProgramSequence`.

    Attributes
    ----------
    ends : list of Value
        What the programs compute.
    exprs : list of Expr
    device, target
        Where they compute.
    carried : list of ndarray
        See `ProgramSequence`.
    is_one : bool
        Whether one program of the arguments computes the values.
    """

    def __init__(
        self, values: Sequence[Value], arguments: Sequence[Value], storages: Mapping[int, Storage]
    ) -> None:
        self.ends = [_unreshaped(value) for value in values]
        self.exprs = pending_exprs(self.ends)
        require_own_placeholders(self.exprs, arguments)
        made = _specs(self.exprs)
        specs = [*made, *[value.spec for value in (*values, *arguments)]]
        self.device = device_for(self.exprs, specs, storages)
        is_here = self.device == CPU
        self.target = runtime.target if is_here else runtime.targets[self.device]
        self.carried = [] if is_here else _carried(self.exprs, self.ends)
        self.is_one = not self.carried and not _is_cut(self.exprs, made)

    def program(
        self, first: int = 0, apart: bool = False
    ) -> tuple[Program, dict[Hashable, int]]:
        """Return the one program, and the numbers of the results, from ``first`` on, by their keys.

        With ``apart`` there is a result for each value, also for one that is there twice.
        """
        distinct = {_key(value): value for value in self.ends}
        ends = self.ends if apart else list(distinct.values())
        made = lower(ends, self.target, open_arguments=True, exprs=self.exprs)
        return made, {key: first + n for n, key in enumerate(distinct)}


def one_program(
    values: Sequence[Value], arguments: Sequence[Value], storages: Mapping[int, Storage]
) -> tuple[Program, list[int]] | None:
    """Return the program that computes values from arguments alone, bound to no target, and for
    each value the number of the result that holds it, which two values may share.

    None where several programs are needed, or arrays that a device gets anew at each call. The
    parameters are those of `ProgramSequence`.
    """
    given = _Given(values, arguments, storages)
    if not given.is_one:
        return None
    program, numbers = given.program()
    return program, [numbers[_key(value)] for value in given.ends]


def _unreshaped(value: Value) -> Value:
    """Return the value with rows from which ``value`` was made by turning the rows into an axis.

    A program returns rows as an axis in any case. So both values have the same array, perhaps in
    another shape, and the passage between them needs no program. Return ``value`` itself if it was
    made in another way.
    """
    if value._view is not None:
        value._view.refresh(value)
    base = value
    while base.array is None and base.expr is not None:
        if base.expr.operator is TO_AXIS:
            rows = base.expr.inputs[0]
            made = rows.expr if rows.array is None else None
            # A value that Python has made row by row has the axis already.
            return _unreshaped(made.inputs[0]) if made and made.operator is TO_ROWS else rows
        if base.expr.operator is not registry["reshape"]:
            break
        base = base.expr.inputs[0]
    return value


def _key(value: Value) -> Hashable:
    """Return a key of the array of a value: the expression and slot, or the id of a computed array.
    """
    array = _computed(value)
    return (value.expr, value.expr_slot) if array is None else id(array)


def _computed(value: Any) -> np.ndarray | None:
    """Return the array of a value if it has been computed, else None.

    A value may be computed while the function is captured: a choice between branches computes the
    values that it reads.
    """
    if value.array is not None or value.expr is None:
        return value.array
    return value.expr.result(value.expr_slot)


def _specs(exprs: Sequence[Expr]) -> list[Spec]:
    """Return the specs of all results of the expressions."""
    kinds = {id(expr.specs): expr.specs for expr in exprs}  # most of one kind share an object
    return [spec for specs in kinds.values() for spec in specs]


def _is_cut(exprs: Sequence[Expr], made: Sequence[Spec]) -> bool:
    """Whether the expressions need several programs, or a program with a batch."""
    operators = {expr.operator for expr in exprs}
    rows = [spec.rows for spec in made]
    return any(rows) or any(type(operator) is Passage for operator in operators)


def _carried(exprs: Sequence[Expr], ends: Sequence[Value]) -> list[np.ndarray]:
    """Return the arrays of the host that expressions on a device read, and that change between
    calls."""
    values = [*(value for expr in exprs for value in expr.inputs), *ends]
    found = [_computed(value) for value in values if _is_carried(value)]
    return list({id(array): array for array in found if array is not None}.values())


def _is_carried(value: Any) -> bool:
    """Whether a value has an array of the host that may be written between calls.

    The array may be a view of a writable one; an array of the user may be written although it is
    read-only here. An array that was made while the function was captured is held by nobody else.
    """
    array: Any = _computed(value)
    storage = getattr(value, "_storage", None)
    if not isinstance(array, np.ndarray) or are_zeros(array):
        return False
    if isinstance(storage, ForeignStorage):
        return True
    if isinstance(storage, CapturedStorage) and array.base is None:
        return False
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return array is not None and not isinstance(array, bytes)


def in_order(array: Any) -> np.ndarray:
    """Return an array in C order: the array itself, or a copy."""
    if array.flags.c_contiguous:
        return array
    if type(array) is DeviceArray:
        (array,) = runtime.run(registry["copy"], [array], {})
        return array
    return np.ascontiguousarray(array).reshape(array.shape)


class _Levels:
    """The level of each expression: the number of the program that computes it.

    Attributes
    ----------
    level : dict
        For each expression the number of the program that computes it. For a passage, which no
        program computes, the number of the first program that can read its result.
    batches : dict
        The batch size by program, for programs with a batch.
    wanted : dict
        The results of each program, by their keys.
    carried : dict
        The numbers of the arrays that a device gets anew at each call, by the ids of the arrays.
    """

    def __init__(
        self, ends: Sequence[Value], exprs: Sequence[Expr], carried: dict[int, int]
    ) -> None:
        self.carried = carried
        self.level: dict[Expr, int] = {}
        self.batches: dict[int, int] = {}
        self.wanted: dict[int, dict[Hashable, Value]] = {}
        self.exprs = exprs
        for expr in self.exprs:
            self.level[expr] = self._level(expr)
        for expr in self.exprs:
            if expr.operator not in (TO_ROWS, TO_AXIS):
                for value in expr.inputs:
                    self._want_before(value, self.level[expr])
        for value in ends:
            self.want(value)

    def of(self, value: Value) -> int:
        if value.expr is None or _computed(value) is not None:
            return 0
        return self.level[value.expr]

    def want(self, value: Value) -> None:
        """Make a value a result of the program that computes it."""
        level = self.of(value)
        if value.rows:
            batch = _batch(value)
            while self.batches.setdefault(level, batch) != batch:
                level += 1
        self.wanted.setdefault(level, {})[_key(value)] = value

    def _want_before(self, value: Value, level: int) -> None:
        base = base_of(value)
        if base is not None and (base is not value or self.of(value) < level):
            self.want(base)

    def _level(self, expr: Expr) -> int:
        if expr.operator in (TO_ROWS, TO_AXIS):
            base = expr.inputs[0]
            return self.of(base) + (base_of(base) is not None)
        level = max(map(self.of, expr.inputs), default=0)
        if expr.specs[0].rows:
            batch = _batch(next(value for value in expr.inputs if value.rows))
            while self.batches.setdefault(level, batch) != batch:
                level += 1
        return level


def _batch(value: Value) -> int:
    """Return the batch size of a value with rows."""
    while (array := _computed(value)) is None:
        assert value.expr is not None
        if value.expr.operator is TO_ROWS:
            return value.expr.inputs[0].shape[0]
        value = next(value for value in value.expr.inputs if value.rows)
    return array.shape[0]


def base_of(value: Value) -> Value | None:
    """Return the value that a program has to compute so that other programs can read ``value``.

    That is ``value`` itself or, behind a passage, the value from which the passage has made it.
    None for arguments and constants, which every program can read.
    """
    if value.expr is None or _computed(value) is not None:
        return None
    if value.expr.operator in (TO_ROWS, TO_AXIS):
        return base_of(value.expr.inputs[0])
    return None if value.expr.operator is ARGUMENT else value


class _ProgramCopy:
    """A copy of the expressions of one program, with arguments for values that other programs
    compute."""

    def __init__(self, levels: _Levels, level: int, numbers: dict[Hashable, int]) -> None:
        self.sources: list[int] = []
        self._numbers, self._carried = numbers, levels.carried
        self._arguments: dict[tuple[int, bool], Value] = {}
        self._copies: dict[Expr, Expr] = {}
        for expr in levels.exprs:
            passage = expr.operator in (TO_ROWS, TO_AXIS, ARGUMENT)
            if levels.level[expr] == level and not passage:
                copy = Expr(expr.operator, expr.static, self._inputs(expr), expr.specs)
                copy.site, copy.kind = expr.site, expr.kind
                self._copies[expr] = copy

    def _inputs(self, expr: Expr) -> tuple[Value, ...]:
        return tuple([self(value) for value in expr.inputs])

    def __call__(self, value: Value) -> Value:
        """Return the copy of a value in this program, or an argument if another program computes
        it."""
        array = _computed(value)
        if array is not None:
            number = self._carried.get(id(array))
            return value if number is None else self._argument(number, value)
        assert value.expr is not None
        copy = self._copies.get(value.expr)
        if copy is not None:
            return runtime.value.deferred(copy, value.expr_slot, value.spec)
        source = value
        while source.expr is not None and source.expr.operator in (TO_ROWS, TO_AXIS):
            source = source.expr.inputs[0]
        array = _computed(source)
        if array is None or id(array) in self._carried:
            return self._argument(self._number(source), value)
        constant = runtime.value(array)
        constant.reshape_spec(value.shape, value.rows)
        return constant

    def _number(self, value: Value) -> int:
        """Return the number of the array of a value that is an argument, is carried, or is the
        result of a program."""
        if value.expr is not None and value.expr.operator is ARGUMENT:
            return value.expr.static["index"]
        number = self._carried.get(id(_computed(value)))
        return self._numbers[_key(value)] if number is None else number

    def _argument(self, number: int, value: Value) -> Value:
        key = (number, value.rows)
        if key not in self._arguments:
            index = len(self.sources)
            self.sources.append(number)
            self._arguments[key] = argument(index, value.spec)
        return self._arguments[key]


__all__ = ["ProgramSequence", "Stage", "in_order", "one_program"]
