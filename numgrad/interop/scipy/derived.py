"""What is derived from a user's function for a solver: functions of a vector and of arguments.

They are objects, not closures, so that they can be pickled where the user's function can.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._errors import ArgTypeError, CaptureError
from ..._tensor import Tensor
from ...func import grad, hessian, hvp, value_and_grad, value_and_jacobian
from ...func import jit as captured
from ...func.trees import output_leaves
from ...functions.joining import concat
from ...functions.reduction import sum as _sum
from ...functions.reshaping import reshape
from .linearization import refused_graph


class Captured:
    """A function that is captured, or called where it decides by values and cannot be."""

    def __init__(self, f: Callable[..., Any], jit: bool, what: str) -> None:
        self.f, self.what = f, what
        self.program = captured(f) if jit else None

    def __call__(self, *args: Any) -> Any:
        """Return what the function returns, as arrays without a graph."""
        if self.program is not None:
            try:
                return self._arrays(self.program(*args))
            except (CaptureError, ArgTypeError):
                self.program = None
        return self._arrays(self.f(*args))

    def _arrays(self, result: Any) -> Any:
        if type(result) is np.ndarray:
            return result
        if isinstance(result, tuple):
            return tuple(self._arrays(part) for part in result)
        if isinstance(result, Tensor):
            if result.requires_grad:
                raise refused_graph(self.what)
            return result.numpy()
        return result


class OfVector:
    """A function that takes an array of any shape, as a function of the vector of its elements.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``.
    shape : tuple of int, optional
        What `f` wants to see; the vector as it is by default.
    """

    def __init__(self, f: Callable[..., Any], shape: tuple[int, ...] | None, what: str) -> None:
        self.f, self.shape, self.what = f, shape, what

    def __call__(self, x: Any, *args: Any) -> Any:
        """Return what the function returns."""
        is_vector = self.shape is None or len(self.shape) == 1
        return self.f(x if is_vector else reshape(x, self.shape), *args)

    def value(self, x: Any, *args: Any) -> Any:
        return self(x, *args)

    def vector(self, x: Any, *args: Any) -> Tensor:
        """Return all elements of what the function returns, one after the other."""
        leaves, _ = output_leaves(self(x, *args), self.what)
        flat = [leaf if leaf.ndim == 1 else reshape(leaf, -1) for leaf in leaves]
        return flat[0] if len(flat) == 1 else concat(flat)

    def value_and_grad(self, x: Any, *args: Any) -> Any:
        return value_and_grad(self)(x, *args)

    def grad(self, x: Any, *args: Any) -> Any:
        return grad(self)(x, *args)

    def value_and_jacobian(self, x: Any, *args: Any) -> Any:
        return value_and_jacobian(self.vector)(x, *args)

    def hessian(self, x: Any, *args: Any) -> Any:
        return hessian(self)(x, *args)

    def weighted(self, x: Any, v: Any, *args: Any) -> Any:
        """Return the sum of the outputs times weights."""
        return _sum(self.vector(x, *args) * v)

    def weighted_hessian(self, x: Any, v: Any, *args: Any) -> Any:
        return hessian(self.weighted)(x, v, *args)

    def product(self, x: Any, p: Any, *args: Any) -> Any:
        """Return the product of the Hessian with a vector."""
        return hvp(lambda x: self(x, *args), (x,), (p,))[1][0]


class TimeFirst:
    """A right hand side ``f(t, y, *args)`` as a function of ``y``, then ``t``."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f

    def __call__(self, y: Any, t: Any, *args: Any) -> Any:
        return self.f(t, y, *args)
