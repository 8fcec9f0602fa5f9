"""Slow and simple checks of programs, run before a program is bound in debug mode, and by tests."""

from collections.abc import Collection

from ..._errors import GraphError
from ...ir.program import Instruction, Program, Ref, extent


def check_program(program: Program) -> None:
    """Raise an error unless each instruction of a program reads and writes only what it may.

    Every buffer has to be written before it is read, every operand to lie inside its buffer, and
    every result to fill a buffer of its own. Nothing may write into arrays from outside.
    """
    written = {*program.arrays, *program.arguments}
    once = [i for i in program.instructions if not i.rows]
    for instruction in [*once, *(i for i in program.instructions if i.rows)]:
        for ref in instruction.inputs:
            _check_input(program, instruction, ref, written)
        for ref in instruction.operands:
            _check_bounds(program, instruction, ref)
        for ref in instruction.outputs:
            if program.is_outside(ref.buffer):
                raise GraphError(f"{instruction.name} writes into a constant")
            written.add(ref.buffer)
    _check_results(program, written)


def _check_input(
    program: Program, instruction: Instruction, ref: Ref, written: Collection[int]
) -> None:
    if ref.buffer not in written and program.nbytes[ref.buffer]:
        raise GraphError(f"{instruction.name} reads buffer {ref.buffer} before it is written")
    if program.rows[ref.buffer] and not instruction.rows:
        raise GraphError(f"{instruction.name} has no rows but reads buffer {ref.buffer} that has")


def _check_results(program: Program, written: Collection[int]) -> None:
    indices = [ref.buffer for ref in program.results]
    if len(set(indices)) != len(indices):
        raise GraphError("two results share a buffer")
    for ref in program.results:
        if program.nbytes[ref.buffer] and ref.buffer not in written:
            raise GraphError(f"result buffer {ref.buffer} is never written")
        if not ref.layout.whole:
            raise GraphError(f"result buffer {ref.buffer} is not contiguous")


def _check_bounds(program: Program, instruction: Instruction, ref: Ref) -> None:
    layout = ref.layout
    if program.is_outside(ref.buffer) or 0 in layout.shape:
        return  # arrays from outside are checked at the call, and no elements need no bytes
    low, high = [ref.offset + end for end in extent(layout.shape, layout.strides)]
    nbytes = program.nbytes[ref.buffer]
    if low < 0 or high + layout.dtype.itemsize > nbytes:
        raise GraphError(
            f"{instruction.name}: an operand of shape {layout.shape} reaches bytes {low}..{high} "
            f"of buffer {ref.buffer}, which has {nbytes}"
        )
