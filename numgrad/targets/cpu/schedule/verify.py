"""A slow, obviously correct check of schedules; run in debug mode and by tests."""

from collections.abc import Mapping, Sequence

from ...._errors import GraphError
from ....ir.program import Program
from .schedule import ARENA, BLOCK, ELEMENTS, ONCE, Schedule, Segment


def check_schedule(plan: Schedule, program: Program) -> None:
    """Raise if two buffers that are alive at the same time share memory."""
    for segment in plan.segments:
        if segment.kind != ONCE:
            _check_lifetimes(plan, program, [segment], ARENA)
    _check_lifetimes(plan, program, plan.segments, BLOCK)


def _check_lifetimes(
    plan: Schedule, program: Program, segments: Sequence[Segment], slot: int
) -> None:
    """Raise if buffers in one slot, the block or an arena, overlap while both are alive."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    sizes: dict[int, int] = {}
    instructions = [(i, s) for s in segments for i in s.instructions]
    for number, (instruction, segment) in enumerate(instructions):
        for index in instruction.buffers:
            if plan.slots[index] == slot:
                first.setdefault(index, number)
                last[index] = number
                sizes[index] = _size(program, index, segment, slot)
    live: list[int] = []
    for index in sorted(first, key=lambda i: first[i]):
        live = [other for other in live if last[other] >= first[index]]
        for other in live:
            begins = instructions[first[index]][0]
            heir = last[other] == first[index] and begins.pattern.reusable_inputs
            if not heir and _overlap(plan, index, other, sizes):
                raise GraphError(f"buffers {index} and {other} overlap while both are alive")
        live.append(index)


def _size(program: Program, index: int, segment: Segment, slot: int) -> int:
    """Return the bytes that a buffer takes: all of it in the block, the rows of a tile in an arena.
    """
    if slot == BLOCK:
        return program.nbytes[index]
    rows = segment.rows if segment.kind == ELEMENTS else 1
    return program.nbytes[index] // rows * segment.tile


def _overlap(plan: Schedule, a: int, b: int, sizes: Mapping[int, int]) -> bool:
    if not sizes[a] or not sizes[b]:
        return False
    one, other = plan.offsets[a], plan.offsets[b]
    return one < other + sizes[b] and other < one + sizes[a]
