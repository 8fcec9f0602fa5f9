"""A way to recorders that takes no Python: a builtin function for each function of tensors and
options. What it does is compiled once, see `stepping`."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import entry, note, routines
from . import stepping_words as at
from .entry_words import OBJECT


def finder(
    kind: type, unusual: dict[Any, Any], known: dict[Any, Any], general: Callable[..., Any]
) -> Any:
    """Return ``(values and options...) -> result``; None where Python's objects cannot be read.

    Parameters
    ----------
    kind : type
        Of values.
    unusual : dict
        Recorders are used where it is empty.
    known : dict
        The recorders to be used one after the other, as a tuple, by specs and options.
    general : callable
        Does what is not known.
    """
    spec, bounds = note.layout(kind, ("spec",)), _bounds()
    items = note.items()
    if spec is None or bounds is None or items is None or not entry.is_possible():
        return None
    words = np.zeros(at.WORDS, np.int64)
    for place, thing in (
        (at.VALUE_TYPE, kind), (at.INT_TYPE, int), (at.SLICE_TYPE, slice), (at.TUPLE_TYPE, tuple),
        (at.LIST_TYPE, list), (at.NONE, None), (at.ELLIPSIS, ...), (at.UNUSUAL, unusual),
        (at.KNOWN, known), (at.GENERAL, general), (at.VALUE_ERROR, ValueError),
        (at.BOOL_TYPE, bool),
    ):  # fmt: skip
        words[place] = id(thing)
    words[at.NEW_TUPLE : at.CLEAR + 1] = note.functions(
        "PyTuple_New", "PyObject_Vectorcall", "Py_IncRef", "Py_DecRef", "PyDict_GetItem",
        "PyDict_Size", "PyLong_FromLongLong", "PyErr_ExceptionMatches", "PyErr_Clear",
    )  # fmt: skip
    words[at.V_SPEC] = spec[0]
    words[at.S_START : at.S_STEP + 1] = bounds
    words[at.ITEMS], words[at.SIZE] = items, OBJECT
    table = words.view(entry.Table)
    table.flags.writeable = False
    table.alive = kind, unusual, known, general
    return entry.builtin(_method(), table)


@cache
def _bounds() -> list[int] | None:
    """Return where a slice keeps its bounds, in words; None where they cannot be found."""
    parts = (object(), object(), object())
    row, whole = list(parts), slice(*parts)
    words = entry.peek(id(whole), slice.__basicsize__ // 8)
    sizes = [entry.peek(id(three), OBJECT + 1)[OBJECT] for three in (parts, row)]
    first = entry.peek(id(row), OBJECT + 2)[OBJECT + 1]
    if sizes != [3, 3] or entry.peek(first, 1) != [id(row[0])]:
        return None
    if any(words.count(id(part)) != 1 for part in parts):
        return None
    return [words.index(id(part)) for part in parts]


@cache
def _method() -> entry.Method:
    """Return the description of the compiled function."""
    address = routines.address_of("stepping", "step", returns=True)
    return entry.Method(b"step", address, entry.FASTCALL, None)
