"""The function that a running instruction calls, read from bytecode where there is no source.

A program that comes from a pipe, or is compiled from a text, has no source.
"""

import ast
import dis
from types import FrameType

_NAMES = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST")
_REMAINDER = [symbol for _, symbol in dis._nb_ops].index("%")  # type: ignore[attr-defined]


def beginning(frame: FrameType) -> ast.expr | None:
    """Return the expression of the function that a frame calls, or of the left operand of an
    operator that it runs.

    The expression is made of names, attributes, calls and constants; ``...`` stands for the
    arguments of a call. Its instructions are those whose source begins where that of the running
    one begins: ``f`` in ``f(x)`` begins where the call does.
    """
    found: ast.expr | None = None
    steps = [step for step in dis.get_instructions(frame.f_code) if step.offset <= frame.f_lasti]
    start = _start(steps[-1]) if steps else (None, None)
    for step in steps[:-1]:
        if _start(step) == start and None not in start:
            found = _extended(found, step)
    return found


def is_remainder(frame: FrameType) -> bool:
    """Whether the operator that a frame runs is ``%``, which formats text."""
    code, place = frame.f_code.co_code, frame.f_lasti
    return dis.opname[code[place]] == "BINARY_OP" and code[place + 1] == _REMAINDER


def _start(step: dis.Instruction) -> tuple[int | None, int | None]:
    place = step.positions
    return (None, None) if place is None else (place.lineno, place.col_offset)


def _extended(found: ast.expr | None, step: dis.Instruction) -> ast.expr | None:
    """Return the expression that one more instruction makes of an expression."""
    name, argument = step.opname, step.argval
    if name == "LOAD_CONST":
        return ast.Constant(argument)
    if name.startswith(_NAMES) and isinstance(argument, str):
        return ast.Name(argument)
    if found is not None and name in ("LOAD_ATTR", "LOAD_METHOD"):
        return ast.Attribute(found, argument)
    if found is not None and name.startswith("CALL"):
        return ast.Call(found, [ast.Constant(...)], [])
    return found
