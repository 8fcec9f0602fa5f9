"""Jacobian-vector products: derivatives along tangents, in forward mode."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._autograd import arguments
from .._autograd.delivery import as_result, zeros
from .._declare import registry
from .._errors import ArgTypeError
from .._tensor import Tensor
from ..engine.differentiate.forward import ForwardPass
from ..engine.differentiate.request import TangentRequest
from ..engine.graph.node import Edge, Value, next_number
from ..engine.record.apply import mode
from .gradients import Evaluation, Tensors, matching
from .pytree import holds_tensors, places


def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """Return the value of a function and its Jacobian-vector product.

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
    at, vectors, graph = evaluate_with_vectors(
        function, primals, tangents, "jvp", "tangent", has_aux
    )
    products = push(at.leaves, at.variables.leaves, vectors, graph)
    return at.with_aux(at.value(), at.arranged(products))


def evaluate_with_vectors(
    function: Any, primals: Any, given: Any, what: str, kind: str, has_aux: bool = False
) -> tuple[Evaluation, list[Tensor], bool]:
    """Call a function on primals; return the evaluation, the vectors as tensors, and a bool.

    The vectors in ``given`` have to match the primals in structure and shapes. The bool says
    whether products of a derivative with the vectors must be recorded in the graph outside of the
    transform. The errors name the caller ``what`` and the vectors ``kind``.
    """
    for name, value in (("primals", primals), (f"{kind}s", given)):
        if not isinstance(value, (tuple, list)):
            raise ArgTypeError(
                f"{what}: {name} must be a tuple or a list, got {type(value).__name__}; "
                f"write {what}(f, (x,), (v,)), which returns (value, product)"
            )
    at = Evaluation(function, primals, range(len(primals)), what, has_aux=has_aux)
    expected = places(tuple(primals))
    vectors = matching(tuple(given), at.variables.leaves, expected, what, kind, "primal")
    at.variables.as_numpy = at.variables.as_numpy and not holds_tensors(tuple(given))
    return at, vectors, at.outer_graph(*vectors)


def linearize(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of a function, and a function that computes Jacobian-vector products there.

    Parameters
    ----------
    function : callable
    *primals : array_like or containers of them
    has_aux : bool
        As in `grad`.

    Returns
    -------
    output
        The value.
    jvp_fn : callable
        Takes a tangent for each primal, of its structure and shapes; returns the tangent of the
        output. However often `jvp_fn` is called, the function is not evaluated again.
    aux
        Only with `has_aux`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> output, jvp_fn = ng.func.linearize(lambda x: x * x, np.array([1.0, 2.0]))
    >>> jvp_fn(np.array([1.0, 10.0]))
    array([ 2., 40.])
    """
    at = Evaluation(function, primals, range(len(primals)), "linearize", has_aux=has_aux)
    variables, graph, expected = at.variables, at.outer_graph(), places(tuple(primals))
    variables.last = next_number()

    def jvp_fn(*tangents: Any) -> Any:
        vectors = matching(tangents, variables.leaves, expected, "jvp_fn", "tangent", "primal")
        follow = mode.grad and (graph or any(vector.requires_grad for vector in vectors))
        as_numpy = variables.as_numpy and not holds_tensors(tangents)
        return at.arranged(push(at.leaves, variables.leaves, vectors, follow), as_numpy)

    return at.with_aux(at.value(), jvp_fn)


def push(
    outputs: Tensors, inputs: Tensors, tangents: Sequence[Any], graph: bool, batched: bool = False
) -> list[Tensor]:
    """Return a Jacobian-vector product by a forward pass: one tangent per output.

    The tangent is zeros for an output that depends on no input. An input whose tangent is ``None``
    costs nothing; with ``batched`` each tangent is a batch. ``graph`` says whether the pass itself
    is recorded.
    """
    seeds, batch = seeds_of(inputs, tangents, batched)
    live = [o.edge for o in outputs if o.requires_grad]
    found: Any = {}
    if live and seeds:
        request = TangentRequest(seeds, live, create_graph=graph, retain_graph=True, batch=batch)
        found = ForwardPass(request).run().grads
    return delivered(outputs, found, batch)


def seeds_of(
    inputs: Tensors, tangents: Sequence[Any], batched: bool
) -> tuple[list[tuple[Edge, Value]], int | None]:
    """Return the seeds of a forward pass, one per tangent that is not None, and their batch size.

    Each seed has the dtype of its input. The batch size is None unless the tangents are
    ``batched``.
    """
    seeds = [
        (x.edge, arguments.cotangent(t, x.spec, "tangent", n, batched))
        for n, (x, t) in enumerate(zip(inputs, tangents, strict=True))
        if t is not None
    ]
    return seeds, arguments.batch_size([t for _, t in seeds]) if batched else None


def delivered(tensors: Tensors, found: Mapping[Edge, Any], batch: int | None) -> list[Tensor]:
    """Return the derivative that a pass has found for each tensor, with zeros where it found none.

    ``found`` has the derivatives by the edges of the tensors. Each result is an array of its own.
    """
    results: dict[int, Tensor] = {}
    for place in arguments.places(tensors, "outputs", check=False):
        value = found.get(place.edge)
        result = zeros(place.spec, batch) if value is None else as_result(value, batch, place)
        result = registry["copy"](result) if id(result) in results else result
        results[id(result)] = result
    return list(results.values())
