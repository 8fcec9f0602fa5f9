"""Repeated runs: a program runs again and again, on arrays that move on from run to run.

A loop over a body runs the program of the body once for each step. The compiled function `again`
does that without Python between two runs: the function writes the addresses of the arrays of a run
to the table of bases, and calls the machine for each part of the program.

The compiled function is in `repeat_compiled`.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from ..compile import routines
from . import scratch
from .machine import OUTSIDE, Runner
from .scratch import BASES

SPACE, PLACES, COUNT, NPARTS, FIRST_RUN, LAST_RUN, GOES_ON, HEAD = range(8)
"""Words of the table of `again`: the addresses of the run's space and of the first base that moves;
the number of these bases and of the parts of the program; the number of the first run, and that
behind the last one; the address of a word that ends the repetition where it is 0 after a run, or 0.
They are followed by the address of each part's program block, and by three rows with a word for
each of these bases: its value at even runs, at odd runs, and by how much it grows at each run.
"""

SAMPLE = 3
"""The number of runs whose arrays tell where the arrays of all runs are."""


class Places(NamedTuple):
    """The addresses of arrays at each run: at run ``t`` they are ``first[t % 2] + t * moves``.

    Attributes
    ----------
    first : ndarray of int64
        Two rows: the addresses at even and at odd runs, but for the move.
    moves : ndarray of int64
        By how many bytes each address grows from a run to the next one.
    goes_on : int
        The address of a word: the repetition ends after a run that leaves it 0; 0 for none.
    """

    first: np.ndarray
    moves: np.ndarray
    goes_on: int = 0


def places_of(rows: Sequence[Sequence[int]], start: int, goes_on: int = 0) -> Places:
    """Return the places of arrays, given their addresses at `SAMPLE` runs from ``start`` on."""
    first, second, third = np.array(rows, np.int64)
    moves = (third - first) // 2
    runs = np.array([first - start * moves, second - (start + 1) * moves])
    return Places(runs[::-1] if start % 2 else runs, moves, goes_on)


@cache
def _again() -> Callable[[int], int]:
    # ctypes releases the GIL during the call.
    address = routines.address_of("machine.repeat_compiled", "again", returns=True)
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


def repeat(runner: Runner, places: Places, start: int, stop: int) -> int:
    """Run a program on one thread from run ``start`` to before run ``stop``.

    Return how many runs are complete. There are fewer where a run was stopped by a kernel that
    failed, or by the budget of the machine, or was the last one as `Places` says.
    """
    bases, block, nbytes = runner.layout([1] * len(runner.parts))
    space = scratch.borrow(nbytes)
    try:
        first = bases // 8
        space.words[first : first + OUTSIDE] = (0, 0, space.address + block)
        space.header[BASES] = space.address + bases
        table = _table(runner, places, start, stop)
        table[SPACE], table[PLACES] = space.address, space.address + bases + 8 * OUTSIDE
        return _again()(table.ctypes.data)
    finally:
        scratch.give_back(space)


def _table(runner: Runner, places: Places, start: int, stop: int) -> np.ndarray:
    """Return the table of `again`, without the addresses in the space of the run."""
    blocks = [part.block_address for part in runner.parts if part.tiles]
    head = [0, 0, places.moves.size, len(blocks), start, stop, places.goes_on, *blocks]
    return np.concatenate([np.array(head, np.int64), places.first.ravel(), places.moves])


__all__ = ["SAMPLE", "Places", "places_of", "repeat"]
