"""Recompute the inputs of a kernel that reported an error, on the failing row alone.

The buffers of the run may have been overwritten since, so the preceding instructions run again.
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
    """Return copies of the inputs of an instruction, from a run of one row up to it."""
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
    """Place every buffer without an address in fresh memory; return the array that owns it."""
    used = {index for i in instructions for index in i.buffers if alone.offsets[index] < 0}
    sizes = {index: -(-max(program.nbytes[index], 1) // ALIGNMENT) * ALIGNMENT for index in used}
    memory = np.empty(sum(sizes.values()) + ALIGNMENT, np.uint8)
    top = -(-address(memory) // ALIGNMENT) * ALIGNMENT
    for index, size in sizes.items():
        alone.offsets[index] = top
        top += size
    return memory


def _array(alone: Schedule, ref: Ref) -> np.ndarray:
    place, layout = alone.offsets[ref.buffer] + ref.offset, ref.layout
    return np.array(Memory(place, layout.shape, layout.strides, layout.dtype, True))
