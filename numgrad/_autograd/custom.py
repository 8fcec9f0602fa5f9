"""`Function`: an operation whose forward and backward are Python functions of tensors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._declare import Operator
from .._errors import ArgTypeError, InplaceError, NotDifferentiableError
from .._tensor import Tensor
from ..containers import optree_calls as optree
from ..engine.graph.node import Edge, Node, new_call, new_node
from ..engine.record.apply import attach, grad_mode, mode, pack, parents_of
from ..process.transformed_function import Transformed
from .custom_context import FunctionContext
from .custom_operator import operator_of


class Function:
    """An operation that users define by a ``forward`` and a ``backward`` function of tensors.

    Make a subclass, define two static methods, and call the operation with ``apply``:

    * ``forward(ctx, *args)`` returns a tensor, or a tuple of tensors and other objects. Operations
      in it are not recorded. Arguments and results that are no tensors pass through unchanged;
      containers of tensors, to which no gradient could flow, are refused.
    * ``backward(ctx, *grads)`` gets one gradient per output and returns one per argument of
      ``forward``; ``None`` where there is none. Its operations are those of tensors, so with
      ``create_graph=True`` it is differentiated itself. In a batched pass ``backward`` is called
      once per row; with the class attribute ``takes_batch = True`` once for all rows: every
      gradient that it gets, and every one that it returns, then has the batch as its first axis.

    * ``jvp(ctx, *tangents)`` is optional: it gets one tangent per argument of ``forward``, ``None``
      where there is none, and returns one per output. Forward mode calls ``jvp``, or else needs a
      ``backward`` that can be differentiated.

    With a static method ``setup_context(ctx, inputs, output)``, ``forward`` does not take ``ctx``.

    See Also
    --------
    elementwise : Operators compiled from scalar functions; a batched pass runs them without Python.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> class Exp(ng.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = ng.tensor(np.exp(x.numpy()))
    ...         ctx.save_for_backward(y)
    ...         return y
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (y,) = ctx.saved_tensors
    ...         return g * y
    >>> x = ng.tensor([0.0, 1.0], requires_grad=True)
    >>> ng.grad(Exp.apply(x), x)[0].numpy().round(3)
    array([1.   , 2.718])
    """

    takes_batch = False

    def __init__(self) -> None:
        name = type(self).__name__
        raise TypeError(f"{name} is not instantiated; call {name}.apply")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs of the operation from its arguments."""
        raise NotImplementedError("a numgrad.Function must define the static method forward")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        """Compute the gradients of the arguments from the gradients of the outputs."""
        raise NotDifferentiableError("a numgrad.Function must define the static method backward")

    @staticmethod
    def jvp(*args: Any, **kwargs: Any) -> Any:
        """Compute the tangents of the outputs from the tangents of the arguments."""
        raise NotDifferentiableError("this numgrad.Function defines no static method jvp")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what ``backward`` needs, when ``forward`` does not take ``ctx``."""
        raise NotImplementedError

    @classmethod
    def has_jvp(cls) -> bool:
        """Whether the class defines ``jvp``, a function of tangents."""
        return cls.jvp is not Function.jvp

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run ``forward`` on the arguments, record the operation, and return the outputs."""
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        if len(tensors) < len(args) and mode.grad:
            _require_no_containers(cls.__name__, args)
        ctx = FunctionContext(args)
        versions = [tensor.version for tensor in tensors]
        with _UNRECORDED:
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
        if versions != [tensor.version for tensor in tensors]:
            _check_unwritten(cls.__name__, tensors, versions)
        results = result if isinstance(result, tuple) else (result,)
        outputs = _own_outputs(results, tensors)
        if mode.grad and any([tensor.requires_grad for tensor in tensors]):  # noqa: C419
            if not all([type(result) is Tensor for result in results]):  # noqa: C419
                _require_tensor(cls.__name__, results)
            _record(cls, ctx, tensors, results, outputs)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]


_UNRECORDED = grad_mode(False)  # a block may contain itself, and serve all threads


def _require_tensor(name: str, results: Sequence[Any]) -> None:
    """Raise if ``forward`` returned tensors in a container, or arrays but no tensor.

    No gradient could flow to these results.
    """
    for result in results:
        if any(tensor.dtype.kind in "fc" for tensor in _held_by(result)):
            raise ArgTypeError(
                f"{name}.forward returned tensors in a {type(result).__name__}, to which no "
                f"gradient could flow; return a tuple of tensors"
            )
    if any(isinstance(result, Tensor) for result in results):
        return
    if any(isinstance(result, (np.ndarray, np.inexact)) for result in results):
        raise ArgTypeError(
            f"{name}.forward returned a NumPy array, to which no gradient could flow; return "
            f"ng.tensor(array)"
        )


def _require_no_containers(name: str, args: Sequence[Any]) -> None:
    """Raise if an argument is a container of tensors that require grad.

    ``forward`` would get these tensors without their graph.
    """
    for arg in args:
        if any(tensor.requires_grad for tensor in _held_by(arg)):
            raise ArgTypeError(
                f"{name}.apply got a {type(arg).__name__} of tensors that require grad, to which "
                f"no gradient could flow; pass each of them as an argument of its own"
            )


def _held_by(thing: Any) -> list[Tensor]:
    """Return the tensors in a container."""
    if not isinstance(thing, (tuple, list, dict)):
        return []
    leaves = optree.tree_leaves(thing, none_is_leaf=True)  # type: ignore[arg-type]
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def _check_unwritten(name: str, tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    for tensor, version in zip(tensors, versions, strict=True):
        if tensor.version != version and tensor.requires_grad:
            raise InplaceError(
                f"{name}.forward wrote to an argument that requires grad; "
                f"write to a copy (x.clone())"
            )


def _own_outputs(results: Sequence[Any], tensors: Sequence[Tensor]) -> list[Any]:
    """Return the results as new tensors that share no memory with arguments or each other."""
    # Values that share memory have one storage, so those that have none yet share nothing.
    taken = {id(tensor._storage) for tensor in tensors if tensor._storage is not None}
    known = {id(tensor) for tensor in tensors}
    outputs: list[Any] = []
    for result in results:
        if isinstance(result, Tensor):
            if id(result) in known or id(result._storage) in taken:
                with _UNRECORDED:
                    result = result.clone()
            else:
                result = result.detached()
            taken.add(id(result.storage))
        outputs.append(result)
    return outputs


def _record(
    cls: type[Function],
    ctx: FunctionContext,
    tensors: list[Tensor],
    results: Sequence[Any],
    outputs: Sequence[Any],
) -> None:
    """Record a call of the function as a node, and attach the outputs that are tensors to the node.
    """
    produced, originals = outputs, results
    if not all([isinstance(result, Tensor) for result in results]):  # noqa: C419  a list is faster
        produced = [output for output in outputs if isinstance(output, Tensor)]
        originals = [result for result in results if isinstance(result, Tensor)]
    node = new_call(
        operator_of(cls),
        {"ctx": ctx},
        parents_of(tensors),
        tuple([tensor.slot for tensor in tensors]),
        tuple([tensor.spec for tensor in tensors]),
        tuple([output.spec for output in produced]),
    )
    saved = ctx.settle(node, tensors, results, originals, produced)
    if saved:
        node.save([None if value is None else pack(value) for value in saved])
    attach(node, produced, ctx.constant_slots(originals))


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Declare that a ``backward`` of a `Function` cannot be differentiated, as when it uses NumPy.

    Such a ``backward`` runs without recording; differentiating its results raises
    `NotDifferentiableError`.

    Examples
    --------
    >>> import numgrad as ng
    >>> class Square(ng.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     @ng.once_differentiable
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return ng.tensor(2.0 * x.numpy() * g.numpy())
    >>> x = ng.tensor(3.0, requires_grad=True)
    >>> ng.grad(Square.apply(x), x)[0]
    tensor(6.)
    """

    def once(ctx: FunctionContext, *grads: Any) -> Any:
        if not mode.grad:
            return backward(ctx, *grads)
        plain = [g.detach() if isinstance(g, Tensor) else g for g in grads]
        with grad_mode(False):
            results = backward(ctx.without_graph(), *plain)
        edges = [g.edge for g in grads if isinstance(g, Tensor)] + list(ctx.node.edges)
        several = isinstance(results, tuple)
        guarded = [_guard(r, edges, ctx.node) for r in (results if several else (results,))]
        return tuple(guarded) if several else guarded[0]

    what = "once_differentiable"
    return Transformed(once, backward, what, once_differentiable, (backward,))


class _Once(Operator):
    """The operator that results of a ``backward`` with ``@once_differentiable`` seem to come from.

    A pass that reaches it raises.
    """

    def differentiate(self, backward_pass: Any, context: Any, cotangents: Sequence[Any]) -> Any:
        raise NotDifferentiableError(
            f"{self.name} cannot be differentiated: "
            f"its backward is marked with @once_differentiable"
        )


def _guard(result: Any, edges: Sequence[Edge], source: Node) -> Any:
    """Attach a result of ``backward`` to a node that raises when a pass differentiates the result.
    """
    if not isinstance(result, Tensor):
        return result
    guarded = result.detached()
    known = tuple(edge for edge in edges if edge.node is not None)
    operator = _Once(f"the gradient of {source.name()}{source.where()}", register=False)
    specs = [edge.spec for edge in known]
    attach(new_node(operator, {}, known, specs, [result.spec]), [guarded])
    return guarded
