"""The function that a running instruction calls, read from bytecode where there is no source.

A program that comes from a pipe, or is compiled from a text, has no source.
"""

import ast
import dis
import sys
from types import FrameType

_NAMES = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST")


def operator_number(text: str) -> int | None:
    """Return the number that stands in bytecode for the operator of a statement, as ``a % b``; None
    where operators have no numbers."""
    code = compile(text, "<operator>", "exec")
    found = (step.arg for step in dis.get_instructions(code) if step.opname == "BINARY_OP")
    return next(found, None)


_REMAINDER = operator_number("a % b")

CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")
"""The instructions whose argument, as `dis` has it, is the constant that they load."""
if sys.version_info >= (3, 15):  # before, it is the number of the constant
    CONSTANTS += ("LOAD_COMMON_CONSTANT",)


def beginning(frame: FrameType) -> ast.expr | None:
    """Return the source expression of the function that a frame is calling, or of the left operand
    of the operator that the frame is running.

    The expression is put together from the instructions whose source begins at the same place as
    that of the running instruction: ``f`` begins where ``f(x)`` does. Arguments of calls in the
    expression are left out; ``...`` stands for them.
    """
    found: ast.expr | None = None
    steps = [step for step in dis.get_instructions(frame.f_code) if step.offset <= frame.f_lasti]
    start = _start(steps[-1]) if steps else (None, None)
    for step in steps[:-1]:
        if _start(step) == start and None not in start:
            found = _extended(found, step)
    return found


def is_remainder(frame: FrameType) -> bool:
    """Whether a frame is running the operator ``%``, which may be the one that formats text."""
    code, place = frame.f_code.co_code, frame.f_lasti
    return dis.opname[code[place]] == "BINARY_OP" and code[place + 1] == _REMAINDER


def _start(step: dis.Instruction) -> tuple[int | None, int | None]:
    place = step.positions
    return (None, None) if place is None else (place.lineno, place.col_offset)


def _extended(found: ast.expr | None, step: dis.Instruction) -> ast.expr | None:
    """Return the expression on top of the stack after the instruction ``step``, given the
    expression ``found`` that was there before."""
    name, argument = step.opname, step.argval
    if name in CONSTANTS:
        return ast.Constant(argument)
    if name.startswith(_NAMES) and isinstance(argument, str):
        return ast.Name(argument)
    if found is not None and name in ("LOAD_ATTR", "LOAD_METHOD"):
        return ast.Attribute(found, argument)
    if found is not None and name.startswith("CALL"):
        return ast.Call(found, [ast.Constant(...)], [])
    return found
