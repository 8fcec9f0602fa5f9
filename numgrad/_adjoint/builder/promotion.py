"""The types to which numbers are promoted, and the results of operations on known integers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ssa.ir import INTEGER, Type, Value
from ..ssa.partials import SCALARS
from ..ssa.refusal import Refusal


def is_integer(*values: Value) -> bool:
    return all(value.type == INTEGER for value in values)


def folded(name: str, args: Sequence[Value]) -> Any:
    """Return the result of an operation on known integers or booleans; None for other operations.
    """
    numbers = [arg.constant for arg in args]
    if name in _COMPARISONS and all(isinstance(n, (int, float)) for n in numbers):
        return _FOLDED[name](*numbers)
    if not all(isinstance(n, (int, bool)) for n in numbers):
        return None
    if name == "not":
        return not numbers[0]
    if name in _FOLDED:
        result = _FOLDED[name](*numbers)
        is_small = result is not None and (isinstance(result, bool) or abs(result) < 2**62)
        return result if is_small else None
    return None


_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
_FOLDED: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": lambda a, b: bool(a and b),
    "or": lambda a, b: bool(a or b),
    "max": lambda a, b: int(max(a, b)),
    "min": lambda a, b: int(min(a, b)),
    "floordiv": lambda a, b: a // b if b else None,
    "mod": lambda a, b: a % b if b else None,
    "extent": lambda a, b, c: len(range(a, b, c)) if c else None,
}


def result_dtype(name: str, args: Sequence[Value]) -> str:
    """Return the dtype of a scalar operation's result, promoted as in Numba."""
    kind = SCALARS[name].result
    if kind in ("int", "bool", "float64", "float32"):
        return {"int": "int64"}.get(kind, kind)
    if name == "select":
        return promoted(args[1:])
    dtype = np.dtype(promoted(args))
    if kind == "same":
        small = dtype.kind in "bi" or (dtype.kind == "u" and dtype.itemsize < 8)
        if small:
            return "uint64" if dtype.kind == "u" else "int64"
        return dtype.name
    return dtype.name if dtype.kind in "fc" else "float64"


def promoted(values: Sequence[Value]) -> str:
    """Return the dtype to which the numbers of one expression, or of one name, are promoted."""
    dtypes = [np.dtype(value.type.dtype) for value in values]
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = np.promote_types(result, dtype)
    return result.name


def unified(one: Type, other: Type) -> Type:
    """Return the type of a name that has values of two types."""
    if one.ndim != other.ndim:
        raise Refusal("a name stands for arrays of different numbers of axes, or for a number too")
    if one.is_array:
        if one.is_list is not other.is_list:
            raise Refusal("a name stands for a list and for an array")
        if one.dtype != other.dtype:
            raise Refusal("a name stands for arrays of different dtypes")
        return one
    return Type(np.promote_types(one.dtype, other.dtype).name)
