"""Arithmetic of complex numbers in kernels: it never raises, has no branches, and is NumPy's.

Numba's division raises ``ZeroDivisionError`` whatever the error model is, which would end the loop
over the elements. Here a zero divisor gives infinities and NaN, as in NumPy. Numba's product is
that of the Python that runs: from Python 3.14 on it makes infinities of some products that are NaN
in NumPy, by branches that LLVM's vectoriser takes ages over. A power with exponent 2 is a product.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.extending import lower_builtin, type_callable


def quotient(a: complex, b: complex) -> complex:
    """Stand for ``a / b`` in typed intermediate representation."""
    return a / b


def product(a: complex, b: complex) -> complex:
    """Stand for ``a * b`` there."""
    return a * b


def power(a: complex, b: complex) -> complex:
    """Stand for ``a ** b`` there."""
    return a**b


_STAND_INS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.truediv: quotient, operator.mul: product, operator.pow: power,
}  # fmt: skip


def _alike(context: Any) -> Any:
    def typer(a: types.Type, b: types.Type) -> types.Type | None:
        return a if a == b and isinstance(a, types.Complex) else None

    return typer


for _stand_in in _STAND_INS.values():
    type_callable(_stand_in)(_alike)


@lower_builtin(product, types.Complex, types.Complex)
def _lower_product(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
    a, b = (_parts(builder, value) for value in args)
    real = builder.fsub(builder.fmul(a[0], b[0]), builder.fmul(a[1], b[1]))
    imag = builder.fadd(builder.fmul(a[0], b[1]), builder.fmul(a[1], b[0]))
    return _joined(builder, args[0].type, real, imag)


@lower_builtin(power, types.Complex, types.Complex)
def _lower_power(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
    """The C library's, which loses digits of squares."""
    real, imag = _parts(builder, args[1])
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
    return builder.load(pointers[2])


@lower_builtin(quotient, types.Complex, types.Complex)
def _lower_quotient(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
    """Smith's method, which NumPy uses: the smaller part of the divisor over the larger one cannot
    overflow. Signs of zeros say on which side of a branch cut the quotient is."""
    (a_real, a_imag), (b_real, b_imag) = (_parts(builder, value) for value in args)
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
    return _joined(builder, args[0].type, real, imag)


def _parts(builder: Any, value: Any) -> list[Any]:
    return [builder.extract_value(value, part) for part in range(2)]


def _joined(builder: Any, kind: ir.Type, real: ir.Value, imag: ir.Value) -> ir.Value:
    result = ir.Constant(kind, ir.Undefined)
    return builder.insert_value(builder.insert_value(result, real, 0), imag, 1)


_FIELDS = {"binop": "fn", "inplace_binop": "immutable_fn", "static_binop": "fn"}
"""Which field of an expression holds the operator."""


@register_pass(mutates_CFG=False, analysis_only=False)
class ReplaceComplexArithmetic(FunctionPass):
    """After typing: ``/``, ``*`` and ``**`` of complex numbers become what stands for them."""

    _name = "numgrad_replace_complex_arithmetic"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Rewrite the binary operations of ``state.func_ir`` in place."""
        for expression, signature in state.calltypes.items():
            result = getattr(signature, "return_type", None)
            if not isinstance(result, types.Complex) or signature.args != (result, result):
                continue
            field = _FIELDS.get(expression.op)
            if field is None:
                continue
            stand_in = _STAND_INS.get(getattr(expression, field))
            if stand_in is not None:
                setattr(expression, field, stand_in)
        return True
