"""Division of complex numbers in kernels: it never raises and has no branches.

Numba's own raises ``ZeroDivisionError`` whatever the error model is, which would end the loop over
the elements. Here a zero divisor gives infinities and NaN, as in NumPy.
"""

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.extending import lower_builtin, type_callable


def quotient(a: complex, b: complex) -> complex:
    """Stand for ``a / b`` in typed intermediate representation."""
    return a / b


@type_callable(quotient)
def _type_quotient(context: Any) -> Any:
    def typer(a: types.Type, b: types.Type) -> types.Type | None:
        return a if a == b and isinstance(a, types.Complex) else None

    return typer


@lower_builtin(quotient, types.Complex, types.Complex)
def _lower_quotient(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
    """Smith's method: the smaller part of the divisor over the larger one cannot overflow."""
    (a_real, a_imag), (b_real, b_imag) = (
        [builder.extract_value(value, part) for part in range(2)] for value in args
    )
    magnitude = builder.module.declare_intrinsic("llvm.fabs", [a_real.type])
    sizes = [builder.call(magnitude, [part]) for part in (b_real, b_imag)]
    swap = builder.fcmp_ordered("<", *sizes)
    large, small = builder.select(swap, b_imag, b_real), builder.select(swap, b_real, b_imag)
    is_zero = builder.fcmp_ordered("==", large, ir.Constant(large.type, 0.0))
    ratio = builder.select(is_zero, small, builder.fdiv(small, large))
    scale = builder.fadd(large, builder.fmul(small, ratio))
    scale = builder.select(is_zero, sizes[0], scale)
    first, second = builder.select(swap, a_imag, a_real), builder.select(swap, a_real, a_imag)
    real = builder.fdiv(builder.fadd(first, builder.fmul(second, ratio)), scale)
    imag = builder.fdiv(builder.fsub(second, builder.fmul(first, ratio)), scale)
    imag = builder.select(swap, builder.fneg(imag), imag)
    result = ir.Constant(args[0].type, ir.Undefined)
    return builder.insert_value(builder.insert_value(result, real, 0), imag, 1)


@register_pass(mutates_CFG=False, analysis_only=False)
class DivideComplexNumbers(FunctionPass):
    """After typing: ``/`` with a complex result becomes `quotient`."""

    _name = "numgrad_divide_complex_numbers"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Rewrite the binary operations of ``state.func_ir`` in place."""
        for expression, signature in state.calltypes.items():
            result = getattr(signature, "return_type", None)
            if not isinstance(result, types.Complex) or signature.args != (result, result):
                continue
            if expression.op == "binop" and expression.fn is operator.truediv:
                expression.fn = quotient
            if expression.op == "inplace_binop" and expression.immutable_fn is operator.truediv:
                expression.immutable_fn = quotient
        return True
