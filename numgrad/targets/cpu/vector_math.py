"""The functions of ``math`` in kernels of real dtypes: of the vector library where there is one.

What is compiled inside of `compiling` takes them from there, if the mode is ``"simd"``; everything
else, and what the library lacks, is what Numba makes of ``math``: a call of libm per element.

LLVM's loop vectoriser replaces a call of a scalar function by one of a vector function if an
attribute of the scalar one names it. The scalar function is defined here as well: it broadcasts its
arguments, calls the same vector function and takes lane 0. So an element has the same bits in the
body of a loop, in its tail, and in a loop of length 1.

A loop may work on half a register (where it mixes float32 and float64) or on some of its lanes
(where the call stands in a branch). Small functions in the kernel's module are these variants; they
fill the lanes that nobody asked for, as the library takes numbers outside of a function's domain
one by one: ``log10(x) if x > 0 else 0`` took 5 to 11 times as long without.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from .intrinsics import named_intrinsic
from .vector_library import ARGUMENTS, VectorLibrary, vector_library

_mode = "libm"
_INT32 = ir.IntType(32)
_POINTER = ir.IntType(8).as_pointer()
PREFIX = "numgrad_simd_"
"""Of the names of functions that are the same whatever kernel they are emitted for."""


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


def vector_call(context: Any, builder: Any, name: str, signature: Any, args: Any) -> Any:
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
    functions = _Functions(builder.module, library, name, symbol, values[0].type)
    return builder.call(functions.scalar(), values)


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
        function = typingctx.resolve_value_type(plain)
        signature = typingctx.resolve_function_type(function, args, {})
        if signature is None:
            raise TypingError(f"{name} is not defined for {', '.join(map(str, args))}")
        floats = isinstance(signature.return_type, types.Float) and not _repeats_products(signature)

        def codegen(context, builder, signature, values):
            called = vector_call(context, builder, name, signature, values) if floats else None
            if called is None:
                return context.get_function(function, signature)(builder, values)
            return called

        return signature, codegen

    def unary(typingctx, x):
        return typed(typingctx, x)

    def binary(typingctx, x, y):
        return typed(typingctx, x, y)

    typing = unary if ARGUMENTS[name] == 1 else binary  # Numba calls no intrinsic with ``*args``
    return named_intrinsic(name, typing)


def _repeats_products(signature: Any) -> bool:
    """Whether this is a power with an exponent of integer type, which is made of products."""
    return len(signature.args) == 2 and isinstance(signature.args[1], types.Integer)


# In LLVM's code


class _Functions:
    """The functions of a module around one function of the vector library."""

    def __init__(
        self, module: ir.Module, library: VectorLibrary, name: str, symbol: str, kind: ir.Type
    ) -> None:
        self.module, self.kind, self.symbol = module, kind, symbol
        bits = 32 if isinstance(kind, ir.FloatType) else 64
        self.name = f"{PREFIX}{name}_float{bits}"
        self.lanes = library.lanes(bits)
        self.arguments = ARGUMENTS[name]
        self.idle = ir.Constant(kind, 2.0 if name == "acosh" else 0.5)
        """An argument in every function's domain, for lanes without an element."""

    def scalar(self) -> ir.Function:
        """The scalar function, defined at first use with its variants."""
        known = self.module.globals.get(self.name)
        if known is not None:
            return known
        function = self._define(self.name, self.kind, [], self._lane_0)
        function.attributes.add("noinline")
        kinds = [(mask, n) for mask in "NM" for n in (self.lanes, self.lanes // 2)]
        variants = [self._variant(mask, n) for mask, n in kinds]
        mangled = ",".join(
            f"_ZGV_LLVM_{mask}{n}{'v' * self.arguments}_{self.name}({variant.name})"
            for (mask, n), variant in zip(kinds, variants, strict=True)
        )
        _set_attribute(function, f'"vector-function-abi-variant"="{mangled}"')
        _keep(self.module, [function, *variants])
        return function

    def _library(self) -> ir.Function:
        """The vector library's function, declared."""
        vector = ir.VectorType(self.kind, self.lanes)
        kind = ir.FunctionType(vector, [vector] * self.arguments)
        known = self.module.globals.get(self.symbol)
        return known or pure(ir.Function(self.module, kind, self.symbol))

    def _lane_0(self, builder: Any, args: Sequence[ir.Value]) -> ir.Value:
        undefined = ir.Constant(ir.VectorType(self.kind, 1), ir.Undefined)
        ones = [builder.insert_element(undefined, x, _INT32(0)) for x in args]
        return builder.extract_element(self._call(builder, ones, 1), _INT32(0))

    def _variant(self, mask: str, lanes: int) -> ir.Function:
        """The function on ``lanes`` elements; with the mask "M", on those that a last argument
        selects."""
        if mask == "N" and lanes == self.lanes:
            return self._library()
        vector = ir.VectorType(self.kind, lanes)
        flags = [ir.VectorType(ir.IntType(1), lanes)] if mask == "M" else []

        def body(builder: Any, args: Sequence[ir.Value]) -> ir.Value:
            values = args[: self.arguments]
            if flags:
                idle = ir.Constant(vector, [self.idle] * lanes)
                values = [builder.select(args[-1], x, idle) for x in values]
            return self._call(builder, values, lanes)

        return self._define(f"{self.name}_{mask}{lanes}", vector, flags, body)

    def _call(self, builder: Any, values: Sequence[ir.Value], lanes: int) -> ir.Value:
        """Call the library's function on ``lanes`` elements, which fill a register repeatedly."""
        every = [*range(lanes)] * (self.lanes // lanes)
        whole = [_shuffle(builder, x, every) for x in values]
        return _shuffle(builder, builder.call(self._library(), whole), range(lanes))

    def _define(
        self, name: str, kind: ir.Type, more: Sequence[ir.Type], body: Callable[..., ir.Value]
    ) -> ir.Function:
        """Define a function of arguments of the type of its result, and ``more``."""
        signature = ir.FunctionType(kind, [kind] * self.arguments + [*more])
        function = pure(ir.Function(self.module, signature, name))
        function.linkage = "linkonce_odr"
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        builder.ret(body(builder, function.args))
        return function


def _shuffle(builder: Any, vector: Any, lanes: Sequence[int]) -> ir.Value:
    mask = ir.Constant(ir.VectorType(_INT32, len(lanes)), [_INT32(lane) for lane in lanes])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def pure(function: ir.Function) -> ir.Function:
    """Say of a function that its result depends on its arguments alone."""
    for attribute in ("nounwind", "readnone"):
        function.attributes.add(attribute)
    _set_attribute(function, "willreturn")
    return function


def _set_attribute(function: ir.Function, text: str) -> None:
    """Add an attribute that llvmlite has no name for."""
    set.add(function.attributes, text)


def _keep(module: ir.Module, functions: Sequence[ir.Function]) -> None:
    """Keep functions that nothing calls yet, with the parameters that they have.

    Besides, what LLVM learns from the calls that it sees must not change a function whose variants
    it would call instead.
    """
    used: Any = module.globals.get("llvm.compiler.used")
    if used is None:
        used = ir.GlobalVariable(module, ir.ArrayType(_POINTER, 0), "llvm.compiler.used")
        used.linkage, used.section = "appending", "llvm.metadata"
        used.initializer = ir.Constant(used.value_type, [])
    items = [*used.initializer.constant, *(f.bitcast(_POINTER) for f in functions)]
    used.value_type = ir.ArrayType(_POINTER, len(items))
    used.type = used.value_type.as_pointer()
    used.initializer = ir.Constant(used.value_type, items)
