"""Raise an exception for a kernel that has reported an error.

No exception can leave a kernel. So the operator's function is called once more in Python, with the
inputs of the kernel and on the thread of the caller. There the function raises its own exception.
"""

from typing import Any, NoReturn

from ..._errors import OperatorError
from ...ir.target import Failure


def raise_failure(target: Any, failure: Failure) -> NoReturn:
    """Raise the exception for a kernel that reported an error.

    The message names the line of the user's code that recorded the operation.
    """
    instruction = failure.instruction
    pattern = instruction.pattern
    row = f" at row {failure.row}" if pattern.rows else ""
    known = instruction.site is not None
    site = f" (the operation recorded at {instruction.site})" if known else ""
    if pattern.replay is not None:
        raise pattern.replay(target, failure.inputs(), row + site)
    where = f"{row or ' at row 0'}, loop index {failure.loop_index}{site}"
    if pattern.error is not None:
        raise pattern.error(where)
    raise OperatorError(f"the kernel of {pattern.name} raised{where}")
