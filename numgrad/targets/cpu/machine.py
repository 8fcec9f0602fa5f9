"""The machine: runs an encoded program, a tile of rows at a time, on one thread or on many.

It is compiled once for all programs. A program is two int64 tables: `code`, the instructions one
after the other, and `starts`, where each begins. An instruction is laid out as

====================  ===================================================================
8 words               kernel address, nops, ndim, row_dim, ncore, number of core strides,
                      work per row, reserved
nops x 3 words        is_scratch, base, row_stride
ndim words            counts of the loop dimensions (that of row_dim is per row)
ncore words           sizes of the core dimensions
(ndim-1) x nops words  strides of the outer dimensions
nops words, and more  strides of the inner dimension, then the core strides
====================  ===================================================================

Pointers are ``base + row0 * row_stride``, or, for scratch, ``arena of the worker + base``.
"""

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import types

from . import compiler, interpreter, memory, threads
from .interpreter import (
    BLOCK,
    BLOCK_WORDS,
    BUDGET,
    FAILED,
    ITS_INSTRUCTION,
    ITS_ROW,
    MODE,
    RESUME,
    START,
    START_ALONE,
    STATE_WORDS,
    STATES,
    STATUS,
    UNFINISHED,
    WORKERS,
)

_FIRST_BUDGET = 2_000_000
_SLICE_SECONDS = 0.1
_SMALL_CODE = 1024
_Block = ctypes.c_int64 * BLOCK_WORDS


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a kernel raised.

    Attributes
    ----------
    instruction : int
        Position in `starts`.
    row : int
        The row of the run.
    loop_index : int
        Position within the row, over all loop dimensions of the instruction in C order.
    """

    instruction: int
    row: int
    loop_index: int


@cache
def _address(name: str) -> int:
    """Compile or load a function of `interpreter`: words in, one word out."""
    function = getattr(interpreter, name)
    return compiler.load_or_compile(
        function,
        (types.int64,) * function.__code__.co_argcount,
        parallel=name == "work_in_parallel",
        restype=types.int64,
    )


@cache
def _entry(name: str) -> Callable[..., int]:
    # ctypes releases the GIL during the call. No argument types: arguments come as c_int64.
    return ctypes.CFUNCTYPE(ctypes.c_int64)(_address(name))


class Runner:
    """A program bound to its arguments: call it to run it, on every tile of rows.

    The result is None, or the first row in which a kernel raised; other results are then undefined.
    The arrays are read at every run, so bases may be changed in place in between. The first runner
    of a process compiles or loads the machine.

    Parameters
    ----------
    code, starts : ndarray of int64
        The encoded program; see the head of this module.
    rows, tile : int
        Rows of the run, and of a tile.
    arena_bytes : int
        Scratch memory of one worker.
    parallel : bool
        Spread the tiles over threads.
    first, last : int
        The instructions to run, ``last`` exclusive; all of them by default.
    uses_blas : bool
        Keep BLAS to one thread in a parallel run.
    """

    __slots__ = (
        "_block",
        "_block_address",
        "_code",
        "_is_parallel",
        "_nbytes",
        "_odometer",
        "_starts",
        "_stride",
        "_tiles",
        "_uses_blas",
        "_work",
    )

    def __init__(
        self,
        code: np.ndarray,
        starts: np.ndarray,
        rows: int,
        tile: int,
        arena_bytes: int,
        parallel: bool,
        first: int = 0,
        last: int | None = None,
        uses_blas: bool = False,
    ) -> None:
        self._code, self._starts = code, starts
        last = len(starts) if last is None else last
        self._tiles = -(-rows // tile) if first < last else 0
        self._is_parallel = parallel and self._tiles > 1
        self._uses_blas = uses_blas
        self._work = _entry("work")
        nops, ndim = _largest(code, starts[first:last])
        pointers = 8 * STATE_WORDS
        self._odometer = pointers + 8 * nops
        arena = memory.aligned(self._odometer + 8 * ndim)
        self._stride = memory.aligned(arena + arena_bytes)
        self._nbytes = 8 * STATES + self._stride
        self._block = _Block(
            _data(code), _data(starts), first, last, rows, tile, self._tiles, self._stride,
            pointers, self._odometer, arena, _address("loops"), _address("work"), _FIRST_BUDGET,
        )  # fmt: skip
        self._block_address = ctypes.addressof(self._block)

    def __call__(self) -> Failure | None:
        """Run the program once."""
        if self._is_parallel:
            workers = min(threads.get_num_threads(), self._tiles)
            if workers > 1:
                return self._run_in_parallel(workers)
        space = memory.borrow(self._nbytes)
        try:
            space.header[BLOCK] = self._block_address
            # The common case of a small program: one call, nothing left to do.
            if self._work(space.first_state):
                return self._complete(self._work, space.first_state, space, 1)
        finally:
            memory.give_back(space)
        return None

    def _run_in_parallel(self, workers: int) -> Failure | None:
        launch = _entry("work_in_parallel")
        space = memory.borrow(self._nbytes + (workers - 1) * self._stride)
        header = space.header
        header[BLOCK], header[MODE], header[WORKERS] = self._block_address, START, workers
        try:
            with threads.region(uses_blas=self._uses_blas):
                if launch(space.as_argument):
                    return self._complete(launch, space.as_argument, space, workers)
        finally:
            header[MODE] = START_ALONE
            memory.give_back(space)
        return None

    def _complete(
        self,
        entry: Callable[..., int],
        argument: ctypes.c_int64,
        space: memory.Space,
        workers: int,
    ) -> Failure | None:
        """Continue a run that used up its budget; between two slices Python handles signals."""
        header = space.header
        header[MODE] = RESUME
        try:
            while header[UNFINISHED]:
                header[UNFINISHED] = 0
                began = time.perf_counter()
                entry(argument)
                self._adapt(time.perf_counter() - began)
        finally:
            header[MODE] = START_ALONE
        return self._failure(space, workers) if header[FAILED] else None

    def _adapt(self, seconds: float) -> None:
        """Aim at slices of a tenth of a second: estimates of work are only estimates."""
        scale = min(max(_SLICE_SECONDS / max(seconds, 1e-6), 0.25), 4.0)
        self._block[BUDGET] = int(self._block[BUDGET] * scale) + 1

    def _failure(self, space: memory.Space, workers: int) -> Failure:
        """Return the first of the workers' failures."""
        words = space.words[STATES:]
        states = [words[worker * self._stride // 8 :] for worker in range(workers)]
        return min(
            (self._locate(state) for state in states if state[STATUS]),
            key=lambda failure: (failure.row, failure.instruction),
        )

    def _locate(self, state: np.ndarray) -> Failure:
        """Turn a worker's position in the loops into a row and an index within the row."""
        instruction = int(state[ITS_INSTRUCTION])
        p = int(self._starts[instruction])
        nops, ndim, row_dim = (int(word) for word in self._code[p + 1 : p + 4])
        counts = self._code[p + 8 + 3 * nops :]
        positions = state[self._odometer // 8 :]
        row, index = int(state[ITS_ROW]), 0
        for d in range(ndim):
            count = int(counts[d])
            position = int(positions[d]) if d < ndim - 1 else int(state[STATUS]) - 1
            if d == row_dim:
                row += position // count
                position %= count
            index = index * count + position
        return Failure(instruction, row, index)


def _largest(code: np.ndarray, starts: np.ndarray) -> tuple[int, int]:
    """Return bounds of the number of operands and of loop dimensions of any instruction."""
    if len(code) <= _SMALL_CODE:
        return len(code), len(code)  # a loose bound costs nothing, finding a tight one 10 us
    return int(code[starts + 1].max(initial=0)), int(code[starts + 2].max(initial=0))


def _data(table: np.ndarray) -> int:
    if table.dtype != np.int64 or table.ndim != 1 or not table.flags.c_contiguous:
        raise TypeError("code and starts must be contiguous one-dimensional arrays of int64")
    return table.__array_interface__["data"][0]
