"""A way into a program that takes no Python: a builtin function that reads NumPy's arrays.

A compiled function with the signature of CPython's ``METHFASTCALL`` looks at the array objects
themselves, writes the addresses of their elements to a run's table of bases and runs the program,
all in a fraction of a microsecond. A short program runs on the calling thread, which keeps the GIL;
another gives it back meanwhile and may run on many threads. The memory of the run belongs to the
entry: a second call that comes meanwhile is refused. Where anything is not exactly as expected it
does nothing and says so: the caller then goes the ordinary way.

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
from .scratch import BASES

(
    NARGS, WORK, SPACE, NPARTS, LEFT, LAUNCH, UNLOCKED, BUSY, HEAD,
) = range(OWN, OWN + 9)  # fmt: skip
"""Words of an entry: the number of arguments; the addresses of `work` and of the run's space; the
number of parts; how many calls it answers, any number if that is negative; the address of
`work_in_parallel`; whether it gives back Python's lock, and whether a call has done so and works.
Behind them come

- for each part the address of its program block and the number of its threads,
- for each argument its kind, how many words describe it, its number of slots; then its description,
  which is that of an array, the type of a number, the object itself, or for an int where its number
  is written to and the least and the greatest that it may be; then the slots,
- how many arrays are written and how many are read, and for each a slot and the size in bytes,
- the number of constants, and for each where it begins and ends.
"""

KIND, LENGTH, NSLOTS, DESCRIPTION = range(4)
ARRAY, NUMBER, SAME, INTEGER = range(4)
"""Words of an argument, and its kinds."""

MOST_BYTES = 1 << 22
"""Memory that the run of an entry may need, which it keeps."""


Argument = tuple[Any, Any, Sequence[int], bool]
"""What an argument must be exactly, as `make` takes it."""


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
    if not object_layout.is_possible():
        return None, None
    many = spread or [False] * len(runner.parts)
    workers = [part.workers() if s else 1 for part, s in zip(runner.parts, many, strict=True)]
    if max(workers, default=1) > 1 and not threads.can_launch():
        return None, None
    bases, block, nbytes = runner.layout(workers)
    if nbytes > MOST_BYTES:
        return None, None
    space = scratch.Space(nbytes)
    first = bases // 8
    space.words[first : first + machine.OUTSIDE] = (0, 0, space.address + block)
    space.header[BASES] = space.address + bases
    blocks = [(p.block_address, n) for p, n in zip(runner.parts, workers, strict=True)]
    work, keep = machine.address_of("work"), (runner, space, alive)
    function: Any = make(arguments, work, space.address, blocks, keep, constants)
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
    arguments : sequence of (dtype, shape, slots, writeable)
        In the order of the call; arrays to write to come last. The dtype is that of an array in C
        order; or the type of a number that keeps it as an element of an array does; or ``int``, in
        place of whose shape are the least and the greatest number; or a `Same`. The slots are those
        of the table of bases where its address goes.
    work, space : int
        Addresses of the machine's `work`, and of the header of the space that a run borrows.
    blocks : sequence of tuple
        Address of the program block and number of threads of each part.
    alive : object
        Owns what the addresses point to; lives as long as the function.
    constants : sequence of ndarray
        What the program reads beside its arguments: an array to write to may share memory with none
        of them, nor with an argument.
    """
    words = [len(arguments), work, space, len(blocks), -1, 0, 0, 0]
    words += [word for block in blocks for word in block]
    for dtype, shape, slots, writeable in arguments:
        kind, description = _describe(dtype, shape, writeable)
        words += [kind, len(description), len(slots), *description, *slots]
    words += _ranges(arguments, constants)
    return object_layout.builtin("machine.entry_compiled", "enter", words, (alive, list(arguments)))


def _describe(dtype: Any, shape: Any, writeable: bool) -> tuple[int, list[int]]:
    """Return the kind of an argument, and the words that describe it."""
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
    """Return how many bytes of memory an argument lies in."""
    if isinstance(shape, Strided):
        return shape.extent() + dtype.itemsize
    return prod(shape) * dtype.itemsize


def _ranges(arguments: Sequence[Argument], constants: Sequence[np.ndarray]) -> list[int]:
    """Return what arrays to write are compared with."""
    pairs: tuple[list[int], list[int]] = ([], [])
    for dtype, shape, slots, writeable in arguments:
        if slots:
            pairs[not writeable].extend((slots[0], _size(np.dtype(dtype), shape)))
    words = [len(pairs[0]) // 2, len(pairs[1]) // 2, *pairs[0], *pairs[1], len(constants)]
    for constant in constants:
        words += map(int, byte_bounds(constant))
    return words
