"""The influence of eigenvalues and singular values on their own cotangents, by forward passes.

Where eigenvalues are equal, some derivatives exist only if the cotangents of these eigenvalues are
equal, too, and stay equal when the eigenvalues move. A tangent of the cotangents tells whether they
stay equal.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..graph.node import Edge, Node, Value
from ..graph.traversal import needed, reachable
from ..record.apply import grad_mode, mode, runtime
from .backward import BackwardPass
from .forward import ForwardPass
from .request import Request, TangentRequest


def influence(
    cotangent: Value, node: Node, backward_pass: BackwardPass | None = None
) -> Value | bool:
    """Return how the cotangent of a spectrum changes when the spectrum and its inputs change.

    The spectrum, of eigenvalues or singular values, is the output of ``node``. The change is the
    tangent of the cotangent, for one tangent of the spectrum and its inputs. The elements of this
    tangent are unrelated numbers, so that contributions to the result do not cancel by chance. If
    two elements of the cotangent are equal and have equal tangents, the caller takes them to be
    equal for all inputs.

    Parameters
    ----------
    cotangent : Value
        A cotangent computed from spectra: outputs of operators with a ``value_slot``, the number of
        the output that is a spectrum.
    backward_pass : BackwardPass, optional
        The pass in which the cotangent has arrived at the first output of the node. If that pass is
        not recorded, the cotangent is computed again by a recorded pass.

    Returns
    -------
    Value or bool
        The tangent of the cotangent. False if the cotangent is constant; True if what the cotangent
        depends on is not known, for example because of a user's function on the way.
    """
    if backward_pass is None or (backward_pass.request.create_graph and mode.grad):
        return _influence(cotangent, node)
    if backward_pass.around is not None:
        return True
    with _restored_saved_values(backward_pass):
        again = _recorded(backward_pass, node)
        return True if again is None else _influence(again, node)


@contextmanager
def _restored_saved_values(backward_pass: BackwardPass) -> Iterator[None]:
    """Give freed saved values back to the nodes of a pass, for the duration of the block."""
    freed = {n: saved for n, saved in backward_pass.saved.items() if n.saved is None}
    for n, saved in freed.items():
        n.saved = saved
    try:
        yield
    finally:
        for n in freed:
            n.free()


def _recorded(backward_pass: BackwardPass, node: Node) -> Value | None:
    """Compute the cotangent of a node's first output again, by a recorded pass.

    None if a node on the way has hooks, or has no rule.
    """
    request, place = backward_pass.request, Edge(node, 0)
    order = reachable(request.roots, request.cut, {node}, node.number)
    way = needed([n for n in order if n is not node], {place}, request.cut)
    if request.is_special or node.extras is not None or not all(map(_is_known, way)):
        return None
    again = Request(request.seeds, [place], True, True, ends={node}, batch=request.batch)
    with grad_mode(True):
        return backward_pass.with_part(BackwardPass(again)).get(place)


def _influence(cotangent: Value, node: Node) -> Value | bool:
    if not cotangent.requires_grad or cotangent.edge.node is None:
        return False
    order = reachable([cotangent.edge.node], ())
    ends = {n for n in order if getattr(n.operator, "value_slot", None) is not None}
    order = reachable([cotangent.edge.node], (), ends)
    inside = [n for n in order if n not in ends]
    if not all([n.is_accumulator or _is_known(n) for n in inside]):  # noqa: C419
        return True
    met = {place for n in inside for place in zip(n.parents, n.slots, strict=True)}
    edges = [Edge(n, slot) for n, slot in met if n in ends]
    if any([e.node.operator.value_slot != e.slot for e in edges]):  # type: ignore[union-attr]  # noqa: C419
        return True
    above = node.parents[0]
    leaves = set(inside if mode.capture is not None else reachable([above], ()) if above else ())
    # What the arguments of a captured function were computed from is not visible here.
    edges += [Edge(n, 0) for n in inside if n.is_accumulator and n in leaves]
    return _tangent_of_cotangent(cotangent, sorted(edges, key=lambda e: e.node.number), ends)  # type: ignore[union-attr]


def _is_known(node: Node) -> bool:
    """Whether tangents can be followed through a node: it has a rule, saved values and no hooks.

    A call of a captured or mapped function also must not contain an operator whose output is a
    spectrum (has a ``value_slot``).
    """
    operator = node.operator
    if not operator.has_rule or node.extras is not None or node.saved is None:
        return False
    whole = getattr(operator, "trace", None) or getattr(operator, "sample", None)
    hidden = () if whole is None else whole.exprs
    return all([getattr(e.operator, "value_slot", None) is None for e in hidden])  # noqa: C419


def _tangent_of_cotangent(cotangent: Value, edges: list[Edge], ends: set[Node]) -> Value | bool:
    """Return the tangent of a cotangent, for tangents at ``edges`` that are unrelated numbers.

    Contributions of unrelated numbers do not cancel by chance. False if the cotangent depends on
    none of the edges. The forward pass does not go beyond the nodes in ``ends``.
    """
    if not edges:
        return False
    seeds = [(edge, _weights(edge.spec, n)) for n, edge in enumerate(edges)]
    request = TangentRequest(seeds, [cotangent.edge], retain_graph=True, ends=ends)
    if mode.trace is not None:
        mode.trace.is_whole = False  # the trace would take the result for a constant
    with grad_mode(False):
        inner = ForwardPass(request)
        is_part = inner.around is not None or mode.capture is not None
        found = inner.take_part() if is_part else inner.run().grads
    return found.get(cotangent.edge, False)


def _weights(spec: Any, number: int) -> Value:
    weights = np.sqrt(2.0 + number / np.pi + np.arange(int(np.prod(spec.shape))))
    weights = weights.reshape(spec.shape)
    return runtime.value(runtime.placed(weights.astype(spec.dtype), spec.device))


__all__ = ["influence"]
