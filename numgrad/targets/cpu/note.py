"""A way to record an operation that takes no Python: a builtin function for each plan.

What it does is compiled once, see `noting`; what a plan is like is in a table of words, see
`noting_words`. Where objects keep their attributes is found out by a look at some.
"""

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from . import entry, routines
from . import noting_words as at
from .entry_words import OBJECT

_VALUE = ("array", "_view", "_storage", "_requires_grad", "node", "slot", "expr")
_NODE = ("parents", "slots", "number", "saved", "versions", "code", "instruction")
_VIEW = ("base", "node", "expr", "chain")
_NAMES = ("f_code", "co_filename", "f_lasti")


class Plan(NamedTuple):
    """What is recorded.

    Attributes
    ----------
    compute : callable
        Takes the arrays of the inputs.
    value, node, storage : object
        Objects like those that are made, without the attributes that each has of its own.
    view : type
        Of what makes a value a view of another one.
    reads : sequence of (sequence of bool) or None
        By which inputs require grad, as bits: what the derivative reads of the inputs and the
        result. Empty where gradients do not flow.
    inputs : sequence of Spec
        Of the inputs, at most `noting_words.MOST`.
    unwritten : tuple
        The versions of saved values.
    step : tuple
        What leads from a base to its view; empty for what is none.
    tools : tuple
        ``frame_at(depth)`` and the depth of the frame that may be the user's; a dict that tells of
        file names whether they are ours, and ``user_frame(frame)``; ``next_number()``,
        ``accumulator_of(leaf)``, ``storage_of(value)``.
    ordered : bool
        Whether the arrays must be in C order.
    """

    compute: Any
    value: Any
    node: Any
    storage: Any
    view: type
    reads: Sequence[Sequence[bool] | None]
    inputs: Sequence[Any]
    unwritten: tuple[int, ...]
    step: tuple[Any, ...]
    tools: tuple[Any, ...]
    ordered: bool


def recorder(plan: Plan) -> Any:
    """Return ``(inputs..., arrays...) -> value or None``; None where Python's objects cannot be
    read."""
    value, node, storage = type(plan.value), type(plan.node), type(plan.storage)
    layouts = [
        layout(value, _VALUE), layout(node, _NODE), layout(storage, ("version",)),
        layout(plan.view, _VIEW), layout(value, ("_kept",)), layout(storage, ("kept",)),
    ]  # fmt: skip
    start = items()
    if None in layouts or start is None or not entry.is_possible():
        return None
    shapes = [w for s in plan.inputs for w in (id(np.dtype(s.dtype.type)), len(s.shape), *s.shape)]
    words = np.zeros(at.WORDS + len(shapes), np.int64)
    words[at.NIN], words[at.ORDERED], words[at.WORDS :] = len(plan.inputs), plan.ordered, shapes
    for place, thing in (
        (at.COMPUTE, plan.compute), (at.ARRAY_TYPE, np.ndarray), (at.AS_ARRAY, np.asarray),
        (at.VALUE_TYPE, value), (at.STORAGE_TYPE, storage), (at.VIEW_TYPE, plan.view),
        (at.NONE, None), (at.TRUE, True), (at.FALSE, False), (at.ZERO, 0), (at.VALUE, plan.value),
        (at.NODE, plan.node), (at.STORAGE, plan.storage), (at.EMPTY, ()),
        (at.UNWRITTEN, plan.unwritten), (at.SCALAR_TYPE, plan.value.spec.dtype.type),
    ):  # fmt: skip
        words[place] = id(thing)
    words[at.NEW : at.CLEAR + 1] = functions(
        "PyType_GenericAlloc", "PyTuple_New", "PyObject_Vectorcall", "Py_IncRef", "Py_DecRef",
        "PyObject_GetAttr", "PyDict_GetItem", "PySequence_Concat", "PyFrame_GetBack",
        "PyErr_Clear",
    )  # fmt: skip
    words[at.FRAME_AT : at.STORAGE_OF + 1] = [id(tool) for tool in plan.tools]
    words[at.CODE_NAME : at.INSTRUCTION_NAME + 1] = [id(name) for name in _NAMES]
    words[at.STEP] = id(plan.step) if plan.step else 0
    words[at.FROM_SCALAR] = _from_scalar()
    firsts = (at.V_ARRAY, at.N_PARENTS, at.S_VERSION, at.W_BASE, at.V_KEPT, at.S_KEPT)
    for first, places in zip(firsts, layouts, strict=True):
        assert places is not None
        words[first : first + len(places)] = places
    for place, kind in ((at.VALUE_END, value), (at.NODE_END, node), (at.STORAGE_END, storage)):
        words[place] = _end(kind)
    words[at.FLOWS], words[at.ITEMS] = bool(plan.reads), start
    for wanted, reads in enumerate(plan.reads):
        words[at.READS + wanted] = sum(bool(read) << n for n, read in enumerate(reads or ()))
    table = words.view(entry.Table)
    table.flags.writeable = False
    table.alive = plan
    return entry.builtin(_method(), table)


@cache
def layout(kind: type, names: tuple[str, ...]) -> tuple[int, ...] | None:
    """Return where objects of a type keep attributes, in words; None where they cannot be found."""
    item = object.__new__(kind)
    places = []
    for name in names:
        mark = object()
        setattr(item, name, mark)
        words = entry.peek(id(item), _end(kind))
        if words.count(id(mark)) != 1:
            return None
        places.append(words.index(id(mark)))
    return tuple(places) if min(places) >= at.FIRST == OBJECT else None


def _end(kind: type) -> int:
    """Return where the attributes of an object end: only weak references may follow; since Python
    3.12 they come before the object."""
    weak = getattr(kind, "__weakrefoffset__", 0)
    return (weak if weak > 0 else kind.__basicsize__) // 8


@cache
def items() -> int | None:
    """Return where the items of a tuple begin, in words; None where they cannot be found."""
    pair = (object(), object())
    words = entry.peek(id(pair), tuple.__basicsize__ // 8 + 2)
    place = words.index(id(pair[0])) if id(pair[0]) in words else -1
    return place if place >= OBJECT and words[place + 1 :] == [id(pair[1])] else None


@cache
def functions(*names: str) -> tuple[int, ...]:
    """Return the addresses of functions of CPython."""
    found = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in names]
    return tuple([address or 0 for address in found])


@cache
def _from_scalar() -> int:
    """Return the address of a function of NumPy that makes an array of a scalar, without the search
    for a dtype that ``asarray`` begins with; 0 where it cannot be found."""
    table = getattr(np._core._multiarray_umath, "_ARRAY_API", None)  # type: ignore[attr-defined]
    if table is None:
        return 0
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return entry.peek(find(table, None), _FROM_SCALAR + 1)[_FROM_SCALAR]


_FROM_SCALAR = 61  # the place of PyArray_FromScalar in NumPy's table of functions, which is fixed


@cache
def _method() -> entry.Method:
    """Return the description of the compiled function."""
    address = routines.address_of("noting", "note", returns=True)
    return entry.Method(b"record", address, entry.FASTCALL, None)
