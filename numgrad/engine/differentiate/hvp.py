"""Second derivatives of a graph: products of Hessians with vectors, as one pass.

Gradients are built as in a backward pass that is recorded, and tangents go through both, all before
anything is computed: so what becomes a program, and is recalled for other graphs of this structure,
is the product itself. The gradient that it stands on is never seen.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.node import Edge, Node, Value
from ..graph.traversal import needed
from ..record.apply import grad_mode, runtime
from ..replay.plan_cache import Known, recall, times_met
from ..replay.structure import Structure
from .forward import ForwardPass
from .request import TangentRequest


class HessianRequest(TangentRequest):
    """What such a pass is asked to do: its seeds are the tangents of inputs, its targets the inputs
    in whose spaces the products lie, and ``outputs`` what is differentiated, summed."""

    direction = "second"
    outputs: Sequence[Edge] = ()

    @property
    def records(self) -> bool:
        return True  # the gradient is

    @property
    def roots(self) -> tuple[Node, ...]:
        return tuple([edge.node for edge in self.outputs if edge.node is not None])

    @property
    def ways_out(self) -> Sequence[Edge] | None:
        return [*[edge for edge, _ in self.seeds], *(self.targets or ())]


class HessianPass(ForwardPass):
    """One pass over a graph of known structure; see `products`."""

    request: HessianRequest

    def _select(self, order: list[Node]) -> None:
        self.targets = set(self.request.targets or ())
        self.wanted = needed(order, self.targets, ())
        self.order = [node for node in order if node in self.wanted]

    def _recall(self, structure: Structure, order: Sequence[Node]) -> Known | None:
        """Return what an earlier pass has done; indices stay what they are, for the gradient is
        recorded."""
        self.comes_again = times_met(structure) > 0
        return recall(self.request, structure)

    def _may_compute(self) -> bool:
        return False

    def _walk(self, is_simple: bool) -> None:
        request, targets = self.request, list(self.targets)
        with grad_mode(True):
            ones = [(edge, _ones(edge)) for edge in request.outputs]
            gradients = self.through(ones, targets)
        found = {edge: g for edge, g in gradients.items() if g.requires_grad}
        tangents = self.along(request.seeds, [g.edge for g in found.values()])
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
    """Return the products of the Hessian of a sum of outputs with tangents; one that is zero may be
    missing. None for a graph that was not met before, or in which more happens than that rules are
    applied.

    Parameters
    ----------
    outputs : sequence of Edge
    seeds : list of (Edge, Value)
        The inputs that have tangents, and these.
    targets : list of Edge
        The inputs in whose spaces the products are wanted.
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
