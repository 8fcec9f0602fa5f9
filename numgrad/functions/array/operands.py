"""What functions do with their operands first."""

import operator
from typing import Any

import numpy as np

from ..._declare.operands import device_among, kind_of
from ..._tensor import ArrayLike, Tensor
from ...engine.capture.capture import constant_elements
from ...engine.graph.value import CPU, ForeignStorage
from ...engine.graph.view import RESULT
from ...engine.record.apply import mode, other_modes
from ...engine.record.guards import guarded
from ...ir.dtypes import FLOATING, WEAK
from .argument_checks import unwanted

_NUMBERS = frozenset({float, complex, bool})


def as_tensor(x: ArrayLike, device: str = CPU) -> Tensor:
    """Return ``x`` as a tensor; arrays are not copied, gradients reach tensors in sequences, and a
    number, also one known later, gets a dtype of its own. What is no tensor is made one of a
    device."""
    if isinstance(x, Tensor):
        return plain(x)
    if device == CPU and not other_modes:
        if type(x) is np.ndarray and x.dtype in FLOATING:
            return Tensor(x, False, ForeignStorage())
        if type(x) in _NUMBERS:  # an int may be too large
            return Tensor(np.asarray(x))
    from ..creation.from_data import asarray  # which makes use of functions that come here first

    return asarray(x) if device == CPU else asarray(x, device=device)


def as_tensors(*operands: ArrayLike) -> list[Tensor]:
    """Return the operands of one function as tensors; what is none yet is taken to the device of
    those that are."""
    for x in operands:
        if type(x) is not Tensor:
            break
    else:
        return list(operands)
    device = device_among(operands)
    if device is None or mode.capture is not None:  # a replay reads arrays anew
        return [as_tensor(x) for x in operands]
    from ..creation.from_data import asarray, carries_graph

    return [
        as_tensor(x)
        if isinstance(x, Tensor) or (type(x) is np.ndarray and device == CPU) or carries_graph(x)
        else asarray(x, device=device)
        for x in operands
    ]


def floats_of(x: ArrayLike) -> Tensor:
    """Return ``x`` as a tensor, integers and truth values as float64."""
    x = as_tensor(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def kind_of_operand(x: ArrayLike) -> Any:
    """Return what decides how an operand is promoted: its dtype or, also of one that is known
    later, a number of Python."""
    return kind_of(x if isinstance(x, (Tensor, *WEAK)) else as_tensor(x))


def in_one_dtype(*operands: ArrayLike) -> list[Tensor]:
    """Return the operands as tensors of the dtype that they have together; numbers of Python take
    that of the others, as in NumPy."""
    dtype = np.result_type(*map(kind_of_operand, operands))
    return [as_tensor(x).astype(dtype, copy=False) for x in operands]


def as_scalar(x: Tensor) -> Tensor:
    """Return a new result; one without axes as what it is in NumPy, a value."""
    if not x.shape:
        x._view = RESULT
    return x


def like(kind: type[Tensor], value: Tensor) -> Tensor:
    """Return a result as a tensor of another class, at the same place in the graph."""
    result = kind.deferred(value.expr, value.expr_slot, value.spec)  # type: ignore[arg-type]
    result._view = value._view if value.is_scalar else None
    if value.requires_grad:
        result.move(value.node, value.slot, True)
    return result  # type: ignore[return-value]


def plain(x: Tensor) -> Tensor:
    """Return an argument that stands for a number as a tensor, which has a dtype of its own."""
    if type(x) is Tensor or x.expr is None:
        return x
    return x.clone() if x.requires_grad else like(Tensor, x)  # a leaf is what it is


def values_of(x: ArrayLike) -> Any:
    """Return the elements as an array of NumPy, for what has no derivative."""
    return x._on_host() if isinstance(x, Tensor) else np.asarray(arrays_of(guarded(x)))


def arrays_of(items: Any) -> Any:
    """Replace the tensors in nested sequences by arrays of NumPy."""
    if isinstance(items, (list, tuple)):
        return type(items)(map(arrays_of, items))
    return items._on_host() if isinstance(items, Tensor) else items


def lists_of(items: Any) -> Any:
    """Replace the tensors in nested sequences, all of which become lists, by arrays of NumPy."""
    if isinstance(items, (list, tuple)):
        return [lists_of(item) for item in items]
    return items._on_host() if isinstance(items, Tensor) else items


def whole(n: Any) -> int:
    """Return a size, a place or a count as a Python integer; a tensor must be of integers."""
    n = guarded(n)
    try:
        return operator.index(n)
    except TypeError:
        if isinstance(n, Tensor):
            raise  # it says what to write instead
        raise TypeError(unwanted("a size, a place or a count", "an integer", n)) from None


def truncated(n: Any) -> int:
    """Return a place or a count that NumPy truncates as a Python integer; a tensor must be of
    integers."""
    n = guarded(n)
    if isinstance(n, Tensor):
        return operator.index(n)
    try:
        return int(n)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(unwanted("a size, a place or a count", "an integer", n)) from None


def is_known(x: ArrayLike) -> bool:
    """Return whether the elements can be looked at: not so while a function is captured."""
    has_none = isinstance(x, Tensor) and x.array is None and mode.capture is not None
    return not has_none or constant_elements(x) is not None
