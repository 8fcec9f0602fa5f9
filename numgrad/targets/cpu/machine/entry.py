"""Entries: builtin functions that read NumPy's arrays and run a program without Python code.

A compiled function with the signature of CPython's ``METH_FASTCALL`` reads the array objects
themselves, writes the addresses of their elements to the table of bases (see `machine`) and runs
the program, all in a fraction of a microsecond. A short program runs on the calling thread, which
keeps the GIL; a long program releases the GIL and may run on many threads. Entries that keep the
GIL share the memory of their runs, as one of them runs at a time. The memory of a run that releases
the GIL belongs to the entry, so a call during another one is refused. Where an argument is not
exactly as declared, the entry does nothing and returns False; the caller then runs the program from
Python.

The compiled function is in `entry_compiled`.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ....ir.kernel_spec import Same, Strided
from ..platform import threads
from ..python import object_layout
from ..python.object_layout import ALIGNED, C_ORDER, OWN, WRITEABLE
from . import machine, scratch

(
    NARGS, WORK, SPACE, BASES, NPARTS, LEFT, LAUNCH, UNLOCKED, BUSY, HEAD,
) = range(OWN, OWN + 10)  # fmt: skip
"""Words of an entry: the number of arguments; the addresses of `work`, of the run's space and of
the entry's table of bases; the number of parts; the number of calls left, any number if negative;
the address of `work_in_parallel`; whether the entry releases the GIL, and whether a call has
released it and runs. They are followed by

- for each part the address of its program block and the number of its threads,
- for each argument its kind, the length of its description, its number of slots; then the
  description (of an array, the type of a number, the object itself, or for an int a word for its
  value and the least and the greatest value); then the slots,
- how many arrays are written and how many are read, and for each a slot and the size in bytes,
- the number of constants, and for each the addresses of its begin and its end.
"""

KIND, LENGTH, NSLOTS, DESCRIPTION = range(4)
ARRAY, NUMBER, SAME, INTEGER = range(4)
"""Words of an argument, and its kinds."""

MOST_BYTES = 1 << 22
"""The most memory, in bytes, of a run of an entry, which is kept from call to call."""


Argument = tuple[Any, Any, Sequence[int], bool]
"""The declaration of an argument, ``(dtype, shape, slots, writeable)``; see `make`."""


def entry_of(
    runner: machine.Runner,
    arguments: Sequence[Argument],
    constants: Sequence[np.ndarray],
    alive: Any,
    calls: int | None = None,
    spread: Sequence[bool] | None = None,
) -> tuple[Callable[..., Any] | None, Callable[[], int] | None]:
    """Return a builtin function that runs a program, and a counter of its calls.

    Parameters
    ----------
    runner : Runner
        The program.
    arguments, constants, alive
        As for `make`.
    calls : int, optional
        The number of calls that the entry answers; the counter, a second function, returns how many
        calls were answered since the counter was last called. Without a number there is no limit,
        and no counter.
    spread : sequence of bool, optional
        For each part, whether it runs on all threads. The entry releases the GIL if ``spread`` is
        given, and otherwise keeps it and runs all parts on the calling thread.

    Returns
    -------
    tuple
        The builtin function and the counter; both are None for a program that needs more than
        `MOST_BYTES` of memory, and for a parallel program if Numba's threading layer allows only
        one launch at a time.
    """
    if not object_layout.is_possible():
        return None, None
    many = spread or [False] * len(runner.parts)
    workers = [part.workers() if s else 1 for part, s in zip(runner.parts, many, strict=True)]
    if max(workers, default=1) > 1 and not threads.can_launch():
        return None, None
    _, block, nbytes = runner.layout(workers)
    if nbytes > MOST_BYTES:
        return None, None
    space = scratch.shared(nbytes) if spread is None else scratch.ScratchSpace(nbytes)
    bases = np.zeros(runner.slots, np.int64)
    bases[machine.OUTSIDE - 1] = space.address + block
    blocks = [(p.block_address, n) for p, n in zip(runner.parts, workers, strict=True)]
    places, keep = (space.address, bases.ctypes.data), (runner, space, bases, alive)
    work = machine.address_of("work")
    function: Any = make(arguments, work, places, blocks, keep, constants)
    table = function.__self__
    if spread is not None:
        table[LAUNCH] = machine.address_of("work_in_parallel") if max(workers) > 1 else 0
        table[UNLOCKED] = True
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
    work: int,
    places: tuple[int, int],
    blocks: Sequence[tuple[int, int]],
    alive: Any = None,
    constants: Sequence[np.ndarray] = (),
) -> Callable[..., Any]:
    """Return a builtin function of arrays that runs a program.

    The function returns None after a complete run, and False otherwise: a kernel raised, or an
    argument is not exactly as declared.

    Parameters
    ----------
    arguments : sequence of (dtype, shape, slots, writeable)
        In the order of the call; arrays to write to come last. The dtype is the dtype of an array;
        or the type of a scalar object that stores its number as an array does (``float``, NumPy's);
        or ``int``, with the least and the greatest value as the shape; or a `Same`, if the argument
        must be a certain object. The address of the argument is written to these slots of the table
        of bases.
    work : int
        Address of the machine's `work`.
    places : tuple of int
        Addresses of the header of the space in which a run works, and of the table of bases.
    blocks : sequence of tuple
        Address of the program block and number of threads of each part.
    alive : object
        The owner of the memory at these addresses; lives as long as the function.
    constants : sequence of ndarray
        Arrays that the program reads beside its arguments: an array to write to may share memory
        neither with a constant nor with an argument.
    """
    words = [len(arguments), work, *places, len(blocks), -1, 0, 0, 0]
    words += [word for block in blocks for word in block]
    for dtype, shape, slots, writeable in arguments:
        kind, description = _describe(dtype, shape, writeable)
        words += [kind, len(description), len(slots), *description, *slots]
    words += _ranges(arguments, constants)
    return object_layout.builtin("machine.entry_compiled", "enter", words, (alive, list(arguments)))


def _describe(dtype: Any, shape: Any, writeable: bool) -> tuple[int, list[int]]:
    """Return the kind of an argument, and the words by which compiled code checks the argument."""
    if isinstance(dtype, Same):
        return SAME, [id(dtype.value)]
    if dtype is int:
        return INTEGER, [0, *shape]
    if isinstance(dtype, type):
        return NUMBER, [id(dtype)]
    if isinstance(shape, Strided):
        return ARRAY, object_layout.words_of_array(dtype, shape.shape, ALIGNED, shape.strides)
    flags = C_ORDER | ALIGNED | (WRITEABLE if writeable else 0)
    return ARRAY, object_layout.words_of_array(dtype, shape, flags)


def _size(dtype: np.dtype, shape: Any) -> int:
    """Return how many bytes of memory an argument spans, gaps included."""
    if isinstance(shape, Strided):
        return shape.extent() + dtype.itemsize
    return prod(shape) * dtype.itemsize


def _ranges(arguments: Sequence[Argument], constants: Sequence[np.ndarray]) -> list[int]:
    """Return the words that `entry_compiled.overlap` reads: the memory of all arrays and constants.

    The words tell the number of arrays to write and to read; then, for each array to write, a slot
    and the size; the same for arrays to read; then the number of constants, and for each the
    addresses where it begins and ends.
    """
    pairs: tuple[list[int], list[int]] = ([], [])
    for dtype, shape, slots, writeable in arguments:
        if slots:
            pairs[not writeable].extend((slots[0], _size(np.dtype(dtype), shape)))
    words = [len(pairs[0]) // 2, len(pairs[1]) // 2, *pairs[0], *pairs[1], len(constants)]
    for constant in constants:
        words += map(int, byte_bounds(constant))
    return words
