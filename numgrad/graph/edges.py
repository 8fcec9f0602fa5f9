"""Gradient edges: places in the graph, as outputs and inputs of ``grad``."""

from typing import Any, NamedTuple

from .._errors import ArgTypeError, NoGradError
from .._tensor import Tensor
from ..engine.graph.node import Node


class GradientEdge(NamedTuple):
    """A place in the graph where a gradient flows: output ``output_nr`` of ``node``.

    A gradient edge can stand for a tensor among the outputs or inputs of ``grad``. It keeps the
    graph alive when the tensor is gone.
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge into which the gradient of ``tensor`` flows.

    Parameters
    ----------
    tensor : Tensor
        A tensor that requires grad; the edge of a leaf leads to its accumulator.

    Raises
    ------
    NoGradError
        If the tensor does not require grad.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> edge = ng.graph.get_gradient_edge(x * x)
    >>> edge.node.name(), edge.output_nr
    ('multiply', 0)
    """
    if not isinstance(tensor, Tensor):
        raise ArgTypeError(f"get_gradient_edge: expected a tensor, got {type(tensor).__name__}")
    if not tensor.requires_grad:
        raise NoGradError(
            "get_gradient_edge: the tensor does not require grad, so it has no gradient edge"
        )
    edge = tensor.edge
    assert edge.node is not None
    return GradientEdge(edge.node, edge.slot)
