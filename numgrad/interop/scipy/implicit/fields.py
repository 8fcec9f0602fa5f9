"""What a solver returns beside the solution: fields that are functions of it and of the arguments,
and fields that no derivative is known of, whose values can be used and whose gradient is refused.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...._autograd import Function
from ...._errors import NotDifferentiableError
from ...._tensor import Tensor, tensor
from ..systems.linear import as_real
from .closures import Closure, Met
from .parameters import Parameters

DISCRETE = ("active_mask", "execution_time")  # floating, but nothing that arguments move


class Field(Function):
    """A function of the solution and of parameters, whose value the solver has found already. It is
    evaluated again when a gradient is asked for, and not before."""

    takes_batch = True

    @staticmethod
    def forward(
        ctx: Any, f: Callable[..., Any], closure: Closure, value: Any, x: Tensor, *params: Tensor
    ) -> Tensor:
        ctx.f, ctx.closure = f, closure
        ctx.save_for_backward(x, *params)
        return tensor(np.array(value, dtype=float))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        def f(*given: Any) -> Tensor:
            return as_real(ctx.f(*given), "a field of the result")

        point = ctx.closure.given(ctx.saved_tensors)
        at = Met(f, point, range(len(point)), ctx.closure)
        return None, None, None, *at.pulled([g], batched=g.ndim > at.leaves[0].ndim)


class NoDerivative(Function):
    """A value of which no derivative is known, though it depends on tensors."""

    @staticmethod
    def forward(ctx: Any, why: str, value: Any, *tensors: Tensor) -> Tensor:
        ctx.why = why
        return tensor(np.array(value))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        raise NotDifferentiableError(ctx.why)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotDifferentiableError(ctx.why)


class Undifferentiated:
    """An object of SciPy's that is no array, such as an operator or a sparse matrix, and depends on
    tensors that require grad. What is computed with it would be without its gradient, so that it
    does nothing but give the object itself: with ``detach``."""

    def __init__(self, value: Any, why: str) -> None:
        self._value, self._why = value, why

    def detach(self) -> Any:
        """Return the object as SciPy gave it."""
        return self._value

    def __repr__(self) -> str:
        return f"<{type(self._value).__name__} without a gradient; detach() returns it>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what Python itself looks for
            raise AttributeError(name)
        return self._refuse()

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NotDifferentiableError(self._why)

    __array__ = __call__ = __getitem__ = __iter__ = __len__ = _refuse
    __matmul__ = __rmatmul__ = __mul__ = __rmul__ = __add__ = __sub__ = _refuse


def deliver(
    result: Any,
    x: Tensor,
    parameters: Parameters,
    exact: Mapping[str, Callable[..., Any]],
    instead: Mapping[str, str],
) -> None:
    """Put tensors in place of the fields of a result, given the solution as a tensor, the functions
    that some of them are of it and of the arguments, and what to write instead of others."""
    for name, value in result.items():
        if name in exact and isinstance(value, (float, np.ndarray)):
            f, closure = parameters.over(exact[name]), parameters.closure
            result[name] = Field.apply(f, closure, value, x, *parameters.sources)
        elif parameters.want_grad and name not in ("x", *DISCRETE):
            result[name] = _refused(value, _why(parameters.what, name, instead), x)


def _why(what: str, name: str, instead: Mapping[str, str]) -> str:
    advice = f"write {instead[name]} instead, or" if name in instead else "for its value"
    return (
        f"{what}: {name} is what the solver was left with, and no gradient flows through it; "
        f"{advice} take {name}.detach()"
    )


def _refused(value: Any, why: str, x: Tensor) -> Any:
    """Return a field without a derivative, in whatever containers, as something that says so when
    it is asked for a gradient; what is discrete has the derivative zero and stays what it is."""
    if isinstance(value, (list, tuple)):
        return type(value)(_refused(part, why, x) for part in value)
    if value is None or isinstance(value, (bool, int, str, np.integer, np.bool_)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuSU":
        return value
    if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return NoDerivative.apply(why, value, x)
    return Undifferentiated(value, why)
