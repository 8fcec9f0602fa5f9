"""Choose the results of a program that may be written into the memory of donated arguments.

A donated argument is an array that the caller allows to be overwritten.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from ....ir.program import Program, is_contiguous
from .schedule import ELEMENTS, ONCE, Schedule, Segment

# One use of a buffer: the numbers of the segment, the instruction, and the operand.
Use = tuple[int, int, int]


def reused_arguments(
    program: Program, plan: Schedule, donated: Mapping[int, np.dtype]
) -> dict[int, int]:
    """Return the position of the argument whose memory a result may take, by the result's number.

    Parameters
    ----------
    donated : dict
        Dtypes of the arguments that may be overwritten, by position; no other array shares their
        memory.
    """
    found: dict[int, int] = {}
    free = {b: p for b, p in program.arguments.items() if p in donated}
    free = {b: p for b, p in free.items() if list(program.arguments.values()).count(p) == 1}
    for number, result in enumerate(program.results):
        for buffer, position in free.items():
            same = program.nbytes[buffer] == program.nbytes[result.buffer]
            same = same and donated[position] == result.layout.dtype
            same = same and program.rows[buffer] == program.rows[result.buffer]
            if same and _is_dead_before(plan, buffer, result.buffer):
                found[number] = position
                del free[buffer]
                break
    return found


def _is_dead_before(plan: Schedule, argument: int, result: int) -> bool:
    """Whether all reads of an argument's elements come before the result may overwrite them."""
    reads, uses = list(_uses(plan, argument)), list(_uses(plan, result))
    return all(_comes_first(plan, read, use) for read in reads for use in uses)


def _uses(plan: Schedule, buffer: int) -> Iterator[Use]:
    for s, segment in enumerate(plan.segments):
        for i, instruction in enumerate(segment.instructions):
            for n, index in enumerate(instruction.buffers):
                if index == buffer:
                    yield s, i, n


def _comes_first(plan: Schedule, read: Use, use: Use) -> bool:
    """Whether a read of the argument surely comes before a use of the result in the same memory."""
    if read[0] != use[0]:
        return read[0] < use[0]
    segment = plan.segments[read[0]]
    if segment.kind != ONCE and not (_in_step(segment, read) and _in_step(segment, use)):
        return False
    if read[1] != use[1]:
        return read[1] < use[1]
    return use[2] >= segment.instructions[use[1]].pattern.nin and _is_alike(segment, read, use)


def _in_step(segment: Segment, use: Use) -> bool:
    """Whether each tile of a segment uses only its own rows of the buffer of ``use``."""
    layout = segment.instructions[use[1]].pattern.layouts[use[2]]
    return _is_all(segment, use) if segment.kind == ELEMENTS else layout.rows


def _is_alike(segment: Segment, read: Use, use: Use) -> bool:
    """Whether an elementwise instruction reads and writes the same element at each step of its
    loop."""
    pattern = segment.instructions[read[1]].pattern
    one, two = pattern.layouts[read[2]], pattern.layouts[use[2]]
    alike = one.shape == two.shape and one.dtype == two.dtype and one.rows == two.rows
    whole = _is_all(segment, read) and _is_all(segment, use)
    return pattern.elementwise and len(pattern.layouts) == pattern.nin + 1 and alike and whole


def _is_all(segment: Segment, use: Use) -> bool:
    """Whether an instruction walks over a buffer in C order, from its first element on."""
    instruction = segment.instructions[use[1]]
    layout, pattern = instruction.pattern.layouts[use[2]], instruction.pattern
    ordered = is_contiguous(layout.shape, layout.strides, layout.dtype.itemsize)
    return ordered and layout.shape == pattern.loop and instruction.offsets[use[2]] == 0
