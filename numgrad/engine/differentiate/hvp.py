"""Second derivatives of a graph: products of Hessians with vectors, as one pass.

Gradients are built as in a recorded backward pass, and tangents go through the graph and through
the gradients, before anything is computed. So one program computes the product itself, and is
recalled for other graphs of the same structure; the gradient is never returned.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.node import Edge, Node, Value
from ..graph.traversal import needed
from ..record.apply import grad_mode, runtime
from ..replay.plan_cache import KnownPlan, recall, times_met
from ..replay.structure import Structure
from .forward import ForwardPass
from .method import Method, careful_nodes
from .request import TangentRequest


class HessianRequest(TangentRequest):
    """The request of a Hessian pass.

    Its seeds are the tangents of inputs, its targets the inputs with respect to which the gradient
    is taken, and its ``outputs`` the edges whose sum is differentiated.
    """

    direction = "second"
    outputs: Sequence[Edge] = ()

    @property
    def records(self) -> bool:
        return True  # the gradient is recorded

    @property
    def roots(self) -> tuple[Node, ...]:
        return tuple([edge.node for edge in self.outputs if edge.node is not None])

    @property
    def search_ends(self) -> Sequence[Edge] | None:
        return [*[edge for edge, _ in self.seeds], *(self.targets or ())]


class HessianPass(ForwardPass):
    """One pass that returns products of the Hessian with tangents; see `products`."""

    request: HessianRequest

    def _select(self, order: list[Node]) -> None:
        self.targets = set(self.request.targets or ())
        self.wanted = needed(order, self.targets, ())
        self.order = [node for node in order if node in self.wanted]

    def _recall(self, structure: Structure, order: Sequence[Node]) -> KnownPlan | None:
        """Return the plan of an earlier pass over a graph of this structure; None without one.

        Indices are never data of the program, as the gradient is recorded.
        """
        self.comes_again = times_met(structure) > 0
        return recall(self.request, structure)

    def _method(self) -> Method:
        return Method(careful=careful_nodes(self.request, self.order))

    def _walk(self) -> None:
        request, targets = self.request, list(self.targets)
        with grad_mode(True):
            ones = [(edge, _ones(edge)) for edge in request.outputs]
            gradients = self.gradients_through(ones, targets)
        found = {edge: g for edge, g in gradients.items() if g.requires_grad}
        tangents = self.tangents_through(request.seeds, [g.edge for g in found.values()])
        for edge, gradient in found.items():
            if gradient.edge in tangents:
                self.grads[edge] = tangents[gradient.edge]


def _ones(edge: Edge) -> Value:
    spec = edge.spec
    return runtime.value(runtime.placed(np.ones(spec.shape, spec.dtype), spec.device))


def products(
    outputs: Sequence[Edge],
    seeds: list[tuple[Edge, Value]],
    targets: list[Edge],
    batch: int | None,
) -> dict[Edge, Any] | None:
    """Return the products of the Hessian of a sum of outputs with tangents, by input.

    A product that is zero may be missing. None for a graph that was not met before, or that has no
    structure, such as a graph with hooks.

    Parameters
    ----------
    outputs : sequence of Edge
        The outputs whose sum is differentiated.
    seeds : list of (Edge, Value)
        The inputs that have tangents, each with its tangent.
    targets : list of Edge
        The inputs with respect to which the gradient is taken: a product has the shape of its
        input.
    batch : int or None
        The number of rows of the tangents.
    """
    request = HessianRequest(seeds, targets, retain_graph=True, batch=batch)
    request.outputs = outputs
    known = HessianPass(request)
    if known.recalled is None and not known.comes_again:
        return None
    return known.run().grads


__all__ = ["products"]
