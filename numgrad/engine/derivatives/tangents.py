"""Tangents of a node's outputs, from the tangents of its inputs and the operator's declaration.

An operator declares the tangents of its outputs where this is simpler (`Operator.tangent`). For all
other operators the vector-Jacobian product is transposed. The product is linear in the cotangents;
so a pass through it, from the tangents as seeds to the cotangents, gives the Jacobian-vector
product. The result is kept as a rule for each kind of node, like a derivative.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import NotDifferentiableError
from ..graph.node import Node, Value
from ..lower.lower import pending_exprs
from ..record.apply import deferring, grad_mode, runtime
from .context import Context, OpenContext
from .rules import Rule, fit_all, keep_rule, placeholder, rule_key, rules_of

Tangents = Sequence[Value | None]


def tangent_rule(
    forward_pass: Any, node: Any, wanted: tuple[bool, ...], tangents: Tangents
) -> Rule | None:
    """Return the rule for the tangents of a node's outputs; None for a node without a kind.

    Recorded passes have rules of their own, whose operators all have derivatives; the rules of
    other passes need not be differentiable.
    """
    kind = node.kind
    if kind is None:
        return None
    recorded = forward_pass.request.create_graph
    key = ("tangent", recorded, rule_key(wanted, tangents))
    rule = rules_of(kind).get(key)
    if rule is None:
        context = OpenContext(node, node.saved or (), wanted, recorded)
        given = [None if t is None else placeholder(t.spec) for t in tangents]
        with grad_mode(False), deferring(True, []):
            made = tangents_of(forward_pass, context, given)
        values = [*(t for t in given if t is not None), *context.used.values()]
        rule = Rule(f"d{node.operator.name}", values, tuple(context.used), made)
        keep_rule(kind, key, rule)
    return rule


def tangents_of(forward_pass: Any, context: Context, tangents: Tangents) -> list[Value | None]:
    """Return the tangents of the outputs of a node; None for an output without a tangent."""
    node = context.node
    made = node.operator.tangent(forward_pass, context, tangents)
    if made is None:
        made = _transposed(forward_pass, context, tangents)
    return [
        _fitted(tangent, spec) if tangent is not None and spec.dtype.kind in "fc" else None
        for tangent, spec in zip(made, node.outputs, strict=True)
    ]


def _transposed(forward_pass: Any, context: Context, tangents: Tangents) -> list[Value | None]:
    """Return the Jacobian-vector product of a node: the transpose of its vector-Jacobian product.

    The vector-Jacobian product is differentiated with respect to the cotangents. The numbers of the
    cotangents do not matter, as the product is linear in them.
    """
    node = context.node
    cotangents = [_unknown(spec, node) for spec in node.outputs]
    with grad_mode(True):
        made = node.operator.differentiate(forward_pass, context, cotangents)
        gradients = fit_all(made, node, context.wanted)
    _require_graph(gradients, cotangents, node)
    seeds = [
        (gradient.edge, tangent)
        for gradient, tangent in zip(gradients, tangents, strict=True)
        if gradient is not None and tangent is not None and gradient.requires_grad
    ]
    edges = [None if g is None else g.edge for g in cotangents]
    found = forward_pass.gradients_through(seeds, [edge for edge in edges if edge is not None])
    return [None if edge is None else found.get(edge) for edge in edges]


def _unknown(spec: Any, node: Node) -> Any:
    """Return a variable in place of an output's cotangent, to differentiate a derivative by it.

    The numbers of the cotangent do not matter, so the variable is a placeholder. For a node without
    a kind the variable is an array of ones, as the derivative is a Python function that may look at
    numbers. None for an output of integers or booleans, which has no cotangent.
    """
    if spec.dtype.kind not in "fc":
        return None
    if node.kind is not None:
        return placeholder(spec).as_variable()
    ones = np.broadcast_to(np.ones((), spec.dtype), spec.shape)
    return runtime.value(runtime.placed(ones, spec.device)).as_variable()


def _require_graph(
    gradients: Sequence[Value | None], cotangents: Sequence[Any], node: Node
) -> None:
    """Raise if a user's derivative detaches a gradient from the cotangents it is computed from.

    The graph between them is needed to transpose the derivative; without the graph the tangents
    would wrongly be zero.
    """
    exprs = {g.expr for g in cotangents if g is not None and g.expr is not None}
    arrays = {id(g.array) for g in cotangents if g is not None and g.array is not None}
    for gradient in gradients:
        if gradient is None or gradient.requires_grad:
            continue
        read = [v for expr in pending_exprs([gradient]) for v in expr.inputs]
        is_lost = any([v.expr in exprs or id(v.array) in arrays for v in read])  # noqa: C419
        if is_lost or (isinstance(gradient.array, np.ndarray) and gradient.array.any()):
            raise NotDifferentiableError(
                f"{node.name()}{node.where()}: forward mode differentiates the derivative to its "
                f"cotangents, but their graph is cut there (by detach() or no_grad()); leave it, "
                f"or declare what becomes of tangents: jvp"
            )


def _fitted(tangent: Value, spec: Any) -> Value:
    """Bring a tangent to the shape and dtype of its output: cast, and repeat along broadcast
    axes."""
    if tangent.dtype != spec.dtype:
        tangent = runtime.roles.cast(tangent, spec.dtype)
    if tangent.shape != spec.shape:
        tangent = runtime.roles.broadcast_to(tangent, spec.shape)
    return tangent


__all__ = ["tangent_rule", "tangents_of"]
