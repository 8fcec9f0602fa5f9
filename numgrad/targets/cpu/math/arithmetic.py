"""Arithmetic of real and complex numbers that replaces Numba's in kernels.

``**`` of real numbers calls the vector library, where there is one. Complex quotients and products
never raise and agree with NumPy. Numba's division raises ``ZeroDivisionError`` under any error
model, which would end the loop over the elements; here a zero divisor gives infinities and NaN.
Numba's product follows the running Python: from Python 3.14 on it makes infinities of some products
that are NaN in NumPy, by branches that LLVM's vectoriser takes ages over. A power with exponent 2
is a product.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import ir as numba_ir
from numba.core import types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.extending import lower_builtin, type_callable

from .vector_math import vector_call


def quotient(a: Any, b: Any) -> Any:
    """Mark a quotient of complex numbers in Numba's typed code; `_lower_quotient` emits the
    quotient."""
    return a / b


def product(a: Any, b: Any) -> Any:
    """Mark a product of complex numbers in Numba's typed code; `_lower_product` emits the product.
    """
    return a * b


def power(a: Any, b: Any) -> Any:
    """Mark a power of floating numbers in Numba's typed code; `_lower_real_power` and
    `_lower_complex_power` emit the power."""
    return a**b


_STAND_INS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.truediv: quotient, operator.mul: product, operator.pow: power,
}  # fmt: skip


def _alike(context: Any) -> Any:
    """Return Numba's typing of a marker: two operands of one floating type, and a result of that
    type."""
    return lambda a, b: a if a == b and isinstance(a, types.Float | types.Complex) else None


for _stand_in in _STAND_INS.values():
    type_callable(_stand_in)(_alike)


@lower_builtin(power, types.Float, types.Float)
def _lower_real_power(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit a power by the vector library, or by ``math.pow`` without one."""
    called = vector_call(context, builder, "pow", signature, args)
    if called is None:
        return context.get_function(math.pow, signature)(builder, args)
    return called


@lower_builtin(product, types.Complex, types.Complex)
def _lower_product(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
    """Emit a product by the textbook formula, as NumPy computes it."""
    a, b = (complex_parts(builder, value) for value in args)
    real = builder.fsub(builder.fmul(a[0], b[0]), builder.fmul(a[1], b[1]))
    imag = builder.fadd(builder.fmul(a[0], b[1]), builder.fmul(a[1], b[0]))
    return complex_of(builder, args[0].type, real, imag)


@lower_builtin(power, types.Complex, types.Complex)
def _lower_complex_power(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
    """Emit a power by the C library, except where the library is wrong.

    The C library loses digits of squares, and makes NaN of powers of 0.
    """
    real, imag = complex_parts(builder, args[1])
    squares = builder.and_(
        builder.fcmp_ordered("==", real, ir.Constant(real.type, 2.0)),
        builder.fcmp_ordered("==", imag, ir.Constant(imag.type, 0.0)),
    )
    places = [context.make_helper(builder, signature.args[0], value) for value in (*args, None)]
    pointers = [place._getpointer() for place in places]
    with builder.if_else(squares) as (then, otherwise):
        with then:
            square = _lower_product(context, builder, signature, (args[0], args[0]))
            builder.store(square, pointers[2])
        with otherwise:
            symbol = "numba_cpowf" if isinstance(real.type, ir.FloatType) else "numba_cpow"
            kind = ir.FunctionType(ir.VoidType(), [pointer.type for pointer in pointers])
            known = builder.module.globals.get(symbol)
            builder.call(known or ir.Function(builder.module, kind, symbol), pointers)
            found = _unless_zero(builder, args, builder.load(pointers[2]))
            builder.store(found, pointers[2])
    return builder.load(pointers[2])


def _unless_zero(builder: Any, args: Any, power: Any) -> ir.Value:
    """Emit ``power``, except for a base of 0: then emit 1, 0 or NaN, depending on the exponent."""
    base, exponent = (complex_parts(builder, value) for value in args)
    one, zero, nan = (ir.Constant(base[0].type, number) for number in (1.0, 0.0, math.nan))

    def is_zero(parts: list[Any]) -> ir.Value:
        return builder.and_(*[builder.fcmp_ordered("==", part, zero) for part in parts])

    is_positive = builder.fcmp_ordered(">", exponent[0], zero)
    real = builder.select(is_zero(exponent), one, builder.select(is_positive, zero, nan))
    parts = zip((real, zero), complex_parts(builder, power), strict=True)
    is_none = is_zero(base)
    return complex_of(builder, power.type, *[builder.select(is_none, *pair) for pair in parts])


@lower_builtin(quotient, types.Complex, types.Complex)
def _lower_quotient(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
    """Emit a quotient by Smith's method, as NumPy computes it.

    The method divides the smaller part of the divisor by the larger part, which cannot overflow.
    The signs of zeros matter: they decide on which side of a branch cut the quotient lies.
    """
    (a_real, a_imag), (b_real, b_imag) = (complex_parts(builder, value) for value in args)
    magnitude = builder.module.declare_intrinsic("llvm.fabs", [a_real.type])
    sizes = [builder.call(magnitude, [part]) for part in (b_real, b_imag)]
    swap = builder.fcmp_unordered("<", *sizes)
    large, small = builder.select(swap, b_imag, b_real), builder.select(swap, b_real, b_imag)
    is_zero = builder.fcmp_ordered("==", large, ir.Constant(large.type, 0.0))
    ratio = builder.fdiv(small, large)
    scale = builder.fadd(large, builder.fmul(small, ratio))
    scale = builder.select(is_zero, sizes[0], scale)
    first, second = builder.select(swap, a_imag, a_real), builder.select(swap, a_real, a_imag)
    turned = builder.fmul(first, ratio)
    minuend, subtrahend = (
        builder.select(swap, turned, second), builder.select(swap, second, turned)
    )  # fmt: skip
    real = builder.fadd(first, builder.fmul(second, ratio))
    imag = builder.fsub(minuend, subtrahend)
    real, imag = (
        builder.fdiv(builder.select(is_zero, plain, part), scale)
        for plain, part in ((a_real, real), (a_imag, imag))
    )
    return complex_of(builder, args[0].type, real, imag)


def complex_parts(builder: Any, value: Any) -> list[Any]:
    """Emit the real and the imaginary part of a complex number."""
    return [builder.extract_value(value, part) for part in range(2)]


def complex_of(builder: Any, kind: ir.Type, real: ir.Value, imag: ir.Value) -> ir.Value:
    """Emit a complex number with these parts."""
    result = ir.Constant(kind, ir.Undefined)
    return builder.insert_value(builder.insert_value(result, real, 0), imag, 1)


_FIELDS = {"binop": "fn", "inplace_binop": "immutable_fn"}
"""The field that holds the operator, for each kind of expression in Numba's code."""


@register_pass(mutates_CFG=False, analysis_only=False)
class ReplaceArithmetic(FunctionPass):
    """A pass after type inference: puts `quotient`, `product` and `power` in place of operators."""

    _name = "numgrad_replace_arithmetic"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Rewrite the binary operations of ``state.func_ir`` in place."""
        for expression, signature in state.calltypes.items():
            kind = getattr(signature, "return_type", None)
            is_real = isinstance(kind, types.Float)
            if not (is_real or isinstance(kind, types.Complex)) or signature.args != (kind, kind):
                continue
            field = _FIELDS.get(expression.op)
            stand_in = _STAND_INS.get(getattr(expression, field)) if field else None
            if is_real and (stand_in is not power or _is_arithmetic(state.func_ir, expression.rhs)):
                continue
            if field and stand_in:
                setattr(expression, field, stand_in)
        return True


def _is_arithmetic(func_ir: Any, exponent: Any) -> bool:
    """Whether an exponent is a literal for which LLVM turns the power into plain arithmetic."""
    try:
        definition = func_ir.get_definition(exponent)
    except KeyError:  # several assignments
        return False
    return isinstance(definition, numba_ir.Const) and definition.value in (-1, 0, 0.5, 1, 2)
