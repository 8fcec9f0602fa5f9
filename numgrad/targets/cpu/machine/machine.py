"""The machine: runs an encoded program, a tile of rows at a time, on one thread or on many.

The machine is compiled once for all programs. A program is two int64 tables: `code`, the
instructions one after the other, and `starts`, where each begins. An instruction is laid out as

====================  ===================================================================
8 words               kernel address, nops, ndim, row_dim, ncore, number of core strides,
                      work per row, address of the entry for rows or 0
nops x 3 words        slot, offset, row_stride
ndim words            counts of the loop dimensions (that of row_dim is per row)
ncore words           sizes of the core dimensions
(ndim-1) x nops words  strides of the outer dimensions
nops words, and more  strides of the inner dimension, then the core strides
====================  ===================================================================

The address of an operand is ``bases[slot] + offset + row0 * row_stride``, where ``row0`` is the
first row of the tile; slot 0 stands for the arena of the worker, its own memory. The table of bases
belongs to a run: slot 1 is 0, for absolute addresses, slot 2 is the block of memory that the run
borrows, and the caller supplies the others. So the code itself is constant, and any number of
threads may run it.
"""

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..compile import routines
from ..platform import threads
from . import scratch
from .scratch import (
    BASES,
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

_FIRST_BUDGET = 4_000_000
_SLICE_SECONDS = 0.1
_MOST_SCALE = 16.0  # the most by which the budget of a slice changes from one to the next
_SMALL_CODE = 1024
OUTSIDE = 3  # the first slot of the table of bases that the caller fills
_Block = ctypes.c_int64 * BLOCK_WORDS


@dataclass(frozen=True, slots=True)
class Stopped:
    """The place in a program where a kernel raised.

    Attributes
    ----------
    instruction : int
        Position in `starts`.
    row : int
        The row among those that the part of the program runs over.
    loop_index : int
        Position within the row, over all loop dimensions of the instruction in C order.
    """

    instruction: int
    row: int
    loop_index: int


def address_of(name: str) -> int:
    """Return the address of a compiled function of `interpreter`; all of them take and return
    int64."""
    parallel = name == "work_in_parallel"
    return routines.address_of("machine.interpreter", name, returns=True, parallel=parallel)


@cache
def _entry(name: str) -> Callable[..., int]:
    # ctypes releases the GIL during the call. No argument types: arguments come as c_int64.
    return ctypes.CFUNCTYPE(ctypes.c_int64)(address_of(name))


class EncodedSegment:
    """Consecutive instructions of a program that run over the same rows, tile by tile.

    Parameters
    ----------
    code, starts : ndarray of int64
        The encoded program; see the head of this module.
    first, last : int
        The instructions, ``last`` exclusive.
    rows, tile : int
        How many rows the instructions run over, and how many a tile has.
    arena_bytes : int
        Scratch memory of one worker.
    parallel : bool
        Whether the tiles may be spread over threads.
    """

    __slots__ = ("block", "block_address", "is_parallel", "odometer", "stride", "tiles")

    def __init__(
        self,
        code: np.ndarray,
        starts: np.ndarray,
        first: int,
        last: int,
        rows: int,
        tile: int,
        arena_bytes: int,
        parallel: bool,
    ) -> None:
        self.tiles = -(-rows // tile) if first < last else 0
        self.is_parallel = parallel and self.tiles > 1
        nops, ndim = _largest(code, starts[first:last])
        pointers = 8 * STATE_WORDS
        self.odometer = pointers + 8 * nops
        arena = scratch.aligned(self.odometer + 8 * ndim)
        self.stride = scratch.aligned(arena + arena_bytes)
        self.block = _Block(
            _data(code), _data(starts), first, last, rows, tile, self.tiles, self.stride,
            pointers, self.odometer, arena, address_of("loops"), address_of("work"), _FIRST_BUDGET,
        )  # fmt: skip
        self.block_address = ctypes.addressof(self.block)

    def workers(self) -> int:
        """Return the number of threads to run on: at most one for each tile."""
        return min(threads.get_num_threads(), self.tiles) if self.is_parallel else 1


class Runner:
    """An encoded program: a call with addresses runs the program, part by part, on all rows.

    A call returns None, or the first row in which a kernel raised; other results are then
    undefined. The first runner of a process compiles or loads the machine.

    Parameters
    ----------
    code, starts : ndarray of int64
        The encoded program; see the head of this module.
    parts : sequence of tuples
        ``(first, last, rows, tile, arena_bytes, parallel)``; see `EncodedSegment`.
    slots : int
        The length of the table of bases.
    block_bytes : int
        Size of the memory in slot 2.
    uses_blas : bool
        Whether kernels call BLAS, which is kept to one thread in parallel parts.
    """

    __slots__ = ("_block_bytes", "_code", "_starts", "_uses_blas", "_work", "parts", "slots")

    def __init__(
        self,
        code: np.ndarray,
        starts: np.ndarray,
        parts: Sequence[tuple[int, int, int, int, int, bool]],
        slots: int = OUTSIDE,
        block_bytes: int = 0,
        uses_blas: bool = False,
    ) -> None:
        self._code, self._starts = code, starts
        self._work = _entry("work")
        self.slots, self._uses_blas = slots, uses_blas
        self._block_bytes = scratch.aligned(block_bytes)
        self.parts = [EncodedSegment(code, starts, *part) for part in parts]

    def __call__(self, addresses: Sequence[int] = ()) -> Stopped | None:
        """Run the program once; ``addresses`` fill the slots of the table of bases from 3 on."""
        workers = [part.workers() for part in self.parts]
        bases, block, nbytes = self.layout(workers)
        space = scratch.borrow(nbytes)
        try:
            first = bases // 8
            space.words[first : first + self.slots] = (0, 0, space.address + block, *addresses)
            space.header[BASES] = space.address + bases
            for part, count in zip(self.parts, workers, strict=True):
                failure = self._run(part, count, space)
                if failure is not None:
                    return failure
        finally:
            scratch.give_back(space)
        return None

    def layout(self, workers: Sequence[int]) -> tuple[int, int, int]:
        """Return the offsets of the table of bases and of the block in a run's space, and its size.

        ``workers`` has the number of threads of each part; all results are in bytes.
        """
        states = max(
            [n * part.stride for n, part in zip(workers, self.parts, strict=True)],
            default=scratch.ALIGNMENT,  # a space keeps its own address in the first state
        )
        bases = scratch.aligned(8 * STATES + states)
        block = scratch.aligned(bases + 8 * self.slots)
        return bases, block, block + self._block_bytes

    def _run(
        self, part: EncodedSegment, workers: int, space: scratch.ScratchSpace
    ) -> Stopped | None:
        space.header[BLOCK] = part.block_address
        if workers > 1:
            return self._run_in_parallel(part, workers, space)
        # The common case of a small program: one call, nothing left to do.
        if self._work(space.first_state):
            return self._complete(part, self._work, space.first_state, space, 1)
        return None

    def _run_in_parallel(
        self, part: EncodedSegment, workers: int, space: scratch.ScratchSpace
    ) -> Stopped | None:
        launch = _entry("work_in_parallel")
        header = space.header
        header[MODE], header[WORKERS] = START, workers
        try:
            with threads.region(uses_blas=self._uses_blas), threads.launch():
                if launch(space.as_argument):
                    return self._complete(part, launch, space.as_argument, space, workers)
        finally:
            header[MODE] = START_ALONE
        return None

    def _complete(
        self,
        part: EncodedSegment,
        entry: Callable[..., int],
        argument: ctypes.c_int64,
        space: scratch.ScratchSpace,
        workers: int,
    ) -> Stopped | None:
        """Call the machine again until the part is complete; return where a kernel raised, or None.

        Between two calls Python handles signals.
        """
        header = space.header
        header[MODE] = RESUME
        try:
            while header[UNFINISHED]:
                header[UNFINISHED] = 0
                began = time.perf_counter()
                entry(argument)
                _adapt(part.block, time.perf_counter() - began)
        finally:
            header[MODE] = START_ALONE
        return self._failure(part, space, workers) if header[FAILED] else None

    def _failure(self, part: EncodedSegment, space: scratch.ScratchSpace, workers: int) -> Stopped:
        """Return the failure in the lowest row: in that row, the failure of the first instruction.

        Each of the ``workers`` may have stopped at a failure of its own.
        """
        words = space.words[STATES:]
        states = [words[worker * part.stride // 8 :] for worker in range(workers)]
        return min(
            (self._locate(part, state) for state in states if state[STATUS]),
            key=lambda failure: (failure.row, failure.instruction),
        )

    def _locate(self, part: EncodedSegment, state: np.ndarray) -> Stopped:
        """Return where a worker stopped: the row and the index within it, from its state."""
        instruction = int(state[ITS_INSTRUCTION])
        p = int(self._starts[instruction])
        nops, ndim, row_dim = (int(word) for word in self._code[p + 1 : p + 4])
        counts = self._code[p + 8 + 3 * nops :]
        positions = state[part.odometer // 8 :]
        row, index = int(state[ITS_ROW]), 0
        for d in range(ndim):
            count = int(counts[d])
            position = int(positions[d]) if d < ndim - 1 else int(state[STATUS]) - 1
            if d == row_dim:
                row += position // count
                position %= count
            index = index * count + position
        return Stopped(instruction, row, index)


def _adapt(block: Any, seconds: float) -> None:
    """Change a part's budget so that its next slice takes a tenth of a second.

    A slice is one call of the machine. The last slice took ``seconds``. The budget is in units of
    estimated work.
    """
    scale = min(max(_SLICE_SECONDS / max(seconds, 1e-6), 1 / _MOST_SCALE), _MOST_SCALE)
    block[BUDGET] = int(block[BUDGET] * scale) + 1


def _largest(code: np.ndarray, starts: np.ndarray) -> tuple[int, int]:
    """Return upper bounds of an instruction's number of operands and number of loop dimensions."""
    if len(code) <= _SMALL_CODE:
        return len(code), len(code)  # a loose bound costs nothing, finding a tight one 10 us
    return int(code[starts + 1].max(initial=0)), int(code[starts + 2].max(initial=0))


def _data(table: np.ndarray) -> int:
    """Return the address of the numbers of a table."""
    if table.dtype != np.int64 or table.ndim != 1 or not table.flags.c_contiguous:
        raise TypeError("code and starts must be contiguous one-dimensional arrays of int64")
    return table.__array_interface__["data"][0]
