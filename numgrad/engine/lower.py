"""Lowering: expressions become the instructions of a program.

An operator lowers itself once for each kind of operands, to a `Template`; every further
application only fills in which buffers it works on. So a long graph of few kinds is cheap, and what
an operator's author writes need not be fast.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from .._settings import settings
from .builder import Builder
from .capture import ARGUMENT
from .graph import Expr, Value
from .program import (
    Instruction,
    Joined,
    Operand,
    Pattern,
    Pieces,
    Program,
    Ref,
    contiguous_strides,
    layout_of,
)
from .record import runtime
from .statics import frozen

Place: TypeAlias = Ref | Pieces



_KEPT = 1 << 14
_NONE: Mapping[int, int] = MappingProxyType({})


class Template:
    """An application of an operator with open operands.

    Buffers are numbered: first those of the operands, piece by piece, then the new ones.
    """

    __slots__ = ("arrays", "fresh", "outputs", "steps", "uses_blas")

    def __init__(
        self,
        steps: list[tuple[Pattern, tuple[int, ...], tuple[int, ...]]],
        fresh: list[tuple[int, bool]],
        arrays: list[tuple[int, np.ndarray]],
        outputs: list[Place],
        uses_blas: bool,
    ) -> None:
        self.steps, self.fresh, self.arrays = steps, fresh, arrays
        self.outputs, self.uses_blas = outputs, uses_blas


class Templates:
    """The templates made so far for one target; settings that change kernels empty it."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.version = settings.version
        self.known: dict[Hashable, Template] = {}

    def get(self, key: Hashable) -> Template | None:
        return self.known.get(key)

    def add(self, key: Hashable, template: Template) -> None:
        if len(self.known) >= _KEPT:
            self.known.clear()
        self.known[key] = template


_current: Templates | None = None


def templates_of(target: Any) -> Templates:
    """Return the templates that are valid for a target under the present settings."""
    global _current
    found = _current
    if found is None or found.target is not target or found.version != settings.version:
        found = _current = Templates(target)
    return found


class Lowering:
    """Builds one program from expressions."""

    def __init__(
        self, target: Any, batch: int | None = None, inputs: Mapping[int, int] = _NONE
    ) -> None:
        self.target = target
        self.inputs = inputs
        self.open_arguments = False
        self.program = Program(batch)
        self.known: dict[Expr, Sequence[Place]] = {}
        self.templates = templates_of(target)
        self._constants: dict[tuple[int, bool], Ref] = {}

    def place(self, source: Any) -> Place:
        """Return the operand that stands for a value, computed or not."""
        array = source.array
        if array is None:
            array = source.expr.results[source.expr_slot]
            if array is None:
                return self.known[source.expr][source.expr_slot]
        return self.constant(array, source.rows)

    def constant(self, array: np.ndarray, rows: bool = False) -> Ref:
        """Return the operand of an array from outside; with ``rows`` its first axis is the
        batch."""
        known = self._constants.get((id(array), rows))
        if known is not None:
            return known
        shape, strides = array.shape, array.strides
        row_stride = 0
        if rows:
            row_stride, shape, strides = strides[0], shape[1:], strides[1:]
        layout = layout_of(shape, strides, array.dtype, rows)
        index = self.program.new_buffer(layout.nbytes, rows, row_stride)
        position = self.inputs.get(id(array))
        if position is None:
            self.program.arrays[index] = array
        else:
            self.program.arguments[index] = position
        known = Ref(index, 0, layout)
        self._constants[id(array), rows] = known
        return known

    def argument(self, expr: Expr) -> Ref:
        """Return the operand of an array that the caller will supply."""
        ((shape, dtype, rows),) = expr.specs
        layout = layout_of(shape, contiguous_strides(shape, dtype.itemsize), dtype, rows)
        index = self.program.new_buffer(layout.nbytes, rows)
        self.program.arguments[index] = expr.static["index"]
        return Ref(index, 0, layout)

    def apply(self, expr: Expr) -> None:
        """Append the instructions of an expression."""
        if expr.operator is ARGUMENT and self.open_arguments:
            self.known[expr] = [self.argument(expr)]
            return
        places = [self.place(source) for source in expr.inputs]
        key = _key(expr, places)
        template = self.templates.get(key) if key is not None else None
        if template is None:
            template = self._make(expr, places)
            if key is not None:
                self.templates.add(key, template)
        self.known[expr] = self.instantiate(template, places, expr.site)

    def instantiate(self, template: Template, places: Sequence[Place], site: Any) -> list[Place]:
        """Append a copy of a template's instructions for these operands."""
        program = self.program
        leaves = _leaves(places)
        table = [leaf.buffer for leaf in leaves]
        for nbytes, rows in template.fresh:
            table.append(program.new_buffer(nbytes, rows))
        for local, array in template.arrays:
            program.arrays[table[local]] = array
        shifts = [leaf.offset for leaf in leaves]
        append = program.instructions.append
        if any(shifts):
            shifts += [0] * len(template.fresh)
            for pattern, locals_, offsets in template.steps:
                moved = tuple([o + shifts[n] for o, n in zip(offsets, locals_, strict=True)])
                append(Instruction(pattern, tuple([table[n] for n in locals_]), moved, site))
        else:
            shifts = None
            for pattern, locals_, offsets in template.steps:
                append(Instruction(pattern, tuple([table[n] for n in locals_]), offsets, site))
        program.uses_blas = program.uses_blas or template.uses_blas
        return [_moved(output, table, shifts) for output in template.outputs]

    def _make(self, expr: Expr, places: Sequence[Place]) -> Template:
        builder = Builder(self.target, self.program.batch)
        operands = [_operand(builder, place) for place in places]
        nargs = len(builder.buffers)
        outputs = lower_one(builder, expr, operands)
        return _template(builder, nargs, outputs)

    def own(self, place: Place, rows: bool, claimed: set[int]) -> Ref:
        """Return an operand for a result: in a buffer of its own, so that results alias neither
        each other nor anything else."""
        if (
            isinstance(place, Pieces)
            or not place.layout.whole
            or place.layout.rows != rows
            or self.program.is_outside(place.buffer)
            or place.buffer in claimed
        ):
            place = self._copy(place, rows)
        claimed.add(place.buffer)
        return place

    def _copy(self, place: Place, rows: bool) -> Ref:
        key = ("copy", rows, _place_key(place))
        template = self.templates.get(key)
        if template is None:
            builder = Builder(self.target, self.program.batch)
            operand = _operand(builder, place)
            nargs = len(builder.buffers)
            template = _template(builder, nargs, [builder.copied(operand, rows)])
            self.templates.add(key, template)
        (result,) = self.instantiate(template, [place], None)
        assert isinstance(result, Ref)
        return result


def lower_one(builder: Builder, expr: Expr, operands: Sequence[Any]) -> Sequence[Any]:
    """Let an operator append its instructions; only some can read operands in pieces."""
    if not expr.operator.reads_pieces:
        operands = [builder.plain(operand) for operand in operands]
    return expr.operator.lower(builder, operands, expr.specs, expr.static)


def _key(expr: Expr, places: Sequence[Place]) -> Hashable:
    """Return what decides how an expression is lowered; None where that is not hashable."""
    static: Any = expr.static
    if static:
        static = frozen(static)
        if static is None:
            return None
    rows = expr.specs[0].rows if expr.specs else False
    return (expr.operator, static or None, rows, *[_place_key(place) for place in places])


def _place_key(place: Place) -> Hashable:
    if type(place) is Ref:
        return place.layout
    assert isinstance(place, Pieces)
    return (place.axis, *[_place_key(part) for part in place.parts])


def _leaves(places: Iterable[Place]) -> list[Ref]:
    leaves: list[Ref] = []
    for place in places:
        if type(place) is Ref:
            leaves.append(place)
        else:
            assert isinstance(place, Pieces)
            leaves += _leaves(place.parts)
    return leaves


def _moved(output: Place, table: Sequence[int], shifts: Sequence[int] | None) -> Place:
    """Return an output of a template for the buffers of a program."""
    if type(output) is Ref:
        local, offset, layout = output
        return Ref(table[local], offset if shifts is None else offset + shifts[local], layout)
    assert isinstance(output, Pieces)
    return Pieces(output.axis, tuple(_moved(part, table, shifts) for part in output.parts))


def _operand(builder: Builder, place: Place) -> Operand | Joined:
    """Return an operand of a template for one of a program."""
    if isinstance(place, Pieces):
        return Joined(place.axis, tuple(_operand(builder, part) for part in place.parts))
    layout = place.layout
    buffer = builder.buffer(layout.nbytes if layout.whole else -1, layout.rows)
    return Operand(buffer, 0, layout.shape, layout.strides, layout.dtype, layout.whole)


def _template(builder: Builder, nargs: int, outputs: Sequence[Any]) -> Template:
    new = builder.buffers[nargs:]
    arrays = [(b.index, b.array) for b in new if b.array is not None]
    return Template(
        builder.steps,
        [(b.nbytes, b.rows) for b in new],
        arrays,
        [_place_of(output) for output in outputs],
        builder.uses_blas,
    )


def _place_of(operand: Operand | Joined) -> Place:
    if isinstance(operand, Joined):
        return Pieces(operand.axis, tuple(_place_of(part) for part in operand.parts))
    return Ref(operand.buffer.index, operand.offset, operand.layout)


def pending_exprs(values: Iterable[Any]) -> list[Expr]:
    """Return the expressions that must be computed for ``values``, in order of creation."""
    seen: set[Expr] = set()
    stack = [v.expr for v in values if v.array is None and v.expr is not None]
    while stack:
        expr = stack.pop()
        if expr in seen:
            continue
        seen.add(expr)
        stack += _uncomputed(expr)
    return sorted(seen, key=_number)


def _uncomputed(expr: Expr) -> Iterator[Expr]:
    for value in expr.inputs:
        if value.array is None:
            source = value.expr
            if source is not None and source.results[value.expr_slot] is None:
                yield source


def _number(expr: Expr) -> int:
    return expr.number


def lower(
    values: Sequence[Value],
    target: Any,
    batch: int | None = None,
    inputs: Mapping[int, int] = _NONE,
    open_arguments: bool = False,
) -> Program:
    """Lower the expressions of ``values`` to a program whose results are those values, one buffer
    each.

    ``inputs`` maps the ids of arrays to their positions among the arguments of the program: other
    arrays can take their places. With ``open_arguments`` so can those for which a captured function
    has placeholders; else a placeholder is an error.
    """
    lowering = Lowering(target, batch, inputs)
    lowering.open_arguments = open_arguments
    for expr in pending_exprs(values):
        lowering.apply(expr)
    claimed: set[int] = set()
    program = lowering.program
    program.results = [lowering.own(lowering.place(v), v.rows, claimed) for v in values]
    return program


def force(values: Sequence[Value], batch: int | None = None) -> None:
    """Compute the values that are not computed yet, as one program."""
    todo: dict[tuple[Expr, int], Value] = {}
    for value in values:
        if value.array is None:
            if value.view is not None:
                value.view.refresh(value)
            assert value.expr is not None
            if value.expr.results[value.expr_slot] is None:
                todo.setdefault((value.expr, value.expr_slot), value)
    if todo:
        from .plan import execute  # it is made of this module's programs

        program = lower(list(todo.values()), runtime.target, batch)
        for (expr, slot), array in zip(todo, execute(program, runtime.target), strict=True):
            expr.results[slot] = array
    for value in values:
        if value.array is None:
            assert value.expr is not None
            value.array = value.expr.results[value.expr_slot]
            value.expr = None
