"""Scalar functions that stand in for builtins and ``math`` inside elementwise kernels.

`selections` replaces names of a scalar function, `real` is its ``math``. Everything here is a
single LLVM instruction or a library call, so that loops vectorise and nothing more is compiled.
"""

import math
import operator
import types as pytypes

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from . import vector_math
from .binding import SELECTIONS


def _parts(dtype: types.Type) -> int:
    return 2 if isinstance(dtype, types.Complex) else 1


@intrinsic
def where(typingctx, condition, a, b):
    """``a`` where ``condition`` is true, else ``b``, without a branch."""
    result = typingctx.unify_types(types.unliteral(a), types.unliteral(b))
    if result is None:
        raise TypingError(f"where(c, a, b) cannot join {a} and {b}")

    def codegen(context, builder, signature, args):
        flag = context.cast(builder, args[0], condition, types.boolean)
        one, other = (
            context.cast(builder, value, dtype, result)
            for value, dtype in zip(args[1:], (a, b), strict=True)
        )
        return _select(builder, flag, one, other, _parts(result))

    return result(condition, a, b), codegen


def _select(builder, flag, one, other, parts: int) -> ir.Value:
    if parts == 1:
        return builder.select(flag, one, other)
    value = ir.Constant(one.type, ir.Undefined)
    for part in range(parts):
        chosen = builder.select(
            flag, builder.extract_value(one, part), builder.extract_value(other, part)
        )
        value = builder.insert_value(value, chosen, part)
    return value


def _extremum(name: str, comparison: str):
    """Two-argument maximum or minimum that keeps a NaN of either side, as NumPy's does."""

    def typing(typingctx, a, b):
        result = typingctx.unify_types(types.unliteral(a), types.unliteral(b))
        if not isinstance(result, types.Float | types.Integer | types.Boolean):
            raise TypingError(f"{name}(a, b) is not defined for {a} and {b}")

        def codegen(context, builder, signature, args):
            one, other = (
                context.cast(builder, value, dtype, result)
                for value, dtype in zip(args, (a, b), strict=True)
            )
            if isinstance(result, types.Float):
                first = builder.fcmp_ordered(comparison, one, other)
                first = builder.or_(first, builder.fcmp_unordered("uno", one, one))
            elif getattr(result, "signed", False):
                first = builder.icmp_signed(comparison, one, other)
            else:
                first = builder.icmp_unsigned(comparison, one, other)
            return builder.select(first, one, other)

        return result(a, b), codegen

    typing.__name__ = typing.__qualname__ = name
    return intrinsic(typing)


def _native(name: str, *, floats_only: bool = False):
    """One-argument function that is an LLVM intrinsic; an integer is its own rounding."""

    def typing(typingctx, x):
        kind = types.unliteral(x)
        integral = isinstance(kind, types.Integer | types.Boolean)
        if not isinstance(kind, types.Float) and (floats_only or not integral):
            raise TypingError(f"{name}(x) is not defined for {x}")

        def codegen(context, builder, signature, args):
            if integral:
                return args[0]
            function = builder.module.declare_intrinsic(f"llvm.{name}", [args[0].type])
            return builder.call(function, args)

        return kind(kind), codegen

    typing.__name__ = typing.__qualname__ = name
    return intrinsic(typing)


def _libm(name: str):
    """One-argument function of the C library that Numba does not offer."""

    def typing(typingctx, x):
        kind = types.unliteral(x)
        if not isinstance(kind, types.Float):
            raise TypingError(f"{name}(x) is not defined for {x}")

        def codegen(context, builder, signature, args):
            value = args[0].type
            symbol = name + ("f" if kind.bitwidth == 32 else "")
            function = builder.module.globals.get(symbol) or ir.Function(
                builder.module, ir.FunctionType(value, [value]), symbol
            )
            function.attributes.add("readnone")
            function.attributes.add("nounwind")
            return builder.call(function, args)

        return kind(kind), codegen

    typing.__name__ = typing.__qualname__ = name
    return intrinsic(typing)


maximum = _extremum("max", ">=")
minimum = _extremum("min", "<=")
rint = _native("rint")

_selected = (where, maximum, minimum, rint, vector_math.vectorised("pow", operator.pow))
selections: dict[str, object] = dict(zip(SELECTIONS, _selected, strict=True))

real = pytypes.ModuleType("numgrad_real_math")
vars(real).update({name: value for name, value in vars(math).items() if name[0] != "_"})
vars(real).update(
    floor=_native("floor"),
    ceil=_native("ceil"),
    trunc=_native("trunc"),
    exp2=_native("exp2", floats_only=True),
    cbrt=_libm("cbrt"),
)
vars(real).update(vector_math.namespace(vars(real)))
