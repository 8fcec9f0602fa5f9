"""Recompute the inputs of a kernel that reported an error, in the failing row alone.

The buffers of the run may have been overwritten since, so the instructions before the failing one
run again, on fresh memory.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir.program import Instruction, Program, Ref
from ..kernels.python_kernel import Memory
from ..machine import machine
from .encode import encode
from .schedule import ABSOLUTE, ALIGNMENT, BATCH, BLOCK, ONCE, Schedule, Segment, address


def inputs_in_row(
    program: Program,
    plan: Schedule,
    target: Any,
    addresses: Sequence[int],
    before: Sequence[Instruction],
    instruction: Instruction,
    row: int,
) -> list[np.ndarray]:
    """Return copies of an instruction's inputs in one row, computed anew.

    ``before`` are the instructions of the program before this one, and ``addresses`` are the
    addresses of the arrays of the failed run.
    """
    once = [i for i in before if not i.pattern.rows]
    body = [i for i in before if i.pattern.rows]
    alone = Schedule([Segment(once, ONCE, 1), Segment(body, BATCH, 1)], [], [])
    alone.slots = [ABSOLUTE] * len(program.nbytes)
    alone.offsets = [-1] * len(program.nbytes)
    for index, (offset, slot) in enumerate(zip(plan.offsets, plan.slots, strict=True)):
        shift = row * program.row_strides[index] if program.rows[index] else 0
        if slot == ABSOLUTE:
            alone.offsets[index] = offset + shift
        elif slot > BLOCK:
            alone.offsets[index] = addresses[slot - BLOCK - 1] + shift
    memory = _place_apart(alone, program, [*before, instruction])
    code, starts = encode(alone, program, target)
    parts = [(0, len(once), 1, 1, 0, False), (len(once), len(starts), 1, 1, 0, False)]
    machine.Runner(code, starts, parts)()
    inputs = [_array(alone, ref) for ref in instruction.inputs]
    del memory
    return inputs


def _place_apart(
    alone: Schedule, program: Program, instructions: Sequence[Instruction]
) -> np.ndarray:
    """Place each buffer that has no address in fresh memory; return the array that owns the memory.
    """
    used = {index for i in instructions for index in i.buffers if alone.offsets[index] < 0}
    sizes = {index: -(-max(program.nbytes[index], 1) // ALIGNMENT) * ALIGNMENT for index in used}
    memory = np.empty(sum(sizes.values()) + ALIGNMENT, np.uint8)
    top = -(-address(memory) // ALIGNMENT) * ALIGNMENT
    for index, size in sizes.items():
        alone.offsets[index] = top
        top += size
    return memory


def _array(alone: Schedule, ref: Ref) -> np.ndarray:
    """Return a copy of what an operand refers to."""
    place, layout = alone.offsets[ref.buffer] + ref.offset, ref.layout
    return np.array(Memory(place, layout.shape, layout.strides, layout.dtype, True))
