"""Calls of the functions of `scipy_special` in kernels."""

import math
import sys
from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError

from numgrad._declare.foreign import ForeignFunction

from ..compile.intrinsics import named_intrinsic
from .vector_math import pure

_KINDS = {"d": types.float64, "z": types.complex128, "n": types.intp}


@cache
def call_of(function: ForeignFunction) -> Any:
    """Return the intrinsic that calls a function of SciPy, and casts its arguments and its result.
    """

    def typed(typingctx, *args):
        result = _result(function, args)

        def codegen(context, builder, signature, values):
            triples = list(zip(values, args, function.kinds, strict=True))
            wrong = [_no_integer(builder, *triple) for triple in triples]
            given = [
                context.cast(builder, _unless(builder, no, value), have, _KINDS[kind])
                for no, (value, have, kind) in zip(wrong, triples, strict=True)
            ]
            found = _call(context, builder, function, given)
            found = context.cast(builder, found, _KINDS[function.result], result)
            for no in wrong:
                found = _unless(builder, no, found, math.nan)
            return found

        return result(*args), codegen

    def one(typingctx, a):
        return typed(typingctx, a)

    def two(typingctx, a, b):
        return typed(typingctx, a, b)

    def three(typingctx, a, b, c):
        return typed(typingctx, a, b, c)

    def four(typingctx, a, b, c, d):
        return typed(typingctx, a, b, c, d)

    typing = (one, two, three, four)[len(function.kinds) - 1]  # intrinsics take no ``*args``
    return named_intrinsic(function.name, typing)


def _result(function: ForeignFunction, args: tuple[types.Type, ...]) -> types.Type:
    """Return the type of the result: single if an argument has single precision and none double."""
    if "z" in function.kinds + function.result and sys.platform == "win32":
        raise TypingError("complex numbers are passed in another way on Windows")
    if not all(isinstance(arg, types.Number | types.Boolean) for arg in args):
        raise TypingError(f"{function.name} is not defined for {', '.join(map(str, args))}")
    single = any(arg in (types.float32, types.complex64) for arg in args)
    double = any(arg in (types.float64, types.complex128) for arg in args)
    if function.result == "d":
        return types.float32 if single and not double else types.float64
    return types.complex64 if single and not double else types.complex128


MOST = 2.0**53
"""The bound of orders: beyond it not every whole number is a float."""


def _no_integer(builder: Any, value: Any, kind: types.Type, wanted: str) -> Any:
    """Emit a test whether a floating argument has no integer value: it is NaN, or too large.

    The test is for orders, the arguments that SciPy takes as integers. The result is None for other
    arguments, and for an order of an integer type.
    """
    if wanted != "n" or not isinstance(kind, types.Float):
        return None
    ends = (builder.fcmp_ordered(op, value, value.type(x)) for op, x in (("<", MOST), (">", -MOST)))
    return builder.not_(builder.and_(*ends))


def _unless(builder: Any, no: Any, value: Any, other: float = 0.0) -> Any:
    """Emit ``value``, or ``other`` where ``no`` is true; in a complex number both parts are
    replaced."""
    if no is None:
        return value
    if isinstance(value.type, ir.LiteralStructType):
        parts = cgutils.unpack_tuple(builder, value, 2)
        return cgutils.pack_struct(builder, [_unless(builder, no, part, other) for part in parts])
    return builder.select(no, value.type(other), value)


def _call(context: Any, builder: Any, function: ForeignFunction, values: list[Any]) -> Any:
    """Emit the call of a SciPy function; a complex argument is passed as two numbers."""
    given: list[Any] = []
    for kind, value in zip(function.kinds, values, strict=True):
        given += cgutils.unpack_tuple(builder, value, 2) if kind == "z" else [value]
    result = context.get_value_type(_KINDS[function.result])
    slots = [cgutils.alloca_once(builder, result) for _ in range(function.count)]
    if not slots:  # no overriding method is looked for, and options have their defaults
        given += [ir.Constant(ir.IntType(32), 0), ir.Constant(ir.IntType(64), 0)]
    kind = ir.FunctionType(
        ir.VoidType() if slots else result, [value.type for value in (*given, *slots)]
    )
    known = builder.module.globals.get(function.symbol)
    callee = known or ir.Function(builder.module, kind, function.symbol)
    if not slots:
        pure(callee)
    returned = builder.call(callee, [*given, *slots])
    return builder.load(slots[function.place]) if slots else returned
