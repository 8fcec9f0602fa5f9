"""What a call answers, as bytes that can be sent and compared."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import numgrad as ng

Case = tuple[str, tuple[tuple[str, Any], ...]]
"""The name of a program, and the choice on each axis."""

Call = Callable[[Case], Any]


def answer(call: Call, case: Case) -> Any:
    """Return the result of a call in a form that has all its bits, or the type of its error.

    The words of an error are left out: they may name an operation that an earlier call has made
    part of another one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ("result", _frozen(call(case)))
        except Exception as error:
            return ("error", type(error).__name__)


def _frozen(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return tuple(map(_frozen, x))
    if isinstance(x, dict):
        return ("dict", tuple([(repr(key), _frozen(item)) for key, item in x.items()]))
    if isinstance(x, ng.Tensor):
        return ("tensor", x.requires_grad, _frozen(np.asarray(x.detach())))
    if isinstance(x, np.ndarray | np.generic):
        return (str(x.dtype), np.shape(x), np.ascontiguousarray(x).tobytes())
    return ("object", re.sub("0x[0-9a-f]+", "0x", repr(x)))


def shown(x: Any) -> str:
    """Return an answer for a reader: arrays in place of their bytes."""
    if isinstance(x, tuple) and len(x) == 3 and isinstance(x[2], bytes):
        return f"{x[0]}{x[1]} {np.frombuffer(x[2], x[0])[:8].tolist()}"
    return "(" + ", ".join(map(shown, x)) + ")" if isinstance(x, tuple) else str(x)
