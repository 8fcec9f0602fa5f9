"""Recorders: builtin functions that do for a plan that is used often what `direct` does in Python.

A target may offer them. They answer None for what is out of the ordinary.
"""

from typing import Any

from .._settings import settings
from .graph import Node
from .learned import Plan
from .record import runtime
from .values import Storage, View

UNWRITTEN = (0,) * 8
"""The versions of saved values that nobody has written."""


def recorder_of(plan: Plan) -> Any:
    """Return ``(inputs..., code, instruction, number, arrays...) -> value or None``; None where
    there is none."""
    make = getattr(runtime.target, "recorder", None)
    if make is None or len(plan.inputs) > 2 or settings.call_stack_level >= 3:
        return None
    described = (
        plan.compute, value_like(plan), node_like(plan), Storage(), View, plan.reads,
        len(plan.inputs), UNWRITTEN,
    )  # fmt: skip
    return make(described)


def value_like(plan: Plan) -> Any:
    """Return a result of a plan without its array and its place in the graph."""
    value: Any = object.__new__(runtime.value)
    value.spec = plan.spec
    value.view = value.expr = value._storage = value._leaf = None
    value.slot = value.expr_slot = 0
    return value


def node_like(plan: Plan) -> Any:
    """Return a node of a plan that knows nothing of its operation."""
    node: Any = Node()
    node.operator, node.static, node._kind = plan.operator, plan.static, plan.kind
    node.inputs, node.outputs = plan.inputs, plan.outputs
    node._edges = node.extras = None
    return node
