"""LLVM code of calls that loops turn into calls on whole vector registers.

LLVM's loop vectoriser replaces a call of a scalar function by one of a vector function if an
attribute of the scalar one names it. The scalar function is defined here as well: it broadcasts its
arguments, calls the same vector function and takes lane 0. So an element has the same bits in the
body of a loop, in its tail, and in a loop of length 1.

A loop may work on half a register (where it mixes float32 and float64) or on some of its lanes
(where the call stands in a branch). Small functions in the kernel's module are these variants; they
fill the lanes that nobody asked for.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from .vector_library import ARGUMENTS, VectorLibrary

_INT32 = ir.IntType(32)
_POINTER = ir.IntType(8).as_pointer()
PREFIX = "numgrad_simd_"
"""Of the names of functions that are the same whatever kernel they are emitted for."""

_PURE = ("nounwind", "readnone")


def call(
    builder: Any, library: VectorLibrary, name: str, symbol: str, values: Sequence[Any]
) -> ir.Value:
    """Emit a call of a function of the vector library with scalar arguments of one type."""
    scalar = _Functions(builder.module, library, name, symbol, values[0].type).scalar()
    return builder.call(scalar, values)


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
        function = self._define(self.name, [self.kind] * self.arguments, self.kind, self._lane_0)
        half = self.lanes // 2
        variants = {
            f"N{self.lanes}": self._library(),
            f"N{half}": self._variant(half, masked=False),
            f"M{self.lanes}": self._variant(self.lanes, masked=True),
            f"M{half}": self._variant(half, masked=True),
        }
        function.attributes.add("noinline")
        mangled = ",".join(
            f"_ZGV_LLVM_{label}{'v' * self.arguments}_{self.name}({variant.name})"
            for label, variant in variants.items()
        )
        set_attribute(function, f'"vector-function-abi-variant"="{mangled}"')
        keep(self.module, [function, *variants.values()])
        return function

    def _library(self) -> ir.Function:
        """The vector library's function, declared."""
        vector = ir.VectorType(self.kind, self.lanes)
        known = self.module.globals.get(self.symbol)
        if known is not None:
            return known
        function = ir.Function(
            self.module, ir.FunctionType(vector, [vector] * self.arguments), self.symbol
        )
        return _pure(function)

    def _lane_0(self, builder: Any, args: Sequence[ir.Value]) -> ir.Value:
        undefined = ir.Constant(ir.VectorType(self.kind, self.lanes), ir.Undefined)
        whole = [
            _shuffle(builder, builder.insert_element(undefined, x, _INT32(0)), [0] * self.lanes)
            for x in args
        ]
        return builder.extract_element(builder.call(self._library(), whole), _INT32(0))

    def _variant(self, lanes: int, *, masked: bool) -> ir.Function:
        """The function on ``lanes`` elements, those that a last argument selects if ``masked``."""
        vector = ir.VectorType(self.kind, lanes)
        flags: list[ir.Type] = [ir.VectorType(ir.IntType(1), lanes)] if masked else []
        name = f"{self.name}_{'M' if masked else 'N'}{lanes}"

        def body(builder: Any, args: Sequence[ir.Value]) -> ir.Value:
            values = list(args[: self.arguments])
            if masked:
                idle = ir.Constant(vector, [self.idle] * lanes)
                values = [builder.select(args[-1], x, idle) for x in values]
            if lanes == self.lanes:
                return builder.call(self._library(), values)
            wide = [_shuffle(builder, x, [*range(lanes)] * 2) for x in values]
            return _shuffle(builder, builder.call(self._library(), wide), range(lanes))

        return self._define(name, [*[vector] * self.arguments, *flags], vector, body)

    def _define(
        self, name: str, kinds: list[ir.Type], result: ir.Type, body: Callable[..., ir.Value]
    ) -> ir.Function:
        function = _pure(ir.Function(self.module, ir.FunctionType(result, kinds), name))
        function.linkage = "linkonce_odr"
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        builder.ret(body(builder, function.args))
        return function


def _shuffle(builder: Any, vector: Any, lanes: Sequence[int]) -> ir.Value:
    mask = ir.Constant(ir.VectorType(_INT32, len(lanes)), [_INT32(lane) for lane in lanes])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def _pure(function: ir.Function) -> ir.Function:
    for attribute in _PURE:
        function.attributes.add(attribute)
    set_attribute(function, "willreturn")
    return function


def set_attribute(function: ir.Function, text: str) -> None:
    """Add an attribute that llvmlite has no name for."""
    set.add(function.attributes, text)


def keep(module: ir.Module, functions: Sequence[ir.Function]) -> None:
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
