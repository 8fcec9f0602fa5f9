"""A way into a program that takes no Python: a builtin function that reads NumPy's arrays.

A compiled function with the signature of CPython's ``METHFASTCALL`` looks at the array objects
themselves, writes the addresses of their elements to a run's table of bases and runs the program,
all in a fraction of a microsecond. A short program runs on the calling thread, which keeps the GIL;
another gives it back meanwhile and may run on many threads. The memory of the run belongs to the
entry: a second call that comes meanwhile is refused. Where anything is not exactly as expected it
does nothing and says so: the caller then goes the ordinary way.

The words of its table are in `entry_words`, the compiled function in `entering`.
"""

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ..._specs import Same
from . import machine, memory, routines, threads
from .entry_words import (
    ALIGNED,
    C_ORDER,
    DATA,
    DIGIT,
    DTYPE,
    FLAGS,
    INTEGER,
    LAUNCH,
    LEFT,
    LOCK,
    LOW,
    NDIM,
    NUMBER,
    OBJECT,
    POSITIVE,
    SAME,
    SIGNALS,
    SIZES,
    UNLOCK,
    WRITEABLE,
)  # fmt: skip
from .words import BASES, STATES

MOST_BYTES = 1 << 22
"""Memory that the run of an entry may need, which it keeps."""


class Argument(NamedTuple):
    """What an argument must be exactly.

    Attributes
    ----------
    dtype : dtype, type or object
        The dtype of an array in C order; the type of a number, ``int`` or one that keeps it as an
        element of an array does; a `Same`.
    shape : tuple of int
    slots : sequence of int
        Where its address goes in the table of bases.
    writeable : bool
        Whether the program writes to it.
    """

    dtype: Any
    shape: tuple[int, ...]
    slots: Sequence[int]
    writeable: bool = False


class Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL = 0x80


@cache
def _method() -> Method:
    """Return the description of the compiled function."""
    address = routines.address_of("entering", "enter", returns=True)
    return Method(b"replay", address, FASTCALL, None)


def builtin(method: Method, table: "Table") -> Any:
    """Return a compiled function that gets a table, which keeps alive how it is described.

    Nobody else does: threads that meet may each make a description, of which one is cached.
    """
    table.method = method
    return _new_function()(ctypes.addressof(method), table, None)


@cache
def _functions() -> list[int]:
    """Return the addresses of CPython's functions that give back its lock, take it, and look at
    signals."""
    names = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals")
    found = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in names]
    return [address or 0 for address in found]


@cache
def _new_function() -> Callable[..., Any]:
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new


class Table(np.ndarray):
    """Words that keep alive what they point to."""

    alive: Any
    method: Method


def entry_of(
    runner: machine.Runner,
    arguments: Sequence[Argument],
    constants: Sequence[np.ndarray],
    alive: Any,
    calls: int | None = None,
    spread: Sequence[bool] | None = None,
) -> tuple[Callable[..., Any] | None, Callable[[], int] | None]:
    """Return a builtin function that runs a program; see `make`.

    With ``calls`` it answers so many calls; a second function then says how many it answered, and
    lets it answer as many again. With ``spread`` it gives back the GIL, and runs the parts for
    which that is true on all threads. There is none for a program that would keep much memory, or
    where only one thread at a time may launch others.
    """
    if not is_possible():
        return None, None
    many = spread or [False] * len(runner.parts)
    workers = [part.workers() if s else 1 for part, s in zip(runner.parts, many, strict=True)]
    if max(workers, default=1) > 1 and not threads.can_launch():
        return None, None
    bases, block, nbytes = runner.layout(workers)
    if nbytes > MOST_BYTES:
        return None, None
    space = memory.Space(nbytes)
    first = bases // 8
    space.words[first : first + machine.OUTSIDE] = (0, 0, space.address + block)
    space.header[BASES] = space.address + bases
    blocks = [(p.block_address, n) for p, n in zip(runner.parts, workers, strict=True)]
    work, state = machine.address_of("work"), space.address + 8 * STATES
    keep = (runner, space, alive)
    address = space.address
    table = _table(arguments, address + bases, work, state, address, blocks, keep, constants)
    if spread is not None:
        table[LAUNCH] = machine.address_of("work_in_parallel") if max(workers) > 1 else 0
        table[[UNLOCK, LOCK, SIGNALS]] = _functions()
    function = builtin(_method(), table)
    if calls is None:
        return function, None
    table[LEFT] = calls

    def answered() -> int:
        count = calls - int(table[LEFT])
        table[LEFT] = calls
        return count

    return function, answered


def make(
    arguments: Sequence[Argument],
    bases: int,
    work: int,
    state: int,
    space: int,
    blocks: Sequence[tuple[int, int]],
    alive: Any = None,
    constants: Sequence[np.ndarray] = (),
) -> Callable[..., Any]:
    """Return a builtin function of arrays that runs a program; None where there can be none.

    It returns None after a run, and False where it did nothing, or not all: a kernel raised, or an
    argument is not exactly what was declared.

    Parameters
    ----------
    arguments : sequence of Argument
        In the order of the call; arrays to write to come last.
    bases, work, state, space : int
        Addresses: of the run's table of bases, of the machine's `work`, of the worker's state and
        of the header of the space.
    blocks : sequence of tuple
        Address of the program block and number of threads of each part.
    alive : object
        Owns what the addresses point to; lives as long as the function.
    constants : sequence of ndarray
        What the program reads beside its arguments: an array to write to may share memory with none
        of them, nor with an argument.
    """
    table = _table(arguments, bases, work, state, space, blocks, alive, constants)
    return builtin(_method(), table)


def _table(
    arguments: Sequence[Argument],
    bases: int,
    work: int,
    state: int,
    space: int,
    blocks: Sequence[tuple[int, int]],
    alive: Any,
    constants: Sequence[np.ndarray],
) -> Table:
    words = [
        len(arguments), bases, work, state, space, len(blocks), id(None), id(False),
        int(sys.version_info < (3, 12)),  # since then None and False are immortal
        -1,
    ]  # fmt: skip
    words += [0] * (POSITIVE - len(words)) + _sizes_of_ints()
    words += [word for block in blocks for word in block]
    for argument in arguments:
        words += _words(argument)
    words += _ranges(arguments, constants)
    table = np.array(words, np.int64).view(Table)
    table.alive = alive, list(arguments)
    return table


def _words(argument: Argument) -> list[int]:
    slots = list(argument.slots)
    if isinstance(argument.dtype, Same):
        value = argument.dtype.value
        return [id(type(value)), SAME, id(value), 0, 0, 0]
    if isinstance(argument.dtype, type):
        kind = INTEGER if argument.dtype is int else NUMBER
        return [id(argument.dtype), kind, 0, 0, 0, len(slots), *slots]
    flags = C_ORDER | ALIGNED | (WRITEABLE if argument.writeable else 0)
    shape = argument.shape
    dtype = id(np.dtype(argument.dtype.type))
    return [id(np.ndarray), 0, dtype, flags, len(shape), len(slots), *shape, *slots]


def _ranges(arguments: Sequence[Argument], constants: Sequence[np.ndarray]) -> list[int]:
    """Return what arrays to write are compared with."""
    pairs: tuple[list[int], list[int]] = ([], [])
    for argument in arguments:
        if argument.slots:
            nbytes = prod(argument.shape) * np.dtype(argument.dtype).itemsize
            pairs[not argument.writeable].extend((argument.slots[0], nbytes))
    words = [len(pairs[0]) // 2, len(pairs[1]) // 2, *pairs[0], *pairs[1], len(constants)]
    for constant in constants:
        words += map(int, byte_bounds(constant))
    return words


@cache
def is_possible() -> bool:
    """Whether objects lie in memory as `enter` expects; a look at some tells."""
    known = (
        sys.implementation.name == "cpython"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and sys.byteorder == "little"
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and object.__basicsize__ == 8 * OBJECT
    )
    return known and _array_is_as_expected() and _numbers_are_as_expected()


def _array_is_as_expected() -> bool:
    array = np.zeros((3, 5, 2), np.float32)[:, ::2]
    array.flags.writeable = False
    words = peek(id(array), FLAGS + 1)
    sizes = peek(words[SIZES], 3)
    vector = np.ones(2)
    ordered = peek(id(vector), FLAGS + 1)[FLAGS]
    return (
        words[1] == id(np.ndarray)
        and words[DATA] == array.__array_interface__["data"][0]
        and words[NDIM] & LOW == 3
        and tuple(sizes) == array.shape
        and words[DTYPE] == id(np.dtype(np.float32))
        and words[FLAGS] & (C_ORDER | ALIGNED | WRITEABLE) == ALIGNED
        and ordered & (C_ORDER | ALIGNED | WRITEABLE) == C_ORDER | ALIGNED | WRITEABLE
    )


def _numbers_are_as_expected() -> bool:
    """Whether a number lies behind the head of its object, and a small int in one digit there."""
    codes = np.typecodes["AllInteger"] + "fdFD?"
    for number in [0.1 + 0.2, 0.1 + 0.2j, *(np.ones(1, code)[0] for code in codes)]:
        size = np.dtype(type(number)).itemsize
        if ctypes.string_at(id(number) + 8 * OBJECT, size) != np.asarray(number).tobytes():
            return False
    positive, negative, zero, bits = _sizes_of_ints()
    for number, size in ((DIGIT, positive), (-DIGIT, negative), (7, positive), (-5, negative)):
        words = peek(id(number), OBJECT + 2)
        if words[OBJECT] & bits != size or words[OBJECT + 1] & DIGIT != abs(number):
            return False
    others = [peek(id(number), OBJECT + 1)[OBJECT] & bits for number in (DIGIT + 1, -DIGIT - 1)]
    return len({positive, negative, zero, *others}) == 5


@cache
def _sizes_of_ints() -> list[int]:
    """Return what an int of one digit says of its size if it is positive, negative and 0, and which
    bits of that to look at: some say that it is one of those that are never freed."""
    kept, other = 1, int("1000003")
    positive, negative, zero, large = (
        peek(id(number), OBJECT + 1)[OBJECT] for number in (kept, -other, kept - 1, other)
    )
    bits = ~(positive ^ large)
    return [positive & bits, negative & bits, zero & bits, bits]


def peek(address: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(address))
