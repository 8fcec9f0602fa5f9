"""The arguments of a user's operator: arrays, promoted together, and static parameters.

Static parameters that are numbers are operands of the kernel; others are compiled in.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._errors import DtypeError, OperatorCallError
from ...engine.graph.runtime import runtime
from ...ir.dtypes import WEAK
from ...ir.kernel_spec import Constant
from ..operands import constant, device_among, kind_of

_WORD = np.iinfo(np.int64)


def promote(args: Sequence[Any], names: Sequence[str], what: str) -> tuple[list[Any], bool]:
    """Return arguments as values, and whether their floating dtype is half precision.

    Half precision is computed in single. Python's floats take the dtype of the arrays, as in NumPy.
    Integers and booleans keep their dtypes: they may be indices or counts.
    """
    if len(args) != len(names):
        plural = "s" if len(names) != 1 else ""
        raise OperatorCallError(
            f"{what} takes {len(names)} array{plural} ({', '.join(names)}), got {len(args)}"
        )
    device = device_among(args)
    known = [
        a if isinstance(a, (runtime.value, *WEAK)) else _value(a, device, name, what)
        for a, name in zip(args, names, strict=True)
    ]
    kinds = [kind_of(a) for a in known]
    floating = [kind for kind in kinds if _is_floating(kind)]
    found = np.result_type(*floating) if floating else np.dtype(np.float64)
    dtype = np.dtype(np.float32) if found == np.float16 else found
    return [_cast(a, dtype) for a in known], found == np.float16


def _value(arg: Any, device: str | None, name: str, what: str) -> Any:
    try:
        return constant(arg, device)
    except (DtypeError, ValueError, TypeError) as error:
        raise DtypeError(f"{what}: input {name!r}: {error}") from None


def _cast(arg: Any, dtype: np.dtype) -> Any:
    if not isinstance(arg, runtime.value):
        return constant(np.asarray(arg, dtype if _is_floating(arg) else None))
    return arg.astype(dtype) if arg.dtype.kind in "fc" and arg.dtype != dtype else arg


def _is_floating(kind: Any) -> bool:
    """Whether a dtype or a Python number is real or complex."""
    return kind.kind in "fc" if isinstance(kind, np.dtype) else isinstance(kind, (float, complex))


def bind(
    what: str, names: Sequence[str], defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the value of each static parameter, in the order of ``names``."""
    for name in given:
        if name not in names:
            known = (
                f"those of the operator are {', '.join(names)}"
                if names
                else "the operator has none"
            )
            raise OperatorCallError(f"{what} has no static parameter {name!r}: {known}")
    values = {}
    for name in names:
        if name in given:
            values[name] = _checked(what, name, given[name])
        elif name in defaults:
            values[name] = defaults[name]
        else:
            raise OperatorCallError(f"{what} needs the static parameter {name!r}: pass {name}=...")
    return values


def _checked(what: str, name: str, value: Any) -> Any:
    if hasattr(value, "requires_grad") or isinstance(value, np.ndarray):
        raise OperatorCallError(
            f"{what}: the static parameter {name!r} is an array, or a number that a captured "
            f"function reads at each call; declare it in the signature to pass arrays, or name the "
            f"argument of the captured function in static_argnames"
        )
    try:
        hash(value)
    except TypeError:
        raise OperatorCallError(
            f"{what}: the static parameter {name!r} must be hashable, got a {type(value).__name__}"
        ) from None
    if isinstance(value, (int, np.integer)) and not _WORD.min <= value <= _WORD.max:
        raise OperatorCallError(
            f"{what}: the static parameter {name!r} does not fit 64 bits: {value}"
        )
    return value


def is_number(value: Any) -> bool:
    """Whether a static parameter is an operand of the kernel: its value is not compiled in."""
    return isinstance(value, (int, float, complex, np.number)) and not isinstance(value, bool)


def number(value: Any, dtype: np.dtype) -> np.ndarray:
    """Return the operand for a number that is passed to a kernel which computes in ``dtype``."""
    if isinstance(value, (int, np.integer)):
        return np.asarray(value, np.int64)
    if isinstance(value, (float, np.floating)):
        return np.asarray(value, np.finfo(dtype).dtype)
    return np.asarray(value, np.result_type(dtype, np.complex64))


def compiled_in(values: Sequence[Any]) -> tuple[Constant | None, ...]:
    """Return the static parameters as a kernel spec has them: None for a number, else a constant.
    """
    return tuple(None if is_number(value) else Constant(value, repr(value)) for value in values)
