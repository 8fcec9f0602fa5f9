"""Second derivatives of scalar functions: whole Hessians and their products with vectors."""

from collections.abc import Callable, Sequence
from typing import Any

from ..._errors import DtypeError
from ..._tensor import Tensor
from ...engine.differentiate.hvp import products
from ...engine.record.apply import mode
from ..forward import delivered, evaluate_with_vectors, push, seeds_of
from ..gradients import ArgNums, Evaluation, Tensors, pull
from .jacobian import Chunks, JacobianOptions, Shown
from .passes import Passes


def hessian(
    function: Callable[..., Any],
    argnums: ArgNums = 0,
    chunk_size: Chunks = "auto",
    out: Any = None,
    progress: Shown = False,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of a scalar function, forward over reverse.

    Batches of tangents are passed forwards through the function and its gradient.

    Parameters
    ----------
    function, argnums, has_aux
        As in `numgrad.func.grad`.
    chunk_size, out, progress
        As in `jacobian`; chunks are rows.

    Returns
    -------
    callable
        Returns an array of shape ``argument.shape + argument.shape``; for several arguments, nested
        tuples with an array for each pair of them.

    Raises
    ------
    ImplicitGradError
        If the output is not a real scalar.
    DtypeError
        For complex arguments: the second derivatives to real and imaginary parts are more than one
        complex matrix holds. `hvp` takes complex arguments.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.hessian(lambda x: (x * x * x).sum())(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    options = HessianOptions("hessian", argnums, "auto", chunk_size, out, progress, has_aux)
    return options.transformed(function)


class HessianOptions(JacobianOptions):
    """The options of `hessian`, and the computation of a Hessian with them."""

    def computed(self, at: Evaluation) -> Any:
        variables = at.variables
        if any(x.dtype.kind == "c" for x in variables.leaves):
            raise DtypeError(
                "hessian: the second derivatives to a complex argument are more than one complex "
                "matrix holds. Differentiate to real and imaginary part: hessian(lambda a, b: "
                "f(a + 1j * b), argnums=(0, 1)), or use hvp."
            )
        passes = HessianRows(at.scalar(), variables.leaves, at.outer_graph())
        return self.assembled(passes, variables, variables.rebuild)


class HessianRows(Passes):
    """The passes that compute a Hessian by rows.

    The Hessian is symmetric, so its product with the unit vector of an element is the row of that
    element.
    """

    def __init__(self, output: Tensor, inputs: Sequence[Tensor], graph: bool) -> None:
        super().__init__(inputs, inputs, graph)
        self.scalar = output

    def chunk(self, number: int, start: int, stop: int) -> list[Tensor]:
        tangents = self.tangents(number, start, stop)
        return hessian_products(self.scalar, self.inputs, tangents, self.graph, batched=True)


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
    return _product(function, primals, tangents, "hvp", "tangent", hessian_products)


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
        One entry per primal, :math:`v^T H`. For real primals that is :math:`H v`, which `hvp`
        computes at less cost.

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
    at, vectors, graph = evaluate_with_vectors(function, primals, given, what, kind)
    variables = at.variables
    products = multiply(at.scalar(), variables.leaves, vectors, graph)
    value = variables.deliver(at.leaves[0])
    return value, variables.rebuild([variables.deliver(p) for p in products])


def hessian_products(
    output: Tensor, inputs: Tensors, tangents: Sequence[Any], graph: bool, batched: bool = False
) -> list[Tensor]:
    """Return the products of the Hessian of a scalar with tangents, forward over reverse.

    A tangent may be None for an input, which stands for zeros. With ``graph`` the passes are
    recorded; with ``batched`` each tangent is a batch.
    """
    if not graph and mode.capture is None and output.requires_grad:
        seeds, batch = seeds_of(inputs, tangents, batched)
        found = products([output.edge], seeds, [x.edge for x in inputs], batch)
        if found is not None:
            return delivered(inputs, found, batch)
    gradients = pull([output], inputs, [None], True)
    return push(gradients, inputs, tangents, graph, batched)
