"""The memory layout of objects of CPython and NumPy, and builtin functions that rely on it.

All knowledge of objects in memory is in this module. The layout was checked with CPython 3.11 to
3.14 and NumPy 2.1 to 2.5, on 64 bits, with the GIL. `is_possible` inspects some objects first;
where an object is not as expected, numgrad uses Python code instead.

Places are counted in words of 8 bytes, from the head of an object or of a table on.
"""

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..compile import routines
from ..platform.capsules import address_of

TYPE, OBJECT = 1, 2
"""The word of an object's type, and the first word behind its head."""

SIZE = OBJECT
"""The number of items of a tuple or a list."""

ITEMS = tuple.__basicsize__ // 8
"""The items of a tuple; since Python 3.14 its hash comes before them."""

LIST_ITEMS = OBJECT + 1
"""The address of the items of a list."""

SLICE, SLICE_END = OBJECT, OBJECT + 3
"""The three bounds of a slice."""

DATA, NDIM, SIZES, STRIDES = range(OBJECT, OBJECT + 4)
DTYPE, FLAGS = OBJECT + 5, OBJECT + 6
C_ORDER, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
LOW = 0xFFFFFFFF
"""Words of an array: the address of its elements, its number of axes, the addresses of its sizes
and its strides, its dtype and its flags; some flags; and the mask of a C int in a word."""

KINDS, ITEMSIZE = OBJECT + 1, OBJECT + 3
KIND_AND_ORDER = 0x00FF00FF
OF_OTHERS = 24
"""Words of a dtype: its kind, type, byte order and number, and its size in bytes; the bytes of kind
and byte order; and the first number that is not of NumPy's numeric and boolean types."""

FROM_SCALAR = 61
"""``PyArray_FromScalar`` in NumPy's table of functions."""

(
    NONE, TRUE, FALSE, ELLIPSIS, ZERO, INT_TYPE, BOOL_TYPE, FLOAT_TYPE, STR_TYPE, SLICE_TYPE,
    TUPLE_TYPE, LIST_TYPE, ARRAY_TYPE, OWN,
) = range(14)  # fmt: skip
"""The first words of every table: addresses of these objects. Its own words begin at the last."""

_OBJECTS = (None, True, False, ..., 0, int, bool, float, str, slice, tuple, list, np.ndarray)


class _Method(ctypes.Structure):
    """The C struct ``PyMethodDef`` of CPython, which describes a builtin function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL = 0x80


class _Table(np.ndarray):
    """A table of words that owns the objects it points to, and the C description of its function.

    `_method` caches one description, but threads that call it together may each make one: so every
    table keeps alive the description that its own function uses.
    """

    alive: Any
    method: _Method


def builtin(module: str, name: str, words: Sequence[int] | np.ndarray, alive: Any) -> Any:
    """Return a builtin function whose ``__self__`` is a table of words.

    Parameters
    ----------
    module, name : str
        The compiled function that runs when the builtin function is called: its module, within this
        package, and its name. It takes and returns words.
    words : sequence of int
        The table's own words, which follow the words that every table has (`_OBJECTS`).
    alive : object
        The owner of the objects that words point to; lives as long as the function.
    """
    table = np.array([*map(id, _OBJECTS), *words], np.int64).view(_Table)
    table.alive, table.method = alive, _method(module, name)
    return _new_function()(ctypes.addressof(table.method), table, None)


@cache
def _method(module: str, name: str) -> _Method:
    return _Method(name.encode(), routines.address_of(module, name, returns=True), _FASTCALL, None)


@cache
def _new_function() -> Callable[..., Any]:
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new


def words_of_array(
    dtype: np.dtype, shape: tuple[int, ...], flags: int, strides: tuple[int, ...] = ()
) -> list[int]:
    """Return the words of a description with which compiled code compares arrays.

    Without ``strides`` arrays with any strides fit the description.
    """
    return [id(np.dtype(dtype.type)), flags, len(shape), *shape, len(strides), *strides]


@cache
def places(kind: type, *names: str) -> tuple[int, ...] | None:
    """Return the words at which objects of a type keep attributes; None if they are not found."""
    if not is_possible():
        return None
    item, found = object.__new__(kind), []
    for name in names:
        mark = object()
        setattr(item, name, mark)
        words = peek(id(item), kind.__basicsize__ // 8)
        setattr(item, name, None)  # its ``__del__`` may read the attribute
        if words.count(id(mark)) != 1:
            return None
        found.append(words.index(id(mark)))
    return tuple(found) if min(found) >= OBJECT else None


def end(kind: type) -> int:
    """Return the number of the first word after the attributes in objects of a type.

    Only weak references may follow; since Python 3.12 they come before the object.
    """
    weak = getattr(kind, "__weakrefoffset__", 0)
    return (weak if weak > 0 else kind.__basicsize__) // 8


@cache
def from_scalar() -> int:
    """Return the address of NumPy's ``PyArray_FromScalar``; 0 where it cannot be found.

    That function makes an array of a scalar without the search for a dtype with which ``asarray``
    begins.
    """
    table = getattr(sys.modules.get("numpy._core._multiarray_umath"), "_ARRAY_API", None)
    if table is None:
        return 0
    return peek(address_of(table), FROM_SCALAR + 1)[FROM_SCALAR]


@cache
def is_possible() -> bool:
    """Whether objects have the expected memory layout; some objects are inspected."""
    known = (
        sys.implementation.name == "cpython"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and sys.byteorder == "little"
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and object.__basicsize__ == 8 * OBJECT
    )
    checks = (_array_is_as_expected, _dtypes_are, _numbers_are, _containers_are)
    return known and all(check() for check in checks)


def _array_is_as_expected() -> bool:
    array = np.zeros((3, 5, 2), np.float32)[:, ::2]
    array.flags.writeable = False
    words = peek(id(array), FLAGS + 1)
    sizes = peek(words[SIZES], 3)
    vector = np.ones(2)
    ordered = peek(id(vector), FLAGS + 1)[FLAGS]
    return (
        words[TYPE] == id(np.ndarray)
        and words[DATA] == array.__array_interface__["data"][0]
        and words[NDIM] & LOW == 3
        and tuple(sizes) == array.shape
        and tuple(peek(words[STRIDES], 3)) == array.strides
        and words[DTYPE] == id(np.dtype(np.float32))
        and words[FLAGS] & (C_ORDER | ALIGNED | WRITEABLE) == ALIGNED
        and ordered & (C_ORDER | ALIGNED | WRITEABLE) == C_ORDER | ALIGNED | WRITEABLE
    )


def _dtypes_are() -> bool:
    """Whether the kind, the byte order, the number and the size of a dtype are where expected."""
    for code in np.typecodes["All"]:
        dtype = np.dtype(code)
        words, expected = peek(id(dtype), ITEMSIZE + 1), dtype.itemsize
        kind, order = ord(dtype.kind), ord(dtype.byteorder)
        if words[KINDS] & KIND_AND_ORDER != kind | order << 16 or words[ITEMSIZE] != expected:
            return False
        if words[KINDS] >> 32 != dtype.num or dtype.num >= OF_OTHERS:
            return False
    return True


def _numbers_are() -> bool:
    """Whether the value of a number, other than a Python int, follows the head of its object."""
    codes = np.typecodes["AllInteger"] + "fdFD?"
    for number in [0.1 + 0.2, 0.1 + 0.2j, *(np.ones(1, code)[0] for code in codes)]:
        size = np.dtype(type(number)).itemsize
        if ctypes.string_at(id(number) + 8 * OBJECT, size) != np.asarray(number).tobytes():
            return False
    return True


def _containers_are() -> bool:
    parts = (object(), object(), object())
    row, whole = list(parts), slice(*parts)
    expected = [id(part) for part in parts]
    listed = peek(id(row), LIST_ITEMS + 1)
    return (
        peek(id(parts), SIZE + 1)[SIZE] == listed[SIZE] == len(parts)
        and peek(id(parts), ITEMS + len(parts))[ITEMS:] == expected
        and peek(listed[LIST_ITEMS], len(parts)) == expected
        and peek(id(whole), SLICE_END)[SLICE:] == expected
    )


def peek(address: int, count: int) -> list[int]:
    """Return ``count`` words of memory from ``address`` on."""
    return list((ctypes.c_int64 * count).from_address(address))
