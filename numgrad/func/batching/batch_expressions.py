"""Rebuild the expressions of a function of one sample for all samples.

Every operator works on any number of leading axes, so an expression is rebuilt with operands that
have the axes of samples in front. If a batched pass inside of the function has given an expression
rows, the rows become an axis as well: behind the axes of samples, in front of all other axes.
"""

from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ..._declare import KernelOperator, registry
from ..._declare.elementwise import Elementwise
from ...engine.capture.capture import TO_AXIS, TO_ROWS
from ...engine.derivatives.rules import Rule, place_of
from ...engine.graph.value import Expr, Value, device_of, spec_of
from ...engine.record.apply import runtime, with_stream
from ...ir.broadcasting import broadcast_shapes

NONE: Mapping[Any, Any] = MappingProxyType({})
_BROADCASTING = (Elementwise, KernelOperator)  # operators that broadcast axes of length 1


class BatchedValue(NamedTuple):
    """A value of all samples: ``lead`` axes of samples in front, then an axis of rows if ``rows``.
    """

    value: Any
    lead: int = 0
    rows: bool = False

    @property
    def core(self) -> int:
        """The number of axes that the value has in one sample."""
        return len(self.value.shape) - self.lead - self.rows


def batch_exprs(
    exprs: Sequence[Expr],
    outputs: Sequence[Value],
    inputs: Mapping[Expr, BatchedValue],
    instead: Mapping[Hashable, Value] = NONE,
) -> list[BatchedValue]:
    """Return the outputs of a function of one sample, for all samples.

    ``exprs`` are the function's expressions in the order of their creation, and ``inputs`` has the
    values of all samples for its placeholders. ``instead`` has values to be read in place of values
    from outside, by the keys that `place_of` returns for the latter.
    """
    known: dict[Expr, list[BatchedValue]] = {expr: [wide] for expr, wide in inputs.items()}

    def operand(value: Any) -> BatchedValue:
        if value.array is not None:
            return _constant(instead.get(place_of(value), value))
        found = known.get(value.expr)
        return (
            found[value.expr_slot] if found else BatchedValue(instead.get(place_of(value), value))
        )

    for expr in exprs:
        if expr not in known:
            known[expr] = _batch_expr(expr, [operand(value) for value in expr.inputs])
    return [operand(output) for output in outputs]


def _constant(value: Any) -> BatchedValue:
    """Return a value that all samples read, as a value without axes of samples.

    Rows of the value become an axis.
    """
    if not value.rows:
        return BatchedValue(value)
    return BatchedValue(runtime.value(value.array), rows=True)


def _batch_expr(expr: Expr, operands: Sequence[BatchedValue]) -> list[BatchedValue]:
    """Return the results of an expression for operands of all samples."""
    if expr.operator is TO_ROWS:
        return [operands[0]._replace(rows=True)]
    if expr.operator is TO_AXIS:
        return [operands[0]._replace(rows=False)]
    if isinstance(expr.operator, Rule):
        return _batch_rule(expr.operator, operands)
    lead = max([wide.lead for wide in operands], default=0)
    rows = any([wide.rows for wide in operands])  # noqa: C419  a list is faster
    values = _aligned(expr, operands, lead, rows)
    return [
        BatchedValue(value, lead, rows)
        for value in applied(expr.operator, expr.static, values, expr)
    ]


def _batch_rule(rule: Rule, operands: Sequence[BatchedValue]) -> list[BatchedValue]:
    """Return the results of a rule, a derivative made of expressions, for operands of all samples.
    """
    places: Any = rule.places.items()
    inputs = {expr: operands[n] for expr, n in places if n < len(operands)}
    made: Any = rule.outputs
    outputs = [runtime.value.deferred(e, slot, e.specs[slot]) for e, slot in made]
    return batch_exprs(rule.exprs, outputs, inputs)


def applied(
    operator: Any, static: dict[str, Any], values: Sequence[Any], of: Expr | None = None
) -> list[Any]:
    """Return the results of an operator, as expressions.

    The expressions get the line of user code of the expression ``of``, which they rebuild.
    """
    specs = [value.spec for value in values]
    rows = any([spec.rows for spec in specs])  # noqa: C419  a list is faster
    device = device_of(specs)
    results = [spec_of(s, d, rows, device) for s, d in operator.infer(specs, static)]
    expr = Expr(operator, static, tuple(values), tuple(results))
    expr.site = with_stream(None if of is None else of.site)
    return [runtime.value.deferred(expr, slot, spec) for slot, spec in enumerate(results)]


def _aligned(expr: Expr, operands: Sequence[BatchedValue], lead: int, rows: bool) -> list[Any]:
    """Return operands with equally many leading axes.

    An axis that an operand lacks is added with length 1. If the operator does not broadcast, the
    operand is repeated along this axis.
    """
    pads = _pads(expr, operands)
    values = [_expanded(w, lead, rows, pad) for w, pad in zip(operands, pads, strict=True)]
    if isinstance(expr.operator, _BROADCASTING) or len(values) < 2:
        return values
    front = lead + rows
    sizes = broadcast_shapes(*[value.shape[:front] for value in values])
    return [_repeated(value, (*sizes, *value.shape[front:])) for value in values]


def _pads(expr: Expr, operands: Sequence[BatchedValue]) -> list[int]:
    """Return how many loop axes each operand lacks, compared with the operand that has most.

    Loop axes are those axes of one sample that come before the axes on which the operator works.
    """
    if expr.operator.ranks is None:
        return [0] * len(operands)
    ranks = expr.operator.ranks(**expr.static)
    loops = [wide.core - rank for wide, rank in zip(operands, ranks, strict=True)]
    return [max(loops) - loop for loop in loops]


def _expanded(wide: BatchedValue, lead: int, rows: bool, pad: int = 0) -> Any:
    rank = lead + rows + pad + wide.core
    axes = list(range(-rank, -rank + lead - wide.lead))
    if rows and not wide.rows:
        axes.append(-wide.core - pad - 1)
    axes += range(-wide.core - pad, -wide.core)
    return apply_by_name("expand_dims", wide.value, axes=tuple(axes)) if axes else wide.value


def _repeated(value: Any, sizes: tuple[int, ...]) -> Any:
    return value if value.shape == sizes else apply_by_name("broadcast", value, sizes=sizes)


def apply_by_name(name: str, *values: Any, **static: Any) -> Any:
    """Return the result of an operator with one result, as an expression."""
    return applied(registry[name], static, values)[0]


def with_all_axes(wide: BatchedValue, sizes: tuple[int, ...]) -> Any:
    """Return a value with all axes of samples, which have the lengths ``sizes``.

    The value is repeated along the axes that it lacks.
    """
    value = _expanded(wide, len(sizes), False)
    return _repeated(value, (*sizes, *value.shape[len(sizes) :]))
