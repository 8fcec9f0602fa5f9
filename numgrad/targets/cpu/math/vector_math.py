"""The functions of ``math`` in kernels of real dtypes, by the vector library where there is one.

Kernels compiled inside of `compiling` call the vector library, if the mode is ``"simd"``; other
code, and functions that the library lacks, call libm once per element, as Numba compiles ``math``.

LLVM's loop vectoriser replaces a call of a scalar function by a call of a vector function if an
attribute of the scalar function names it. The scalar function is defined in this module: it
broadcasts its arguments, calls the same vector function and takes lane 0. So an element has the
same bits in the body of a loop, in its tail, and in a loop of length 1.

A loop may call a function on half a register (if the loop mixes float32 and float64) or on some
lanes only (if the call stands in a branch). For such calls the kernel's module defines variants of
the function, which fill the unused lanes and call the library. Lanes that a branch leaves out get a
number of the function's domain, because the library computes other arguments one by one:
``log10(x) if x > 0 else 0`` took 5 to 11 times as long without.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from ..compile.intrinsics import named_intrinsic
from ..platform.vector_library import ARGUMENTS, PREFIX, vector_library

_mode = "libm"
_PURE = "nounwind willreturn memory(none)"


@contextmanager
def compiling(mode: str) -> Iterator[None]:
    """Compile for ``"simd"`` or ``"libm"`` within the block; the caller holds the compiler lock."""
    global _mode
    before, _mode = _mode, mode
    try:
        yield
    finally:
        _mode = before


def compiled_mode() -> str:
    """Return the mode of the present compilation, ``"libm"`` outside of `compiling`."""
    return _mode


def vector_call(context: Any, builder: Any, name: str, signature: Any, args: Any) -> Any:
    """Emit a call of the vector library, or return None where it has no such function."""
    result = signature.return_type
    library = vector_library() if _mode == "simd" else None
    if library is None or library.variant(name, result.bitwidth) is None:
        return None
    values = [
        context.cast(builder, value, dtype, result)
        for value, dtype in zip(args, signature.args, strict=True)
    ]
    scalar = f"{PREFIX}{name}_float{result.bitwidth}"
    kind = ir.FunctionType(values[0].type, [value.type for value in values])
    known = builder.module.globals.get(scalar)
    return builder.call(known or pure(ir.Function(builder.module, kind, scalar)), values)


def vectorised(name: str, plain: Any) -> Any:
    """Return an intrinsic for a function of ``math`` that loops can call on whole vector registers.

    Parameters
    ----------
    name : str
        The name of the function in the C library.
    plain : callable
        What is called where the vector library has no such function: an intrinsic, or a function
        that Numba knows. Its types of arguments and result are those of the returned intrinsic.
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
    """Whether a signature is that of a power with an integer exponent, which Numba multiplies out.
    """
    return len(signature.args) == 2 and isinstance(signature.args[1], types.Integer)


# In LLVM's code


def function_of(name: str) -> tuple[str, int]:
    """Return the C function for which a scalar function stands, and the bits of its numbers.

    Both are read from the name of the scalar function.
    """
    function, _, bits = name.removeprefix(PREFIX).rpartition("_float")
    return function, int(bits)


def definitions(name: str) -> str:
    """Return the text of an LLVM module that defines a scalar function and its vector variants.

    An attribute of the scalar function names the variants: there LLVM's loop vectoriser finds them.
    """
    calls = _Calls(name)
    half = calls.lanes // 2
    written, variants = [calls.declare()], {f"N{calls.lanes}": calls.symbol}
    for mask, n in (("N", half), ("M", calls.lanes), ("M", half)):
        variants[f"{mask}{n}"] = variant = f"{name}_{mask}{n}"
        written.append(calls.define(variant, n, masked=mask == "M"))
    mangled = ",".join(
        f"_ZGV_LLVM_{label}{'v' * calls.count}_{name}({variant})"
        for label, variant in variants.items()
    )
    attribute = f'noinline "vector-function-abi-variant"="{mangled}"'
    # The variants have no calls yet, so LLVM is told to keep them. Besides, LLVM must not change
    # the scalar function by knowledge from its calls: the variants would not change with it.
    kept = [f"ptr @{function}" for function in (name, *variants.values())]
    used = f'appending global [{len(kept)} x ptr] [{", ".join(kept)}], section "llvm.metadata"'
    written += [calls.define(name, 1, attribute), f"@llvm.compiler.used = {used}"]
    return "\n".join(written)


class _Calls:
    """Writes LLVM functions that call one function of the vector library on all lanes of a
    register."""

    def __init__(self, name: str) -> None:
        function, bits = function_of(name)
        library: Any = vector_library()
        self.symbol, self.lanes = library.symbol(function, bits), library.lanes(bits)
        self.count = ARGUMENTS[function]
        self.real = "double" if bits == 64 else "float"
        self.idle = 2.0 if function == "acosh" else 0.5
        """An argument in the function's domain, for lanes without an element."""

    def declare(self) -> str:
        """Return the declaration of the library's function."""
        kind = self._vector(self.lanes)
        return f"declare {kind} @{self.symbol}({', '.join([kind] * self.count)}) {_PURE}"

    def define(self, name: str, n: int, attributes: str = "", *, masked: bool = False) -> str:
        """Return the definition of a function of vectors of ``n`` elements, or of numbers for 1.

        If ``masked``, the last parameter is a mask: the function is computed for the elements that
        it selects. The library is not called where it selects none: a branch is often for special
        arguments, and whole vectors rarely have some.
        """
        vector = self._vector(n)
        kind = vector if n > 1 else self.real
        parameters = [f"{kind} %a{k}" for k in range(self.count)]
        parameters += [f"<{n} x i1> %mask"] * masked
        head = f"define linkonce_odr {kind} @{name}({', '.join(parameters)}) {_PURE}"
        body = [*self._body(n, masked), f"ret {kind} %y"]
        if masked:
            body = [
                f"%bits = bitcast <{n} x i1> %mask to i{n}",
                f"%none = icmp eq i{n} %bits, 0",
                "br i1 %none, label %idle, label %busy",
                f"idle:\n  ret {kind} zeroinitializer",
                "busy:",
                *body,
            ]
        if n == 1:
            body[-1:] = f"%y0 = extractelement {vector} %y, i64 0", f"ret {kind} %y0"
        return "\n".join((f"{head} {attributes} {{", *body, "}"))

    def _body(self, n: int, masked: bool) -> Iterator[str]:
        """Yield the lines that fill a register by copies of the elements, and call the library.
        """
        vector, whole = self._vector(n), self._vector(self.lanes)
        for k in range(self.count):
            x = f"%a{k}"
            if n == 1:
                yield f"%v{k} = insertelement {vector} poison, {self.real} {x}, i64 0"
                x = f"%v{k}"
            if masked:
                idle = f"{vector} splat ({self.real} {self.idle})"
                yield f"%v{k} = select <{n} x i1> %mask, {vector} {x}, {idle}"
                x = f"%v{k}"
            yield f"%w{k} = {_shuffle(vector, x, [*range(n)] * (self.lanes // n))}"
        operands = ", ".join(f"{whole} %w{k}" for k in range(self.count))
        yield f"%all = call {whole} @{self.symbol}({operands})"
        yield f"%y = {_shuffle(whole, '%all', range(n))}"

    def _vector(self, n: int) -> str:
        return f"<{n} x {self.real}>"


def _shuffle(kind: str, value: str, lanes: Sequence[int]) -> str:
    order = ", ".join(f"i32 {lane}" for lane in lanes)
    return f"shufflevector {kind} {value}, {kind} poison, <{len(lanes)} x i32> <{order}>"


def pure(function: ir.Function) -> ir.Function:
    """Mark a function whose result depends on its arguments alone; return it."""
    for attribute in ("nounwind", "readnone"):
        function.attributes.add(attribute)
    return function
