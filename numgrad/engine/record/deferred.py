"""The short way of recording while a function is captured, as `dispatch` is for computed values.

The kind of an operator on operands of certain specs keeps the result spec, so that only the
attributes of an expression, a value and a node have to be set. Operands without a plan take the
*general way*, `apply.apply`, which has the same result.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.callsite import user_site
from ..graph.kind import Kind, frozen, keep, loose_kind
from ..graph.memory_order import is_view
from ..graph.node import accumulator_of
from ..graph.runtime import deferred_value
from ..graph.value import Expr, Spec, View, device_of, spec_of
from .apply import mode, other_modes, runtime, snapshot
from .compiled_recorder import capturing_recorder_of
from .dispatch import apply_one, record_planned
from .operands import NumberConverter, TensorConverter, with_user_arrays
from .plan import Mixture, make_plan, recordable, recordable_later, was_met_before

_new = object.__new__
_frame = sys._getframe
_NUMBERS = frozenset({float, int, np.float64})
_OFTEN = 100  # captured operations of a plan, after which it gets a recorder

_ABOVE = 4
"""How many frames the first frame that may be the user's is above `_connect` and `_recorded` at
least: in between are `elementwise`, `Elementwise.general`, and what calls that."""


# Elementwise operators ----------------------------------------------------------------------------


def elementwise(operator: Any, args: Any) -> Any:
    """Return ``operator(*args)`` as a value that is still to be computed; None where the operands
    need the general way."""
    capture = mode.plain_capture if other_modes else None
    if capture is None or len(args) != len(operator.parameters):
        return None
    kind = runtime.value
    x, y = args[0], args[-1]
    first, second = type(x), type(y)
    if len(args) < 3 and first is kind and second is kind:
        if x.spec.device != y.spec.device:
            return None
        key: Any = x.spec if x.spec is y.spec else (x.spec, y.spec)
    elif len(args) < 3 and first is kind and second in _NUMBERS:
        key = (x.spec, second)
    elif len(args) < 3 and second is kind and first in _NUMBERS:
        key = (first, y.spec)
    else:
        args = _with_borrowed_arrays(args, capture)
        key = _key_of_others(args)
        if key is None:
            return None
    plan = operator.kinds.get(key)
    if plan is None:
        plan = _plan(operator, key, len(args))
    inputs, numbers = args, 0
    if type(plan) is Mixture:
        numbers, inputs = plan.numbers, _converted(plan.operands, args, capture)
        plan = plan.plan
    if plan is None or inputs is None:
        return None
    known = _recorded(plan, numbers, inputs, capture, mode.site)
    if known is not None:
        return known
    for value, arg in zip(inputs, args, strict=True):
        if type(arg) is kind and (value.array is not None or capture.notes_all):
            capture.note_operands((value,))
    read = []
    for value in inputs:
        is_whole = value._view is None and value.expr_slot == 0 and value.expr is not None
        read.append(value.expr if is_whole else snapshot(value))
    result = _result(plan, tuple(read), kind)
    if plan.reads and mode.grad:
        _connect(plan, inputs, result)
    return result


def _with_borrowed_arrays(args: tuple[Any, ...], capture: Any) -> tuple[Any, ...]:
    """Return operands with a value in place of each array of the user, which the value reads
    through a view of its own."""
    made = with_user_arrays(args)
    for value, arg in zip(made, args, strict=True):
        if value is not arg:
            capture.borrow(value)
    return made


def _recorded(plan: Kind, numbers: int, inputs: Sequence[Any], capture: Any, site: Any) -> Any:
    """Return the result of a plan as compiled code records it; None where Python has to.

    ``numbers`` has the inputs that are numbers, as bits. Compiled code takes no other input with an
    array, so there is nothing to note of them; but a capture may note all.
    """
    if capture.notes_all:
        return None
    recorders = plan.captured
    if recorders is None:
        plan.captures += 1
        if plan.captures < _OFTEN:
            return None
        recorders = plan.captured = {}
    if numbers in recorders:
        record = recorders[numbers]
    else:
        record = recorders[numbers] = capturing_recorder_of(plan, numbers, _ABOVE)
    return None if record is None else record(*inputs, site, capture.token, bool(mode.grad))


def _key_of_others(args: Sequence[Any]) -> Any:
    """Return the key of operands that are tensors of one device and numbers; None for others."""
    kind = runtime.value
    found = tuple([x.spec if type(x) is kind else type(x) for x in args])
    specs = [x for x in found if type(x) is Spec]
    if not specs or any([x not in _NUMBERS for x in found if type(x) is not Spec]):  # noqa: C419
        return None
    if any([spec.device != specs[0].device for spec in specs]):  # noqa: C419
        return None
    return specs[0] if len(found) == 2 and found[0] is found[1] else found


def _converted(
    operands: Sequence[Any], args: Sequence[Any], capture: Any
) -> tuple[Any, ...] | None:
    """Convert numbers, and operands of lower rank, as a `Mixture` says; return None where an
    argument needs the general way."""
    values = []
    for arg, operand in zip(args, operands, strict=True):
        kind = type(operand)
        if kind is NumberConverter:
            arg, array = operand(arg)
            if array is None:  # an integer that is too large for the dtype
                return None
        elif kind is TensorConverter:
            arg = _aligned(operand, arg, capture) if operand.is_view else None
        elif operand is not None:
            return None
        if arg is None:
            return None
        values.append(arg)
    return tuple(values)


def _aligned(operand: TensorConverter, arg: Any, capture: Any) -> Any:
    """Return an operand of lower rank with leading axes of size 1; None where the operand needs the
    general way."""
    (plan,) = operand.plans
    if arg.array is None:
        return view(plan, arg)
    if arg.requires_grad or arg.rows or type(arg.array) is not np.ndarray:
        return None
    capture.note_operands((arg,))
    return runtime.value(arg.array.reshape(plan.spec.shape), False, arg.storage)


def _plan(operator: Any, key: Any, count: int) -> Any:
    """Keep under ``key`` how an operator is applied to ``count`` operands, and return that.

    The key has the specs of the operands, and the type of an operand that is a number. The result
    is a kind, a `Mixture` if an operand is a number or if ranks differ, and None if the operands
    need the general way, as they do if a dtype has to be converted.
    """
    given = key if type(key) is tuple else (key,) * count
    conditions = [given[n] for n in operator.conditions]
    if any([type(item) is not Spec or item.dtype != bool for item in conditions]):  # noqa: C419
        return None
    others = [item for n, item in enumerate(given) if n not in operator.conditions]
    tensors = [item for item in given if type(item) is Spec]
    dtypes = {item.dtype for item in others if type(item) is Spec}
    if len(dtypes) != 1 or (dtype := dtypes.pop()).char not in "fdFD":
        return None
    if dtype.kind == "c" and not operator.allows_complex:
        return None
    rank = max([len(spec.shape) for spec in tensors])
    operands, specs = [], []
    for item in given:
        operand, spec = _operand(item, dtype, rank)
        if spec is None:
            return None
        operands.append(operand)
        specs.append(spec)
    ((shape, dtype),) = operator.infer(specs, {})
    rows = any([spec.rows for spec in specs])  # noqa: C419  a list is faster
    result = spec_of(shape, dtype, rows, device_of(specs))
    plan: Any = recordable(operator, {}, tuple(specs), result)
    return keep(operator, operator.kinds, key, Mixture(plan, operands) if any(operands) else plan)


def _operand(item: Any, dtype: Any, rank: int) -> tuple[Any, Spec | None]:
    """Return what converts an operand of a spec or type to the rank of the others, and its spec
    then; the spec is None if that cannot be done."""
    if type(item) is not Spec:
        if item is np.float64 and dtype.char not in "dD":  # whose dtype is not weak
            return None, None
        spec = spec_of((1,) * rank, dtype)
        return NumberConverter(spec), spec
    missing = rank - len(item.shape)
    if not missing:
        return None, item
    axes = tuple(range(-rank, missing - rank))
    expand = make_plan(runtime.roles.expand_dims, {"axes": axes}, (item,))
    return (None, None) if expand is None else (TensorConverter([expand], apply_one), expand.spec)


def add_cotangents(x: Any, y: Any) -> Any:
    """Return the sum of two cotangents of a pass, each a value or an expression."""
    operator: Any = runtime.roles.add
    if x.array is None and y.array is None:
        first, second = x.spec, y.spec
        key = first if first is second else (first, second)
        plan = operator.kinds.get(key) or _plan(operator, key, 2)
        if type(plan) is Kind:
            return _expression(plan, (x, y))
    return operator(deferred_value(x), deferred_value(y))


# Views --------------------------------------------------------------------------------------------


def view(plan: Kind, x: Any, static: Any = None) -> Any:
    """Return the view of ``x`` that a plan describes, as a value that is still to be computed; None
    where ``x`` needs the general way.

    ``static`` are the parameters of the view where the plan has those of another view of the same
    specs.
    """
    if mode.plain_capture is None or x.array is not None or type(x) is not runtime.value:
        return None
    above = x._view
    step = plan.step if static is None else ((plan.operator, static),)
    if above is None:
        root, chain = x, step
    elif isinstance(above, View):
        above.refresh(x)
        root, chain = above.base, above.chain + step
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
        record_planned(plan, 1, (x,), (x.node or accumulator_of(x),), result, _frame(1))
    if static is not None:
        _give(result, static)
    return result


# Other operators ----------------------------------------------------------------------------------


def operation(operator: Any, inputs: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Return the result of an operator as a value that is still to be computed; None where the
    operands need the general way."""
    if mode.plain_capture is None:
        return None
    own = static if operator is runtime.roles.index or operator is runtime.roles.element else None
    if own is None:
        parameters = frozen(static) if static else ()
    else:
        parameters, _ = operator.by_position[0](inputs, static)
    plan = None if parameters is None else _plan_alike(operator, inputs, static, parameters)
    if plan is None:
        return None
    return view(plan, inputs[0], own) if operator.is_view else apply_deferred(plan, inputs, own)


def apply_deferred(plan: Kind, inputs: tuple[Any, ...], static: Any = None) -> Any:
    """Return the result of a plan as a value that is still to be computed.

    ``static`` are the parameters of the operation where the plan has those of another one of the
    same specs.
    """
    capture = mode.plain_capture
    site = mode.site or user_site()  # for the error of a kernel that raises in a replay
    result = _recorded(plan, 0, inputs, capture, site)
    if result is None:
        capture.note_operands(inputs)
        result = _result(plan, tuple([snapshot(value) for value in inputs]), type(inputs[0]))
        result.expr.site = site
        if plan.reads and mode.grad:
            _connect(plan, inputs, result)
    if static is not None:
        _give(result, static)
    return result


def _give(result: Any, static: dict[str, Any]) -> None:
    """Give the expression and the node of a result static parameters of their own."""
    expr, node = result.expr, result.node
    expr.static, expr.kind = static, None
    if node is not None:
        node._kind = loose_kind(expr.operator, static, node._kind.inputs, node._kind.outputs)


def _plan_alike(
    operator: Any, inputs: tuple[Any, ...], static: dict[str, Any], parameters: Any
) -> Kind | None:
    """Return the plan of an operation, or for an index that of one that reads a part of the same
    form; None for an operation that needs the general way, or is met for the first time.

    ``parameters`` is a key of the static parameters, or the form.
    """
    kind = runtime.value
    if any([type(value) is not kind for value in inputs]):  # noqa: C419  a list is faster
        return None
    specs = tuple([value.spec for value in inputs])
    key = ("captured", parameters, specs)
    plan = operator.kinds.get(key, _UNMET)
    if plan is not _UNMET:
        return plan  # type: ignore[no-any-return]
    if not was_met_before(operator, key):
        return None
    plan = recordable_later(operator, static, specs)
    return keep(operator, operator.kinds, key, plan)  # type: ignore[no-any-return]


_UNMET = object()


# Both ---------------------------------------------------------------------------------------------


def _expression(plan: Any, inputs: tuple[Any, ...]) -> Expr:
    expr = Expr(plan.operator, plan.static, inputs, plan.outputs)
    expr.kind, expr.site = plan, mode.site
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


def _connect(plan: Kind, inputs: tuple[Any, ...], result: Any) -> None:
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


__all__ = ["add_cotangents", "apply_deferred", "elementwise", "operation", "view"]
