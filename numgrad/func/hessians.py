"""Second derivatives of scalar functions: whole Hessians and their products with vectors."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._autograd import arguments
from .._errors import ArgTypeError, DtypeError
from .._tensor import Tensor
from ..engine.record import mode
from ..engine.second import products
from .forward import delivered, push, seeds_of
from .gradients import ArgNums, call, grad, matching, pull, require_scalar
from .jacobians import jacrev
from .trees import Variables, flatten, holds_tensors, output_leaves, places, require_function


def hessian(function: Callable[..., Any], argnums: ArgNums = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of a scalar function: the Jacobian of its
    gradient.

    Parameters
    ----------
    function, argnums
        As in `numgrad.func.grad`.

    Returns
    -------
    callable
        Returns an array of shape ``argument.shape + argument.shape``; nested twice for several
        arguments.

    Raises
    ------
    DtypeError
        For complex arguments: the second derivatives to real and imaginary parts are more than one
        complex matrix holds. `hvp` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.hessian(lambda x: (x * x * x).sum())(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    require_function(function, "hessian")
    gradient = grad(function, argnums)

    @functools.wraps(function)
    def real_gradient(*args: Any, **kwargs: Any) -> Any:
        result = gradient(*args, **kwargs)
        if any(leaf.dtype.kind == "c" for leaf in flatten(result)[0]):
            raise DtypeError(
                "hessian: the second derivatives to a complex argument are more than one complex "
                "matrix holds. Differentiate to real and imaginary part: hessian(lambda a, b: "
                "f(a + 1j * b), argnums=(0, 1)), or use hvp."
            )
        return result

    return jacrev(real_gradient, argnums)


def hvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return the value of a scalar function and the product of its Hessian with a vector.

    Parameters
    ----------
    function : callable
        Returns a real scalar.
    primals, tangents : tuple or list of array_like
        Of equal shapes.

    Returns
    -------
    value
        The function's value.
    product : tuple
        One entry per primal; :math:`H v` costs two passes and never forms :math:`H`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> def cubes(x):
    ...     return (x * x * x).sum()
    >>> value, (product,) = ng.func.hvp(cubes, (np.array([1.0, 2.0]),), (np.ones(2),))
    >>> product
    array([ 6., 12.])
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgTypeError("hvp: primals and tangents must be tuples or lists")
    variables = Variables(primals, range(len(primals)), "hvp")
    output, _ = call(function, variables, {}, False, "hvp")
    leaves, _ = output_leaves(output, "hvp")
    require_scalar(output, leaves, "hvp")
    expected = places(tuple(primals))
    vectors = matching(tuple(tangents), variables.leaves, expected, "hvp", "tangent", "primal")
    variables.as_numpy = variables.as_numpy and not holds_tensors(tuple(tangents))
    graph = variables.outer_graph([*leaves, *vectors])
    products = curvature(leaves[0], variables.leaves, vectors, graph)
    value = variables.deliver(leaves[0])
    return value, variables.rebuild([variables.deliver(p) for p in products])


def curvature(
    output: Tensor,
    inputs: Sequence[Tensor],
    tangents: Sequence[Any],
    graph: bool,
    batched: bool = False,
) -> list[Tensor]:
    """Return the products of the Hessian of a scalar with tangents, forward over reverse."""
    if not graph and mode.capture is None and output.requires_grad:
        seeds = seeds_of(inputs, tangents, batched)
        batch = arguments.batch_size([t for _, t in seeds]) if batched else None
        found = products([output.edge], seeds, batch)
        if found is not None:
            return delivered(inputs, found, batch)
    gradients = pull([output], inputs, [None], True)
    return push(gradients, inputs, tangents, graph, batched)
