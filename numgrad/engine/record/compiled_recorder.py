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
from ..graph.value import CPU, CapturedStorage, Expr, Storage, View, device_of, next_number
from ..graph.view import Element
from ..lower.fallback import attempt
from .apply import other_modes, runtime
from .plan import NOTHING

UNWRITTEN = (0,) * 8
"""The versions of a node's saved values if none has been written in place."""

NO_PARAMETERS: dict[str, Any] = {}
"""The static parameters of the expression of a rule."""

_TOOLS = is_ours, next_number, accumulator_of, attrgetter("storage"), saved


def recorder_of(plan: Kind, depth: int) -> Any:
    """Return a new recorder of a plan; None if the target makes no recorders, or none for this
    plan.

    ``recorder(*inputs, *arrays)`` returns the result as a value, or None. ``arrays`` are what the
    kernel reads for the inputs; for a single input they may be left out. The recorder looks for the
    user's frame from ``depth`` frames above its own caller outwards.
    """
    make = getattr(runtime.target_of((*plan.inputs, plan.spec)), "recorder", None)
    if make is None or settings.call_stack_level >= 3:
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


def capturing_recorder_of(plan: Kind, numbers: int, depth: int) -> Any:
    """Return a new recorder of a plan for operands that are still to be computed; None if the
    target makes no recorders, or none for this plan.

    ``recorder(*inputs, site, token, grad)`` returns the result, still to be computed, or None; see
    `_TOOLS` and `recorder_of` for ``depth``. The inputs in the bits of ``numbers`` are constants.
    """
    make = getattr(runtime.target_of((*plan.inputs, plan.spec)), "capturing_recorder", None)
    if make is None or plan.reads is NOTHING or settings.call_stack_level >= 3:
        return None
    expr = Expr(plan.operator, plan.static, (), plan.outputs)
    expr.kind, expr.token = plan, None
    value = value_like(plan)
    value.array = None
    described = {
        "value": value, "node": node_like(plan), "expr": expr, "constants": numbers,
        "saved": [saved_like(spec) for spec in (*plan.inputs, plan.spec)],
        "types": (View, Storage, CapturedStorage), "reads": plan.reads, "unwritten": UNWRITTEN,
        "tools": (sys._getframe, depth, *_TOOLS[:3]),
    }  # fmt: skip
    return attempt("capture an operation directly", plan.operator.name, lambda: make(**described))


def rule_recorder_of(rule: Any) -> Any:
    """Return a new function that applies a rule in compiled code; None if the target has none.

    ``maker(cotangent, saved, site, token)`` returns a tuple of gradients, or None where Python has
    to apply the rule; ``saved`` are the saved values of a node.
    """
    make = getattr(runtime.target, "rule_recorder", None)
    if make is None:
        return None
    expr = None
    if rule.outputs:
        expr = Expr(rule, NO_PARAMETERS, (), rule.specs)
        expr.kind, expr.token = rule, None
    gradients = [_gradient(rule, source) for source in rule.sources]
    parts = runtime.value, expr, gradients, rule.reads, next_number
    return attempt("apply a rule directly", rule.name, lambda: make(*parts))


def _gradient(rule: Any, source: Any) -> tuple[int | None, Any]:
    """Return a source of a rule, None for a gradient that is always the same; and that gradient, or
    the value that is copied to make the value of a later output."""
    if type(source) is not int:
        return None, source
    is_later = source < -1
    deferred: Any = runtime.value.deferred
    return source, deferred(None, ~source, rule.specs[~source]) if is_later else None


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


def saved_like(spec: Any) -> Any:
    """Return the value of a spec that a recorder copies to make a value for a node to save: still
    without an expression."""
    deferred: Any = runtime.value.deferred
    return deferred(None, 0, spec)


def node_like(plan: Kind) -> Any:
    """Return the node that a recorder copies to make a node: still without parents, saved values or
    a line, and with the slots of inputs that are the first outputs of their nodes."""
    node: Any = Node()
    node._kind = plan
    node.slots = (0,) * len(plan.inputs)
    node.extras = node.code = None
    node.instruction, node.saved, node.versions, node.apart = 0, (), (), False
    return node
