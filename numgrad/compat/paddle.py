"""``paddle.grad`` (also its PIR form ``paddle.autograd.ir_backward.grad``) and
``paddle.autograd.backward``."""

from types import SimpleNamespace
from typing import Any

from .._autograd.passes import Dialect, Options, run_backward, run_grad
from .._errors import ArgTypeError
from .._tensor import Tensor
from ..functions.products.products import matmul as matmul
from . import strictness
from .creation import guard as _guard
from .creation import ones as ones
from .creation import to_tensor as to_tensor

_DIALECT = Dialect(skip_outputs=True, skip_inputs=True, output_in_cut=True)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> list[Tensor | None]:
    """Stand for ``paddle.grad`` of paddle 3.3.

    It differs from `numgrad.grad` where paddle does: lists in and out, real bools only, duplicates
    are errors, outputs without graph are skipped, inputs without graph are unused, an output among
    `no_grad_vars` has no effect.

    Parameters
    ----------
    outputs, inputs : Tensor, or list or tuple of them
    grad_outputs : Tensor or list or tuple of (Tensor or None), optional
        Ones where it is ``None``; an empty list counts as ``None``.
    retain_graph, create_graph, only_inputs, allow_unused, no_grad_vars, dump_backward_graph_path
        As in paddle; see `numgrad.grad`. ``only_inputs=False`` is not supported by paddle and
        refused.

    Returns
    -------
    list of (Tensor or None)

    Raises
    ------
    ArgTypeError, EmptyInputError, DuplicateError, GradCountError
        All of them are ``AssertionError`` too.
    UnusedInputError
        For an unused input without ``allow_unused=True``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.compat.paddle.grad([x * x], [x])
    [tensor([2., 4.])]
    """
    outs, ins = strictness.tensor_list("outputs", outputs), strictness.tensor_list("inputs", inputs)
    strictness.require_bool("create_graph", create_graph)
    strictness.require_bool("only_inputs", only_inputs)
    strictness.require_bool("allow_unused", allow_unused)
    strictness.require_bool("retain_graph", retain_graph, none=True)
    if not only_inputs:
        raise ArgTypeError("only_inputs=False is not supported yet")
    strictness.refuse_duplicates("outputs", outs)
    strictness.refuse_duplicates("inputs", ins)
    seeds = strictness.seed_list("grad_outputs", grad_outputs, len(outs))
    options = Options(
        retain_graph,
        create_graph,
        allow_unused=allow_unused,
        no_grad_vars=strictness.cut_list(no_grad_vars),
        dump_path=dump_backward_graph_path,
    )
    return list(run_grad(outs, ins, seeds, options, _DIALECT))


def _ir_grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Tensor | None]:
    """Stand for ``paddle.autograd.ir_backward.grad``: `grad` without the dump; see there."""
    return grad(
        outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused,
        no_grad_vars,
    )  # fmt: skip


_ir_grad.__name__ = _ir_grad.__qualname__ = "grad"
ir_backward = SimpleNamespace(grad=_ir_grad)
"""The namespace ``paddle.autograd.ir_backward``."""


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Stand for ``paddle.autograd.backward`` of paddle 3.3.

    Parameters
    ----------
    tensors : Tensor, or list or tuple of them
        Without duplicates; those without graph are skipped.
    grad_tensors : Tensor or list or tuple of (Tensor or None), optional
        Ones where it is ``None``.
    retain_graph : bool
        A real bool; ``None`` is refused.
    dump_backward_graph_path : str, optional
        See `numgrad.grad`.

    Raises
    ------
    ArgTypeError, EmptyInputError, DuplicateError, GradCountError
        All of them are ``AssertionError`` too.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.compat.paddle.backward([x * x])
    >>> x.grad
    tensor([2., 4.])
    """
    items = strictness.tensor_list("tensors", tensors)
    strictness.require_bool("retain_graph", retain_graph)
    strictness.refuse_duplicates("tensors", items)
    seeds = strictness.seed_list("grad_tensors", grad_tensors, len(items))
    options = Options(retain_graph, dump_path=dump_backward_graph_path)
    run_backward(items, seeds, None, options, _DIALECT)


autograd = SimpleNamespace(backward=backward, ir_backward=ir_backward)
"""The namespace ``paddle.autograd``."""

imperative = SimpleNamespace(guard=_guard)
"""The namespace ``paddle.imperative`` of paddle 1.8, where imperative mode is a block."""


__all__ = [
    "autograd", "backward", "grad", "imperative", "ir_backward", "matmul", "ones", "to_tensor",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
