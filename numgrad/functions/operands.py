"""What functions do with their operands first."""

from .._tensor import ArrayLike, Tensor
from . import creation as _creation  # as a module: it makes use of functions of shape


def as_tensor(x: ArrayLike) -> Tensor:
    """Return ``x`` as a tensor; arrays are not copied, and gradients reach tensors inside sequences."""
    return x if isinstance(x, Tensor) else _creation.asarray(x)
