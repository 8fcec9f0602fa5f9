"""The arguments of a user's operator: values, whose floating dtypes are promoted together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import DtypeError, OperatorCallError
from .operator import WEAK, door, kind_of


def promote(args: Sequence[Any], names: Sequence[str], what: str) -> tuple[list[Any], bool]:
    """Return arguments as values, and whether they were of half precision (computed in single).

    Python's floats take the dtype of the arrays, as in NumPy. Integers and booleans stay what they
    are: they may be indices or counts.
    """
    if len(args) != len(names):
        plural = "s" if len(names) != 1 else ""
        raise OperatorCallError(
            f"{what} takes {len(names)} array{plural} ({', '.join(names)}), got {len(args)}"
        )
    known = [
        a if isinstance(a, (door.value, *WEAK)) else _value(a, name, what)
        for a, name in zip(args, names, strict=True)
    ]
    kinds = [kind_of(a) for a in known]
    floating = [kind for kind in kinds if _is_floating(kind)]
    found = np.result_type(*floating) if floating else np.dtype(np.float64)
    dtype = np.dtype(np.float32) if found == np.float16 else found
    return [_cast(a, dtype) for a in known], found == np.float16


def _value(arg: Any, name: str, what: str) -> Any:
    try:
        return door.constant(arg)
    except (DtypeError, ValueError, TypeError) as error:
        raise DtypeError(f"{what}: input {name!r}: {error}") from None


def _cast(arg: Any, dtype: np.dtype) -> Any:
    if not isinstance(arg, door.value):
        return door.constant(np.asarray(arg, dtype if _is_floating(arg) else None))
    return arg.astype(dtype) if arg.dtype.kind in "fc" and arg.dtype != dtype else arg


def _is_floating(kind: Any) -> bool:
    """Whether a dtype or a Python number is real or complex."""
    return kind.kind in "fc" if isinstance(kind, np.dtype) else isinstance(kind, (float, complex))
