"""Scheduling: cut a program into segments, place its buffers, choose the rows of its tiles.

A segment is some consecutive instructions that run over the same rows, a tile of rows at a time.
Instructions without a batch axis run first: those over many elements in tiled runs, whose rows are
steps along leading axes, and the rest one by one. The body, which is the instructions with a batch
axis, runs last; its rows are those of the batch. As all instructions of a segment run on a tile
before the next tile begins, the intermediates of a tile stay in a core's cache. They lie in an
arena, the memory of one worker for one tile; the block is the memory that all tiles of a run share.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from ...._settings import settings
from ....ir import program as _program
from ....ir.program import Instruction, Pattern, Program
from ...liveness import assign
from .tiled_runs import row_splits_of, tiled_runs

ALIGNMENT = 64
# Slots of the table of base addresses; arguments and results have one each, from OUTSIDE on.
ARENA, ABSOLUTE, BLOCK, OUTSIDE = range(4)
ONCE, BATCH, ELEMENTS = "once", "batch", "elements"
# The least work, in nanoseconds, that is spread over threads: waking them up takes 50 us.
PARALLEL_WORK = 150_000
# The work of a call of a kernel, and the share that each step of a fused kernel adds.
_CALL, _STEP = 32, 1 / 32
# The most elements of a tile of a loop over elements.
MOST_ELEMENTS = 1 << 15
# Sums over elements are made of blocks of this size, whatever the tile.
ELEMENT_BLOCK = 1024


@dataclass(slots=True)
class Segment:
    """Instructions that run one after the other, ``rows`` rows each, ``tile`` rows at a time.

    The ``kind`` is `ONCE` if the instructions run without tiles, `ELEMENTS` for a tiled run, and
    `BATCH` for the body. Buffers ``apart`` do not consist of dense rows, one after the other, so an
    arena, which has room for the rows of one tile, cannot hold them.
    """

    instructions: list[Instruction]
    kind: str
    rows: int
    tile: int = 1
    arena_bytes: int = 0
    apart: set[int] = field(default_factory=set)

    @property
    def parallel(self) -> bool:
        """Whether there is enough work to spread over threads."""
        return self.rows > self.tile and self.work > PARALLEL_WORK

    @property
    def work(self) -> float:
        """An estimate of the time that the segment takes on one thread, in nanoseconds."""
        rows = 1 if self.kind == ELEMENTS else self.rows
        return sum([_CALL + _work(i.pattern) * rows for i in self.instructions])


def _work(pattern: Pattern) -> float:
    """Return an estimate of the time that an instruction takes, for one row, in nanoseconds."""
    return pattern.work * (1 + _STEP * len(getattr(pattern.spec, "steps", ())))


@dataclass(slots=True)
class Schedule:
    """The segments of a program, and the place of each buffer: a slot and an offset.

    The slot is one of the table of base addresses, from which the offset counts.

    Attributes
    ----------
    outside : list of int
        The buffers in the slots from ``OUTSIDE`` on: arguments, then results.
    block_bytes : int
        Memory for buffers that live from one segment to another, or outside the tiles.
    """

    segments: list[Segment]
    slots: list[int]
    offsets: list[int]
    outside: list[int] = field(default_factory=list)
    block_bytes: int = 0


def address(array: np.ndarray) -> int:
    """Return the address of the first element, without the garbage that ``array.ctypes`` makes."""
    return array.__array_interface__["data"][0]


def schedule(program: Program, target: Any) -> Schedule:
    """Cut a program into segments, place its buffers, and choose the tiles."""
    count = len(program.nbytes)
    outside = [*program.arguments, *(ref.buffer for ref in program.results)]
    cut = list(segments(program))
    plan = Schedule(cut, [ARENA] * count, [-1] * count, outside)
    for slot, index in enumerate(outside, OUTSIDE):
        plan.slots[index], plan.offsets[index] = slot, 0
    places = target.addresses(list(program.arrays.values()))
    for index, place in zip(program.arrays, places, strict=True):
        plan.slots[index], plan.offsets[index] = ABSOLUTE, place
    _place(plan, program, target)
    return plan


# Segments ---------------------------------------------------------------------------------------


def segments(program: Program) -> Iterable[Segment]:
    """Yield the segments of a program in order."""
    body = [i for i in program.instructions if i.pattern.rows]
    once = program.instructions
    if body:
        once = [i for i in once if not i.pattern.rows]
    yield from _once(program, once)
    if body and program.batch:
        yield Segment(body, BATCH, program.batch)


def _once(program: Program, instructions: Sequence[Instruction]) -> Iterable[Segment]:
    """Yield the segments of instructions outside the body: tiled runs, and what runs between them.
    """
    for before, tiled_run in tiled_runs(instructions, _program.MANY_ELEMENTS):
        if before:
            yield Segment(before, ONCE, 1)
        if tiled_run is not None:
            rows = tiled_run.rows
            apart = {
                index
                for index, window in tiled_run.counts[rows].items()
                if window != (program.nbytes[index] / rows, 0)
            }
            yield Segment(tiled_run.instructions, ELEMENTS, rows, apart=apart)


# Places -----------------------------------------------------------------------------------------


def _place(plan: Schedule, program: Program, target: Any) -> None:
    """Place buffers that only one tiled segment uses in its arena, all other ones in the block.

    Then choose the tile of each tiled segment.
    """
    shared = _shared(plan, program)
    ones = [segment for segment in plan.segments if segment.kind != BATCH]
    plan.block_bytes = _assign_block(plan, program, ones, shared)
    for segment in plan.segments:
        if segment.kind == ONCE:
            continue
        elements = segment.kind == ELEMENTS
        sizes = _row_sizes(segment, program) if elements else program.nbytes
        quantum = 16 if elements else ALIGNMENT
        top = assign(segment.instructions, sizes, plan.offsets, quantum)
        segment.tile = _tile(segment, top, target)
        segment.arena_bytes = top * segment.tile
        _scale_arena_offsets(plan, segment)


def _shared(plan: Schedule, program: Program) -> set[int]:
    """Return the buffers to place in the block.

    Such a buffer has no place yet, and is used by two segments, by a segment without tiles, or not
    as dense rows.
    """
    shared: set[int] = set()
    before: set[int] = set()
    for segment in plan.segments:
        used = {*chain.from_iterable([i.buffers for i in segment.instructions])}
        shared |= used if segment.kind == ONCE else used & before | segment.apart
        before |= used
    return {index for index in shared if plan.offsets[index] < 0}


def _assign_block(
    plan: Schedule, program: Program, ones: Sequence[Segment], shared: set[int]
) -> int:
    """Assign offsets in the block to shared buffers by liveness; return the bytes of the block.

    Buffers that the body uses live to the end. ``ones`` are the segments before the body.
    """
    outlives: set[int] = set()
    for segment in plan.segments:
        if segment.kind == BATCH:
            outlives.update(index for i in segment.instructions for index in i.buffers)
    steps = [step for segment in ones for step in _steps(segment)]
    offsets = plan.offsets
    pinned = [at if n in shared or at >= 0 else 0 for n, at in enumerate(offsets)]
    top = assign(steps, program.nbytes, pinned, ALIGNMENT, outlives & shared)
    for index in shared:
        plan.slots[index], offsets[index] = BLOCK, max(pinned[index], 0)
    return top


class _MergedInstruction(NamedTuple):
    """Stands for a tiled run where liveness is computed: one instruction that writes all buffers.

    Tiles run at the same time: while one is at the first instruction of the run, another one may be
    at the last. So no two buffers of the run may share memory.
    """

    buffers: tuple[int, ...]
    nin: int = 0
    reusable_inputs: tuple[int, ...] = ()

    @property
    def pattern(self) -> "_MergedInstruction":
        return self


def _steps(segment: Segment) -> Sequence[Any]:
    """Return the instructions of a segment for liveness, with one that stands for a tiled run."""
    if segment.kind == ONCE:
        return segment.instructions
    return [_MergedInstruction(tuple([n for i in segment.instructions for n in i.buffers]))]


def _row_sizes(segment: Segment, program: Program) -> dict[int, int]:
    """Return the bytes per row of each buffer of a segment."""
    used = {index for i in segment.instructions for index in i.buffers}
    return {index: program.nbytes[index] // segment.rows for index in used}


def _scale_arena_offsets(plan: Schedule, segment: Segment) -> None:
    """Multiply the offsets in the arena, which are those of one row, by the rows of the tile."""
    seen: set[int] = set()
    for instruction in segment.instructions:
        for index in instruction.buffers:
            if plan.slots[index] == ARENA and index not in seen:
                seen.add(index)
                plan.offsets[index] *= segment.tile


# Tiles ------------------------------------------------------------------------------------------


def _tile(segment: Segment, top: int, target: Any) -> int:
    """Return the number of rows of a tile, if one row takes ``top`` bytes of the arena."""
    l2_bytes = target.l2_bytes()
    if segment.kind == ELEMENTS:
        return element_tile(segment, top, l2_bytes, target.num_threads)
    if any(_reads_much(i.pattern) for i in segment.instructions):
        return tall_tile(segment.rows, top, l2_bytes, target.num_threads)
    return choose_tile(segment.rows, top, l2_bytes)


def _reads_much(pattern: Pattern) -> bool:
    """Whether an instruction reads mostly data that all rows share, such as a matrix by which each
    row is multiplied."""
    if pattern.elementwise:
        return False
    shared = sum([x.nbytes for x in pattern.layouts[: pattern.nin] if not x.rows])
    return shared > 4 * sum([x.nbytes for x in pattern.layouts if x.rows])


def choose_tile(batch: int, row_bytes: int, l2_bytes: int) -> int:
    """Return the rows of a tile: a power of two whose intermediates fill at most half the L2 cache.

    A batch of eight rows or more is cut into at least eight tiles, for threads to share.
    """
    if settings.tile:
        return settings.tile
    fit = max(1, (l2_bytes // 2) // max(row_bytes, 1))
    tile = min(fit, max(1, batch // 8), 1024)
    return 1 << (tile.bit_length() - 1)


def tall_tile(batch: int, row_bytes: int, l2_bytes: int, threads: int) -> int:
    """Return the rows of a tile of instructions that read much data which all tiles share.

    Each tile reads all shared data anew, so tiles are tall: a tile has as many rows as fit the
    cache, at most 256. Where fewer than 64 rows fit, a tile may have up to 64 rows that take up to
    16 times the cache. All threads get equally many tiles.
    """
    if settings.tile:
        return settings.tile
    row_bytes = max(row_bytes, 1)
    fit = max(l2_bytes // row_bytes, min(64, 16 * l2_bytes // row_bytes), 1)
    most = min(fit, 256)
    tiles = -(-batch // most)
    tiles = -(-tiles // threads) * threads
    return max(-(-batch // tiles), min(4, most))


def element_tile(segment: Segment, row_bytes: int, l2_bytes: int, threads: int) -> int:
    """Return the rows of a tile of a tiled run: about a multiple of `ELEMENT_BLOCK` elements.

    A tile has whole blocks of each reduction. Tiles are as large as the cache allows, because
    memory is slow where a tile begins; and all threads get equally many of them.
    """
    rows = segment.rows
    step = lcm(*[row_splits_of(i.pattern)[rows].step for i in segment.instructions])
    longest = max(1, max(i.pattern.work for i in segment.instructions) // rows)
    unit = -(-max(1, ELEMENT_BLOCK // longest) // step) * step
    if settings.tile:
        return settings.tile * unit
    fit = (l2_bytes // 4) // max(row_bytes, 8)
    tiles = max(8, -(-rows // max(1, min(fit, MOST_ELEMENTS // longest))))
    tiles = -(-tiles // threads) * threads
    return -(-rows // (tiles * unit)) * unit
