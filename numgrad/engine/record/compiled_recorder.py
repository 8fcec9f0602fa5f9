"""Recorders: builtin functions that do for a plan that is used often what dispatch does in Python.

A target may offer them. They answer None for what is out of the ordinary.
"""

import sys
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ..._settings import settings
from ..graph.callsite import is_ours
from ..graph.node import Node, accumulator_of
from ..graph.value import Storage, View, next_number
from ..lower.fallback import attempt
from .apply import runtime, unusual
from .plan import NOTHING, Plan

UNWRITTEN = (0,) * 8
"""The versions of saved values that nobody has written."""

_TOOLS = is_ours, next_number, accumulator_of, attrgetter("storage")


def recorder_of(plan: Plan) -> Any:
    """Return ``(inputs..., arrays...) -> value or None``; None where there is none. Between the
    user's frame and that of its caller are at least as many as the plan says."""
    make = getattr(runtime.target_of((*plan.inputs, plan.spec)), "recorder", None)
    if make is None or plan.reads is NOTHING or settings.call_stack_level >= 3:
        return None
    storage = Storage()
    storage.kept = True  # it is that of a saved result
    described = {
        "compute": plan.in_order or plan.compute, "value": value_like(plan),
        "node": node_like(plan), "storage": storage, "view": View, "reads": plan.reads,
        "inputs": plan.inputs, "unwritten": UNWRITTEN, "step": plan.step,
        "tools": (sys._getframe, plan.depth, *_TOOLS), "ordered": plan.in_order is not None,
    }  # fmt: skip
    name = plan.operator.name
    return attempt("record an operation directly", name, lambda: make(**described))


def finder_of(recorders: dict[Any, Any], general: Callable[..., Any]) -> Any:
    """Return ``(x, *options) -> result``, which looks for recorders and leaves the rest to a
    general function; None where there is none."""
    make = getattr(runtime.target, "finder", None)
    return None if make is None else make(runtime.value, unusual, recorders, general)


def value_like(plan: Plan) -> Any:
    """Return a result of a plan without its array, which is in no graph."""
    value: Any = object.__new__(runtime.value)
    value.spec = plan.spec
    value._view = plan.mark
    value.node = value.expr = value._storage = value._leaf = None
    value._requires_grad = value._kept = False
    value.slot = value.expr_slot = 0
    return value


def node_like(plan: Plan) -> Any:
    """Return a node of a plan that knows nothing of its operation."""
    node: Any = Node()
    node.operator, node.static, node._kind = plan.operator, plan.static, plan.kind
    node.inputs, node.outputs = plan.inputs, plan.outputs
    node._edges = node.extras = node.code = node.by_position = None
    node.instruction, node.saved, node.versions, node.apart = 0, (), (), False
    return node
