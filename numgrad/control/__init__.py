"""Control flow on tensors: loops whose step is captured once, and checkpointed functions."""

from .conditional import fori_loop as fori_loop
from .conditional import while_loop as while_loop
from .recomputed import checkpoint as checkpoint
from .scanning import scan as scan

__all__ = ["checkpoint", "fori_loop", "scan", "while_loop"]


def __dir__() -> list[str]:
    return __all__
