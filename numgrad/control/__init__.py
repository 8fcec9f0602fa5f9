"""Control flow on tensors: loops whose step is captured once, and checkpointed functions."""

from ..engine.graph.runtime import runtime as _runtime
from .conditional import fori_loop as fori_loop
from .conditional import while_loop as while_loop
from .folding import folded as _folded
from .recomputed import checkpoint as checkpoint
from .scanning import scan as scan

_runtime.folded = _folded

__all__ = ["checkpoint", "fori_loop", "scan", "while_loop"]


def __dir__() -> list[str]:
    return __all__
