"""What happens when a kernel reports an error: the row is computed again, alone, up to that kernel.

No exception can leave a machine. So the operator gets the inputs that the kernel had, and calls its
function with them on the calling thread, where the function's own exception comes out.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .._errors import OperatorError
from .encode import encode
from .program import Instruction, Operand
from .schedule import ALIGNMENT, Place, Schedule


def raise_failure(
    plan: Schedule, part: Sequence[Instruction], failure: Any, target: Any
) -> NoReturn:
    """Raise for a kernel of ``part`` that reported an error."""
    instruction = part[failure.instruction]
    row = f" at row {failure.row}" if instruction.rows else ""
    known = instruction.site is not None
    site = f" (the operation recorded at {instruction.site})" if known else ""
    if instruction.replay is not None:
        inputs = inputs_in_row(plan, part, failure, target)
        raise instruction.replay(target, inputs, row + site)
    where = f"{row or ' at row 0'}, loop index {failure.loop_index}{site}"
    if instruction.error is not None:
        raise instruction.error(where)
    raise OperatorError(f"the kernel of {instruction.name} raised{where}")


def inputs_in_row(
    plan: Schedule, part: Sequence[Instruction], failure: Any, target: Any
) -> list[np.ndarray]:
    """Run what precedes the failed instruction on its row alone; return copies of its inputs."""
    arena = np.empty(plan.arena_bytes + ALIGNMENT, np.uint8)
    base = -(-arena.ctypes.data // ALIGNMENT) * ALIGNMENT
    places = {
        index: Place(False, base + place.base, 0)
        if place.scratch
        else Place(False, place.base + failure.row * place.row_stride, 0)
        for index, place in plan.places.items()
    }
    before = part[: failure.instruction]
    if before:
        code, starts = encode(before, places)
        target.run(code, starts, 1, 1, 0, False)
    return [_array(places, operand) for operand in part[failure.instruction].inputs]


def _array(places: dict[int, Place], operand: Operand) -> np.ndarray:
    memory = _Memory(places[operand.buffer.index].base + operand.offset, operand)
    return np.array(memory)


class _Memory:
    """The elements of an operand at an address, as NumPy likes to be told."""

    def __init__(self, address: int, operand: Operand) -> None:
        self.__array_interface__ = {
            "data": (address, True),
            "shape": operand.shape,
            "strides": operand.strides,
            "typestr": operand.dtype.str,
            "version": 3,
        }
