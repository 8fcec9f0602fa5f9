"""Jacobian-vector products: derivatives along tangents, in forward mode."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import ArgTypeError
from .._tensor import Tensor, placed
from .gradients import call, matching, pull
from .trees import Variables, holds_tensors, output_leaves, places


def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """Return the value of a function and its Jacobian-vector product.

    The product is the derivative of the vector-Jacobian product, which is linear in its cotangent,
    so it needs operators that can be differentiated twice.

    Parameters
    ----------
    function : callable
    primals, tangents : tuple or list of array_like (or containers of them)
        Of equal structure and shapes.
    has_aux : bool
        As in `grad`.

    Returns
    -------
    output, tangent
        With the structure of the function's output; with `has_aux` followed by ``aux``.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.jvp(lambda x: x * x, (np.array([1.0, 2.0]),), (np.array([1.0, 10.0]),))
    (array([1., 4.]), array([ 2., 40.]))
    """
    for name, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, (tuple, list)):
            raise ArgTypeError(f"jvp: {name} must be a tuple or a list, got {type(value).__name__}")
    variables = Variables(primals, range(len(primals)), "jvp")
    output, aux = call(function, variables, {}, has_aux, "jvp")
    leaves, rebuild = output_leaves(output, "jvp")
    expected = places(tuple(primals))
    vectors = matching(tuple(tangents), variables.leaves, expected, "jvp", "tangent", "primal")
    variables.as_numpy = variables.as_numpy and not holds_tensors(tuple(tangents))
    graph = variables.outer_graph([*leaves, *vectors])
    products = push(leaves, variables.leaves, vectors, graph)
    value = rebuild([variables.deliver(leaf) for leaf in leaves])
    result = (value, rebuild([variables.deliver(p) for p in products]))
    return (*result, variables.deliver_tree(aux)) if has_aux else result


def push(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    tangents: Sequence[Any],
    graph: bool,
    batched: bool = False,
) -> list[Tensor]:
    """Return the Jacobian-vector product: the transpose of the vector-Jacobian product as a
    function of its seed."""
    zeros = [placed(np.zeros(o.shape, o.dtype), o.spec.device) for o in outputs]
    seeds = [zero.as_variable() for zero in zeros]
    pulled = pull(outputs, inputs, seeds, True)
    return pull(pulled, seeds, tangents, graph, batched)
