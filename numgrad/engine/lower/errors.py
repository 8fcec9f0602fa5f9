"""What happens when a kernel reports an error.

No exception can leave a kernel. So the operator gets the inputs that the kernel had, and calls its
function with them on the calling thread, where the function's own exception comes out.
"""

from typing import Any, NoReturn

from ..._errors import OperatorError
from ...ir.target import Failure


def raise_failure(target: Any, failure: Failure) -> NoReturn:
    """Raise for a kernel that reported an error."""
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
