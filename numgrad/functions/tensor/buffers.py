"""``array[key] = tensor`` where nobody but one name has the array: the name is bound to a tensor
with the elements of the array, and that is written.

NumPy asks a tensor for the numbers to write, which would lose the gradient. Nobody can tell a
tensor in place of the array from the array, unless that has another name, is seen through a view,
or is in a container: the count of references tells.
"""

import operator
import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from ..._settings import settings
from ..._tensor import Tensor
from ...engine.capture import stores
from ...engine.capture.bindings import can_bind, is_kept, rebind, references_of
from ...engine.capture.containers import container_of, is_contained
from ...engine.capture.ownership import (
    has_its_memory,
    is_lent,
    is_of_call,
    is_own,
    is_seen_by_name,
    lent,
)
from ...engine.capture.stores import LOCAL, NAME, Applied, Member, Store, UnreadableError, Variable
from ...engine.capture.user_call import is_users
from ...engine.graph.callsite import release
from ...engine.record.apply import mode
from ...process.reference_counts import OF_A_VARIABLE, has_exact_counts
from ..creation.from_data import asarray
from ..indexing.inplace import setitem


class _Last(threading.local):
    """The last tensor that was put in the place of an array, with the frame and the instruction
    that wrote it. NumPy asks each tensor of a written list; only the first question is a write."""

    frame = 0
    place = -1
    array: np.ndarray | None = None
    elements: np.ndarray | None = None

    @staticmethod
    def tensor() -> Tensor | None:
        return None

    def set(
        self,
        frame: FrameType,
        tensor: Tensor,
        array: np.ndarray | None,
        elements: np.ndarray | None,
    ) -> None:
        """Note a write, and the elements that NumPy is given in place of zeros. The array before is
        given where it is not known whether the tensor that NumPy has asked is the whole value."""
        self.frame, self.place, self.tensor = id(frame), frame.f_lasti, weakref.ref(tensor)
        self.array, self.elements = array, elements

    def elements_for(self, asked: Tensor) -> np.ndarray:
        """Return what NumPy is given in place of the elements of a tensor that it has asked."""
        return np.zeros(asked.shape, asked.dtype) if self.elements is None else self.elements

    def is_of(self, frame: FrameType, tensor: Tensor) -> bool:
        is_there = (self.frame, self.place) == (id(frame), frame.f_lasti)
        return is_there and self.tensor() is tensor


_last = _Last()


def written(tensor: Tensor, frame: FrameType, is_number: bool) -> np.ndarray | None:
    """Return other elements for NumPy than those of a tensor which has been written into another
    tensor, as that has taken the place of the array that NumPy writes; None for any other tensor.

    The elements are what the array holds already where a captured function reads it at a replay.

    Parameters
    ----------
    frame : FrameType
        The frame that has called the protocol by which NumPy asks.
    is_number : bool
        Whether it asks for a number, not for an array.
    """
    is_asked_to_leave = tensor.array is None or (tensor.requires_grad and mode.grad)
    if not is_asked_to_leave or not stores.is_storing(frame) or not is_users(frame):
        return None
    if settings.numpy == "never" or not has_exact_counts():
        return None
    try:
        return _write(tensor, frame, stores.store_of(frame), is_number)
    except UnreadableError:
        return None
    finally:
        release(frame)


def _write(tensor: Tensor, frame: FrameType, store: Store, is_number: bool) -> np.ndarray | None:
    counts = _references(frame)
    array = stores.read(store.holder, frame)
    if isinstance(array, Tensor):
        is_again = _last.is_of(frame, array) and not _is_undone(store, frame)
        return _last.elements_for(tensor) if is_again else None
    if not _can_hold(array, tensor) or not is_seen_by_name(array):
        return None
    if not _can_be_bound(store, frame, array):
        return None
    key = _plain_key(store, frame)
    region = _region(array, key)
    value = _value(tensor, region, store.value, frame, is_number)
    if counts != _references_of_one(store.holder, frame, array, key, value):
        return None
    elements = _elements(tensor, value, array, region, is_number)
    del region  # which may be a view, and a reference to the array
    before = array.copy("K")
    made = _made(before, tensor, key, value)
    rebind(store.holder, frame, made)
    dropped = 0 if is_kept(store.holder, frame) else references_of(store.holder)
    expected = counts[0] - 1 + OF_A_VARIABLE - dropped  # `counts` has an argument, no variable
    if sys.getrefcount(array) == expected and before.tobytes() == array.tobytes():
        is_whole = value is not tensor or array[key].ndim == 0 or _is_known(store.value, frame)
        _last.set(frame, made, None if is_whole else array, elements)
        return _last.elements_for(tensor)
    rebind(store.holder, frame, array)  # another thread has taken or written it meanwhile
    return None


def _elements(
    tensor: Tensor, value: Any, array: np.ndarray, region: Any, is_number: bool
) -> np.ndarray | None:
    """Return what NumPy is to write into the region of an array that has lost its name: the
    elements that are there if a captured function has computed with the array, else None."""
    if not is_lent(array):
        return None
    if value is not tensor or (is_number and np.size(region) != 1):
        raise UnreadableError
    return np.array(region)


def _is_undone(store: Store, frame: FrameType) -> bool:
    """Whether the value that was taken for a tensor was a list of several, each of which NumPy asks
    in turn. They are too many for the elements: the name is bound to the array again."""
    array = _last.array
    if array is not None:
        rebind(store.holder, frame, array)
    return array is not None


def _made(array: np.ndarray, tensor: Tensor, key: Any, value: Any) -> Tensor:
    """Return a tensor with the elements of an array, on the device of another one, after a
    write."""
    made = tensor_of(array, tensor)
    setitem(made, key, value)
    return made


def tensor_of(array: np.ndarray, tensor: Tensor) -> Tensor:
    """Return a tensor with the elements of an array, on the device of another one."""
    made = asarray(array.copy("K"), device=tensor.device)
    return made if mode.direct else made.clone()  # else it was memory from outside of a capture


def _can_be_bound(store: Store, frame: FrameType, array: np.ndarray) -> bool:
    """Whether the name or attribute of an array can be bound to a tensor."""
    if not can_bind(store.holder, frame) or (store.is_augmented and not _is_fixed(store, frame)):
        return False
    return mode.capture is None or is_of_call(array, store.holder, frame)


def can_be_tensor(array: Any, tensor: Tensor) -> bool:
    """Whether a tensor can stand in the place of an array that has its memory for itself, and
    elements of another one be written to it."""
    return _can_hold(array, tensor) and has_its_memory(array)


def _can_hold(array: Any, tensor: Tensor) -> bool:
    """Whether elements of a tensor can be written to an array."""
    if type(array) is not np.ndarray or array.dtype.kind not in "fc" or not array.dtype.isnative:
        return False
    is_fitting = array.dtype.kind == "c" or tensor.dtype.kind != "c"
    return is_fitting and array.flags.writeable


def _is_fixed(store: Store, frame: FrameType) -> bool:
    """Whether array and key, which were read before the value was computed, are the same
    afterwards."""
    if stores.is_safe(store.value, frame):
        return True
    names = [store.holder, *stores.names_in(store.key)]
    return _is_constant(store.key, frame) and all(is_own(name, frame) for name in names)


def _is_constant(key: Any, frame: FrameType) -> bool:
    """Whether a key whose names stay is the same when it is computed again."""
    if isinstance(key, Applied) and key.function in (slice, *stores.DISPLAYS):
        return all(_is_constant(one, frame) for one in key.operands)
    if isinstance(key, Applied):
        return all(stores.is_immutable(stores.read(name, frame)) for name in stores.names_in(key))
    return True


# What is written ----------------------------------------------------------------------------------


def _plain_key(store: Store, frame: FrameType) -> Any:
    """Return the key, which runs no code of the user where an array is read with it."""
    key = stores.read(store.key, frame)
    if not stores.is_plain(key):
        raise UnreadableError
    return key


def _region(array: np.ndarray, key: Any) -> Any:
    try:
        return array[key]
    except Exception as error:  # of the key; a tensor whose elements are not known is one
        raise UnreadableError from error


def _value(tensor: Tensor, region: Any, expression: Any, frame: FrameType, is_number: bool) -> Any:
    """Return what is written to a region: the tensor that is asked for its elements, or a list that
    holds it."""
    if isinstance(region, np.generic):
        if tensor.ndim:  # versions of NumPy differ
            raise UnreadableError
        return tensor
    if isinstance(expression, Variable) or _is_item(expression, frame):
        value = stores.read(expression, frame)
        if value is tensor or type(value) in (list, tuple):
            return value
        raise UnreadableError
    if _is_known(expression, frame):
        return tensor
    if tensor.ndim < region.ndim or _is_display(expression):
        try:
            return container_of(tensor, lambda one: _shape_of(one) == region.shape)
        except UnreadableError:
            if is_number or _is_display(expression) or is_contained(tensor):
                raise
    return tensor  # or of a list with this item alone, which adds an axis of size 1


def _is_known(expression: Any, frame: FrameType) -> bool:
    """Whether the value of an expression is a tensor, or the value of a variable or item."""
    if isinstance(expression, Variable) or _is_item(expression, frame):
        return True
    return stores.is_safe(expression, frame) and _is_of_tensors(expression, frame)


def _is_item(expression: Any, frame: FrameType) -> bool:
    """Whether an expression is an item of a dictionary, list or tuple."""
    if not isinstance(expression, Applied) or expression.function is not operator.getitem:
        return False
    holder = expression.operands[0]
    is_nested = _is_item(holder, frame)
    is_named = isinstance(holder, (Variable, Member))
    return (is_nested or is_named) and type(stores.read(holder, frame)) in (dict, list, tuple)


def _is_display(expression: Any) -> bool:
    return isinstance(expression, Applied) and expression.function in stores.DISPLAYS


def _is_of_tensors(expression: Any, frame: FrameType) -> bool:
    """Whether an expression computes with tensors, so that its value is one."""
    if isinstance(expression, (Variable, Member)):
        return isinstance(stores.read(expression, frame), Tensor)
    if not isinstance(expression, Applied) or _is_display(expression):
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


def _references(frame: FrameType) -> tuple[int, int]:
    """Return the numbers of references to the array into which a frame writes, and to the array
    whose memory that views; 0 where there is none."""
    array = stores.read(stores.store_of(frame).holder, frame)
    base = getattr(array, "base", None)
    of_base = 0 if base is None else sys.getrefcount(base)
    del base
    return sys.getrefcount(array) + 1 - OF_A_VARIABLE, of_base  # without the variable


class _Probe:
    """A value that counts the references to the array to which it is written."""

    def __init__(self, tensor: Tensor, counts: list[tuple[int, int]]) -> None:
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
) -> tuple[int, int]:
    """Return the numbers of references to an array with a single name and to its base, while NumPy
    writes a value of this structure at this key."""
    counts: list[tuple[int, int]] = []
    write = _WRITES[kind_of(holder, frame)]
    write(_maker(array), key, _probing(value, counts))
    if not counts:
        return -1, -1
    of_array, of_base = counts[0]
    return of_array + lent(array), of_base + (0 if array.base is None else lent(array.base))


def _maker(array: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a function that makes an array with the shape and dtype of ``array``, and with a base
    if ``array`` has a base."""
    if array.base is None:
        return np.zeros(array.shape, array.dtype).copy
    return lambda: np.zeros((1, *array.shape), array.dtype)[0]


def kind_of(holder: Any, frame: FrameType) -> str:
    """Return what kind of name an array has, on which the number of its references depends."""
    if isinstance(holder, Member):
        return "member"
    is_shared = holder.name in frame.f_code.co_cellvars + frame.f_code.co_freevars
    return "shared" if is_shared else holder.kind


def _probing(value: Any, counts: list[tuple[int, int]]) -> Any:
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
