"""The influence of eigenvalues and singular values on the cotangents of a recorded pass."""

import numpy as np

from .backward import Pass
from .graph import Edge, Node, Value
from .record import grad_mode, mode, runtime
from .request import Request
from .select import reachable


def influence(cotangent: Value, node: Node) -> list[Value] | None:
    """Return, for a cotangent of values that ``node`` has found, numbers that are 0 where an
    element of these values has no part in it.

    Parameters
    ----------
    cotangent : Value
        Computed from values that operators with a ``value_slot`` have found.

    Returns
    -------
    list of Value or None
        Of each such operator that has a part; of the cotangent itself too if what the node has got
        has a part in another way. None if nobody knows, as a function of the user's is on the way.
    """
    if not cotangent.requires_grad or cotangent.edge.node is None:
        return []
    order = reachable([cotangent.edge.node], ())
    ends = {n for n in order if getattr(n.operator, "value_slot", None) is not None}
    order = reachable([cotangent.edge.node], (), ends)
    inside = [n for n in order if n not in ends]
    if not all([n.is_accumulator or _is_plain(n) for n in inside]):  # noqa: C419
        return None
    met = {place for n in inside for place in zip(n.parents, n.slots, strict=True)}
    edges = [Edge(n, slot) for n, slot in met if n in ends]
    if any([e.node.operator.value_slot != e.slot for e in edges]):  # type: ignore[union-attr]  # noqa: C419
        return None
    found = _found(cotangent, sorted(edges, key=lambda e: e.node.number), ends)  # type: ignore[union-attr]
    above = node.parents[0]
    is_apart = above is None or set(inside).isdisjoint(reachable([above], ()))
    return found if is_apart else [*found, cotangent]


def _is_plain(node: Node) -> bool:
    return node.operator.has_rule and node.extras is None and node.saved is not None


def _found(cotangent: Value, edges: list[Edge], ends: set[Node]) -> list[Value]:
    """Return the gradients of a sum of the cotangent's elements, with weights that do not cancel.
    """
    if not edges:
        return []
    spec = cotangent.spec
    weights = np.sqrt(2.0 + np.arange(int(np.prod(spec.shape)))).reshape(spec.shape)
    seed = runtime.value(runtime.placed(weights.astype(spec.dtype), spec.device))
    request = Request([(cotangent.edge, seed)], edges, retain_graph=True, ends=ends)
    if mode.trace is not None:
        mode.trace.is_whole = False  # it would take what is found here for constant
    with grad_mode(False):
        inner = Pass(request)
        grads = inner.run().grads if inner.around is None else inner.take_part()
    return [grads[edge] for edge in edges if edge in grads]


__all__ = ["influence"]
