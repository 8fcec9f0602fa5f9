"""CPython's functions as compiled code calls them, and checks of objects.

``t`` is the address of a table of words, see `object_layout`; other arguments are addresses of
objects. Python code may delete an attribute of an object, or set it to anything. So before compiled
code reads the object to which a word points, the code tests that the word is not 0, and the type of
the object.
"""

from typing import Any

from numba.core import types

from ..compile.intrinsics import load_word, store_word
from ..platform.object_loader import PYTHON
from .object_layout import (
    ARRAY_TYPE,
    DTYPE,
    FLAGS,
    ITEMSIZE,
    KIND_AND_ORDER,
    KINDS,
    LOW,
    NDIM,
    OBJECT,
    OF_OTHERS,
    SIZES,
    STRIDES,
    TUPLE_TYPE,
    TYPE,
)

EQUAL = 2
"""The comparison ``==``, as `are_equal` takes it."""


def _function(name: str, count: int, result: Any = types.int64) -> Any:
    """Return the declaration of a function of CPython that takes ``count`` words."""
    return types.ExternalFunction(PYTHON + name, result(*(types.int64,) * count))


keep = _function("Py_IncRef", 1, types.void)
drop = _function("Py_DecRef", 1, types.void)
vector_call = _function("PyObject_Vectorcall", 4)
get_attribute = _function("PyObject_GetAttr", 2)
get_item = _function("PyObject_GetItem", 2)
new_object = _function("PyType_GenericAlloc", 2)
new_tuple = _function("PyTuple_New", 1)
set_slice = _function("PyList_SetSlice", 4, types.int32)
are_equal = _function("PyObject_RichCompareBool", 3, types.int32)
new_int = _function("PyLong_FromLongLong", 1)
number_of = _function("PyLong_AsLongLongAndOverflow", 2)
join = _function("PySequence_Concat", 2)
length_of_dict = _function("PyDict_Size", 1)
look_up = _function("PyDict_GetItem", 2)  # returns a borrowed reference, or 0
code_of = _function("PyFrame_GetCode", 1)
instruction_of = _function("PyFrame_GetLasti", 1, types.int32)
frame_above = _function("PyFrame_GetBack", 1)
is_error = _function("PyErr_ExceptionMatches", 1, types.int32)
clear_error = _function("PyErr_Clear", 0, types.void)
check_signals = _function("PyErr_CheckSignals", 0, types.int32)
release_lock = _function("PyEval_SaveThread", 0)
take_lock = _function("PyEval_RestoreThread", 1, types.void)


def call(function, arguments, count):
    """Call a Python function; return the result, which the caller owns, or 0 after an error."""
    return vector_call(function, arguments, count, 0)


def place(t, item, name):
    """Return the object that an attribute of ``item`` refers to; 0 if there is none.

    Word ``name`` of the table has the place of the attribute in objects.
    """
    return load_word(item, load_word(t, name))


def give(t, item, name, thing):
    """Store an object in an attribute of ``item``; the attribute takes the caller's reference."""
    before = place(t, item, name)
    store_word(item, load_word(t, name), thing)
    if before != 0:
        drop(before)


def put(t, item, name, thing):
    """Store an object in an attribute of ``item``; the attribute gets a reference of its own."""
    keep(thing)
    give(t, item, name, thing)


def is_a(t, item, kind):
    """Return 1 if the type of ``item`` is exactly that in word ``kind`` of the table; else 0.

    The result is 0 for a null pointer, too.
    """
    return 1 if item != 0 and load_word(item, TYPE) == load_word(t, kind) else 0


def like(t, template, end):
    """Return a new object, a copy of a template; 0 if there is no memory.

    ``template`` and ``end`` are words of the table: the template, and where its attributes end.
    """
    old = load_word(t, template)
    new = new_object(load_word(old, TYPE), 0)
    if new != 0:
        for n in range(OBJECT, load_word(t, end)):
            item = load_word(old, n)
            keep(item)
            store_word(new, n, item)
    return new


def are_same(t, found, expected):
    """Return 1 if an object is a tuple equal to ``expected``, else 0."""
    if found == expected:
        return 1
    if is_a(t, found, TUPLE_TYPE) == 0:
        return 0
    answer = are_equal(found, expected, EQUAL)
    if answer < 0:
        clear_error()
    return 1 if answer > 0 else 0


def is_dtype(found, expected):
    """Return 1 if a dtype equals ``expected``, one of NumPy's own; else 0.

    Equal dtypes may be different objects: an array that was pickled, or was given metadata, has a
    dtype object of its own, and two integer types of C may have the same size.
    """
    if found == expected:
        return 1
    kinds = load_word(found, KINDS)
    if (kinds ^ load_word(expected, KINDS)) & KIND_AND_ORDER != 0 or kinds >> 32 >= OF_OTHERS:
        return 0
    return 1 if load_word(found, ITEMSIZE) == load_word(expected, ITEMSIZE) else 0


def fits(t, item, p):
    """Return the length of the description at ``p`` if an object is an array as described; else 0.

    `object_layout.words_of_array` writes such descriptions.
    """
    if is_a(t, item, ARRAY_TYPE) == 0:
        return 0
    flags, ndim = load_word(p, 1), load_word(p, 2)
    dtype = load_word(item, DTYPE)
    if load_word(item, NDIM) & LOW != ndim or is_dtype(dtype, load_word(p, 0)) == 0:
        return 0
    if load_word(item, FLAGS) & flags != flags:
        return 0
    sizes, strides = load_word(item, SIZES), load_word(item, STRIDES)
    for d in range(ndim):
        if load_word(sizes, d) != load_word(p, 3 + d):
            return 0
    known = load_word(p, 3 + ndim)
    for d in range(known):
        if load_word(strides, d) != load_word(p, 4 + ndim + d):
            return 0
    return 4 + ndim + known
