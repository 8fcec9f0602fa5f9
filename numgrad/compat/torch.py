"""``torch.autograd.grad`` and ``torch.autograd.backward``, with torch's rule for implicit seeds."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from .._autograd.passes import Dialect, Options, run_backward, run_grad
from .._errors import ArgTypeError, EmptyInputError
from .._tensor import Tensor
from ..graph import GradientEdge as GradientEdge
from ..graph import get_gradient_edge as get_gradient_edge

_DIALECT = Dialect(scalar_seeds=True)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Stand for ``torch.autograd.grad`` of torch 2.13.

    It differs from `numgrad.grad` where torch does: an implicit seed needs an output with one real
    element, ``grad_outputs`` holds tensors only, and ``only_inputs=False`` warns and is ignored.

    Parameters
    ----------
    outputs, inputs, grad_outputs, retain_graph, create_graph
        As in torch; see `numgrad.grad`.
    only_inputs, allow_unused, is_grads_batched, materialize_grads
        As in torch; see `numgrad.grad`.

    Returns
    -------
    tuple of (Tensor or None), or a dict for a dict

    Raises
    ------
    ImplicitGradError
        For a missing seed of an output with several elements.
    ArgTypeError
        For a seed that is no tensor.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.compat.torch.grad((x * x).sum(), x)
    (tensor([2., 4.]),)
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for "
            "other parts of the graph, please use numgrad.compat.torch.backward.",
            FutureWarning,
            stacklevel=2,
        )
    options = Options(
        retain_graph,
        create_graph,
        allow_unused=allow_unused,
        is_grads_batched=is_grads_batched,
        materialize_grads=materialize_grads,
    )
    return run_grad(outputs, inputs, _tensors_only(grad_outputs), options, _DIALECT)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Stand for ``torch.autograd.backward`` of torch 2.13.

    Parameters
    ----------
    tensors, grad_tensors, retain_graph, create_graph, inputs
        As in torch; see `numgrad.backward`. An empty list of tensors does nothing.
    grad_variables
        Deprecated name of `grad_tensors`.

    Raises
    ------
    EmptyInputError
        For empty `inputs`.
    RuntimeError
        If both `grad_tensors` and `grad_variables` are given.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.compat.torch.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None and isinstance(inputs, (list, tuple, Mapping)) and not inputs:
        raise EmptyInputError("`inputs` argument to `backward()` cannot be empty.")
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True creates a reference cycle between the "
            "parameter and its gradient "
            "that can leak memory; use grad when the graph is created, or reset .grad to None "
            "after use.",
            UserWarning,
            stacklevel=2,
        )
    options = Options(retain_graph, create_graph)
    run_backward(tensors, _tensors_only(grad_tensors), inputs, options, _DIALECT)


def _tensors_only(seeds: Any) -> Any:
    """Raise for a seed that is no tensor, as torch does, where the core converts arrays and
    numbers."""
    if seeds is None or isinstance(seeds, Tensor):
        return seeds
    if not isinstance(seeds, Iterable):
        raise ArgTypeError(
            f"gradients can be either Tensors or None, but got {type(seeds).__name__}"
        )
    seeds = tuple(seeds)
    for seed in seeds:
        if seed is not None and not isinstance(seed, Tensor):
            raise ArgTypeError(
                f"gradients can be either Tensors or None, but got {type(seed).__name__}"
            )
    return seeds


__all__ = ["GradientEdge", "backward", "get_gradient_edge", "grad"]


def __dir__() -> list[str]:
    return __all__
