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
from .gradients import ArgNums, call, matching, pull, require_scalar
from .jacobian_passes import Passes, identity
from .jacobians import Chunks, Options, Shown
from .trees import Variables, holds_tensors, output_leaves, places, require_function


def hessian(
    function: Callable[..., Any],
    argnums: ArgNums = 0,
    chunk_size: Chunks = "auto",
    out: Any = None,
    progress: Shown = False,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of a scalar function, forward over reverse:
    batched passes of tangents through the function and its gradient.

    Parameters
    ----------
    function, argnums, has_aux
        As in `numgrad.func.grad`.
    chunk_size, out, progress
        As in `jacobian`; chunks are rows.

    Returns
    -------
    callable
        Returns an array of shape ``argument.shape + argument.shape``; nested twice for several
        arguments.

    Raises
    ------
    ImplicitGradError
        If the output is not a real scalar.
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
    options = Options("hessian", argnums, "auto", chunk_size, out, progress, has_aux)

    @functools.wraps(function)
    def hessian_function(*args: Any, **kwargs: Any) -> Any:
        variables = Variables(args, argnums, "hessian")
        _require_real(variables.leaves)
        output, aux = call(function, variables, kwargs, has_aux, "hessian")
        leaves, _ = output_leaves(output, "hessian")
        require_scalar(output, leaves, "hessian")

        def arrange(blocks: Sequence[Any]) -> Any:
            width = len(variables.leaves)
            starts = range(0, width * width, width)
            return variables.rebuild([variables.rebuild(blocks[n : n + width]) for n in starts])

        passes = Curvature(leaves[0], variables.leaves, variables.outer_graph(leaves))
        result = options.assembled(passes, variables, arrange)
        return (result, variables.deliver_tree(aux)) if has_aux else result

    return hessian_function


def _require_real(inputs: Sequence[Tensor]) -> None:
    if any(x.dtype.kind == "c" for x in inputs):
        raise DtypeError(
            "hessian: the second derivatives to a complex argument are more than one complex "
            "matrix holds. Differentiate to real and imaginary part: hessian(lambda a, b: "
            "f(a + 1j * b), argnums=(0, 1)), or use hvp."
        )


class Curvature(Passes):
    """The rows of a Hessian. It is symmetric: its products with the unit vectors of an input are
    the rows of that input."""

    unit = "rows"

    def __init__(self, output: Tensor, inputs: Sequence[Tensor], graph: bool) -> None:
        super().__init__(inputs, inputs, graph)
        self.scalar = output
        self.sources = self.others = inputs

    def chunk(self, number: int, start: int, stop: int) -> list[Tensor]:
        tangents: list[Any] = [None] * len(self.inputs)
        tangents[number] = identity(self.inputs[number], start, stop, 1)
        return curvature(self.scalar, self.inputs, tangents, self.graph, batched=True)


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
        One entry per primal, :math:`H v`, the derivative of the gradient along the tangents
        (forward over reverse); :math:`H` is never formed.

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
    return _product(function, primals, tangents, "hvp", "tangent", curvature)


def vhp(function: Callable[..., Any], primals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
    """Return the value of a scalar function and the product of a vector with its Hessian, by two
    reverse passes.

    Parameters
    ----------
    function, primals
        As in `hvp`.
    cotangents : tuple or list of array_like
        Of the shapes of the primals.

    Returns
    -------
    value
        The function's value.
    product : tuple
        One entry per primal, :math:`v^T H`. For real primals it is :math:`H v`, at more cost than
        by `hvp`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> value, (product,) = ng.func.vhp(
    ...     lambda x: (x * x * x).sum(), (np.array([1.0, 2.0]),), (np.ones(2),)
    ... )
    >>> product
    array([ 6., 12.])
    """

    def transposed(output: Tensor, inputs: Sequence[Tensor], vectors: Any, graph: bool) -> Any:
        return pull(pull([output], inputs, [None], True), inputs, vectors, graph)

    return _product(function, primals, cotangents, "vhp", "cotangent", transposed)


def _product(
    function: Any, primals: Any, given: Any, what: str, kind: str, multiply: Callable[..., Any]
) -> Any:
    if not isinstance(primals, (tuple, list)) or not isinstance(given, (tuple, list)):
        raise ArgTypeError(f"{what}: primals and {kind}s must be tuples or lists")
    variables = Variables(primals, range(len(primals)), what)
    output, _ = call(function, variables, {}, False, what)
    leaves, _ = output_leaves(output, what)
    require_scalar(output, leaves, what)
    expected = places(tuple(primals))
    vectors = matching(tuple(given), variables.leaves, expected, what, kind, "primal")
    variables.as_numpy = variables.as_numpy and not holds_tensors(tuple(given))
    graph = variables.outer_graph([*leaves, *vectors])
    products = multiply(leaves[0], variables.leaves, vectors, graph)
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
        found = products([output.edge], seeds, [x.edge for x in inputs], batch)
        if found is not None:
            return delivered(inputs, found, batch)
    gradients = pull([output], inputs, [None], True)
    return push(gradients, inputs, tangents, graph, batched)
