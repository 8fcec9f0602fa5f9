"""``ng.checkpoint``: functions whose intermediate values are computed again when they are needed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..containers import optree_calls as optree
from ..containers.registered_classes import VARIABLES
from ..func.pytree import require_function
from ..process.transformed_function import Transformed
from .body import captured
from .containers import Tree, results_of
from .devices.placement import brought, device_among
from .loop import loop_over
from .steps import Sizes


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function like ``fun`` that keeps only its arguments for the gradient.

    The intermediate values of ``fun`` are computed again when the gradient is.

    Parameters
    ----------
    fun : callable
        Takes and returns tensors, arrays and containers of them. At each call ``fun`` is called
        once, with placeholders; its operations must be those of tensors, as for `jit`. ``fun`` may
        close over tensors, which get gradients. Integers, booleans, strings and other objects among
        the arguments are passed on as they are.

    Returns
    -------
    callable
        Takes what ``fun`` takes; arrays among the results are tensors, on the device of the
        arguments.

    See Also
    --------
    scan : Its ``checkpoint`` says how many states of a loop are kept.

    Notes
    -----
    The function is a loop of one step, whose arguments are all that is kept.

    Examples
    --------
    >>> import numgrad as ng
    >>> @ng.checkpoint
    ... def layer(x, w):
    ...     return ng.tanh(w @ x)
    >>> x, w = ng.tensor([1.0, 2.0]), ng.tensor([[0.1, 0.2], [0.3, 0.4]])
    >>> ng.func.grad(lambda w: layer(x, w).sum())(w).numpy().round(3)
    array([[0.786, 1.573],
           [0.359, 0.718]])
    """
    function: Any = require_function(fun, "checkpoint")

    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = optree.tree_flatten(
            (args, kwargs), none_is_leaf=True, namespace=VARIABLES
        )
        places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, _ARRAYS)]
        given = Tree([leaves[n] for n in places], "checkpoint: the arguments")
        found: list[Tree] = []

        def call(*stands: Any) -> list[Tensor]:
            new = list(leaves)
            for n, stand in zip(places, stands, strict=True):
                new[n] = stand
            inner, named = optree.tree_unflatten(structure, new)  # type: ignore[misc]
            results, tree = results_of(function(*inner, **named), "checkpoint: the result")
            found.append(tree)
            return results

        device = device_among(given.named())
        body, closed_over = captured("ng.checkpoint", call, given.specs(), function, device)
        values = [*brought(given.tensors(), body.device, "ng.checkpoint"), *closed_over]
        if not values or not body.results:
            return function(*args, **kwargs)
        loop = loop_over(body, Sizes(0, 0), 1, False)
        return found[0].rebuild([result[0] for result in loop.apply(*values)])

    return Transformed(called, function, "checkpoint", checkpoint, (function,))


_ARRAYS = (Tensor, np.ndarray, np.generic, float, complex)
