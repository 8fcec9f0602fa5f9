"""The functions of ``math`` in kernels of real dtypes: of the vector library where there is one.

What is compiled inside of `compiling` takes them from there, if the mode is ``"simd"``; everything
else, and what the library lacks, is what Numba makes of ``math``: a call of libm per element.
"""

import math
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.extending import intrinsic, lower_builtin, type_callable

from .vector_calls import call
from .vector_library import ARGUMENTS, vector_library

_mode = "libm"


@contextmanager
def compiling(mode: str) -> Iterator[None]:
    """Compile for ``"simd"`` or ``"libm"``; whoever enters holds the compiler lock."""
    global _mode
    before, _mode = _mode, mode
    try:
        yield
    finally:
        _mode = before


def compiled_mode() -> str:
    """What is being compiled for; outside of `compiling` that is ``"libm"``."""
    return _mode


def _vector_call(context: Any, builder: Any, name: str, signature: Any, args: Any) -> Any:
    """Emit a call of the vector library, or return None where it has no such function."""
    result = signature.return_type
    library = vector_library() if _mode == "simd" else None
    symbol = library.variant(name, result.bitwidth) if library else None
    if library is None or symbol is None:
        return None
    values = [
        context.cast(builder, value, dtype, result)
        for value, dtype in zip(args, signature.args, strict=True)
    ]
    return call(builder, library, name, symbol, values)


def vectorised(name: str, plain: Any) -> Any:
    """Return a function for kernels that loops call on whole registers.

    Parameters
    ----------
    name : str
        Of the function in the C library.
    plain : callable
        What stands for it elsewhere, an intrinsic or a function that Numba knows. The types of
        arguments and result are its own too.
    """


    def typed(typingctx, *args):
        signature, lower = _plain(typingctx, name, plain, args)
        floats = isinstance(signature.return_type, types.Float) and not _repeats_products(signature)

        def codegen(context, builder, signature, values):
            called = _vector_call(context, builder, name, signature, values) if floats else None
            return lower(context, builder, signature, values) if called is None else called

        return signature, codegen

    def unary(typingctx, x):
        return typed(typingctx, x)

    def binary(typingctx, x, y):
        return typed(typingctx, x, y)

    typing = unary if ARGUMENTS[name] == 1 else binary  # Numba calls no intrinsic with ``*args``
    typing.__name__ = typing.__qualname__ = name
    return intrinsic(typing)


def _plain(typingctx: Any, name: str, plain: Any, args: Any) -> tuple[Any, Any]:
    """Type ``plain`` for some arguments; returns its signature and what emits it."""
    if hasattr(plain, "_defn"):  # an intrinsic
        return plain._defn(typingctx, *args)
    signature = typingctx.resolve_function_type(plain, args, {})
    if signature is None:
        raise TypingError(f"{name} is not defined for {', '.join(map(str, args))}")

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return context.get_function(plain, signature)(builder, values)

    return signature, lower


def _repeats_products(signature: Any) -> bool:
    """Whether this is a power with an exponent of integer type, which is made of products."""
    return len(signature.args) == 2 and isinstance(signature.args[1], types.Integer)


def namespace(plain: dict[str, Any]) -> dict[str, Any]:
    """The functions of a namespace like ``math`` that the vector library may have."""
    return {name: vectorised(name, plain[name]) for name in ARGUMENTS}


# The operator **


def power(x: float, y: float) -> float:
    """Stand for ``x ** y`` of floats in typed intermediate representation."""
    return x**y


@type_callable(power)
def _type_power(context: Any) -> Any:
    def typer(x: types.Type, y: types.Type) -> types.Type | None:
        return x if x == y and isinstance(x, types.Float) else None

    return typer


@lower_builtin(power, types.Float, types.Float)
def _lower_power(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    called = _vector_call(context, builder, "pow", signature, args)
    if called is None:
        return context.get_function(math.pow, signature)(builder, args)
    return called


@register_pass(mutates_CFG=False, analysis_only=False)
class RaiseToPowers(FunctionPass):
    """After typing: ``**`` of floats becomes `power`."""

    _name = "numgrad_raise_to_powers"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Rewrite the binary operations of ``state.func_ir`` in place."""
        for expression, signature in state.calltypes.items():
            result = getattr(signature, "return_type", None)
            if not isinstance(result, types.Float) or signature.args != (result, result):
                continue
            field = _OPERATORS.get(expression.op)
            if field is None or getattr(expression, field) is not operator.pow:
                continue
            if not _is_arithmetic(state.func_ir, expression.rhs):
                setattr(expression, field, power)
        return True


_OPERATORS = {"binop": "fn", "inplace_binop": "immutable_fn"}
"""Which field of an expression holds the operator."""


def _is_arithmetic(func_ir: Any, exponent: Any) -> bool:
    """Whether LLVM knows arithmetic of the same value for a literal exponent."""
    try:
        definition = func_ir.get_definition(exponent)
    except KeyError:  # several assignments
        return False
    return isinstance(definition, ir.Const) and definition.value in (-1, 0, 0.5, 1, 2)
