"""The short way for what is recorded most: an elementwise operation on one or two computed values.

What an operator does with values of certain specs is worked out once and kept in a `Plan`. With it
an operation is one call of a kernel and some attributes to fill in. Whatever is out of the ordinary
(values still to be computed, hooks on saved values, conversions, operands of other ranks) takes the
general way, ``operator.general``, which ends in ``record.apply`` and has the same result.
"""

import sys
import weakref
from typing import Any

import numpy as np

from .._settings import on_change, settings
from .graph import Node, accumulator_of
from .kinds import kind_of
from .record import mode, pack, runtime, unusual
from .site import is_ours, user_frame, user_stack
from .values import Alias, Spec, Storage, Value, View, next_number, spec_of

_MOST_PLANS = 1024
_MOST_CONSTANTS = 256
_new = object.__new__
_frame = sys._getframe
_Array = np.ndarray
_UNWRITTEN = (0, 0, 0)
_planned: weakref.WeakSet[Any] = weakref.WeakSet()  # operators that have plans


class Plan:
    """What an elementwise operator does with computed values of certain specs.

    Attributes
    ----------
    compute : callable or None
        Takes the arrays and returns the result; None where nothing is computed yet.
    spec, shape, dtype
        Of the result.
    reads : tuple
        By which inputs require grad, as bits: whether the derivative reads each input and the
        result; None where it reads nothing. Empty where gradients do not flow.
    operator, inputs, outputs, kind
        Of the nodes.
    """

    __slots__ = (
        "compute", "dtype", "inputs", "kind", "operator", "outputs", "reads", "shape", "spec",
        "static",
    )  # fmt: skip

    def __init__(
        self, operator: Any, compute: Any, inputs: tuple[Spec, ...], spec: Spec
    ) -> None:
        self.operator, self.compute = operator, compute
        self.static: dict[str, Any] = {}
        self.inputs, self.outputs = inputs, (spec,)
        self.spec, self.shape, self.dtype = spec, spec.shape, spec.dtype
        self.kind = kind_of(operator, {}, inputs, self.outputs)
        self.reads: tuple[Any, ...] = ()
        if operator.differentiable and spec.dtype.kind in "fc":
            self.reads = tuple([self._reads(mask) for mask in range(2 ** len(inputs))])

    def _reads(self, mask: int) -> tuple[bool, ...] | None:
        needs = [bool(mask >> n & 1) for n in range(len(self.inputs))]
        reads = tuple(self.operator.saves(needs))
        return reads if any(reads) else None


class ViewPlan:
    """What a view operator with certain static parameters does with values of a certain spec."""

    __slots__ = ("inputs", "kind", "operator", "outputs", "spec", "static", "step")

    reads = (None,)  # a view keeps nothing

    def __init__(self, operator: Any, static: dict[str, Any], spec: Spec) -> None:
        ((shape, dtype),) = operator.infer((spec,), static)
        self.operator, self.static = operator, static
        self.step = ((operator, static),)
        self.spec = spec_of(shape, dtype, spec.rows)
        self.inputs, self.outputs = (spec,), (self.spec,)
        self.kind = kind_of(operator, static, self.inputs, self.outputs)


class Beside:
    """The operands that Python's numbers stand for beside a value of a certain spec.

    An operand goes with an array of no axes: NumPy calls a kernel with it in half the time.
    """

    __slots__ = ("_minus_zero", "_zero", "dtype", "floats", "ints", "plan", "shape")

    def __init__(self, plan: Plan, spec: Spec) -> None:
        self.plan = plan
        self.shape, self.dtype = spec.shape, spec.dtype
        self.ints: dict[int, tuple[Value, np.ndarray]] = {}
        self.floats: dict[float, tuple[Value, np.ndarray]] = {}
        self._zero, self._minus_zero = self._made(0.0), self._made(-0.0)

    def constant(self, number: Any) -> tuple[Value, np.ndarray]:
        """Return the operand for a number that is not known, and remember it."""
        if number == 0:  # 0.0 and -0.0 are one key
            return self._minus_zero if str(number)[0] == "-" else self._zero
        made = self._made(number)
        if number == number:  # a NaN would not be found again
            known: dict[Any, Any] = self.ints if type(number) is int else self.floats
            if len(known) >= _MOST_CONSTANTS:
                known.clear()
            known[number] = made
        return made

    def _made(self, number: Any) -> tuple[Value, np.ndarray]:
        array = np.asarray(number, self.dtype)
        array.flags.writeable = False
        return runtime.value(array.reshape(self.shape)), array


# Learning -----------------------------------------------------------------------------------------


def learn(operator: Any, args: tuple[Any, ...], values: tuple[Value, ...]) -> None:
    """Make a plan for an application to ``args``, which have been converted to ``values``."""
    if len(values) > 2 or any(value.rows for value in values):
        return
    if unusual and mode.deferring:
        return  # this one is not computed at once
    plan = _plan(operator, values)
    if len(values) == 2 and values[0].dtype.kind in "fc":  # an integer may become a float
        for n, table in ((0, operator.numbers_first), (1, operator.numbers_last)):
            spec = values[1 - n].spec
            if type(args[n]) in (int, float) and values[1 - n] is args[1 - n]:
                if len(table) >= _MOST_PLANS:
                    table.clear()
                table[spec] = Beside(plan, values[n].spec)


def _plan(operator: Any, values: tuple[Value, ...]) -> Plan:
    inputs = tuple([value.spec for value in values])
    key = inputs[0] if inputs[0] is inputs[-1] else inputs
    plan = operator.plans.get(key)
    if plan is None:
        if len(operator.plans) >= _MOST_PLANS:
            operator.plans.clear()
        _planned.add(operator)
        compute = operator.computation(runtime.target, inputs[-1].dtype)
        ((shape, dtype),) = operator.infer(values, {})
        plan = operator.plans[key] = Plan(operator, compute, inputs, spec_of(shape, dtype))
    return plan


def _forget() -> None:
    """Drop all plans: settings that kernels depend on have changed."""
    for operator in list(_planned):
        operator.forget_plans()


on_change(_forget)


# Applying -----------------------------------------------------------------------------------------


def unary(operator: Any, x: Any) -> Any:
    """Return ``operator(x)``; called by a function of numgrad."""
    kind = runtime.value
    if type(x) is kind and (not unusual or mode.direct):
        array = x.array
        plan = operator.plans.get(x.spec)
        if plan is not None and array is not None:
            result = _result(plan, plan.compute(array), kind)
            if plan.reads and (not unusual or mode.grad):
                if x.view is not None:
                    x.view.refresh(x)
                if x._requires_grad:
                    parents = (x.node or accumulator_of(x),)
                    record_planned(plan, 1, (x,), parents, result, _frame(2))
            return result
    return operator.general((x,))


def binary(operator: Any, x: Any, y: Any) -> Any:
    """Return ``operator(x, y)``; called by a function of numgrad."""
    first, second = type(x), type(y)
    kind = runtime.value
    if (first is kind or second is kind) and (not unusual or mode.direct):
        a = b = plan = None
        if first is second:
            a, b = x.array, y.array
            spec = x.spec
            plan = operator.plans.get(spec if spec is y.spec else (spec, y.spec))
        elif first is kind and (second is float or second is int):
            a = x.array
            plan, y, b = _beside(operator.numbers_last.get(x.spec), y, second)
        elif first is float or first is int:
            b = y.array
            plan, x, a = _beside(operator.numbers_first.get(y.spec), x, first)
        if plan is not None and a is not None and b is not None:
            result = _result(plan, plan.compute(a, b), kind)
            if plan.reads and (not unusual or mode.grad):
                _connect(plan, x, y, result)
            return result
    return operator.general((x, y))


def _beside(known: Beside | None, number: Any, kind: type) -> tuple[Plan | None, Any, Any]:
    """Return the plan, the operand for a number, and its array for the kernel."""
    if known is None:
        return None, number, None
    pair = (known.floats if kind is float else known.ints).get(number)
    value, array = known.constant(number) if pair is None else pair
    return known.plan, value, array


def _result(plan: Plan, array: Any, kind: Any) -> Any:
    """Return the value of a result that nothing is connected to yet."""
    if type(array) is not _Array:
        array = np.asarray(array)  # NumPy makes scalars of arrays without axes
    result = _new(kind)
    result.array = array
    result.spec = plan.spec
    result.shape = plan.shape
    result.dtype = plan.dtype
    result.rows = result._requires_grad = False
    result.node = result.view = result.expr = result._storage = result._leaf = None
    result.slot = result.expr_slot = 0
    return result


def view(plan: ViewPlan, x: Any) -> Any:
    """Return the view of ``x`` that a plan describes; called by a function of numgrad."""
    array = x.array
    if array is None or x.rows or unusual or isinstance(x.view, Alias):
        return plan.operator(x, **plan.static)
    result = _new(type(x))
    result.array = plan.operator.function(array, **plan.static)
    spec = result.spec = plan.spec
    result.shape, result.dtype, result.rows = spec
    result._requires_grad = False
    result.node = result.expr = result._leaf = None
    result.slot = result.expr_slot = 0
    result._storage = x._storage or x.storage
    above = x.view
    if above is None:
        result.view = View(x, plan.step)
    else:
        above.refresh(x)
        result.view = View(above.base, above.chain + plan.step)
    if x._requires_grad:
        record_planned(plan, 0, (x,), (x.node or accumulator_of(x),), result, _frame(2))
    return result


def _connect(plan: Plan, x: Any, y: Any, result: Any) -> None:
    """Record the operation if gradients flow from one of its operands."""
    if x.view is not None:
        x.view.refresh(x)
    if y.view is not None:
        y.view.refresh(y)
    first = second = None
    wanted = 0
    if x._requires_grad:
        first = x.node or accumulator_of(x)
        wanted = 1
    if y._requires_grad:
        second = y.node or accumulator_of(y)
        wanted += 2
    if wanted:
        record_planned(plan, wanted, (x, y), (first, second), result, _frame(3))


def record_planned(
    plan: Any,
    wanted: int,
    inputs: tuple[Any, ...],
    parents: tuple[Any, ...],
    result: Any,
    frame: Any,
) -> None:
    """Make the node; ``frame`` is the first that may be the user's."""
    node: Any = Node()
    node.operator = plan.operator
    node.static = plan.static
    node.inputs = plan.inputs
    node.outputs = plan.outputs
    node._kind = plan.kind
    node.parents = parents
    node.slots = (inputs[0].slot, inputs[1].slot) if len(inputs) == 2 else (inputs[0].slot,)
    node._edges = node.extras = None
    node.number = next_number()
    reads = plan.reads[wanted]
    if reads is None:
        node.saved = node.versions = ()
    else:
        _save(node, reads, inputs, result)
    if is_ours[frame.f_code.co_filename]:
        frame = user_frame(frame)
    node.code = None if frame is None else frame.f_code
    node.instruction = 0 if frame is None else frame.f_lasti
    if settings.call_stack_level >= 3:
        node.own().stack = user_stack()
    result.node = node
    result._requires_grad = True


def _save(node: Any, reads: tuple[bool, ...], inputs: tuple[Any, ...], result: Any) -> None:
    """Keep what the derivative reads: as a rule the operands themselves, never written."""
    last = _output(result) if reads[-1] else None
    x, y = inputs[0], inputs[-1]
    first, second = x._storage, y._storage
    if (first is None or (type(first) is Storage and not first.version)) and (
        second is None or (type(second) is Storage and not second.version)
    ):
        x = x if reads[0] else None
        if len(inputs) == 2:
            node.saved = (x, y if reads[1] else None, last)
        else:
            node.saved = (x, last)
        node.versions = _UNWRITTEN
    else:
        kept = [pack(v) if read else None for v, read in zip(inputs, reads, strict=False)]
        node.save((*kept, last))


def _output(result: Any) -> Any:
    """Return a value that shares the array of a result; the result itself would keep its node."""
    if result.array is None:
        return result.detached()
    kept = _new(type(result))
    kept.array = result.array
    kept.spec = result.spec
    kept.shape = result.shape
    kept.dtype = result.dtype
    kept._storage = result._storage = Storage()
    kept.rows = kept._requires_grad = False
    kept.node = kept.view = kept.expr = kept._leaf = None
    kept.slot = kept.expr_slot = 0
    return kept
