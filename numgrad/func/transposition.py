"""Transposes of linear functions: ``linear_transpose``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import ArgTypeError
from .._tensor import Tensor
from ..engine.graph.value import next_number
from ..engine.record.apply import mode
from ..functions.creation.from_data import asarray
from ..functions.elementwise.arithmetic import absolute
from ..functions.elementwise.comparison import less_equal
from ..functions.shape.selection import where
from .gradients import Evaluation, matching, pull
from .pytree import flatten, holds_tensors, places


def linear_transpose(function: Callable[..., Any], *primals: Any) -> Callable[..., tuple[Any, ...]]:
    """Return the transpose of a linear function.

    Parameters
    ----------
    function : callable
        Linear in all its arguments together: ``f(a + b) = f(a) + f(b)`` and ``f(c a) = c f(a)``.
    *primals : array_like or containers of them
        Arguments of the shapes and dtypes that the function takes; their values do not matter.

    Returns
    -------
    callable
        Takes a cotangent with the structure of the output; returns a tuple with one entry per
        primal, ``A.T @ cotangent`` where the function is ``A @ x``. The callable can be used any
        number of times. Complex matrices are transposed, too; `vjp` has the conjugate transpose.

    Raises
    ------
    ArgTypeError
        If the function is not linear: its values at a point of random numbers are not those of the
        derivative at 0. In a captured function, which cannot ask for values, results are NaN then.

    See Also
    --------
    vjp : the same for the derivative of any function.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> transposed = ng.func.linear_transpose(np.diff, np.zeros(3))
    >>> transposed(np.array([1.0, 10.0]))
    (array([-1., -9., 10.]),)
    """
    at = _called(function, primals, np.zeros)
    variables, graph, expected = at.variables, at.outer_graph(), places(at.output)
    for y in at.leaves:
        if y.dtype.kind not in "fc":
            raise ArgTypeError(
                f"linear_transpose: the function returns {y.dtype}, which no linear function of "
                f"real or complex numbers does: leave it out of the result"
            )
    is_linear = _is_linear(at, _called(function, primals, _random))
    if mode.capture is None and not is_linear:
        raise ArgTypeError(_NOT_LINEAR)
    variables.last = next_number()

    def transposed(cotangents: Any) -> tuple[Any, ...]:
        seeds = matching(cotangents, at.leaves, expected, "linear_transpose", "cotangent", "output")
        follow = mode.grad and (graph or any(seed.requires_grad for seed in seeds))
        found = _pulled(at, seeds, follow)
        if mode.capture is not None:
            found = [where(is_linear, g, np.asarray(np.nan, g.dtype)) for g in found]
        as_numpy = variables.as_numpy and not holds_tensors(cotangents)
        return variables.rebuild([variables.deliver(g, as_numpy) for g in found])

    return transposed


def _called(
    function: Any, primals: Sequence[Any], numbers: Callable[..., np.ndarray]
) -> Evaluation:
    """Call the function on arguments that ``numbers`` makes, of the shapes and dtypes of the
    primals."""

    def other(x: Any) -> Any:
        dtype = x.dtype if isinstance(x, Tensor) else np.asarray(x).dtype
        made = numbers(np.shape(x)).astype(dtype)
        return asarray(made, device=x.device) if isinstance(x, Tensor) else made

    args = [rebuild(list(map(other, leaves))) for leaves, rebuild in map(flatten, primals)]
    return Evaluation(function, args, range(len(args)), "linear_transpose")


def _random(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1.0, 1.0, shape)


def _pulled(at: Evaluation, seeds: Sequence[Tensor], graph: bool) -> list[Tensor]:
    """Return the products of the transpose with cotangents.

    A backward pass computes the conjugate transpose, so cotangents and results are conjugated.
    """
    return _conjugates(pull(at.leaves, at.variables.leaves, _conjugates(seeds), graph))


def _conjugates(values: Sequence[Tensor]) -> list[Tensor]:
    return [x.conj() if x.dtype.kind == "c" else x for x in values]


def _is_linear(at: Evaluation, other: Evaluation) -> Tensor:
    """Whether a function is linear, judged by its outputs at a random point.

    The outputs of a linear function are its derivative at 0 times the point. ``at`` is the call of
    the function at 0, ``other`` the call at the random point. The two sides are compared by one sum
    over all outputs, in which each element has another weight: in a plain sum, differences might
    cancel.
    """
    weights = [np.sqrt(np.arange(2.0, 2.0 + y.size)).reshape(y.shape) for y in at.leaves]
    seeds = [
        asarray(w.astype(y.dtype), device=y.device) for w, y in zip(weights, at.leaves, strict=True)
    ]
    given, found = other.variables.leaves, _pulled(at, seeds, False)
    left = [y.detach() * w for y, w in zip(other.leaves, seeds, strict=True)]
    right = [x.detach() * g.detach() for x, g in zip(given, found, strict=True)]
    difference = sum(part.real.sum() for part in left) - sum(part.real.sum() for part in right)
    size = sum(absolute(part).sum() for part in (*left, *right))
    eps = max((np.finfo(part.dtype).eps for part in (*left, *right)), default=0.0)
    return less_equal(absolute(difference), size * float(np.sqrt(eps)))


_NOT_LINEAR = (
    "linear_transpose: the function is not linear: elsewhere it is not what its derivative at 0 "
    "says; ng.func.vjp has the derivative at a point"
)
