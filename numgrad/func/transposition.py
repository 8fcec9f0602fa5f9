"""Transposes of linear functions: ``linear_transpose``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._autograd import enable_grad, grad
from .._errors import ArgTypeError
from .._tensor import Tensor
from ..engine.record import mode
from ..engine.values import next_number
from ..functions.constants import ones_like, zeros_like
from .gradients import Called, matching, pull
from .trees import flatten, holds_tensors, places


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
        primal, ``A.T @ cotangent`` where the function is ``A @ x``. It can be called any number
        of times. For complex numbers, too, it is the transpose; `vjp` has the conjugate one.

    Raises
    ------
    ArgTypeError
        If the function is not linear: its value at 0 is not 0, or its derivative depends on the
        point.

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
    zeros = [_zeros_like(primal) for primal in primals]
    at = Called(function, zeros, range(len(primals)), "linear_transpose")
    variables, graph, expected = at.variables, at.outer_graph(), places(at.output)
    _require_linear(at)
    variables.last = next_number()

    def transposed(cotangents: Any) -> tuple[Any, ...]:
        seeds = matching(cotangents, at.leaves, expected, "linear_transpose", "cotangent", "output")
        follow = mode.grad and (graph or any(seed.requires_grad for seed in seeds))
        found = _conjugates(pull(at.leaves, variables.leaves, _conjugates(seeds), follow))
        as_numpy = variables.as_numpy and not holds_tensors(cotangents)
        return variables.rebuild([variables.deliver(g, as_numpy) for g in found])

    return transposed


def _zeros_like(primal: Any) -> Any:
    leaves, rebuild = flatten(primal)
    return rebuild([(zeros_like if isinstance(x, Tensor) else np.zeros_like)(x) for x in leaves])


def _conjugates(values: Sequence[Tensor]) -> list[Tensor]:
    return [x.conj() if x.dtype.kind == "c" else x for x in values]


def _require_linear(at: Called) -> None:
    """Raise if the value at 0 is not 0, or if the derivative there depends on the point."""
    if any((leaf.detach() != 0).any() for leaf in at.leaves):
        raise _not_linear("at 0 it is not 0; leave out what is added")
    if any(g is not None for g in _second(at)):
        raise _not_linear("its derivative depends on the point; ng.func.vjp has the one at a point")


def _second(at: Called) -> Sequence[Tensor | None]:
    """Return second derivatives at 0, ``None`` for those that the graph does not have."""
    inputs = at.variables.leaves
    with enable_grad():
        once = pull(at.leaves, inputs, [ones_like(leaf) for leaf in at.leaves], True)
        live = [g for g in once if g.requires_grad]
        seeds = [ones_like(g) for g in live]
        return grad(live, inputs, seeds, retain_graph=True, allow_unused=True) if live else ()


def _not_linear(why: str) -> ArgTypeError:
    return ArgTypeError(f"linear_transpose: the function is not linear: {why}")
