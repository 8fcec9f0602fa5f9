"""Integers in arithmetic of arrays, and in calls of universal functions.

Numbers of Numba have 64 bits. An array expression is one loop over such numbers, and its result is
stored with the dtype of NumPy's rules, which is as narrow as the arrays. A universal function that
is called has a loop for each dtype.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numba.np.numpy_support import as_dtype, from_dtype, ufunc_find_matching_loop

from ..ssa.ir import Type, Value
from .building import Builder
from .things import Lazy, Thing, is_array

OF_OPERATORS: dict[str, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "bitand": np.bitwise_and,
    "bitor": np.bitwise_or, "bitxor": np.bitwise_xor, "lshift": np.left_shift,
    "rshift": np.right_shift, "neg": np.negative, "pos": np.positive, "invert": np.invert,
}  # fmt: skip


def operated(
    b: Builder, name: str, compute: Callable[..., Value], things: Sequence[Thing]
) -> Thing:
    """Apply an operator to numbers, which have 64 bits, or to arrays and expressions.

    Parameters
    ----------
    b : Builder
    name : str
        Of the operation.
    compute : callable
        Appends the operation on numbers.
    things : sequence
        The operands.
    """
    return stored(b, OF_OPERATORS[name], b.elementwise(compute, things, is_fused=True), things)


def universal(
    b: Builder, function: Any, compute: Callable[..., Value], things: Sequence[Thing]
) -> Thing:
    """Apply a function to numbers, arrays and expressions: the loops of a universal one are as
    narrow as the arguments, and numbers have loops as well."""
    if not isinstance(function, np.ufunc) or function.nin != len(things):
        return b.elementwise(compute, things)
    in_loop: Callable[..., Value] = lambda *numbers: _in_loop(b, function, compute, numbers)  # noqa: E731
    return stored(b, function, b.elementwise(in_loop, things, is_fused=True), things)


def stored(b: Builder, function: np.ufunc, made: Thing, things: Sequence[Thing]) -> Thing:
    """Return what an operation has made of integers, with the elements of Numba's array: the
    difference of two arrays of uint8 is one modulo 256, their quotient has single precision.

    Parameters
    ----------
    b : Builder
    function : ufunc
        The operation.
    made : Thing
        A number, an array or an expression.
    things : sequence
        The operands.
    """
    if not isinstance(made, Lazy):
        return made
    kinds = [b.lazy(t).type if is_array(t) else b.number(t).type for t in things]
    if any(kind.is_real for kind in kinds):
        return made
    loop = _loop(function, tuple(kind.dtype for kind in kinds))
    if loop is None or loop[1] == made.type.dtype:
        return made
    result = Lazy(loop[1], made.shape, lambda index: cast(b, made.at(index), loop[1]), made.reads)
    result.inside = made
    return result


def _in_loop(
    b: Builder, function: np.ufunc, compute: Callable[..., Value], numbers: Sequence[Value]
) -> Value:
    """Append an operation of integers in the dtypes of its loop, and any other one as it is."""
    if any(number.type.is_real for number in numbers):
        return compute(*numbers)
    dtypes = tuple(number.type.dtype for number in numbers)
    loop = _loop(function, dtypes)
    usual = b.trial(lambda: compute(*numbers)).type.dtype
    if loop is None or _is_usual(loop, usual, dtypes):
        return compute(*numbers)
    taken, given = loop
    inputs = [_as_float(b, *pair) for pair in zip(numbers, taken, strict=True)]
    return cast(b, compute(*inputs), given)


def _is_usual(loop: tuple[tuple[str, ...], str], usual: str, dtypes: tuple[str, ...]) -> bool:
    """Whether the operation of 64 bits is that of the loop."""
    taken, given = loop
    is_exact = taken[0] == "float64" and "uint64" not in dtypes
    return given == usual and (given == "bool" or is_exact)


def _as_float(b: Builder, number: Value, dtype: str) -> Value:
    """Return an argument of a loop of floats as one of these."""
    return cast(b, number, dtype) if np.dtype(dtype).kind == "f" else number


def cast(b: Builder, number: Value, dtype: str) -> Value:
    """Return a number as one of another dtype."""
    if number.type.dtype == dtype:
        return number
    if dtype == "bool":
        return b.scalar("ne", number, b.constant(0))
    if np.dtype(dtype).kind == "f":
        return b.scalar(dtype, number, spelled=f"np.{dtype}")
    return b.scalar("intcast", number, spelled=f"np.{dtype}", type=Type(dtype))


@cache
def _loop(function: np.ufunc, dtypes: tuple[str, ...]) -> tuple[tuple[str, ...], str] | None:
    """Return the dtypes of arguments and result in the loop that Numba takes; None where it has
    none for them."""
    kinds = tuple(from_dtype(np.dtype(name)) for name in dtypes)
    found: Any = ufunc_find_matching_loop(function, kinds)
    if found is None:
        return None
    return tuple(as_dtype(kind).name for kind in found.inputs), as_dtype(found.outputs[0]).name
