"""``ng.cond``: a choice between two functions that works while a function is captured."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import Tensor
from ...containers import optree_calls as optree
from ...engine.capture.capture import Capture
from ...engine.graph.value import CPU
from ...engine.record.apply import mode
from ...engine.record.guards import guarded
from ...functions.array.device_transfer import placed_on
from ...functions.array.operands import as_scalar
from ...functions.creation.from_data import asarray
from ...functions.shape.selection import where
from ..pytree import require_function
from .cond_gradients import Gates


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """Return ``true_fun(*operands)`` if ``pred`` holds, else ``false_fun(*operands)``.

    Parameters
    ----------
    pred : bool or array_like of one element
        Decides which function is called.
    true_fun, false_fun : callable
        Take the operands and return tensors, or containers of them, of equal structure, shapes and
        dtypes; a number of Python takes the dtype of the other result.
    *operands : array_like or containers of them
        What the functions work on.

    Raises
    ------
    ArgTypeError
        If the results of the two functions differ in structure, shape or dtype.
    CaptureError
        If, in a captured function, a branch writes into what it has not made itself.

    Notes
    -----
    Outside of `jit` this is Python's ``if``: one function is called. While a function is captured
    both are recorded, a replay computes both, and elements are chosen as by `where`. Gradients are
    those of the function that was chosen; the other one contributes exactly 0, to the operands and
    to what it closes over, also where its own derivative is infinite or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> @ng.jit
    ... def root(x):
    ...     return ng.cond(x > 0, ng.sqrt, lambda x: 0 * x, x)
    >>> root(np.array(4.0)), root(np.array(-4.0))
    (array(2.), array(-0.))
    """
    for name, function in (("true_fun", true_fun), ("false_fun", false_fun)):
        require_function(function, f"cond: {name}")
    shape = getattr(pred, "shape", ())
    if any(size != 1 for size in shape):
        raise ArgTypeError(f"cond: pred must have one element, not the shape {shape}")
    if not isinstance(pred, Tensor):
        return (true_fun if guarded(pred) else false_fun)(*operands)
    if pred.array is not None or mode.capture is None:
        return (true_fun if pred else false_fun)(*_gated(operands, lambda x: x.reshape(x.shape)))
    pred = pred.reshape(()).astype(np.dtype(bool), copy=False)
    chosen = _branch(true_fun, operands, lambda x: _where(pred, x, _zero(x)))
    other = _branch(false_fun, operands, lambda x: _where(pred, _zero(x), x))
    return _selected(pred, chosen, other)


def _where(pred: Tensor, x: Any, y: Any) -> Tensor:
    """Choose elements as `where` does; if both operands are on the CPU, move the predicate there
    first."""
    is_here = all(getattr(value, "device", CPU) == CPU for value in (x, y))
    return where(placed_on(pred, CPU) if is_here else pred, x, y)


def _zero(x: Tensor) -> Tensor:
    return Tensor(np.zeros((), x.dtype))


def _branch(
    function: Callable[..., Any], operands: Sequence[Any], gate: Callable[[Tensor], Tensor]
) -> Any:
    """Call the function of a branch in a capture of its own, and return the result.

    Cotangents leave the graph of the branch through gates made by ``gate``. If the branch was not
    chosen, the gates replace the cotangents by 0, even where they are NaN.
    """
    gates = Gates(gate)
    capture = Capture((), mode.capture)
    with capture.running():
        result = function(*operands)
        leaves = optree.tree_leaves(result, none_is_leaf=True)
        tensors = [t for t in leaves if isinstance(t, Tensor) and t.requires_grad]
    gates.close(tensors)
    capture.forget_replayed()
    return result


def _gated(operands: Sequence[Any], gate: Callable[[Tensor], Tensor]) -> Any:
    """Return the operands; put a node, made by ``gate``, between a branch and each operand that
    requires grad.

    At this node the gradients that the branch sends to the operand are summed, before other
    gradients are added. So the order of summation is the same whether one function is called or
    both are recorded.
    """

    def gated(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or not leaf.requires_grad or not mode.grad:
            return leaf
        return as_scalar(gate(leaf)) if leaf.is_scalar else gate(leaf)

    return optree.tree_map(gated, tuple(operands), none_is_leaf=True)  # type: ignore[arg-type]


def _selected(pred: Tensor, chosen: Any, other: Any) -> Any:
    first, structure = optree.tree_flatten(chosen, none_is_leaf=True)
    second, second_structure = optree.tree_flatten(other, none_is_leaf=True)
    if structure != second_structure:
        raise ArgTypeError(
            f"cond: the functions return different structures: {structure} and {second_structure}"
        )
    leaves = [_leaf(pred, a, b) for a, b in zip(first, second, strict=True)]
    return optree.tree_unflatten(structure, leaves)


def _leaf(pred: Tensor, a: Any, b: Any) -> Any:
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise ArgTypeError("cond: one of the functions returns None where the other has an array")
    numbers = _is_number(a) or _is_number(b)  # a Python number takes the dtype of the other result
    first, second = a, b
    a, b = asarray(a), asarray(b)
    if a.shape != b.shape or (a.dtype != b.dtype and not numbers):
        raise ArgTypeError(
            f"cond: the functions return different arrays: {a.dtype} of shape {a.shape} and "
            f"{b.dtype} of shape {b.shape}"
        )
    result = _where(pred, first, second) if numbers else _where(pred, a, b)
    is_scalar = all(_is_number(x) or getattr(x, "is_scalar", False) for x in (first, second))
    return as_scalar(result) if is_scalar else result


def _is_number(value: Any) -> bool:
    """Whether a result promotes like a Python number."""
    if isinstance(value, Tensor):
        return value.weak is not None
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
