"""Recorders: compiled functions that apply the plan of an operator without Python.

A target may offer recorders. A plan that is used often gets a recorder, which does the work of
`dispatch`. A recorder returns None for operands that need the general way of `dispatch`.
"""

import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from ..._settings import settings
from ..graph.callsite import is_ours
from ..graph.kind import Kind
from ..graph.node import Node, accumulator_of
from ..graph.saved import saved
from ..graph.value import CPU, Storage, View, device_of, next_number
from ..graph.view import Element
from ..lower.fallback import attempt
from .apply import other_modes, runtime
from .plan import NOTHING

UNWRITTEN = (0,) * 8
"""The versions of a node's saved values if none has been written in place."""

_TOOLS = is_ours, next_number, accumulator_of, attrgetter("storage"), saved


def recorder_of(plan: Kind, depth: int) -> Any:
    """Return a new recorder of a plan; None if the target makes no recorders, or none for this
    plan.

    ``recorder(*inputs, *arrays)`` returns the result as a value, or None. ``arrays`` are what the
    kernel reads for the inputs; for a single input they may be left out. The recorder looks for the
    user's frame from ``depth`` frames above its own caller outwards.
    """
    make = getattr(runtime.target_of((*plan.inputs, plan.spec)), "recorder", None)
    if make is None or plan.reads is NOTHING or settings.call_stack_level >= 3:
        return None
    storage = Storage()
    storage.kept = True  # the storage of a saved result
    described = {
        "compute": plan.compute, "in_order": _in_order(plan), "value": value_like(plan),
        "node": node_like(plan), "storage": storage, "view": View, "reads": plan.reads,
        "inputs": plan.inputs, "unwritten": UNWRITTEN, "step": plan.step,
        "tools": (sys._getframe, depth, *_TOOLS),
    }  # fmt: skip
    name, version = plan.operator.name, settings.version
    made = attempt("record an operation directly", name, lambda: make(**described))
    return made if version == settings.version else None  # another thread may have changed them


def _in_order(plan: Kind) -> Any:
    """Return the function that computes a result from arrays in C order; None if there is none."""
    if device_of(plan.inputs) == CPU:
        return plan.in_order
    return runtime.maker_in_order(plan.operator, plan.static, plan.inputs)


def finder_of(
    recorders: dict[Any, Any], general: Callable[..., Any], is_marked: bool = False
) -> Any:
    """Return a compiled function ``(x, *options) -> result`` that finds and calls recorders; None
    if the target makes none.

    Parameters
    ----------
    recorders : dict
        The recorders to call one after the other, by the key of the arguments.
    general : callable
        What is called with arguments that have no recorders.
    is_marked : bool, optional
        Whether the key has the marks of values: see ``marks`` of `options.key_of_arguments`. Then
        ``general`` is called, too, if an array is not in C order or is that of two values.
    """
    make = getattr(runtime.target, "finder", None)
    if make is None:
        return None
    mark = Element if is_marked else None
    return make(runtime.value, other_modes, recorders, general, mark)


def direct_recorder_of(plan: Kind) -> Any:
    """Return the recorder of a plan for a finder, made when it is first asked for; None if there is
    none."""
    if plan.direct_recorder is None:  # the finder has no frame, its caller is the user
        plan.direct_recorder = recorder_of(plan, 1)
    return plan.direct_recorder


def numbered(
    called: Sequence[Callable[..., Any]],
    reads: Sequence[Sequence[int]],
    last: Sequence[Sequence[int]],
    constants: Sequence[Any] = (),
) -> Any:
    """Return functions of values in the form in which a finder calls them one after the other; None
    if the target makes no finders, or none for so many functions.

    Parameters
    ----------
    called : sequence of callable
        Recorders, and other functions that return a value.
    reads, last : sequence of (sequence of int)
        For each function the numbers of its operands, and of those results among them that no later
        function reads. The values among the arguments are numbered first, then ``constants``, then
        the results.
    """
    make = getattr(runtime.target, "numbered", None)
    return None if make is None else make(constants, called, reads, last)


def value_like(plan: Kind) -> Any:
    """Return the value that a recorder copies to make a result: still without an array or a
    node."""
    value: Any = object.__new__(runtime.value)
    value.spec = plan.spec
    value._view = plan.mark
    value.node = value.expr = value._storage = value._leaf = None
    value._requires_grad = value._kept = False
    value.slot = value.expr_slot = 0
    return value


def node_like(plan: Kind) -> Any:
    """Return the node that a recorder copies to make a node: still without parents, saved values or
    a line, and with the slots of inputs that are the first outputs of their nodes."""
    node: Any = Node()
    node._kind = plan
    node.slots = (0,) * len(plan.inputs)
    node.extras = node.code = None
    node.instruction, node.saved, node.versions, node.apart = 0, (), (), False
    return node
