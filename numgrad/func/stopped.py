"""Values through which no gradient flows."""

from typing import TypeVar

from .._tensor import Tensor
from .pytree import flatten

Tree = TypeVar("Tree")


def stop_gradient(x: Tree) -> Tree:
    """Return ``x`` as a constant: no gradient flows through the result back to ``x``.

    Parameters
    ----------
    x : array_like or container
        A tensor, or a container of tensors, arrays and numbers of any kind that transforms take.

    Returns
    -------
    array_like or container
        ``x`` with each tensor detached, as by `Tensor.detach`; the memory is shared. Arrays,
        numbers and other objects are the same ones. The derivative of the result with respect to
        ``x`` is 0 in every mode and order, in transforms and captured functions too.

    See Also
    --------
    no_grad : Record nothing at all.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.grad(lambda x: (ng.stop_gradient(x) * x).sum())(np.array([1.0, 2.0]))
    array([1., 2.])
    >>> x = ng.tensor(3.0, requires_grad=True)
    >>> ng.stop_gradient({"x": x, "n": 2})
    {'x': tensor(3.), 'n': 2}
    """
    leaves, rebuild = flatten(x)
    return rebuild([leaf.detach() if isinstance(leaf, Tensor) else leaf for leaf in leaves])


__all__ = ["stop_gradient"]
