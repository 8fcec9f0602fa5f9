"""Gradients and vector-Jacobian products of functions."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .._autograd import grad as engine_grad
from .._autograd.delivery import zeros
from .._autograd.quick import gradients_alone
from .._errors import ArgTypeError, GradDtypeError, GradShapeError, ImplicitGradError
from .._tensor import Tensor, placed
from ..engine.capture.escapes import differentiated
from ..engine.differentiate.repeated_pass import is_known_as_closed
from ..engine.graph.value import next_number
from ..engine.record.apply import mode, other_modes, runtime
from ..engine.record.guards import guarded
from ..process.transformed_function import Transformed
from .pytree import Variables, flatten, holds_tensors, output_leaves, places, require_function

ArgNums = int | Sequence[int]
Tensors = Sequence[Tensor]


def pull(
    outputs: Tensors,
    inputs: Tensors,
    seeds: Sequence[Any],
    graph: bool,
    batched: bool = False,
    cut: Tensors | None = None,
) -> list[Tensor]:
    """Return a vector-Jacobian product by a backward pass: one gradient per input.

    The gradient is zeros for an input that no output depends on. With ``graph`` the pass itself is
    recorded; with ``batched`` each seed is a batch of cotangents. No cotangent passes through the
    tensors in ``cut``.
    """
    live = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o.requires_grad]
    found: Sequence[Tensor | None] = [None] * len(inputs)
    if live and inputs:
        found = engine_grad(
            [o for o, _ in live],
            list(inputs),
            [s for _, s in live],
            retain_graph=True,
            create_graph=graph,
            allow_unused=True,
            is_grads_batched=batched,
            no_grad_vars=cut,
        )
    # Zeros made here depend on nothing, while zeros of the engine are leaves of the graph.
    batch = seeds[0].shape[0] if batched else None
    return [zeros(x.spec, batch) if g is None else g for g, x in zip(found, inputs, strict=True)]


class Evaluation:
    """A call of a function on variables, with recording on: the output and the leaves of the
    output."""

    __slots__ = ("aux", "has_aux", "leaves", "output", "rebuild", "variables", "what")

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        argnums: ArgNums,
        what: str,
        kwargs: Mapping[str, Any] = MappingProxyType({}),
        has_aux: bool = False,
    ) -> None:
        function = require_function(function, what)
        self.what, self.has_aux = what, has_aux
        self.variables = variables = Variables(args, argnums, what)
        self.output = differentiated(function, variables.args, kwargs, variables.first)
        if has_aux:
            if not isinstance(self.output, tuple) or len(self.output) != 2:
                raise ArgTypeError(
                    f"{what}: with has_aux=True the function must return a tuple (output, aux)"
                )
            self.output, self.aux = self.output
        self.leaves, self.rebuild = output_leaves(self.output, what)
        if other_modes and mode.capture is not None and not has_aux:
            self.leaves = runtime.folded(self.leaves, variables.first)

    def scalar(self) -> Tensor:
        """Return the output; raise an error unless the output is one real scalar."""
        leaf = self.leaves[0] if len(self.leaves) == 1 else None
        if leaf is None or leaf.shape != () or leaf.dtype.kind != "f":
            found = (
                f"{type(self.output).__name__}; return one scalar, and anything else with "
                f"has_aux=True"
            )
            if self.output is None:
                found = "None: it may lack a return statement"
            elif leaf is not None:
                found = (
                    f"shape {leaf.shape}, dtype {leaf.dtype}; sum it, take a real part, or use "
                    f"jacobian"
                )
            raise ImplicitGradError(
                f"{self.what}: gradients are defined only for scalar outputs that are real, but "
                f"the function returned {found}"
            )
        return leaf

    def outer_graph(self, *vectors: Tensor) -> bool:
        """Return whether products of the derivative with ``vectors`` must be recorded in the graph
        outside of the transform."""
        known = mode.grad and is_known_as_closed(self.leaves, self.variables.leaves)
        if known and not any([vector.requires_grad for vector in vectors]):  # noqa: C419
            self.variables.mark_inside([*self.leaves, *vectors])
            return False
        return self.variables.outer_graph([*self.leaves, *vectors])

    def pulled(self, seeds: Sequence[Any], batched: bool = False) -> list[Any]:
        """Return the vector-Jacobian product: for each differentiated leaf a gradient, which is an
        array or a tensor as `Variables.deliver` decides."""
        graph = self.outer_graph(*[seed for seed in seeds if seed is not None])
        found = pull(self.leaves, self.variables.leaves, seeds, graph, batched)
        return self.variables.deliver_own(found)

    def value(self) -> Any:
        """Return the output of the function as the caller gets it, as arrays or tensors."""
        return self.arranged(self.leaves)

    def arranged(self, values: Sequence[Tensor], as_numpy: bool | None = None) -> Any:
        """Return values in the containers of the output, as arrays or tensors.

        `Variables.deliver` decides which of the two, from ``as_numpy``.
        """
        return self.rebuild([self.variables.deliver(value, as_numpy) for value in values])

    def with_aux(self, *results: Any) -> Any:
        """Return results, followed by the auxiliary output if there is one."""
        if self.has_aux:
            return *results, self.variables.deliver_tree(self.aux)
        return results if len(results) != 1 else results[0]


def grad(
    function: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of a scalar function.

    Parameters
    ----------
    function : callable
        Returns a tensor of shape ``()`` (with `has_aux` a pair of such a tensor and anything).
    argnums : int or sequence of int
        The positional arguments to differentiate; containers of arrays are differentiated leaf by
        leaf.
    has_aux : bool
        Whether the function also returns an auxiliary output, which is passed through.

    Returns
    -------
    callable
        Takes the same arguments; returns the gradient with the structure of the argument, or a
        tuple of gradients for a sequence of argnums. With `has_aux` the result is
        ``(gradient, aux)``.

    Raises
    ------
    ImplicitGradError
        If the output is not a real scalar.
    DtypeError
        For integer arguments.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.grad(lambda x: (x * x).sum())(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    require_function(function, "grad")

    def gradient(*args: Any, **kwargs: Any) -> Any:
        at = Evaluation(function, args, argnums, "grad", kwargs, has_aux)
        return at.with_aux(_gradients(at))

    return Transformed(gradient, function, "grad", grad, (function, argnums, has_aux))


def value_and_grad(
    function: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes a scalar function and its gradient in one pass.

    Parameters
    ----------
    function, argnums, has_aux
        As in `grad`.

    Returns
    -------
    callable
        Returns ``(value, gradient)``, with `has_aux` ``((value, aux), gradient)``.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> value, gradient = ng.func.value_and_grad(lambda x: (x * x).sum())(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))
    """

    return _value_and_gradient(function, argnums, has_aux, "value_and_grad", value_and_grad)


def grad_and_value(
    function: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of a scalar function and its value in one pass.

    The function does what that of `value_and_grad` does, with results in the order of torch.func.

    Parameters
    ----------
    function, argnums, has_aux
        As in `grad`.

    Returns
    -------
    callable
        Returns ``(gradient, value)``, with `has_aux` ``(gradient, (value, aux))``.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> gradient, value = ng.func.grad_and_value(lambda x: (x * x).sum())(np.array([1.0, 2.0]))
    >>> gradient, float(value)
    (array([2., 4.]), 5.0)
    """
    return _value_and_gradient(function, argnums, has_aux, "grad_and_value", grad_and_value)


def _value_and_gradient(
    function: Callable[..., Any], argnums: ArgNums, has_aux: bool, what: str, make: Any
) -> Callable[..., Any]:
    """Return the function that `value_and_grad` or `grad_and_value` returns.

    ``make`` is that transform, and ``what`` its name, which decides the order of value and
    gradient.
    """
    require_function(function, what)
    order = 1 if what == "value_and_grad" else -1

    def both(*args: Any, **kwargs: Any) -> Any:
        at = Evaluation(function, args, argnums, what, kwargs, has_aux)
        gradients = _gradients(at)
        return (at.with_aux(at.variables.deliver(at.leaves[0])), gradients)[::order]

    return Transformed(both, function, what, make, (function, argnums, has_aux))


def _gradients(at: Evaluation) -> Any:
    """Return the gradients of a scalar function as the caller gets them."""
    variables, output = at.variables, at.scalar()
    found = gradients_alone(output, variables.leaves)
    if found is None:
        return variables.rebuild(at.pulled([None]))
    variables.mark_inside(at.leaves)
    return variables.rebuild(variables.deliver_new(found))


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of a function, and a function that computes vector-Jacobian products there.

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
    vjp_fn : callable
        Takes a cotangent with the structure of the output; returns a tuple with one entry per
        primal. `vjp_fn` can be called any number of times.
    aux
        Only with `has_aux`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> output, vjp_fn = ng.func.vjp(lambda x: x * x, np.array([1.0, 2.0]))
    >>> vjp_fn(np.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """
    at = Evaluation(function, primals, range(len(primals)), "vjp", has_aux=has_aux)
    variables, graph, expected = at.variables, at.outer_graph(), places(at.output)
    variables.last = next_number()

    def vjp_fn(cotangents: Any) -> tuple[Any, ...]:
        seeds = matching(cotangents, at.leaves, expected, "vjp_fn", "cotangent", "output")
        follow = mode.grad and (graph or any(seed.requires_grad for seed in seeds))
        gradients = pull(at.leaves, variables.leaves, seeds, follow)
        as_numpy = variables.as_numpy and not holds_tensors(cotangents)
        return variables.rebuild(variables.deliver_own(gradients, as_numpy))

    return at.with_aux(at.value(), vjp_fn)


def matching(
    tree: Any, leaves: Sequence[Tensor], expected: list[Any], what: str, kind: str, of: str
) -> list[Any]:
    """Return the vectors in ``tree`` as tensors in the order of ``leaves``; check their shapes.

    Vectors and leaves are matched by their places in the containers: a list where a tuple is
    expected, or another order of keys, makes no difference. ``expected`` has the places of the
    leaves. The errors name the caller ``what``, the vectors ``kind`` and the leaves ``of``.
    """
    vectors, _ = flatten(tree)
    if len(vectors) != len(leaves):
        raise GradShapeError(f"{what}: got {len(vectors)} {kind}s for {len(leaves)} {of}s")
    given = places(tree)
    if given != expected:
        if set(given) != set(expected):
            raise GradShapeError(
                f"{what}: the {kind}s are at {_shown(given)} and the {of}s at {_shown(expected)}; "
                f"give them in the same containers"
            )
        found = dict(zip(given, vectors, strict=True))
        vectors = [found[place] for place in expected]
    result = []
    for index, (vector, leaf) in enumerate(zip(vectors, leaves, strict=True)):
        is_tensor = isinstance(vector, Tensor)
        tensor = vector if is_tensor else placed(np.array(guarded(vector)), leaf.device)
        if tensor.shape != leaf.shape:
            raise GradShapeError(
                f"{what}: Mismatch in shape: {kind}[{index}] has a shape of {tensor.shape} and "
                f"{of}[{index}] of "
                f"{leaf.shape}"
            )
        if tensor.dtype.kind == "c" and leaf.dtype.kind != "c":
            raise GradDtypeError(
                f"{what}: {kind}[{index}] is complex and {of}[{index}] is real ({leaf.dtype}): "
                f"give its real part, or make the {of} complex"
            )
        result.append(tensor)
    return result


def _shown(found: list[Any]) -> str:
    return ", ".join(["".join([f"[{key!r}]" for key in place]) or "the top" for place in found])
