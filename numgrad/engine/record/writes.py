"""Writes in place by plans: what computes into an array, and the nodes of writes."""

import sys
from typing import Any

from ..._settings import settings
from ..graph.kind import Kind, loose_kind
from ..graph.node import Node
from .apply import other_modes, parents_of, runtime
from .apply import record as record_without_plan
from .dispatch import new_result, planned_node
from .plan import plan_of, shared_plan


def record_in_place(
    operator: Any, static: dict[str, Any], inputs: tuple[Any, ...], result: Any
) -> None:
    """Record a write in place: ``result``, the value that was written, gets a new node."""
    plan = None if other_modes else plan_of(operator, static, inputs) or shared_plan(
        operator, static, tuple([value.spec for value in inputs]), result.spec
    )  # fmt: skip
    if plan is None or not plan.reads:
        record_without_plan(operator, static, inputs, [result])
        return
    wanted = sum([x.requires_grad << n for n, x in enumerate(inputs)])
    result.move(_node_of_write(plan, static, inputs, wanted, result), 0, True)


def plan_of_write(operator: Any, x: Any, y: Any) -> Kind:
    """Return the kind by which an elementwise operator of ``x`` and ``y`` is computed into the
    array of ``x``."""
    plan = plan_of(operator, {}, (x, y))
    return plan or shared_plan(operator, {}, (x.spec, y.spec), x.spec)


def overwrite(plan: Kind, x: Any, y: Any, wanted: int, read: Any = None) -> Any:
    """Compute an elementwise operator of ``x`` and ``y`` into the array of ``x``; return a value
    with that array, which has the node of the operation.

    ``wanted`` is a bit mask of the inputs that require grad; without any there is no node. The
    derivative must not read what ``x`` was. ``read`` is the array that the kernel reads for ``y``,
    by default that of ``y``.
    """
    a = x.array
    (plan.overwrite or _overwriting(plan))(a, y.array if read is None else read, out=a)
    x.storage.version += 1
    result = new_result(plan, a, runtime.value)
    result._storage, result._view = x._storage, None
    if wanted and (other_modes or not plan.reads):
        record_without_plan(plan.operator, plan.static, (x, y), [result])
    elif wanted:
        result.move(_node_of_write(plan, plan.static, (x, y), wanted, result), 0, True)
    return result


def _overwriting(plan: Kind) -> Any:
    """Return what computes a plan into a given array, and keep it for as long as the settings stay.
    """
    version = settings.version
    made = plan.operator.overwriting(runtime.target_of((plan.spec,)), plan.spec.dtype)
    if version == settings.version:  # another thread may have changed them
        plan.overwrite = made
    return made


def _node_of_write(
    plan: Kind, static: dict[str, Any], inputs: tuple[Any, ...], wanted: int, result: Any
) -> Node:
    """Return the node of a write; ``static`` has its parameters, which a shared plan has not."""
    node = planned_node(plan, wanted, inputs, parents_of(inputs), result, sys._getframe(2))
    if not plan.is_settled:
        node._kind = loose_kind(plan.operator, static, plan.inputs, plan.outputs)
    return node
