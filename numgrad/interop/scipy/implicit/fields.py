"""Fields of a solver's result beside the solution.

Some are functions of the solution and the arguments; for others no derivative is known, so their
values can be used and their gradient is refused.
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

DISCRETE = ("active_mask", "execution_time")  # floating, but constant for small changes


class Field(Function):
    """A function of the solution and of parameters, whose value the solver has found already.

    It is evaluated again when a gradient is needed, and not before.
    """

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
    """A value that depends on tensors but has no known derivative."""

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
    """An object of SciPy, such as an operator or a sparse matrix, that depends on tensors that
    require grad.

    Results computed with it would lack their gradient, so its only use is `detach`, which returns
    the object itself.
    """

    def __init__(self, value: Any, why: str) -> None:
        self._value, self._why = value, why

    def detach(self) -> Any:
        """Return the object as SciPy gave it."""
        return self._value

    def __repr__(self) -> str:
        return f"<{type(self._value).__name__} without a gradient; detach() returns it>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Python itself looks for such names
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
    """Replace the fields of a result by tensors.

    ``x`` is the solution as a tensor, ``exact`` has the functions for fields that are functions of
    the solution and the arguments, and ``instead`` has advice for other fields.
    """
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
    """Return a field without a derivative as an object that raises when a gradient is needed, in
    the containers of the field.

    A discrete field has the derivative zero and is returned as it is.
    """
    if isinstance(value, (list, tuple)):
        return type(value)(_refused(part, why, x) for part in value)
    if value is None or isinstance(value, (bool, int, str, np.integer, np.bool_)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuSU":
        return value
    if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return NoDerivative.apply(why, value, x)
    return Undifferentiated(value, why)
