"""Jacobian-vector products: derivatives along tangents, in forward mode."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._autograd import arguments
from .._autograd.delivery import as_result
from .._declare import registry
from .._errors import ArgTypeError
from .._tensor import Tensor, placed
from ..engine.forward import ForwardPass
from ..engine.graph import Edge, Value, next_number
from ..engine.record import mode
from ..engine.request import TangentRequest
from .gradients import call, matching
from .trees import Variables, holds_tensors, output_leaves, places


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


def linearize(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of a function and the function of its Jacobian-vector product there.

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
        Takes a tangent for each primal, of its structure and shapes; returns that of the output.
        The function is not evaluated again, however often it is called.
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
    variables = Variables(primals, range(len(primals)), "linearize")
    output, aux = call(function, variables, {}, has_aux, "linearize")
    leaves, rebuild = output_leaves(output, "linearize")
    graph = variables.outer_graph(leaves)
    expected = places(tuple(primals))
    variables.last = next_number()

    def jvp_fn(*tangents: Any) -> Any:
        vectors = matching(tangents, variables.leaves, expected, "jvp_fn", "tangent", "primal")
        follow = mode.grad and (graph or any(vector.requires_grad for vector in vectors))
        as_numpy = variables.as_numpy and not holds_tensors(tangents)
        products = push(leaves, variables.leaves, vectors, follow)
        return rebuild([variables.deliver(p, as_numpy) for p in products])

    value = rebuild([variables.deliver(leaf) for leaf in leaves])
    if has_aux:
        return value, jvp_fn, variables.deliver_tree(aux)
    return value, jvp_fn


def push(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    tangents: Sequence[Any],
    graph: bool,
    batched: bool = False,
) -> list[Tensor]:
    """Return the Jacobian-vector product, with zeros where an output depends on no input.

    Parameters
    ----------
    outputs, inputs : sequence of Tensor
        What was computed, and from what.
    tangents : sequence
        One per input, of its shape; ``None`` is zero, and costs nothing.
    graph : bool
        Whether the products are recorded.
    batched : bool
        Whether each tangent has a batch of vectors in front.
    """
    seeds = seeds_of(inputs, tangents, batched)
    live = [o.edge for o in outputs if o.requires_grad]
    batch = arguments.batch_size([t for _, t in seeds]) if batched else None
    found: Any = {}
    if live and seeds:
        request = TangentRequest(seeds, live, create_graph=graph, retain_graph=True, batch=batch)
        found = ForwardPass(request).run().grads
    return delivered(outputs, found, batch)


def seeds_of(
    inputs: Sequence[Tensor], tangents: Sequence[Any], batched: bool
) -> list[tuple[Edge, Value]]:
    """Return where tangents start, each in the dtype of its input."""
    return [
        (x.edge, arguments.cotangent(t, x.spec, "tangent", n, batched))
        for n, (x, t) in enumerate(zip(inputs, tangents, strict=True))
        if t is not None
    ]


def delivered(
    spaces: Sequence[Tensor], found: Mapping[Edge, Any], batch: int | None
) -> list[Tensor]:
    """Return what was found in the spaces of some tensors, with zeros for what was not."""
    places = arguments.places(spaces, "outputs", check=False)
    given: set[int] = set()
    return [_result(found.get(place.edge), place, batch, given) for place in places]


def _result(value: Any, place: Any, batch: int | None, given: set[int]) -> Tensor:
    """Return the tangent of an output: an array of its own."""
    if value is None:
        lead = () if batch is None else (batch,)
        zeros = np.zeros((*lead, *place.spec.shape), place.spec.dtype)
        return placed(zeros, place.spec.device)
    result = as_result(value, batch, place)
    if id(result) in given:
        result = registry["copy"](result)
    given.add(id(result))
    return result
