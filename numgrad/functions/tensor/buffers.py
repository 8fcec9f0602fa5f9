"""``array[key] = tensor`` where nobody but one name has the array: the name is bound to a tensor
with the elements of the array, and that is written.

NumPy asks a tensor for the numbers to write, which would lose the gradient. Nobody can tell a
tensor in place of the array from the array, unless that has another name, is seen through a view,
or is in a container: the count of references tells.
"""

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from ..._settings import settings
from ..._tensor import Tensor
from ...engine.capture import stores
from ...engine.capture.bindings import can_bind, has_exact_counts, rebind
from ...engine.capture.containers import container_of, is_contained
from ...engine.capture.stores import LOCAL, NAME, Applied, Member, Store, UnreadableError, Variable
from ...engine.capture.user_call import is_users
from ...engine.record.apply import mode
from ..creation.from_data import asarray
from ..indexing.inplace import setitem


class _Last(threading.local):
    """The last tensor that was put in the place of an array, and the instruction that wrote it:
    of a list NumPy asks each tensor for its elements."""

    write: tuple[int, int, Tensor] | None = None


_last = _Last()


def is_written(tensor: Tensor, frame: FrameType, is_number: bool) -> bool:
    """Whether a tensor that is asked for its elements was written to a tensor instead, which is in
    the place of an array now.

    Parameters
    ----------
    frame : FrameType
        The frame that has called the protocol by which NumPy asks.
    is_number : bool
        Whether it asks for a number, not for an array.
    """
    is_asked_to_leave = tensor.array is None or (tensor.requires_grad and mode.grad)
    if not is_asked_to_leave or not stores.is_storing(frame) or not is_users(frame):
        return False
    if settings.numpy == "never" or not has_exact_counts():
        return False
    try:
        return _write(tensor, frame, stores.store_of(frame), is_number)
    except UnreadableError:
        return False


def _write(tensor: Tensor, frame: FrameType, store: Store, is_number: bool) -> bool:
    count = _references(frame)
    array = stores.read(store.holder, frame)
    if isinstance(array, Tensor):
        return _last.write == (id(frame), frame.f_lasti, array) if _last.write else False
    if not _can_be_tensor(array, tensor) or not can_bind(store.holder, frame):
        return False
    if mode.capture is not None and _may_be_older(store.holder, frame):
        return False
    if store.is_augmented and not _is_fixed(store, frame):
        return False
    key = stores.read(store.key, frame)
    value = _value(tensor, _shape(array, key), store.value, frame, is_number)
    if count != _references_of_one(store.holder, frame, array, key, value):
        return False
    made = asarray(array.copy(), device=tensor.device)
    made = made if mode.direct else made.clone()  # else it was memory from outside of a capture
    setitem(made, key, value)
    rebind(store.holder, frame, made)
    _last.write = id(frame), frame.f_lasti, made
    return True


def _can_be_tensor(array: Any, tensor: Tensor) -> bool:
    """Whether a tensor can stand in the place of an array, and elements of another one be written
    to it."""
    if type(array) is not np.ndarray or array.dtype.kind not in "fc" or not array.dtype.isnative:
        return False
    is_fitting = array.dtype.kind == "c" or tensor.dtype.kind != "c"
    return is_fitting and array.flags.writeable and _has_no_other_name(array)


def _may_be_older(holder: Any, frame: FrameType) -> bool:
    """Whether an array may have been made before the function that is captured began: a later call
    would find the tensor of this one."""
    return isinstance(holder, Member) or holder.name in frame.f_code.co_freevars


def _has_no_other_name(array: np.ndarray) -> bool:
    """Whether nobody but an array has the array, if any, of which it is a view."""
    base = array.base
    if base is None:
        return True
    return type(base) is np.ndarray and base.base is None and _count_of_base(array) == _OF_BASE


def _count_of_base(array: np.ndarray) -> int:
    return sys.getrefcount(array.base)


_OF_BASE = _count_of_base(np.zeros(4).reshape(2, 2)) + 1  # the variable `base` above


def _is_fixed(store: Store, frame: FrameType) -> bool:
    """Whether a key that was read before the value was computed is the same afterwards: its names
    are of the function alone, or no other function has computed the value."""
    inner = frame.f_code.co_cellvars + frame.f_code.co_freevars
    is_own = all(
        isinstance(name, Variable) and name.kind in (LOCAL, NAME) and name.name not in inner
        for name in stores.names_in(store.key)
    )
    return is_own or stores.is_safe(store.value, frame)


# What is written ----------------------------------------------------------------------------------


def _shape(array: np.ndarray, key: Any) -> tuple[int, ...]:
    try:
        return np.shape(array[key])
    except Exception as error:  # of the key; a tensor whose elements are not known is one
        raise UnreadableError from error


def _value(
    tensor: Tensor, shape: tuple[int, ...], expression: Any, frame: FrameType, is_number: bool
) -> Any:
    """Return what is written to a region of a shape: the tensor that is asked for its elements, or
    a list that holds it."""
    if tensor.ndim >= len(shape):
        return tensor
    if isinstance(expression, Variable):
        value = stores.read(expression, frame)
        if value is tensor or type(value) in (list, tuple):
            return value
        raise UnreadableError
    if stores.is_safe(expression, frame) and _is_of_tensors(expression, frame):
        return tensor
    try:
        return container_of(tensor, lambda one: _shape_of(one) == shape)
    except UnreadableError:
        is_built = isinstance(expression, Applied) and expression.function in stores.DISPLAYS
        if is_number or is_built or is_contained(tensor):
            raise
    return tensor


def _is_of_tensors(expression: Any, frame: FrameType) -> bool:
    """Whether an expression computes with tensors, so that its value is one."""
    if isinstance(expression, (Variable, Member)):
        return isinstance(stores.read(expression, frame), Tensor)
    if not isinstance(expression, Applied) or expression.function in stores.DISPLAYS:
        return False
    function, operands = stores.function_of(expression, frame)
    is_operator = expression.function is not None or isinstance(function, np.ufunc)
    return is_operator and any(_is_of_tensors(one, frame) for one in operands)


def _shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of a list of lists, which have equal lengths."""
    if type(value) in (list, tuple):
        return (len(value), *(_shape_of(value[0]) if value else ()))
    return np.shape(value)


# The count of references --------------------------------------------------------------------------


def _references(frame: FrameType) -> int:
    """Return the number of references to the array into which a frame writes."""
    return sys.getrefcount(stores.read(stores.store_of(frame).holder, frame))


class _Probe:
    """A value that counts the references to the array to which it is written."""

    def __init__(self, tensor: Tensor, counts: list[int]) -> None:
        self.zeros = np.zeros(tensor.shape, tensor.dtype)
        self.counts = counts

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self.counts.append(_references(sys._getframe(1)))
        return self.zeros.astype(dtype)

    def __float__(self) -> float:
        self.counts.append(_references(sys._getframe(1)))
        return 0.0

    def __complex__(self) -> complex:
        self.counts.append(_references(sys._getframe(1)))
        return 0j


def _references_of_one(
    holder: Any, frame: FrameType, array: np.ndarray, key: Any, value: Any
) -> int:
    """Return how many references there are to an array that one name alone has, while NumPy writes
    such a value to it."""
    counts: list[int] = []
    write = _WRITES[_kind(holder, frame)]
    write(np.zeros(array.shape, array.dtype).copy, key, _probing(value, counts))
    return counts[0] if counts else -1


def _kind(holder: Any, frame: FrameType) -> str:
    if isinstance(holder, Member):
        return "member"
    is_shared = holder.name in frame.f_code.co_cellvars + frame.f_code.co_freevars
    return "shared" if is_shared else holder.kind


def _probing(value: Any, counts: list[int]) -> Any:
    if isinstance(value, Tensor):
        return _Probe(value, counts)
    if type(value) in (list, tuple):
        return type(value)([_probing(item, counts) for item in value])
    return value


def _to_local(make: Callable[[], np.ndarray], key: Any, value: Any) -> None:
    buffer = make()
    buffer[key] = value


def _to_shared(make: Callable[[], np.ndarray], key: Any, value: Any) -> None:
    buffer = make()

    def write() -> None:
        buffer[key] = value

    write()


def _to_member(make: Callable[[], np.ndarray], key: Any, value: Any) -> None:
    holder = _Holder()
    holder.buffer = make()
    holder.buffer[key] = value


class _Holder:
    buffer: np.ndarray


_TO_GLOBAL = compile("buffer = make()\nbuffer[key] = value\n", __file__, "exec")


def _to_global(make: Callable[[], np.ndarray], key: Any, value: Any) -> None:
    exec(_TO_GLOBAL, {"make": make, "key": key, "value": value})


_WRITES = {LOCAL: _to_local, "shared": _to_shared, "member": _to_member, NAME: _to_global}
