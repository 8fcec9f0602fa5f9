"""``chainer.grad``: the smallest path, initial gradients of inputs, loss scaling."""

from collections.abc import Sequence
from typing import Any

from .._autograd.passes import Dialect, Options, run_grad
from .._errors import ArgTypeError, GradCountError
from .._tensor import Tensor

_DIALECT = Dialect(
    skip_outputs=True,
    skip_inputs=True,
    last_seed_wins=True,
    scale_explicit=False,
    output_in_cut=True,
    replace_seed=True,
    last_initial_wins=True,
    retain_outputs=True,
    share_unused=True,
)


def grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Any] | None = None,
    grad_inputs: Sequence[Any] | None = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
) -> list[Tensor | None]:
    """Stand for ``chainer.grad`` of chainer 7.8.

    It differs from `numgrad.grad` where chainer does: lists and tuples only, unused inputs give
    ``None``, the graph is never freed, of duplicate outputs the last seed counts, `loss_scale`
    multiplies implicit seeds only.

    Parameters
    ----------
    outputs, inputs : list or tuple of Tensor
    grad_outputs, grad_inputs : list or tuple of (Tensor, ndarray or None), optional
        Of the lengths of `outputs` and `inputs`. Of an input that is listed twice the last entry of
        `grad_inputs` counts, at both places.
    set_grad : bool
        Put each result (also ``None``) in its input's ``.grad``.
    retain_grad : bool
        Put the gradients of all intermediate tensors in their ``.grad``, and those of all outputs:
        of one from which no path leads to an input it is the seed.
    enable_double_backprop : bool
        Record the gradients, so that they can be differentiated.
    loss_scale : float, optional
        Factor on the implicit seeds; the results stay scaled.

    Returns
    -------
    list of (Tensor or None)

    Raises
    ------
    ArgTypeError
        For anything but lists and tuples.
    GradCountError
        For lengths that differ.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.compat.chainer.grad([x * x], [x], grad_inputs=[ng.tensor([100.0, 100.0])])
    [tensor([102., 104.])]
    """
    for name, value, optional in (
        ("outputs", outputs, False),
        ("inputs", inputs, False),
        ("grad_outputs", grad_outputs, True),
        ("grad_inputs", grad_inputs, True),
    ):
        if not isinstance(value, (list, tuple)) and not (optional and value is None):
            raise ArgTypeError(f"{name} must be a tuple or a list, not {type(value).__name__}.")
    for name, value, other in (
        ("grad_outputs", grad_outputs, outputs),
        ("grad_inputs", grad_inputs, inputs),
    ):
        if value is not None and len(value) != len(other):
            raise GradCountError(
                f"{name} must be of the same length as {name[5:]}: {len(value)} and {len(other)}"
            )
    options = Options(
        retain_graph=True,
        create_graph=bool(enable_double_backprop),
        allow_unused=True,
        grad_inputs=grad_inputs,
        set_grad=set_grad,
        retain_grad=retain_grad,
        loss_scale=loss_scale,
    )
    if not inputs:
        return []
    return list(run_grad(outputs, inputs, grad_outputs, options, _DIALECT))


__all__ = ["grad"]


def __dir__() -> list[str]:
    return __all__
