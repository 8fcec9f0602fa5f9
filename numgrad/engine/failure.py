"""What happens when a kernel reports an error: the row is computed again, alone, up to that kernel.

No exception can leave a machine. So the operator gets the inputs that the kernel had, and calls its
function with them on the calling thread, where the function's own exception comes out.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

import numpy as np

from .._errors import OperatorError
from .encode import encode
from .program import Instruction, Program, Ref
from .schedule import ABSOLUTE, ALIGNMENT, BATCH, BLOCK, ONCE, Schedule, Segment, address


def raise_failure(
    target: Any, bound: Any, addresses: Sequence[int], failure: Any
) -> NoReturn:
    """Raise for a kernel of a bound program that reported an error in a run with these
    addresses."""
    instructions = [i for segment in bound.schedule.segments for i in segment.instructions]
    instruction = instructions[failure.instruction]
    pattern = instruction.pattern
    row = f" at row {failure.row}" if pattern.rows else ""
    known = instruction.site is not None
    site = f" (the operation recorded at {instruction.site})" if known else ""
    if pattern.replay is not None:
        before = instructions[: failure.instruction]
        inputs = _inputs_in_row(target, bound, addresses, before, instruction, failure.row)
        raise pattern.replay(target, inputs, row + site)
    index = failure.loop_index
    if not pattern.rows:  # a row is a part of the loop
        index += failure.row * (prod(pattern.loop) // _rows_of(bound.schedule, instruction))
    where = f"{row or ' at row 0'}, loop index {index}{site}"
    if pattern.error is not None:
        raise pattern.error(where)
    raise OperatorError(f"the kernel of {pattern.name} raised{where}")


def _rows_of(schedule: Schedule, instruction: Instruction) -> int:
    (segment,) = [s for s in schedule.segments if any(i is instruction for i in s.instructions)]
    return segment.rows


def _inputs_in_row(
    target: Any,
    bound: Any,
    addresses: Sequence[int],
    before: Sequence[Instruction],
    instruction: Instruction,
    row: int,
) -> list[np.ndarray]:
    """Run what precedes an instruction on its row alone; return copies of its inputs."""
    program: Program = bound.program
    once = [i for i in before if not i.pattern.rows]
    body = [i for i in before if i.pattern.rows]
    alone = Schedule([Segment(once, ONCE, 1), Segment(body, BATCH, 1)], [], [])
    alone.slots = [ABSOLUTE] * len(program.nbytes)
    alone.offsets = [-1] * len(program.nbytes)
    for index, offset, slot in zip(
        range(len(program.nbytes)), bound.schedule.offsets, bound.schedule.slots, strict=True
    ):
        shift = row * program.row_strides[index] if program.rows[index] else 0
        if slot == ABSOLUTE:
            alone.offsets[index] = offset + shift
        elif slot > BLOCK:
            alone.offsets[index] = addresses[slot - BLOCK - 1] + shift
    memory = _place_apart(alone, program, [*before, instruction])
    code, starts = encode(alone, program, target)
    parts = [(0, len(once), 1, 1, 0, False), (len(once), len(starts), 1, 1, 0, False)]
    target.bind(code, starts, parts)()
    inputs = [_array(alone, ref) for ref in instruction.inputs]
    del memory
    return inputs


def _place_apart(
    alone: Schedule, program: Program, instructions: Sequence[Instruction]
) -> np.ndarray:
    """Give every buffer that is not placed memory of its own; return what keeps it alive."""
    used = {index for i in instructions for index in i.buffers if alone.offsets[index] < 0}
    sizes = {index: -(-max(program.nbytes[index], 1) // ALIGNMENT) * ALIGNMENT for index in used}
    memory = np.empty(sum(sizes.values()) + ALIGNMENT, np.uint8)
    top = -(-address(memory) // ALIGNMENT) * ALIGNMENT
    for index, size in sizes.items():
        alone.offsets[index] = top
        top += size
    return memory


def _array(alone: Schedule, ref: Ref) -> np.ndarray:
    return np.array(_Memory(alone.offsets[ref.buffer] + ref.offset, ref))


class _Memory:
    """The elements of an operand at an address, as NumPy likes to be told."""

    def __init__(self, address: int, ref: Ref) -> None:
        self.__array_interface__ = {
            "data": (address, True),
            "shape": ref.layout.shape,
            "strides": ref.layout.strides,
            "typestr": ref.layout.dtype.str,
            "version": 3,
        }
