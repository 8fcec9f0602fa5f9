"""The error for a user's kernel that failed: its function is called again on this thread."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import OperatorError


def replay(
    target: Any,
    spec: Any,
    inputs: Sequence[np.ndarray],
    ncore: Sequence[int],
    what: str,
    where: str,
    outputs: Sequence[str] = (),
) -> Exception:
    """Call a kernel's function for one element of its loop after the other, until one fails.

    Parameters
    ----------
    inputs : sequence of ndarray
        Whole operands, leading axes first; the last ``ncore[k]`` axes of each are its core.
    what, where : str
        The operator, and what is known already about the place.
    outputs : sequence of str
        The names of the arrays that the function writes.

    Returns
    -------
    OperatorError
        Its cause is the function's own exception.
    """
    pairs = list(zip(inputs, ncore, strict=True))
    loop = np.broadcast_shapes(*(a.shape[: a.ndim - n] for a, n in pairs))
    whole = [np.broadcast_to(a, (*loop, *a.shape[a.ndim - n :])) for a, n in pairs]
    for index in np.ndindex(loop):
        place = where + (f" at loop index {index}" if loop else "")
        try:
            unwritten = target.replay(spec, [a[index] for a in whole])
        except Exception as error:
            failure = OperatorError(
                f"{what}: the kernel raised{place}: {type(error).__name__}: {error}"
            )
            failure.__cause__ = error
            return failure
        if unwritten:
            return OperatorError(f"{what}: {_describe(unwritten, outputs)}{place}")
    return OperatorError(f"{what}: the kernel raised{where}, but not when it was called again")


def _describe(unwritten: dict[int, list[tuple[int, ...]]], outputs: Sequence[str]) -> str:
    parts = []
    for output, indices in unwritten.items():
        elements = ", ".join(str(i[0] if len(i) == 1 else i) for i in indices[:5])
        more = f" and {len(indices) - 5} more" if len(indices) > 5 else ""
        parts.append(f"{outputs[output]}[{elements}]{more}")
    names = ", ".join(parts)
    return f"the kernel did not write {names} (or computed it from elements it had not written)"
