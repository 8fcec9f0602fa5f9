"""Solvers in captured and mapped functions: an operator that calls the solver at each run."""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...._autograd import enable_grad
from ...._declare import HostOperator
from ...._declare.kernel import elements
from ...._errors import CaptureError, ConvergenceError, NumgradError
from ...._tensor import Tensor, tensor
from ....engine.graph.traversal import edges_outside
from ....engine.graph.value import next_number
from ....engine.record.apply import mode
from ....func.gradients import vjp
from ....functions.array.operands import as_tensor
from ....functions.shape.joining import concat
from ....functions.shape.reshaping import ravel, reshape
from .captured_inputs import opened
from .linearization import refused_graph

Shape = tuple[int, ...]


class Solving(HostOperator):
    """A function of tensors of given shapes that returns a vector of ``size`` elements, as an
    operator.

    A run calls it once for each sample. Its pullback is another such operator. With ``is_followed``
    its inputs require grad in the call, since some solvers find other numbers then.
    """

    def __init__(
        self, what: str, f: Callable[..., Tensor], cores: Sequence[Shape], size: int,
        is_followed: bool,
    ) -> None:  # fmt: skip
        self.f, self.what, self.cores, self.size = f, what, cores, size
        self.is_followed = is_followed
        names = [",".join(f"n{n}a{k}" for k in range(len(c))) for n, c in enumerate(cores)]
        inputs = ",".join(f"({core})" for core in names)
        super().__init__(
            self._of_each, f"{inputs}->(found)", name=what, results=[np.float64], register=False,
            sizes=lambda known, **static: {"found": size},
        )  # fmt: skip
        self.reads(lambda needs: (*[True] * len(cores), False))
        self.pullback(self._pulled)

    def error_of(self, cause: Exception) -> type[Exception]:
        return type(cause) if isinstance(cause, NumgradError) else super().error_of(cause)

    def _of_each(self, *arrays: np.ndarray) -> np.ndarray:
        """Return the vector of the function for each sample."""
        ncore = [len(core) for core in self.cores]
        loop = np.broadcast_shapes(
            *[a.shape[: a.ndim - n] for a, n in zip(arrays, ncore, strict=True)]
        )
        found = [self._found(cores) for _, cores in elements(arrays, ncore)]
        return np.asarray(found).reshape(*loop, self.size)

    def _found(self, cores: Sequence[np.ndarray]) -> np.ndarray:
        first = next_number()
        given = [tensor(np.array(core), requires_grad=self.is_followed) for core in cores]
        try:
            with enable_grad():
                found = self.f(*given)
        except CaptureError as error:
            raise CaptureError(
                f"{self.what}: the function reads a value of the captured or mapped function "
                f"around it that is none of its arguments; pass it in args: "
                f"{self.what}(f, ..., args=(p,))"
            ) from error
        if edges_outside([found], first):
            raise refused_graph(self.what)
        return found.detach().numpy()

    def _pulled(self, context: Any, g: Any) -> tuple[Any, ...]:
        """Return the cotangents of the inputs."""

        def back(*given: Tensor) -> Tensor:
            *inputs, w = given
            _, pull = vjp(self.f, *inputs)
            return concat([ravel(as_tensor(x)) for x in pull(w)])

        sizes = [math.prod(core) for core in self.cores]
        whole = Solving(self.what, back, [*self.cores, (self.size,)], sum(sizes), False)
        found = whole(*[context.input(n) for n in range(len(self.cores))], g)
        ends = np.cumsum(sizes).tolist()
        parts = [found[..., end - size : end] for end, size in zip(ends, sizes, strict=True)]
        return tuple(
            reshape(part, (*part.shape[:-1], *core))
            for part, core in zip(parts, self.cores, strict=True)
        )


class Form(NamedTuple):
    """The form of a solver's result: the tensors in it, their shapes for given arguments, and a
    function that makes a result of the tensors alone."""

    tensors: Callable[[Any], Sequence[Any]]
    shapes: Callable[..., Sequence[Shape]]
    result: Callable[..., Any]


def in_programs(form: Form, name: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of a solver: in a captured or mapped function its call is an operator."""

    def decorate(solver: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(solver)

        @functools.wraps(solver)
        def solve(*args: Any, **kwargs: Any) -> Any:
            if mode.capture is None:
                return solver(*args, **kwargs)
            what = name or solver.__name__
            return _recorded(solver, what, signature.bind(*args, **kwargs), form)

        return solve

    return decorate


def _recorded(
    solver: Callable[..., Any], what: str, bound: inspect.BoundArguments, form: Form
) -> Any:
    """Return the result of a call as expressions."""
    values, rebuild = opened((bound.args, bound.kwargs))
    _require_served(what, values)
    bound.apply_defaults()
    shapes = [tuple(shape) for shape in form.shapes(bound.arguments)]

    def call(*given: Tensor) -> Tensor:
        args, kwargs = rebuild(given)
        found = form.tensors(solver(*args, **kwargs))
        return concat([ravel(as_tensor(part)) for part in found])

    sizes = [math.prod(shape) for shape in shapes]
    is_followed = mode.grad and any(v.requires_grad for v in values)
    operator = Solving(what, call, [v.shape for v in values], sum(sizes), is_followed)
    found = operator(*values)
    ends = np.cumsum(sizes).tolist()
    parts = [found[..., end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return form.result(
        bound.arguments, *[reshape(p, shape) for p, shape in zip(parts, shapes, strict=True)]
    )


def _require_served(what: str, values: Sequence[Tensor]) -> None:
    """Raise for a call in a captured or mapped function that cannot be an operator."""
    if not values:
        raise CaptureError(
            f"{what} needs the values of what its function reads, and they are not known while a "
            f"function is captured or mapped; pass them in args: {what}(f, ..., args=(p,)), or "
            f"call {what} outside of ng.jit and ng.func.vmap"
        )
    for value in values:
        if value.dtype != np.float64:
            raise CaptureError(
                f"{what} in a captured or mapped function takes float64 tensors, got "
                f"{value.dtype}; convert it before, or call {what} outside of ng.jit and "
                f"ng.func.vmap"
            )


# Results of solvers -------------------------------------------------------------------------------


def shape_of(x: Any) -> Shape:
    """Return the shape of an array, or of a list of numbers and tensors."""
    if isinstance(x, (list, tuple)):
        return (len(x), *(shape_of(x[0]) if x else ()))
    return tuple(np.shape(x)) if not isinstance(x, Tensor) else x.shape


def refuse(what: str, options: dict[str, Any]) -> None:
    """Raise for options whose results are not tensors of known shapes."""
    for name, value in options.items():
        if value is not None and value is not False and value != 0:
            raise CaptureError(
                f"{what}: {name} asks for what is known only when the solver has run; leave it out "
                f"in a captured or mapped function, or call {what} outside of ng.jit and "
                f"ng.func.vmap"
            )


class Found(dict):
    """The fields of a result that are tensors; an attribute is a field, as in SciPy's results."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise CaptureError(
            f"{name} of a solver's result is known only when the solver has run; in a captured or "
            f"mapped function there are {', '.join(self)}"
        )


def converged(*names: str) -> Callable[[Any], list[Any]]:
    """Return a function that takes fields of a result, and raises if the solver has not converged:
    only the operator sees that."""

    def fields(result: Any) -> list[Any]:
        if not result.success:
            raise ConvergenceError(f"the solver has not converged: {result.message}")
        return [result[name] for name in names]

    return fields
