"""``paddle.fluid.dygraph.grad`` of paddle 1.8 and its ``BackwardStrategy``."""

from types import SimpleNamespace
from typing import Any

from .._autograd.passes import Dialect, Options, run_grad
from .._errors import ArgTypeError, GradDtypeError, NoGradError
from .._tensor import Tensor
from . import strictness
from .creation import guard as _guard

_DIALECT = Dialect()


class BackwardStrategy:
    """How gradients are summed.

    Attributes
    ----------
    sort_sum_gradient : bool
        Sum the contributions to a gradient in descending order of the operations that they come
        from, seeds last.

    Examples
    --------
    >>> import numgrad as ng
    >>> strategy = ng.compat.fluid.BackwardStrategy()
    >>> strategy.sort_sum_gradient = True
    """

    __slots__ = ("_sort",)

    def __init__(self) -> None:
        self._sort = False

    @property
    def sort_sum_gradient(self) -> bool:
        """Whether sums are sorted; integers are converted."""
        return self._sort

    @sort_sum_gradient.setter
    def sort_sum_gradient(self, value: bool) -> None:
        if not isinstance(value, (bool, int)):
            raise ArgTypeError(f"sort_sum_gradient must be a bool, got {type(value).__name__}")
        self._sort = bool(value)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
    backward_strategy: BackwardStrategy | None = None,
) -> tuple[Tensor | None, ...]:
    """Stand for ``paddle.fluid.dygraph.grad`` of paddle 1.8.5.

    It is as strict as `numgrad.compat.paddle.grad`, and moreover refuses outputs and inputs without
    graph or among `no_grad_vars`, and seeds of another dtype. The graph is freed unless it is
    retained.

    Parameters
    ----------
    outputs, inputs : Tensor, or list or tuple of them
    grad_outputs : Tensor or list or tuple of (Tensor or None), optional
        Ones where it is ``None``; an empty list counts as ``None``.
    retain_graph, create_graph, only_inputs, allow_unused, no_grad_vars
        As in `numgrad.grad`. ``only_inputs=False`` is refused.
    backward_strategy : BackwardStrategy, optional

    Returns
    -------
    tuple of (Tensor or None)

    Raises
    ------
    ArgTypeError, EmptyInputError, DuplicateError, GradCountError, NoGradError, GradShapeError,
    GradDtypeError, \
UnusedInputError

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.compat.fluid.grad([x * x], [x], create_graph=True)
    (tensor([2., 4.], grad_fn=<add>),)
    """
    outs, ins = strictness.tensor_list("outputs", outputs), strictness.tensor_list("inputs", inputs)
    strictness.require_bool("create_graph", create_graph)
    strictness.require_bool("only_inputs", only_inputs)
    strictness.require_bool("allow_unused", allow_unused)
    strictness.require_bool("retain_graph", retain_graph, none=True)
    if not only_inputs:
        raise ArgTypeError("only_inputs=False is not supported yet")
    if backward_strategy is not None and not isinstance(backward_strategy, BackwardStrategy):
        raise ArgTypeError(
            f"backward_strategy must be a BackwardStrategy, got {type(backward_strategy).__name__}"
        )
    strictness.refuse_duplicates("outputs", outs)
    strictness.refuse_duplicates("inputs", ins)
    cut = strictness.cut_list(no_grad_vars)
    _refuse_without_gradient("output", outs, cut)
    _refuse_without_gradient("input", ins, cut)
    seeds = strictness.seed_list("grad_outputs", grad_outputs, len(outs))
    _refuse_other_dtypes(outs, seeds)
    options = Options(
        retain_graph,
        create_graph,
        allow_unused=allow_unused,
        no_grad_vars=cut,
        backward_strategy=backward_strategy,
    )
    return run_grad(outs, ins, seeds, options, _DIALECT)


def _refuse_without_gradient(kind: str, items: list[Tensor], cut: list[Tensor] | None) -> None:
    forbidden = {id(tensor) for tensor in cut or ()}
    for index, item in enumerate(items):
        if not item.requires_grad:
            raise NoGradError(
                f"{kind} {index} has no gradient: it does not require grad (stop_gradient is True)"
            )
        if id(item) in forbidden:
            raise NoGradError(
                f"{kind} {index} has no gradient: it is inside no_grad_vars (no_grad_set)"
            )


def _refuse_other_dtypes(outputs: list[Tensor], seeds: list[Tensor | None]) -> None:
    for index, (output, seed) in enumerate(zip(outputs, seeds, strict=False)):
        if seed is not None and seed.dtype != output.dtype:
            raise GradDtypeError(
                f"grad_output {index} has another dtype than its output: {seed.dtype} and "
                f"{output.dtype}; they must "
                f"have the same dtype (data type does not match)"
            )


dygraph = SimpleNamespace(grad=grad, BackwardStrategy=BackwardStrategy, guard=_guard)
"""The namespace ``paddle.fluid.dygraph``."""


__all__ = ["BackwardStrategy", "dygraph", "grad"]


def __dir__() -> list[str]:
    return __all__
