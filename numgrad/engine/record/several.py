"""Plans of operators with several results, which are found and applied as those of others are."""

import sys
from collections.abc import Sequence
from typing import Any

from ...ir.device_array import as_array
from ..graph.integrity import require_own_arrays
from ..graph.kind import Kind, interned, keep
from ..graph.node import accumulator_of
from ..graph.value import CPU, spec_of
from ..graph.view import RESULT
from .apply import apply, mode, other_modes, runtime, saved_result
from .dispatch import bare_node, save
from .plan import make_plan, plan_key, was_met_before

_frame = sys._getframe
_MOST_INPUTS = 4  # as a plan has an entry for each set of inputs that require grad
_MOST_OUTPUTS = 4  # as the versions of saved values are a tuple of a fixed length


def several(operator: Any, args: Sequence[Any], static: dict[str, Any]) -> list[Any] | None:
    """Return the results of an operator that has several, by a plan; None without a plan.

    A plan is made when operands of the same specs are met for the second time.
    """
    if other_modes and not mode.unwatched:
        return None
    for x in args:
        if type(x) is not runtime.value or x.array is None:
            return None
    operands = plan_key(tuple([x.spec for x in args]), static)
    key = apply_several, operands  # where the plans of one result are, nobody expects this one
    kind = operator.kinds.get(key)
    if kind is None or not kind.has_plan:
        if operands is None or not was_met_before(operator, key):
            return None
        kind = plan_of_several(operator, static, args)
        if kind is None:
            return None
        keep(operator, operator.kinds, key, kind)
    return apply_several(kind, args)


def plan_of_several(operator: Any, static: dict[str, Any], inputs: Sequence[Any]) -> Kind | None:
    """Return the kind of an operator with several results applied to values, with a plan; None if
    these need the general way."""
    specs = tuple([x.spec for x in inputs])
    if not operator.is_pure or operator.is_view or operator.nout > _MOST_OUTPUTS:
        return None
    if not 0 < len(specs) <= _MOST_INPUTS:
        return None
    for x, prepared in zip(inputs, operator.prepare(inputs, static), strict=True):
        if x.spec.rows or x.spec.device != CPU or prepared is not x:
            return None
    made = operator.infer(specs, static)
    kind = interned(operator, static, specs, tuple([spec_of(*each) for each in made]))
    if kind is None:
        return None
    if not kind.has_plan:
        kind.reads = _reads(operator, len(specs), kind.outputs)
        kind.compute = operator.computation(runtime.target, specs, static)
        kind.has_plan = kind.compute is not None
    return kind if kind.has_plan else None


def apply_several(plan: Kind, inputs: Sequence[Any]) -> list[Any]:
    """Return the results of a plan applied to values with the specs for which it was made."""
    arrays = [x.array for x in inputs]
    for array in arrays:
        if array is None or (other_modes and not mode.unwatched):
            return apply(plan.operator, tuple(inputs), plan.static)
    require_own_arrays(inputs)
    make, marks = runtime.value.of_spec, plan.operator.gives_scalars
    outputs = []
    for array, spec in zip(plan.compute(*arrays), plan.outputs, strict=True):
        result: Any = make(as_array(array), spec)
        if marks and not spec.shape:
            result._view = RESULT
        outputs.append(result)
    if plan.reads and (not other_modes or mode.grad):
        parents, wanted = [], 0
        for n, x in enumerate(inputs):
            if x._view is not None:
                x._view.refresh(x)
            parents.append((x.node or accumulator_of(x)) if x._requires_grad else None)
            wanted |= x._requires_grad << n
        if wanted:
            _record(plan, wanted, tuple(inputs), tuple(parents), outputs)
    return outputs


def _record(
    plan: Kind, wanted: int, inputs: tuple[Any, ...], parents: tuple[Any, ...], outputs: list[Any]
) -> None:
    """Record the node of several results, and make it the node of those that have gradients."""
    node = bare_node(plan, inputs, parents, _frame(3))
    reads = plan.reads[wanted]
    if reads is None:
        node.saved = node.versions = ()
    else:
        results = zip(outputs, reads[len(inputs) :], strict=True)
        kept = tuple([saved_result(y) if read else None for y, read in results])
        save(node, reads, inputs, kept)
    for slot, result in enumerate(outputs):
        if result.spec.dtype.kind in "fc":
            result.node, result.slot, result._requires_grad = node, slot, True


def _reads(operator: Any, count: int, outputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return the attribute ``reads`` of a kind: an entry for each set of inputs that require grad,
    with all inputs and all outputs."""
    if not operator.differentiable:
        return ()
    masks = [[bool(mask >> n & 1) for n in range(count)] for mask in range(2**count)]
    found = [tuple(operator.saves(mask)) for mask in masks]
    return tuple([reads if any(reads) else None for reads in found])


def plan_for(operator: Any, static: dict[str, Any], inputs: Sequence[Any]) -> Kind | None:
    """Return the kind of an operator with any number of results applied to values, with a plan;
    None if there is none."""
    if operator.nout > 1:
        return plan_of_several(operator, static, inputs)
    return make_plan(operator, static, tuple([x.spec for x in inputs]))


def is_single(plan: Kind | None) -> bool:
    """Whether there is a plan, of an operator with one result."""
    return plan is not None and len(plan.outputs) == 1
