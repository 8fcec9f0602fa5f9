"""The short way of recording an operation: a plan says which kernel to call and what to record.

`learn` makes a plan for an operator and operands of certain specs, and this module applies plans: a
kernel or a function of NumPy is called, and the attributes of a value and a node are set. Values
still to be computed, hooks on saved values, and operands without a plan take the *general way*,
which ends in `apply.apply` and has the same result.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._settings import settings
from ...ir.device_array import as_array
from ..graph.callsite import is_ours, user_frame, user_stack
from ..graph.integrity import require_own_arrays
from ..graph.kind import Kind, loose_kind
from ..graph.node import Node, accumulator_of
from ..graph.value import Alias, Storage, View, next_number, spec_of
from .apply import (
    WITHOUT_GRADIENTS,
    apply,
    chosen_stream,
    mode,
    other_modes,
    pack,
    runtime,
    saved_result,
)
from .compiled_recorder import UNWRITTEN, recorder_of
from .new_shapes import remember_family
from .operands import as_value, descriptor
from .operands import learn_elementwise as learn_of
from .plan import Mixture, make_plan, plan_key, plan_of, shared_plan

_new, _frame, _Array = object.__new__, sys._getframe, np.ndarray

_OFTEN = 100  # uses of a plan, after which it gets a recorder


def _count(plan: Kind) -> bool:
    """Count a use of a kind without a recorder; after `_OFTEN` uses its plan gets a recorder.

    Return whether the kind has a plan.
    """
    plan.uses += 1
    if plan.uses == _OFTEN and plan.has_plan:
        plan.recorder = recorder_of(plan, 3 if plan.is_settled else 2)
    return plan.has_plan


def _without_plan(kind: Kind, values: Sequence[Any]) -> Any:
    """Return the result for a kind that has no plan, and make a plan."""
    result = apply(kind.operator, tuple(values), kind.static)[0]
    make_plan(kind.operator, kind.static, kind.inputs, kind.spec)
    return result


# Applying -----------------------------------------------------------------------------------------


def unary(operator: Any, x: Any) -> Any:
    """Return ``operator(x)``, by a plan if there is one.

    The caller must be code of numgrad: the search for the user's frame begins there.
    """
    if type(x) is runtime.value and x.array is not None:
        plan = operator.kinds.get(x.spec)
        if plan is not None:
            return apply_one(plan, x)
    return operator.general((x,))


def binary(operator: Any, x: Any, y: Any) -> Any:
    """Return ``operator(x, y)``, by a plan if there is one.

    The caller must be code of numgrad: the search for the user's frame begins there.
    """
    if not other_modes or mode.unwatched:
        kind = runtime.value
        if type(x) is kind is type(y):
            spec = x.spec
            plan = operator.kinds.get(spec if spec is y.spec else (spec, y.spec))
        else:
            first = x.spec if type(x) is kind else descriptor(x)
            second = y.spec if type(y) is kind else descriptor(y)
            plan = operator.kinds.get((first, second))
        if type(plan) is Mixture:
            known = plan.constants
            pair = None if known is None else known.get(y if plan.last else x)
            if pair is None:
                result = _apply_mixture(plan, (x, y))
                if result is not None:
                    return result
            elif plan.last and x.array is not None:
                return _apply_two(plan.plan, x, pair[0], x.array, pair[1])
            elif not plan.last and y.array is not None:
                return _apply_two(plan.plan, pair[0], y, pair[1], y.array)
        elif plan is not None:
            a, b = x.array, y.array
            if a is not None and b is not None:
                return _apply_two(plan, x, y, a, b)
        first, second = as_value(x, y), as_value(y, x)
        if first is not x or second is not y:
            return binary(operator, first, second)
    return operator.general((x, y))


def _apply_two(plan: Kind, x: Any, y: Any, a: Any, b: Any) -> Any:
    """Apply a plan to the values ``x`` and ``y``; ``a`` and ``b`` are the arrays that the kernel
    reads for them.

    These are the arrays of the values, except for a number, where the kernel reads an array without
    axes, as NumPy is faster with such an array.
    """
    record = plan.recorder
    if record is None:
        if not _count(plan):
            return _without_plan(plan, (x, y))
    elif not other_modes or not (x._requires_grad or y._requires_grad):
        result = record(x, y, a, b)  # there is no node in any grad mode
        if result is not None:
            return result
    require_own_arrays((x, y))
    result = new_result(plan, plan.compute(a, b), runtime.value)
    if plan.reads and (not other_modes or mode.grad):
        _connect(plan, x, y, result)
    return result


def apply_one(plan: Kind, x: Any) -> Any:
    """Apply a plan of one operand to a value with the spec for which the plan was made."""
    array = x.array
    if array is None or (other_modes and not mode.unwatched):
        return apply(plan.operator, (x,), plan.static)[0]
    try:
        record = plan.recorder
        if record is None:
            if not _count(plan):
                return _without_plan(plan, (x,))
        elif not other_modes or not (x._requires_grad or plan.step):
            result = record(x)  # there is no node in any grad mode
            if result is not None:
                return result
        require_own_arrays((x,))
        array = plan.compute(array)
    except ValueError:  # a reshape of these strides has to copy
        return _copied(plan, x)
    if plan.like is not None:
        return _recorded_alike(plan.like, x, array, plan.operator, plan.static, plan)
    return _recorded_one(plan, x, array)


def _copied(plan: Kind, x: Any) -> Any:
    """Return what `apply_one` does for a plan whose view of ``x`` would have to copy."""
    array, spec = x.array, plan.spec
    may_copy = plan.step and plan.operator.may_copy
    if not may_copy or type(array) is not _Array or spec.rows or other_modes:
        return apply(plan.operator, (x,), plan.static)[0]
    made = np.empty(spec.shape, spec.dtype)  # which is no view, as the base of a view would be
    made.reshape(array.shape)[...] = array
    result = new_result(plan, made, runtime.value)
    if plan.reads and x.requires_grad:
        parent = x.node or accumulator_of(x)
        record_planned(plan, 1, (x,), (parent,), result, _frame(2))
    return result


def _recorded_one(plan: Kind, x: Any, array: Any) -> Any:
    """Return a value for the computed array of a result, with a node if the operand ``x`` requires
    grad.

    The result of a view operator becomes a view of ``x``.
    """
    result = new_result(plan, array, runtime.value)
    if plan.step:
        _link(plan, x, result)
    if plan.reads and (not other_modes or mode.grad):
        if x._view is not None:
            x._view.refresh(x)
        if x._requires_grad:
            parent = x.node or accumulator_of(x)
            record_planned(plan, 1, (x,), (parent,), result, _frame(3))
    return result


def apply_plan(plan: Kind, values: Sequence[Any]) -> Any:
    """Apply a plan to values with the specs for which the plan was made."""
    if len(values) == 1:
        return apply_one(plan, values[0])
    arrays = [x.array for x in values]
    for array in arrays:
        if array is None or (other_modes and not mode.unwatched):
            return apply(plan.operator, tuple(values), plan.static)[0]
    return _apply_many(plan, values, arrays)


def apply_unplanned(operator: Any, x: Any, static: dict[str, Any]) -> Any:
    """Apply an operator of one operand with static parameters for which there is no plan.

    Most indices and shapes are met only once, so a plan for each would not pay. The array is
    computed without a plan. The result is then recorded by the plan of `shared_plan`, which all
    static parameters share.
    """
    is_plain = type(x) is runtime.value and type(x.array) is _Array and not x.spec.rows
    if not is_plain or operator.converts or (other_modes and not mode.unwatched):
        return operator(x, **static)
    require_own_arrays((x,))
    (array,) = operator.run(runtime.target, (x.array,), static)
    if operator.is_view and array.base is None and array is not x.array:
        return operator(x, **static)  # the operator had to copy, so the result is no view
    like = shared_plan(operator, static, (x.spec,), spec_of(array.shape, array.dtype))
    return _recorded_alike(like, x, array, operator, static, None)


def _recorded_alike(
    like: Kind, x: Any, array: Any, operator: Any, static: dict[str, Any], kind: Kind | None
) -> Any:
    """Return a value for the computed array of a result, recorded by ``like``, a plan of
    `shared_plan`.

    The shared plan has the static parameters of another operation. Those of this operation are put
    into the node and the view afterwards, and so is the ``kind`` of the operation (None if it is
    not known yet).
    """
    record = like.recorder
    if record is None:
        _count(like)
    result = None if record is None or other_modes else record(x, array)
    if result is None:
        result = _recorded_one(like, x, array)
    node, view = result.node, result._view
    if node is not None:
        node._kind = kind or loose_kind(operator, static, like.inputs, like.outputs)
    if type(view) is View:
        view.chain = (*view.chain[:-1], (operator, static))
    return result


def nary(operator: Any, args: Sequence[Any], static: dict[str, Any]) -> Any:
    """Apply an operator to any number of arguments; return None if the arguments need the general
    way."""
    if other_modes and not mode.unwatched:
        return None
    kind = runtime.value
    key = tuple([a.spec if type(a) is kind else descriptor(a) for a in args])
    known = operator.kinds.get(plan_key(key, static))
    if known is None:
        return None
    if type(known) is Mixture:
        return _apply_mixture(known, args)
    arrays = [x.array for x in args]
    for array in arrays:
        if array is None:
            return None
    if len(arrays) == 1:
        return apply_one(known, args[0])
    return _apply_many(known, args, arrays)


def _apply_mixture(known: Mixture, args: Sequence[Any]) -> Any:
    """Convert arguments to operands, and apply an elementwise operator to them.

    The result is None if an argument is still to be computed, or is a number too large for the
    dtype.
    """
    if len(args) == 2:
        (x, y), (first, second) = args, known.operands
        x, a = (x, x.array) if first is None else first(x, args)
        if a is not None:
            y, b = (y, y.array) if second is None else second(y, args)
            return None if b is None else _apply_two(known.plan, x, y, a, b)
        return None
    values, arrays = [], []
    for arg, operand in zip(args, known.operands, strict=False):
        if operand is None:
            array = arg.array
        else:
            arg, array = operand(arg, args)
        if array is None:
            return None
        values.append(arg)
        arrays.append(array)
    return _apply_many(known.plan, values, arrays)


def _apply_many(plan: Kind, inputs: Sequence[Any], arrays: Sequence[Any]) -> Any:
    """Apply a plan to several values; ``arrays`` are the arrays that the kernel reads for them."""
    record = plan.recorder
    if record is None:
        if not _count(plan):
            return _without_plan(plan, inputs)
    elif not other_modes:
        result = record(*inputs, *arrays)
        if result is not None:
            return result
    require_own_arrays(inputs)
    result = new_result(plan, plan.compute(*arrays), runtime.value)
    if plan.reads and (not other_modes or mode.grad):
        parents, wanted = [], 0
        for n, x in enumerate(inputs):
            if x._view is not None:
                x._view.refresh(x)
            parents.append((x.node or accumulator_of(x)) if x._requires_grad else None)
            wanted |= x._requires_grad << n
        if wanted:
            record_planned(plan, wanted, tuple(inputs), tuple(parents), result, _frame(3))
    return result


def new_result(plan: Kind, array: Any, kind: Any) -> Any:
    """Return a value of the class ``kind`` for an array that was computed by a plan.

    The value is not connected to the graph yet.
    """
    if type(array) is not _Array:
        array = as_array(array)
    result = _new(kind)
    result.array = array
    result.spec = plan.spec
    result._requires_grad = result._kept = False
    result._view = plan.mark
    result.node = result.expr = result._storage = result._leaf = None
    result.slot = result.expr_slot = 0
    return result


def _link(plan: Kind, x: Any, result: Any) -> None:
    """Make the result of a view operator a view: of its operand ``x``, or of the base of ``x`` if
    ``x`` is a view."""
    above = x._view
    if type(above) is not View:
        base, chain = x, plan.step
    else:
        above.refresh(x)
        base, chain = above.base, above.chain + plan.step
    result._storage = x._storage or x.storage
    if other_modes and not mode.grad and base.requires_grad:
        result._view = Alias(base, WITHOUT_GRADIENTS, strict=True)
        return
    result._view = View.of(base, chain)


def _connect(plan: Kind, x: Any, y: Any, result: Any) -> None:
    """Record the node of an operation on two values if one of them requires grad."""
    if x._view is not None:
        x._view.refresh(x)
    if y._view is not None:
        y._view.refresh(y)
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
    plan: Any, wanted: int, inputs: Sequence[Any], parents: tuple[Any, ...], result: Any, frame: Any
) -> None:
    """Record a node by a plan, and make it the node of ``result``.

    Parameters
    ----------
    wanted : int
        A bit mask of the inputs that require grad.
    frame : FrameType
        The innermost frame that may be the user's; the search for the user's line begins there.
    """
    result.node = planned_node(plan, wanted, inputs, parents, result, frame)
    result._requires_grad = True


def planned_node(
    plan: Any, wanted: int, inputs: Sequence[Any], parents: tuple[Any, ...], result: Any, frame: Any
) -> Any:
    """Return a node that a plan records; the parameters are those of `record_planned`."""
    node = bare_node(plan, inputs, parents, frame)
    reads = plan.reads[wanted]
    if reads is None:
        node.saved = node.versions = ()
    else:
        save(node, reads, inputs, (saved_result(result) if reads[-1] else None,))
    return node


def bare_node(plan: Any, inputs: Sequence[Any], parents: tuple[Any, ...], frame: Any) -> Any:
    """Return a node that a plan records, still without saved values; the parameters are those of
    `record_planned`."""
    node: Any = Node()
    node._kind = plan
    node.parents = parents
    if len(inputs) == 2:
        node.slots = (inputs[0].slot, inputs[1].slot)
    else:
        node.slots = tuple([x.slot for x in inputs]) if len(inputs) > 2 else (inputs[0].slot,)
    node.extras = None
    node.apart = False
    node.number = next_number()
    if is_ours[frame.f_code.co_filename]:
        frame = user_frame(frame)
    node.code = None if frame is None else frame.f_code
    node.instruction = 0 if frame is None else frame.f_lasti
    if settings.call_stack_level >= 3:
        node.own_extras().stack = user_stack()
    if other_modes and chosen_stream() is not None:
        node.own_extras().stream = mode.stream
    return node


def save(node: Any, reads: Any, inputs: Sequence[Any], results: tuple[Any, ...]) -> None:
    """Let a node save those of the inputs that the derivative reads, and ``results``, which has
    what to save of each result.

    As a rule the inputs themselves are saved. If one of them is a user's array, was written in
    place, or is still to be computed, `pack` decides for all inputs.
    """
    for x in inputs:
        storage = x._storage
        written = storage is not None and (type(storage) is not Storage or storage.version)
        if written or x.array is None:
            kept = [pack(v) if read else None for v, read in zip(inputs, reads, strict=False)]
            node.save((*kept, *results))
            return
    for x, read in zip(inputs, reads, strict=False):
        if read:
            if x._storage is None:
                x._kept = True
            else:
                x._storage.kept = True
    if len(inputs) == 2:
        node.saved = (inputs[0] if reads[0] else None, inputs[1] if reads[1] else None, *results)
    elif len(inputs) == 1:
        node.saved = (inputs[0] if reads[0] else None, *results)
    else:
        kept = [v if read else None for v, read in zip(inputs, reads, strict=False)]
        node.saved = (*kept, *results)
    node.versions = UNWRITTEN


# Learning -----------------------------------------------------------------------------------------


def learn(
    operator: Any, args: Sequence[Any], values: Sequence[Any], static: dict[str, Any] | None
) -> None:
    """Make a plan for an application of ``operator``, to be used for later operands of these specs.

    Parameters
    ----------
    args, values : sequence
        The arguments, and the operands into which they were converted.
    static : dict or None
        The static parameters; None for an elementwise operator.
    """
    if (other_modes and mode.deferring) or any([value.array is None for value in values]):  # noqa: C419
        return
    if static is None:
        learned = learn_of(operator, args, tuple(values), apply_one)
        if learned is not None:
            remember_family(operator, args, *learned)
    elif all([a is v and type(a) is runtime.value for a, v in zip(args, values, strict=True)]):  # noqa: C419
        plan_of(operator, static, values)
