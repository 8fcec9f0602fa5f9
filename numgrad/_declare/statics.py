"""Static parameters of users' operators: numbers are operands, the rest is compiled in."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._errors import OperatorCallError
from .._specs import Constant

_WORD = np.iinfo(np.int64)


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
    """Whether a value is an operand of the kernel, so that another one needs no other kernel."""
    return isinstance(value, (int, float, complex, np.number)) and not isinstance(value, bool)


def dtype_of(value: Any, dtype: np.dtype) -> np.dtype:
    """Return the dtype in which a kernel that computes in ``dtype`` gets a number."""
    if isinstance(value, (int, np.integer)):
        return np.dtype(np.int64)
    if isinstance(value, (float, np.floating)):
        return np.finfo(dtype).dtype
    return np.result_type(dtype, np.complex64)


def trailing(values: Sequence[Any]) -> tuple[Constant | None, ...]:
    """Return what a kernel spec says of static parameters."""
    return tuple(None if is_number(value) else Constant(value, repr(value)) for value in values)
