"""Straight-line code: the operations of scalar functions that compute without a branch.

Most operators are a few arithmetic operations. Read from their optimised LLVM code, the operations
can be written for whole vectors, with no loop for LLVM to vectorise and no call for it to inline.
An operation on a vector gives each lane the bits of the operation on a number.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from llvmlite import binding as llvm

from ..platform import interrupts
from ..platform.numba_setup import compiler_lock

_TYPE = r"(?:double|float|half|i1|i8|i16|i32|i64)"
_NAME = r'%(?:[\w.$-]+|"[^" ,]+")'
_VALUE = rf"(?:{_NAME}|-?[\w.+-]+)"
_ARGUMENT = rf"{_TYPE}(?: [a-z_]+)* {_VALUE}"
_HEAD = re.compile(rf"define (?:[a-z_]+(?:\([^()]*\))? )*({_TYPE}) @[\w.$]+\(([^)]*)\)")
_SHAPES = tuple(
    re.compile(rf"({_NAME}) = {shape}(?:, ![\w.]+ !\d+)*$")
    for shape in (
        rf"(?P<name>f(?:add|sub|mul|div|neg|rem)) (?P<first>{_TYPE}) "
        rf"(?P<rest>{_VALUE}(?:, {_VALUE})?)",
        rf"(?P<name>(?:add|sub|mul|and|or|xor|shl|lshr|ashr)(?: nsw| nuw| exact| disjoint)*) "
        rf"(?P<first>{_TYPE}) (?P<rest>{_VALUE}, {_VALUE})",
        rf"(?P<name>[fi]cmp [a-z]+) (?P<first>{_TYPE}) (?P<rest>{_VALUE}, {_VALUE})",
        rf"(?P<name>select) (?P<each>i1 {_VALUE}, {_TYPE} {_VALUE}, {_TYPE} {_VALUE})",
        rf"(?P<name>(?:zext|sext|trunc|fpext|fptrunc|sitofp|uitofp|bitcast)(?: nneg| nsw| nuw)*) "
        rf"(?P<each>{_TYPE} {_VALUE}) to (?P<to>{_TYPE})",
        rf"(?:tail )?call (?P<to>{_TYPE}) (?P<name>@[\w.]+)"
        rf"\((?P<each>{_ARGUMENT}(?:, {_ARGUMENT})*)\)(?: #\d+)?",
    )
)
_NO_VALUE = frozenset(("undef", "poison"))
_RETURN = re.compile(rf"ret {_TYPE} ({_VALUE})$")


class Operation(NamedTuple):
    """One operation on numbers.

    Attributes
    ----------
    result : str
        The name of the result.
    name : str
        LLVM's instruction, with a predicate or flags; or ``@`` and the name of a called function.
    operands : tuple of str
        Names of values, or constants.
    types : tuple of str
        The types of the operands.
    to : str
        Type of the result.
    """

    result: str
    name: str
    operands: tuple[str, ...]
    types: tuple[str, ...]
    to: str


class StraightLine(NamedTuple):
    """A scalar function without branches: names of its parameters, operations, and its result."""

    parameters: tuple[str, ...]
    operations: tuple[Operation, ...]
    result: str


@lru_cache(maxsize=4096)
def straight_line_of(bit_code: bytes, symbol: str) -> StraightLine | None:
    """Return the operations of a compiled function; None if one is a branch, or unknown here."""
    with compiler_lock, interrupts.held():
        text = str(llvm.parse_bitcode(bit_code).get_function(symbol))
    head = _HEAD.search(text)
    lines = text[text.index("{") + 1 : text.rindex("}")].split("\n") if head else []
    lines = [line.strip() for line in lines if line.strip() and line.strip() != "entry:"]
    if head is None or not lines:
        return None
    returned = _RETURN.match(lines.pop())
    operations = [_operation(line) for line in lines]
    if returned is None or None in operations:
        return None
    known = tuple(o for o in operations if o)
    if _NO_VALUE.intersection((returned[1], *(x for o in known for x in o.operands))):
        return None
    parameters = tuple(part.rsplit(" ", 1)[-1] for part in head[2].split(", "))
    return StraightLine(parameters, known, returned[1])


def _operation(line: str) -> Operation | None:
    for shape in _SHAPES:
        found = shape.match(line)
        if found is not None:
            return _made(found[1], found.groupdict())
    return None


def _made(result: str, part: dict[str, str | None]) -> Operation:
    each = part.get("each")
    if each is None:
        operands = tuple(str(part["rest"]).split(", "))
        types = (str(part["first"]),) * len(operands)
    else:
        pairs = [item.split(" ") for item in each.split(", ")]
        operands = tuple(pair[-1] for pair in pairs)
        types = tuple(pair[0] for pair in pairs)
    name = str(part["name"])
    to = "i1" if "cmp" in name else part.get("to") or types[-1]
    return Operation(result, name, operands, types, to)
