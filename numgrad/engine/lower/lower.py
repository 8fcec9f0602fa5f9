"""Lowering: expressions become the instructions of a program."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from math import prod
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._errors import DeviceError
from ...ir.device_array import DeviceArray
from ...ir.program import Pieces, Program, Ref, contiguous_strides, is_contiguous, layout_of
from ..graph.integrity import require_own_arrays
from ..graph.kind import interned
from ..graph.runtime import runtime
from ..graph.value import Expr, Spec, Value
from .builder import Builder
from .overwriting import overwriting_of
from .parts import form_kind, form_of
from .placeholder import ARGUMENT
from .repeats import FEWEST, Repeats
from .repetition import UnlikeError
from .scattered_sums import scattered_sums_of
from .template import Computed, Place, Template, append_buffers, operand_of, templates_of

_NONE: Mapping[int, int] = MappingProxyType({})


class Lowering:
    """Builds one program from expressions, which are applied in the order of their creation.

    Parameters
    ----------
    target
        The target whose templates (lowered operators) are used.
    batch : int, optional
        The number of rows of the program.
    inputs : mapping of int to int
        From the ids of arrays to their positions among the arguments of the program. Other arrays
        are constants.
    """

    def __init__(
        self, target: Any, batch: int | None = None, inputs: Mapping[int, int] = _NONE
    ) -> None:
        self.inputs = inputs
        self.is_here = target is runtime.target
        self.open_arguments = False
        self.program = Program(batch)
        self.known: dict[Expr, Place | list[Place]] = {}  # a list for several outputs
        self.templates = templates_of(target)
        self.computed = Computed()  # see `Template.append_to`
        self.repeats: Repeats | None = None
        self.readers = {runtime.roles.index, runtime.roles.element}
        self._constants: dict[tuple[int, bool], Ref] = {}
        self._joined: dict[Pieces, Ref] = {}

    def place(self, source: Any) -> Place:
        """Return the operand in the program that holds a value or the result of an expression.

        The operand is an output of an instruction, or an array from outside of the program.
        """
        array = source.array
        if array is None:
            expr = source if type(source) is Expr else source.expr
            place = self.known.get(expr)
            if place is None and self.repeats is not None:
                place = self.repeats.place_of(expr)
            if place is not None:
                return place[source.expr_slot] if type(place) is list else place  # type: ignore[return-value]
            array = source.expr.result(source.expr_slot)
            assert array is not None, "an expression that is read was lowered before, or computed"
        else:
            require_own_arrays((source,))
        return self.constant(array, source.rows)

    def constant(self, array: np.ndarray, rows: bool = False) -> Ref:
        """Return the operand of an array from outside of the program, a constant or an argument.

        With ``rows`` the first axis of the array is the batch.
        """
        known = self._constants.get((id(array), rows))
        if known is not None:
            return known
        if self.is_here and type(array) is DeviceArray:  # its address is in the device's memory
            raise DeviceError(
                f"a program of the processor would read a tensor on {array.device}; move the "
                f"tensor before, with x.cpu()"
            )
        shape, strides = array.shape, array.strides
        row_stride = 0
        if rows:
            row_stride, shape, strides = strides[0], shape[1:], strides[1:]
        layout = layout_of(shape, strides, array.dtype, rows)
        index = self.program.new_buffer(layout.nbytes, rows, row_stride)
        position = self.inputs.get(id(array)) if self.inputs else None
        if position is None:
            self.program.arrays[index] = array
        else:
            self.program.arguments[index] = position
            lies = None if array.flags.c_contiguous else array.strides
            self.program.given[index] = array.shape, array.dtype, lies
        known = Ref(index, 0, layout)
        self._constants[id(array), rows] = known
        return known

    def argument(self, expr: Expr) -> Ref:
        """Return the operand of an array that the caller will supply for a placeholder."""
        (spec,) = expr.specs
        shape, dtype, rows = spec.shape, spec.dtype, spec.rows
        layout = layout_of(shape, contiguous_strides(shape, dtype.itemsize), dtype, rows)
        index = self.program.new_buffer(layout.nbytes, rows)
        self.program.arguments[index] = expr.static["index"]
        lead = (self.program.batch or 0,) if rows else ()
        self.program.given[index] = (*lead, *shape), dtype, None
        return Ref(index, 0, layout)

    def apply(self, expr: Expr) -> None:
        """Append the instructions of an expression."""
        if expr.operator is ARGUMENT and self.open_arguments:
            self.known[expr] = self.argument(expr)
            return
        if expr.operator in self.readers:
            part = self.part(expr)
            if part is not None:
                self.known[expr] = part
                return
        kind = expr.kind or _kind(expr)
        key, table, moves = [kind], [], []
        known = self.known
        joins = not expr.operator.reads_pieces
        for source in expr.inputs:
            place = known.get(source) if type(source) is Expr else None
            if type(place) is not Ref:
                place = self.place(source)
                if joins and type(place) is not Ref:
                    place = self.joined(place, expr.site)
            # The template depends on the layout of an operand, or on the key of one in pieces.
            if type(place) is Ref:
                buffer, offset, layout = place
                key.append(layout)
                table.append(buffer)
                moves.append(offset)
            else:
                key.append(append_buffers(place, table, moves))
        key = tuple(key)
        template = self.templates.known.get(key) if kind is not None else None
        if template is None:
            template = self._make(
                key if kind is not None else None,
                [self._given(source, joins, expr.site) for source in expr.inputs],
                lambda builder, operands: lower_one(builder, expr, operands),
                getattr(expr.operator, "is_pure", False),
            )
        known[expr] = template.append_to(self.program, table, moves, expr.site, self.computed)

    def part(self, expr: Expr) -> Ref | None:
        """Return the operand that is a part of an array in C order, as an index reads it; None for
        an array that does not lie so."""
        place = self.place(expr.inputs[0])
        if type(place) is not Ref:
            return None
        form, first = form_of(expr)
        key = (expr.operator, form, place.layout)
        parts = self.templates.parts
        if key not in parts:
            made = self._make(None, [place], lambda builder, one: lower_one(builder, expr, one))
            parts[key] = made.part_of(place.layout)
        layout = parts[key]
        if layout is None:
            return None
        return Ref(place.buffer, place.offset + first * layout.dtype.itemsize, layout)

    def _make(
        self,
        key: Hashable,
        places: Sequence[Place],
        write: Callable[[Builder, Any], Any],
        is_pure: bool = False,
    ) -> Template:
        """Return a new template for operands like ``places``; keep it under ``key`` unless None.

        ``write`` appends the instructions to a builder, and returns the outputs.
        """
        builder = Builder(self.program.batch)
        operands = [operand_of(builder, place) for place in places]
        nargs = len(builder.buffers)
        template = Template(builder, nargs, write(builder, operands), self.templates, is_pure)
        if key is not None:
            self.templates.add(key, template)
        return template

    def _given(self, source: Any, joins: bool, site: Any) -> Place:
        """Return the operand that an operator is given, in one piece if ``joins``."""
        place = self.place(source)
        return self.joined(place, site) if joins else place

    def joined(self, place: Place, site: Any) -> Place:
        """Return an operand in one piece, a copy that all readers of equal pieces share; or itself,
        if it has pieces but one axis alone. ``site`` is that of the reader.

        A fused kernel reads pieces of one axis where they are, in a part for each piece. In an
        array of several axes, which may be cut along each of them, there would be many parts.
        """
        if isinstance(place, Ref) or _has_one_axis(place):
            return place
        known = self._joined.get(place)
        if known is None:
            rows = any([leaf.layout.rows for leaf in place.leaves])  # noqa: C419
            known = self._joined[place] = self.copy(place, rows, site)
        return known

    def own_buffer(self, value: Value, claimed: set[int]) -> Ref:
        """Return the operand that holds ``value``, a result of the program: its place, or a copy.

        A result fills a buffer of its own, in C order: so a result shares no memory with another
        result, an argument or a constant, and the same value as two results is two arrays.
        ``claimed`` has the buffers of earlier results, and gets the buffer of this one.
        """
        place, rows = self._as_whole(self.place(value)), value.rows
        if (
            not isinstance(place, Ref)
            or not place.layout.whole
            or place.layout.rows != rows
            or self.program.is_outside(place.buffer)
            or place.buffer in claimed
        ):
            place = self.copy(place, rows, None if value.expr is None else value.expr.site)
        claimed.add(place.buffer)
        return place

    def _as_whole(self, place: Place) -> Place:
        """Return a place, which is called whole if it fills its buffer in C order: views of views
        may, as a transpose that was transposed again."""
        if not isinstance(place, Ref) or place.offset or place.layout.whole:
            return place
        lies = place.layout
        shape, strides, dtype = lies.shape, lies.strides, lies.dtype
        fills = lies.nbytes == self.program.nbytes[place.buffer]
        if not fills or not is_contiguous(shape, strides, dtype.itemsize):
            return place
        return Ref(place.buffer, 0, layout_of(shape, strides, dtype, lies.rows, True))

    def copy(self, place: Place, rows: bool, site: Any) -> Ref:
        """Append a copy in a buffer of its own, which is never shared; return its place.

        The copy is on the device stream of ``site``, the only one for which the operand may be
        ready.
        """
        if site is not None and site.stream is None:
            site = None  # a copy is no operation of the user's line
        result = self.append(
            ("copy", rows), [place], lambda builder, operands: [builder.copied(operands[0], rows)],
            site,
        )  # fmt: skip
        assert isinstance(result, Ref)
        return result

    def new(self, spec: Spec) -> Ref:
        """Return the place of an array in a buffer of its own, of which every element is written
        by instructions that follow."""
        given = spec.shape, spec.dtype, spec.rows
        result = self.append(("new", *given), [], lambda builder, _: [builder.new(*given)])
        assert isinstance(result, Ref)
        return result

    def append(
        self,
        name: Hashable,
        places: Sequence[Place],
        write: Callable[[Builder, Any], Any],
        site: Any = None,
    ) -> Place | list[Place]:
        """Append instructions that are those of no operator, and are not shared; return the places
        of the outputs.

        ``write`` appends the instructions for operands like ``places`` to a builder, and returns
        the outputs; functions of equal ``name`` do the same.
        """
        table: list[int] = []
        moves: list[int] = []
        key = (name, *[append_buffers(place, table, moves) for place in places])
        template = self.templates.known.get(key) or self._make(key, places, write)
        return template.append_to(self.program, table, moves, site, Computed())


def _has_one_axis(place: Pieces) -> bool:
    """Whether only the axis along which pieces are joined has more than one element."""
    axis, *parts = place.key
    if any([type(part) is tuple for part in parts]):  # noqa: C419
        return False
    shape = parts[0].shape
    return prod(shape) == shape[len(shape) + axis]


def lower_one(builder: Builder, expr: Expr, operands: Sequence[Any]) -> Sequence[Any]:
    """Let the operator of an expression append its instructions to a builder; return the outputs.

    Operands in pieces are joined by a copy, unless the operator can read pieces.
    """
    if not expr.operator.reads_pieces:
        operands = [builder.plain(operand) for operand in operands]
    return expr.operator.lower(builder, operands, expr.specs, expr.static)


def _kind(expr: Expr) -> Hashable:
    """Return the kind of an expression, and note the kind there; None where a static parameter is
    not hashable. A rule in place of an operator is its own kind."""
    if not hasattr(expr.operator, "kinds"):
        return (expr.operator, expr.specs)
    inputs = tuple([value.spec for value in expr.inputs])
    expr.kind = interned(expr.operator, expr.static, inputs, expr.specs)
    return expr.kind


def pending_exprs(values: Iterable[Any]) -> list[Expr]:
    """Return the expressions that must be computed for ``values``, in order of creation."""
    seen = {v.expr for v in values if v.array is None and v.expr is not None}
    stack = list(seen)
    while stack:
        for value in stack.pop().inputs:
            expr = value if type(value) is Expr else value.expr if value.array is None else None
            if expr is None or expr in seen:
                continue
            if expr.results is None or expr.results[value.expr_slot] is None:
                seen.add(expr)
                stack.append(expr)
    return sorted(seen, key=attrgetter("number"))


def lower(
    values: Sequence[Value],
    target: Any,
    batch: int | None = None,
    inputs: Mapping[int, int] = _NONE,
    open_arguments: bool = False,
    exprs: Sequence[Expr] | None = None,
) -> Program:
    """Lower the expressions of ``values`` to a program with these values as results.

    Parameters
    ----------
    inputs : mapping of int to int
        From the ids of arrays to their positions among the arguments of the program: a later run
        may supply other arrays.
    open_arguments : bool
        Whether placeholders become arguments too; else a placeholder is an error.
    exprs : sequence of Expr, optional
        The pending expressions of ``values``, where these are known already.
    """
    exprs = pending_exprs(values) if exprs is None else exprs
    try:
        lowering = _lowered(Lowering(target, batch, inputs), open_arguments, exprs, values, True)
    except UnlikeError:
        lowering = _lowered(Lowering(target, batch, inputs), open_arguments, exprs, values, False)
    claimed: set[int] = set()
    program = lowering.program
    program.results = [lowering.own_buffer(value, claimed) for value in values]
    lowering.templates.signs.simplify(program)
    return program


def _lowered(
    lowering: Lowering, open_arguments: bool, exprs: Sequence[Expr], values: Sequence[Value],
    at_once: bool,
) -> Lowering:  # fmt: skip
    """Lower all expressions; return the lowering.

    ``at_once`` says whether expressions that repeat may be lowered at once, as `repeats` does.
    """
    lowering.open_arguments = open_arguments
    overwriting = overwriting_of(exprs, values)
    parts: set[Expr] = set() if overwriting is None else overwriting.exprs()
    items = scattered_sums_of(exprs, values) or exprs

    def apply(item: Any) -> None:
        if type(item) is not Expr:
            item.lower(lowering)
        elif overwriting is not None and item in parts:
            overwriting.lower(lowering, item)
        else:
            lowering.apply(item)

    at = 0
    if at_once and len(items) >= FEWEST:
        repeats = lowering.repeats = Repeats(items, *_kinds_of(items, parts, lowering.readers))
        for run in repeats.runs:
            for item in items[at : run.first]:
                apply(item)
            at = repeats.lower(lowering, apply, run)
    for item in items[at:]:
        apply(item)
    return lowering


def _kinds_of(
    items: Sequence[Any], alone: Collection[Any], readers: Collection[Any]
) -> tuple[list[Hashable], list[int]]:
    """Return the kinds of expressions and stores, None for those that are always lowered alone; and
    where the part begins that an item reads or writes, 0 for others.

    ``readers`` are the operators that read a part of an array by an index.
    """
    kinds: list[Hashable] = []
    begins = [0] * len(items)
    for n, item in enumerate(items):
        if type(item) is not Expr:
            kind, begins[n] = item.kind, item.begin
        elif item.operator is ARGUMENT or (alone and item in alone):
            kind = None
        elif item.operator in readers:
            kind, begins[n] = form_kind(item)
        else:
            kind = item.kind or _kind(item)
        kinds.append(kind)
    return kinds, begins


def force(values: Sequence[Value], batch: int | None = None) -> None:
    """Compute the values that are still to be computed, as one program on each device."""
    todo: dict[str, dict[tuple[Expr, int], Value]] = {}
    for value in values:
        if value.array is None:
            if value._view is not None:
                value._view.refresh(value)
            assert value.expr is not None
            if value.expr.result(value.expr_slot) is None:
                here = todo.setdefault(value.spec.device, {})
                here.setdefault((value.expr, value.expr_slot), value)
    for here in todo.values():
        _compute(here, batch)
    for value in values:
        if value.array is None:
            assert value.expr is not None
            value.array = value.expr.result(value.expr_slot)
            value.expr = None


def _compute(todo: Mapping[tuple[Expr, int], Value], batch: int | None) -> None:
    """Compute outputs of expressions on one device, and keep the arrays in the expressions.

    The keys of ``todo`` are pairs of an expression and the number of an output.
    """
    from .executable import execute  # that module runs the programs of this one

    values = list(todo.values())
    target = runtime.target_of([value.spec for value in values])
    program = lower(values, target, batch)
    for (expr, slot), array in zip(todo, execute(program, target), strict=True):
        expr.keep(slot, array)
