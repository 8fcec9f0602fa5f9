"""Scheduling: split a program into prologue and body, place its buffers, choose the tile, encode
it.

The prologue holds what does not depend on the batch and runs once; the body runs on one tile of
rows after the other, so that all its intermediates stay in a core's cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._settings import settings
from .encode import encode
from .program import Instruction, Operand, Program

ALIGNMENT = 64


@dataclass
class Place:
    """Where a buffer lives: absolute, or at an offset of the thread's scratch arena."""

    scratch: bool
    base: int
    row_stride: int


@dataclass
class Schedule:
    """A program ready to run: instructions in order, places, tile height, and the arrays that keep
    memory alive."""

    prologue: list[Instruction]
    body: list[Instruction]
    places: dict[int, Place]
    tile: int
    arena_bytes: int
    alive: list[np.ndarray] = field(default_factory=list)
    results: list[np.ndarray] = field(default_factory=list)


def address(array: np.ndarray) -> int:
    """Return the address of the first element; every ``array.ctypes`` leaves some memory behind."""
    return array.__array_interface__["data"][0]


def schedule(program: Program, target: Any) -> Schedule:
    """Assign memory and a tile height to a program."""
    prologue = [i for i in program.instructions if not i.rows]
    body = [i for i in program.instructions if i.rows]
    plan = Schedule(prologue, body, {}, 1, 0)
    for buffer in program.buffers:
        if buffer.array is not None:
            plan.places[buffer.index] = Place(False, address(buffer.array), buffer.row_stride)
            plan.alive.append(buffer.array)
    _place_results(plan, program)
    _place_prologue(plan)
    _place_body(plan, program, target)
    return plan


def _place_results(plan: Schedule, program: Program) -> None:
    for operand in program.results:
        rows = operand.buffer.rows
        shape = (program.batch, *operand.shape) if rows else operand.shape
        array = np.empty(shape, operand.dtype)  # type: ignore[arg-type]
        plan.places[operand.buffer.index] = Place(
            False, address(array), operand.buffer.nbytes if rows else 0
        )
        plan.results.append(array)


def _place_prologue(plan: Schedule) -> None:
    """Place the prologue's intermediates in one block; what the body reads lives to the end."""
    outlives = {o.buffer.index for i in plan.body for o in i.inputs}
    offsets, nbytes = assign(plan.prologue, set(plan.places), outlives, 1)
    block = np.empty(nbytes + ALIGNMENT, np.uint8)
    base = -(-address(block) // ALIGNMENT) * ALIGNMENT
    plan.alive.append(block)
    for index, offset in offsets.items():
        plan.places[index] = Place(False, base + offset, 0)


def _place_body(plan: Schedule, program: Program, target: Any) -> None:
    """Place the body's intermediates in the arena of a tile as high as the L2 cache allows."""
    if not plan.body:
        return
    placed = set(plan.places)
    _, row_bytes = assign(plan.body, placed, set(), 1)
    plan.tile = choose_tile(program.batch or 1, row_bytes, target.l2_bytes(), program.uses_blas)
    offsets, plan.arena_bytes = assign(plan.body, placed, set(), plan.tile)
    for index, offset in offsets.items():
        plan.places[index] = Place(True, offset, program.buffers[index].nbytes)


def choose_tile(batch: int, row_bytes: int, l2_bytes: int, uses_blas: bool = False) -> int:
    """Return the rows of a tile: a power of two whose intermediates fill half the L2 cache.

    It depends on the program and the cache, never on the number of threads, so that results do not
    either. A batch is cut into eight tiles at least where rows allow it, so that threads have
    something to share; with matrix products, which want many rows, not below 64 rows as long as
    there are two tiles.
    """
    if settings.tile:
        return settings.tile
    fit = max(1, (l2_bytes // 2) // max(row_bytes, 1))
    share = batch // 8
    if uses_blas:
        share = max(share, min(64, batch // 2))
    tile = min(fit, max(1, share), 1024)
    return 1 << (tile.bit_length() - 1)


def assign(
    instructions: Sequence[Instruction], placed: set[int], outlives: set[int], rows: int
) -> tuple[dict[int, int], int]:
    """Assign offsets by liveness (first fit on exact sizes) and return them with the total size.

    An elementwise instruction writes over an input that dies there when their layouts agree.
    """
    last: dict[int, int] = {}
    for number, instruction in enumerate(instructions):
        for operand in instruction.inputs:
            last[operand.buffer.index] = number
        for operand in instruction.outputs:
            last[operand.buffer.index] = number
    offsets: dict[int, int] = {}
    free: dict[int, list[int]] = {}
    top = 0
    for number, instruction in enumerate(instructions):
        dying = {
            o.buffer.index: o
            for o in instruction.inputs
            if last[o.buffer.index] == number
            and o.buffer.nbytes
            and o.buffer.index in offsets
            and o.buffer.index not in outlives
        }
        for operand in instruction.inputs:
            index = operand.buffer.index
            if index not in offsets and index not in placed:
                offsets[index] = top  # without elements, so nothing has written it
        for output in instruction.outputs:
            buffer = output.buffer
            if buffer.index in offsets or buffer.index in placed:
                continue
            heir = _inheritable(instruction, output, dying)
            if heir is not None:
                offsets[buffer.index] = offsets[heir]
                del dying[heir]
                continue
            size = _aligned(buffer.nbytes * rows)
            stack = free.get(size)
            if stack:
                offsets[buffer.index] = stack.pop()
            else:
                offsets[buffer.index], top = top, top + size
        ended = dying
        for output in instruction.outputs:  # results that nothing reads
            index = output.buffer.index
            if last[index] == number and index in offsets and index not in outlives:
                ended[index] = output
        for index, operand in ended.items():
            free.setdefault(_aligned(operand.buffer.nbytes * rows), []).append(offsets[index])
    return offsets, top


def _inheritable(
    instruction: Instruction, output: Operand, dying: dict[int, Operand]
) -> int | None:
    """Return a dying input over which ``output`` may be written."""
    if not instruction.elementwise or len(instruction.outputs) != 1 or not output.whole:
        return None
    for index, operand in dying.items():
        same = operand.shape == output.shape and operand.dtype == output.dtype
        if same and operand.whole and operand.buffer.rows == output.buffer.rows:
            others = [o for o in instruction.inputs if o is not operand and o.buffer.index == index]
            if all([o.whole and o.shape == output.shape for o in others]):  # noqa: C419  a list is faster
                return index
    return None


def _aligned(nbytes: int) -> int:
    return -(-max(nbytes, 1) // ALIGNMENT) * ALIGNMENT


# Below this many elements of work a parallel region costs more than it brings.
PARALLEL_WORK = 1 << 15


def execute(program: Program, target: Any) -> list[np.ndarray]:
    """Schedule and run a program; return the arrays of its results."""
    plan = schedule(program, target)
    if settings.debug:
        from . import verify  # it needs this module

        verify.check_program(program)
        verify.check_schedule(plan)
    _run(plan, plan.prologue, 1, 1, 0, program, target)
    if program.batch:
        _run(plan, plan.body, program.batch, plan.tile, plan.arena_bytes, program, target)
    return plan.results


def _run(
    plan: Schedule,
    part: list[Instruction],
    rows: int,
    tile: int,
    arena: int,
    program: Program,
    target: Any,
) -> None:
    if not part:
        return
    code, starts = encode(part, plan.places)
    parallel = rows > tile and rows * sum(i.work for i in part) > PARALLEL_WORK
    failure = target.run(code, starts, rows, tile, arena, parallel, uses_blas=program.uses_blas)
    if failure is not None:
        from .failure import raise_failure  # it needs this module

        raise_failure(plan, part, failure, target)
