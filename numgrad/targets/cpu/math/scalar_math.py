"""Scalar functions that stand in for builtins and ``math`` inside elementwise kernels.

In the scalar function of a kernel, a name that is a key of `selections` means the function there,
and ``math`` means `real`. Each stand-in is a single LLVM instruction or a library call, so that
loops vectorise and nothing more is compiled.
"""

import math
import operator
import types as pytypes
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from ...binding import SELECTIONS, Names
from ..compile.intrinsics import intrinsic, named_intrinsic
from ..platform.vector_library import ARGUMENTS
from . import complex_math
from .arithmetic import complex_of, complex_parts
from .scipy_special_calls import call_of
from .vector_math import pure, vector_call, vectorised


@intrinsic
def where(typingctx, condition, a, b):
    """Return ``a`` where ``condition`` is true, else ``b``, without a branch."""
    result, values = _united(typingctx, a, b)
    if result is None:
        raise TypingError(f"where(c, a, b) cannot join {a} and {b}")

    def codegen(context, builder, signature, args):
        flag = context.cast(builder, args[0], condition, types.boolean)
        one, other = values(context, builder, args[1:])
        if not isinstance(result, types.Complex):
            return builder.select(flag, one, other)
        parts = zip(complex_parts(builder, one), complex_parts(builder, other), strict=True)
        return complex_of(builder, one.type, *(builder.select(flag, *pair) for pair in parts))

    return result(condition, a, b), codegen


def _united(typingctx: Any, a: types.Type, b: types.Type) -> tuple[Any, Any]:
    """Return the common type of two arguments, and a function that casts values to that type.

    The type is None if the arguments have none in common.
    """
    result = typingctx.unify_types(types.unliteral(a), types.unliteral(b))

    def values(context, builder, args):
        pairs = zip(args, (a, b), strict=True)
        return [context.cast(builder, value, kind, result) for value, kind in pairs]

    return result, values


def _extremum(name: str, comparison: str) -> Any:
    """Return an intrinsic for the maximum or minimum of two numbers: NaN if one is NaN, as in
    NumPy."""

    def typing(typingctx, a, b):
        result, values = _united(typingctx, a, b)
        if not isinstance(result, types.Float | types.Integer | types.Boolean):
            raise TypingError(f"{name}(a, b) is not defined for {a} and {b}")

        def codegen(context, builder, signature, args):
            one, other = values(context, builder, args)
            if isinstance(result, types.Float):
                first = builder.fcmp_ordered(comparison, one, other)
                first = builder.or_(first, builder.fcmp_unordered("uno", one, one))
            elif getattr(result, "signed", False):
                first = builder.icmp_signed(comparison, one, other)
            else:
                first = builder.icmp_unsigned(comparison, one, other)
            return builder.select(first, one, other)

        return result(a, b), codegen

    return named_intrinsic(name, typing)


def _unary(name: str, emit: Callable[..., ir.Value], *, keeps_integers: bool = False) -> Any:
    """Return an intrinsic of one real number, whose value ``emit(builder, name, x)`` computes.

    With ``keeps_integers`` an integer is returned as it is: it is its own rounding.
    """

    def typing(typingctx, x):
        kind = types.unliteral(x)
        is_kept = keeps_integers and isinstance(kind, types.Integer | types.Boolean)
        if not (is_kept or isinstance(kind, types.Float)):
            raise TypingError(f"{name}(x) is not defined for {x}")

        def codegen(context, builder, signature, args):
            return args[0] if is_kept else emit(builder, name, args[0])

        return kind(kind), codegen

    return named_intrinsic(name, typing)


def _native(builder: Any, name: str, x: Any) -> ir.Value:
    """Emit a call of the intrinsic function of LLVM with this name."""
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [x.type]), [x])


def _libm(builder: Any, name: str, x: Any) -> ir.Value:
    """Emit a call of the function of the C library with this name, in the precision of ``x``."""
    symbol = name + ("f" if isinstance(x.type, ir.FloatType) else "")
    kind = ir.FunctionType(x.type, [x.type])
    known = builder.module.globals.get(symbol)
    return builder.call(known or pure(ir.Function(builder.module, kind, symbol)), [x])


@intrinsic
def magnitude(typingctx, x):
    """Return ``abs(x)``; for complex numbers by `hypot` of the vector library, if there is one."""
    signature = typingctx.resolve_function_type(typingctx.resolve_value_type(abs), (x,), {})
    if signature is None:
        raise TypingError(f"abs(x) is not defined for {x}")
    result = signature.return_type
    hypot = result(result, result)

    def codegen(context, builder, _, args):
        if not isinstance(signature.args[0], types.Complex):
            return context.get_function(abs, signature)(builder, args)
        parts = complex_parts(builder, args[0])
        called = vector_call(context, builder, "hypot", hypot, parts)
        return context.get_function(math.hypot, hypot)(builder, parts) if called is None else called

    return signature, codegen


maximum = _extremum("max", ">=")
minimum = _extremum("min", "<=")
rint, floor, ceil, trunc = (
    _unary(name, _native, keeps_integers=True) for name in ("rint", "floor", "ceil", "trunc")
)

_selected = (where, maximum, minimum, rint, vectorised("pow", operator.pow), magnitude)
selections: dict[str, object] = dict(zip(SELECTIONS, _selected, strict=True))

real = pytypes.ModuleType("numgrad_real_math")
vars(real).update({name: value for name, value in vars(math).items() if name[0] != "_"})
vars(real).update(floor=floor, ceil=ceil, trunc=trunc)
vars(real).update(exp2=_unary("exp2", _native), cbrt=_unary("cbrt", _libm))
vars(real).update({name: vectorised(name, getattr(real, name)) for name in ARGUMENTS})

names = Names(real, complex_math, where, selections, foreign=call_of)
"""What the names in the source of a scalar function mean in a kernel."""
