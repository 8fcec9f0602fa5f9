"""Place buffers in one block of memory: buffers that are never alive together share memory."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from ..ir.program import Pattern


def assign(
    instructions: Sequence[Any],
    sizes: Any,
    offsets: list[int],
    quantum: int,
    outlives: Iterable[int] = (),
) -> int:
    """Assign offsets by liveness to the buffers that have none; return the bytes needed.

    A buffer gets the memory of a dead buffer of the same rounded size, if there is one. The output
    of an instruction gets the memory of a reusable input that dies there, if their layouts agree.

    Parameters
    ----------
    sizes : list or dict
        The bytes of each buffer, by its number.
    offsets : list of int
        The offset of each buffer, by its number; an offset below 0 is to be assigned.
    quantum : int
        Sizes are rounded up to a multiple of this number of bytes.
    outlives : iterable of int
        Buffers whose memory is not reused.
    """
    last = [-1] * len(offsets)
    for number, instruction in enumerate(instructions):
        for index in instruction.buffers:
            last[index] = number
    for index in outlives:
        last[index] = -1
    mine: set[int] = set()
    free: dict[int, list[int]] = {}
    top = 0
    for number, instruction in enumerate(instructions):
        buffers, pattern = instruction.buffers, instruction.pattern
        taken = -1
        for index in buffers[pattern.nin :]:
            if offsets[index] >= 0:
                continue
            mine.add(index)
            if pattern.reusable_inputs:
                taken = _heir(pattern, buffers, last, number, mine)
                if taken >= 0:
                    offsets[index] = offsets[taken]
                    continue
            size = -(-(sizes[index] or 1) // quantum) * quantum
            stack = free.get(size)
            if stack:
                offsets[index] = stack.pop()
            else:
                offsets[index] = top
                top += size
        for index in buffers:
            if last[index] == number and index in mine and index != taken:
                last[index] = -1
                size = -(-(sizes[index] or 1) // quantum) * quantum
                free.setdefault(size, []).append(offsets[index])
        if taken >= 0:
            last[taken] = -1
    for index in {*chain.from_iterable([i.buffers for i in instructions])}:
        if offsets[index] < 0:
            offsets[index] = 0  # without elements, so nothing writes it
    return top


def _heir(
    pattern: Pattern, buffers: tuple[int, ...], last: list[int], number: int, mine: set[int]
) -> int:
    """Return the input whose memory the output of instruction ``number`` may take, or -1.

    The input must be one of ``mine``, whose memory is assigned here, and read by no later
    instruction; ``last`` has for each buffer the last instruction that uses it.
    """
    for place in pattern.reusable_inputs:
        index = buffers[place]
        if last[index] == number and index in mine:
            if buffers.count(index) > 1:
                uses = [n for n in range(pattern.nin) if buffers[n] == index]
                if not pattern.peers.issuperset(uses):
                    continue
            return index
    return -1
