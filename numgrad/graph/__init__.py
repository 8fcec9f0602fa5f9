"""The recorded graph, for inspection and as input and output of ``grad``: nodes, edges, hooks."""

from ..engine.differentiate.hooks import Handle as Handle
from ..engine.graph.node import Edge as Edge
from ..engine.graph.node import Node as Node
from .edges import GradientEdge as GradientEdge
from .edges import get_gradient_edge as get_gradient_edge
from .multi_grad import register_multi_grad_hook as register_multi_grad_hook
from .saved import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from .saved import saved_tensors_hooks as saved_tensors_hooks

__all__ = [
    "Edge", "GradientEdge", "Handle", "Node", "disable_saved_tensors_hooks",
    "get_gradient_edge", "register_multi_grad_hook", "saved_tensors_hooks",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
