"""The short way of recording while a function is captured, as `dispatch` is for computed values.

A plan keeps the result spec and the kind of an operator on operands of certain specs, so that only
the attributes of an expression, a value and a node have to be set. Operands without a plan take the
*general way*, `apply.apply`, which has the same result.
"""

import sys
from typing import Any, NamedTuple

from ..graph.memory_order import is_view
from ..graph.node import accumulator_of
from ..graph.runtime import deferred_value
from ..graph.value import Expr, Spec, View, device_of, spec_of
from .apply import mode, other_modes, runtime, snapshot
from .dispatch import record_planned
from .operands import NumberConverter
from .plan import Plan, make_plan

_new = object.__new__
_frame = sys._getframe
_ABOVE = 4
"""How many frames the first frame that may be the user's is above `_connect` at least: in between
are `elementwise`, `Elementwise.general`, and what calls that."""


# Elementwise operators ----------------------------------------------------------------------------


def elementwise(operator: Any, args: Any) -> Any:
    """Return ``operator(*args)`` as a value that is still to be computed; None where the operands
    need the general way."""
    capture = mode.plain_capture if other_modes else None
    if capture is None or len(args) != len(operator.parameters) or len(args) > 2:
        return None
    kind = runtime.value
    x, y = args[0], args[-1]
    first, second = type(x), type(y)
    if first is kind and second is kind:
        if x.spec.device != y.spec.device:
            return None
        key = (x.spec, y.spec) if len(args) == 2 else x.spec
        plan = operator.deferred.get(key) or _plan(operator, key, (x.spec, y.spec)[: len(args)])
    elif first is kind and (second is float or second is int):
        plan, y = _plan_with_number(operator, x.spec, y, (x.spec, second))
    elif second is kind and (first is float or first is int):
        plan, x = _plan_with_number(operator, y.spec, x, (first, y.spec))
    else:
        return None
    if plan is None:
        return None
    if type(plan) is _Ranks:
        x, y = (x, view(plan.expand, y)) if plan.place else (view(plan.expand, x), y)
        return None if x is None or y is None else elementwise(operator, (x, y))
    for value in args:
        if type(value) is kind and (value.array is not None or capture.notes_all):
            capture.note_operands((value,))
    inputs = (x, y) if len(args) == 2 else (x,)
    read = []
    for value in inputs:
        is_whole = value._view is None and value.expr_slot == 0 and value.expr is not None
        read.append(value.expr if is_whole else snapshot(value))
    result = _result(plan, tuple(read), kind)
    if plan.reads and mode.grad:
        _connect(plan, inputs, result)
    return result


class _Ranks(NamedTuple):
    """The plan for two operands of different rank.

    ``expand`` is the plan that adds axes to the operand of lower rank, and ``place`` is the
    position of that operand, 0 or 1. Afterwards the operator needs a plan for operands of equal
    rank.
    """

    place: int
    expand: Plan


def _plan(operator: Any, key: Any, specs: tuple[Spec, ...]) -> Any:
    """Return the plan of an operator for operands of these specs, and keep the plan under ``key``.

    The result is a `_Ranks` if the ranks differ, and None if the operands need the general way, as
    they do if a dtype has to be converted.
    """
    first, last = specs[0], specs[-1]
    if first.dtype != last.dtype or first.dtype.char not in "fd" or operator.conditions:
        return None
    if len(first.shape) != len(last.shape):
        operator.deferred[key] = plan = _ranks(first, last)
        return plan
    ((shape, dtype),) = operator.infer(specs, {})
    spec = spec_of(shape, dtype, first.rows or last.rows, device_of(specs))
    operator.deferred[key] = plan = Plan(operator, {}, specs, spec, None)
    return plan


def _ranks(first: Spec, last: Spec) -> _Ranks | None:
    low, high = sorted([len(first.shape), len(last.shape)])
    place = int(len(last.shape) == low)
    static = {"axes": tuple(range(-high, -low))}
    expand = make_plan(runtime.roles.expand_dims, static, ((first, last)[place],))
    return None if expand is None else _Ranks(place, expand)


def _plan_with_number(operator: Any, spec: Spec, number: Any, key: Any) -> tuple[Plan | None, Any]:
    """Return the plan for a value and a Python number, and the operand into which the number is
    converted.

    The plan is None, and the number unchanged, if the operands need the general way.
    """
    known = operator.deferred.get(key)
    if known is None:
        other = spec_of((1,) * len(spec.shape), spec.dtype)
        specs = (spec, other) if key[0] is spec else (other, spec)
        plan = operator.deferred.get(specs) or _plan(operator, specs, specs)
        if plan is None:
            return None, number
        known = operator.deferred[key] = plan, NumberConverter(other)
    return known[0], known[1](number)[0]


def add_cotangents(x: Any, y: Any) -> Any:
    """Return the sum of two cotangents of a pass, each a value or an expression."""
    operator: Any = runtime.roles.add
    if x.array is None and y.array is None:
        key = (x.spec, y.spec)
        plan = operator.deferred.get(key) or _plan(operator, key, key)
        if type(plan) is Plan:
            return _expression(plan, (x, y))
    return operator(deferred_value(x), deferred_value(y))


# Views --------------------------------------------------------------------------------------------


def view(plan: Plan, x: Any) -> Any:
    """Return the view of ``x`` that a plan describes, as a value that is still to be computed; None
    where ``x`` needs the general way."""
    if mode.plain_capture is None or x.array is not None or type(x) is not runtime.value:
        return None
    above = x._view
    if above is None:
        root, chain = x, plan.step
    elif isinstance(above, View):
        above.refresh(x)
        root, chain = above.base, above.chain + plan.step
    else:
        return None
    if not is_view(root, chain):  # a reshape of a transposed value may have to copy
        return None
    grad = mode.grad
    if root.requires_grad and not grad:
        return None
    if mode.plain_capture.notes_all:
        mode.plain_capture.note_operands((x,))
    result = _result(plan, (snapshot(x),), type(x))
    result._storage = x._storage or x.storage
    result._view = View.of(root, chain)
    mode.plain_capture.note_view(result)
    if grad and x._requires_grad:
        record_planned(plan, 0, (x,), (x.node or accumulator_of(x),), result, _frame(1))
    return result


# Both ---------------------------------------------------------------------------------------------


def _expression(plan: Any, inputs: tuple[Any, ...]) -> Expr:
    expr = Expr(plan.operator, plan.static, inputs, plan.outputs)
    expr.kind, expr.site = plan.kind, mode.site
    return expr


def _result(plan: Any, inputs: tuple[Any, ...], kind: Any) -> Any:
    """Return a value of the class ``kind`` for a new expression of these inputs, as the plan
    describes it.

    The value is not connected to the graph yet.
    """
    result = _new(kind)
    result.array = result.node = result._storage = result._leaf = None
    result._view = plan.mark
    result._kept = False
    result.spec = plan.spec
    result.expr = _expression(plan, inputs)
    result._requires_grad = False
    result.slot = result.expr_slot = 0
    return result


def _connect(plan: Plan, inputs: tuple[Any, ...], result: Any) -> None:
    """Record the node of the operation if one of its operands requires grad."""
    wanted, bit = 0, 1
    parents: list[Any] = []
    for value in inputs:
        if value._requires_grad:  # a view has been refreshed
            parents.append(value.node or accumulator_of(value))
            wanted += bit
        else:
            parents.append(None)
        bit += bit
    if wanted:
        record_planned(plan, wanted, inputs, tuple(parents), result, _frame(_ABOVE))


__all__ = ["add_cotangents", "elementwise", "view"]
