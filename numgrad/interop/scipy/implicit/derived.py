"""Functions derived from a user's function for a solver, of a vector and of further arguments."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...._errors import ArgTypeError, CaptureError
from ...._tensor import Tensor
from ....func import hessian, hvp, value_and_grad, value_and_jacobian
from ....func import jit as captured
from ....func.jacobians.blocks import joined
from ....func.pytree import output_leaves
from ....functions.reduction.reduction import sum as _sum
from ....functions.shape.reshaping import reshape
from ....process.transformed_function import FunctionHolder
from .closures import Closure
from .linearization import refused_graph


class Captured:
    """A function that is captured by `numgrad.jit`, or called if it decides by values and cannot be
    captured.

    Closed-over tensors are noted if there is a closure, and otherwise refused if they require grad.
    """

    def __init__(
        self, f: Callable[..., Any], jit: bool, what: str, closure: Closure | None = None
    ) -> None:
        self.f, self.what, self.closure = f, what, closure
        self.program = captured(f) if jit else None

    def __call__(self, *args: Any) -> Any:
        """Return the results of the function, as arrays without a graph."""
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
            return tuple([self._arrays(part) for part in result])
        if isinstance(result, Tensor) and result.requires_grad:
            if self.closure is None:
                raise refused_graph(self.what)
            self.closure.look([result])
            result = result.detach()
        return result.numpy() if isinstance(result, Tensor) else result


class OfVector(FunctionHolder):
    """A function of an array of any shape, as a function of the vector of its elements.

    It is an object, so that it can be pickled where the user's function can.
    """

    def __init__(self, f: Callable[..., Any], shape: tuple[int, ...] | None, what: str) -> None:
        self.__wrapped__, self.shape, self.what = f, shape, what

    def __call__(self, x: Any, *args: Any) -> Any:
        """Return the result of the function."""
        is_vector = self.shape is None or len(self.shape) == 1
        return self.__wrapped__(x if is_vector else reshape(x, self.shape), *args)

    def vector(self, x: Any, *args: Any) -> Tensor:
        """Return all elements of the results, one after the other."""
        leaves, _ = output_leaves(self(x, *args), self.what)
        return joined([leaf if leaf.ndim == 1 else reshape(leaf, -1) for leaf in leaves])


DERIVED: dict[str, Callable[[OfVector], Callable[..., Any]]] = {
    "value": lambda f: f,
    "vector": lambda f: f.vector,
    "value_and_grad": value_and_grad,
    "value_and_jacobian": lambda f: value_and_jacobian(f.vector),
    "hessian": hessian,
    "weighted_hessian": lambda f: hessian(lambda x, v, *args: _sum(f.vector(x, *args) * v)),
    "product": lambda f: lambda x, p, *args: hvp(lambda x: f(x, *args), (x,), (p,))[1][0],
}
"""The functions that solvers call, made from a function of a vector."""
