"""Compile LLVM code, written around a function that Numba compiled, to object files or bit code.

A kernel is one LLVM function with the C signature of the kernel ABI. Its loop is written directly
in LLVM; only the scalar or core function that it calls goes through Numba's front end. Numba would
take five times as long to compile the same loop from Python source, and the tests compile a
thousand kernels.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, compiler, types
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

from ..callees.private_copies import JIT_OPTIONS, Caller, copied, methods
from ..compile import builtin_signatures, short_lowering
from ..compile.compiler import Code
from ..compile.intrinsics import INT64, KERNEL_TYPE
from ..compile.optimize import internalise
from ..math.vector_math import definitions
from ..platform import numba_internals
from ..platform.target_machine import (
    codegen,
    new_module,
    optimise,
    prune,
    target_machine,
)
from ..platform.vector_library import PREFIX
from .object_files import bit_code_of, code_of

_NO_OVERFLOW = re.compile(r"(= (?:add|sub|mul|shl))(?: nuw| nsw)+ ")


class Callee:
    """A function compiled by Numba for given argument types, ready to be called from LLVM code."""

    def __init__(
        self,
        function: Callable,
        argtypes: Sequence[types.Type],
        pipeline: Any,
        options: dict[str, Any] | None = None,
    ) -> None:
        flags: Any = compiler.Flags()  # its options are attributes made at run time
        flags.nrt = True
        flags.no_compile = True  # linked into the kernel, which is compiled as a whole
        options = {**JIT_OPTIONS, **(options or {})}
        local_types = options.pop("locals", {})
        cpu_target.options.parse_as_flags(flags, options)
        caller = Caller.declared(pipeline, options)
        given = tuple(
            types.Omitted(copied(kind.value, caller)) if isinstance(kind, types.Omitted) else kind
            for kind in argtypes
        )
        self.context: Any = cpu_target.target_context  # a property of Numba's own kind
        with methods(caller), builtin_signatures.kept(), short_lowering.used():
            self.result: Any = compiler.compile_extra(
                cpu_target.typing_context, self.context, function, given, None, flags, local_types,
                pipeline_class=pipeline,
            )  # fmt: skip
        self.restype = self.result.signature.return_type

    def call(
        self, builder: ir.IRBuilder, values: Sequence[ir.Value], index: ir.Value, status: ir.Value
    ) -> ir.Value:
        """Emit a call; where the function raises, the kernel returns with the status ``1 + index``.
        """
        raised, value = self.invoke(builder, values)
        with builder.if_then(raised, likely=False):
            word = builder.inttoptr(status, INT64.as_pointer())
            builder.store(builder.add(index, ir.Constant(INT64, 1)), word)
            builder.ret_void()
        return value

    def invoke(
        self, builder: ir.IRBuilder, values: Sequence[ir.Value]
    ) -> tuple[ir.Value, ir.Value]:
        """Emit a call; return whether the function raised, and its result."""
        function = self.context.declare_function(builder.module, self.result.fndesc)
        outcome, value = self.context.call_conv.call_function(
            builder, function, self.restype, self.result.signature.args, values
        )
        return outcome.is_error, value


def emit_kernel(
    symbol: str,
    callee: Callee,
    body: Callable[[ir.IRBuilder, Sequence[ir.Value]], None],
) -> Code:
    """Compile the kernel whose code ``body(builder, arguments)`` emits.

    Parameters
    ----------
    symbol : str
        Name of the kernel in the object file.
    callee : Callee
        The function that the body calls; it may allocate arrays.
    body : callable
        Emits the whole function, including its returns.
    """
    function = ir.Function(new_module(symbol), KERNEL_TYPE, symbol)
    linked = _linked(callee, function, body)
    internalise((*linked.functions, *linked.global_variables), [symbol])
    prune(linked)
    optimise(linked, 2)  # 3 adds nothing to a loop but time
    return code_of(target_machine(), linked, symbol)


def emit_scalar(
    symbol: str,
    callee: Callee,
    kind: ir.FunctionType,
    body: Callable[[ir.IRBuilder, Sequence[ir.Value]], None],
    *,
    counts_references: bool,
) -> Code:
    """Compile a function of scalars, which ``body`` emits, to bit code that kernels inline.

    ``counts_references`` says whether the callee may allocate arrays, whose reference counting has
    to be pruned.
    """
    function = ir.Function(new_module(symbol), kind, symbol)
    function.attributes.add("alwaysinline")
    linked = _linked(callee, function, body)
    if any(isinstance(item, ir.IntType) for item in kind.args[:-2]):  # without index and status
        linked = _wrapping(linked)
    # Functions of vector calls keep their names, so that a kernel has each of them once.
    shared = [item.name for item in linked.functions if item.name.startswith(PREFIX)]
    internalise((*linked.functions, *linked.global_variables), [symbol, *shared])
    if counts_references:
        prune(linked)
    optimise(linked, 2, vectorise=False)
    return bit_code_of(linked, symbol)


def emit_routine(
    symbol: str, function: Callable, argtypes: Sequence[types.Type], returns: bool
) -> Code:
    """Compile a function of words (int64), which never raises, to a function with a C signature.

    ``returns`` says whether the result is a word; otherwise there is no result.
    """
    from ..callees.numba_passes import ScalarPipeline

    callee = Callee(function, argtypes, ScalarPipeline)
    kind = ir.FunctionType(INT64 if returns else ir.VoidType(), [INT64] * len(argtypes))
    routine = ir.Function(new_module(symbol), kind, symbol)

    def body(builder: Any, args: Sequence[ir.Value]) -> None:
        _, value = callee.invoke(builder, args)
        if returns:
            builder.ret(callee.context.cast(builder, value, callee.restype, types.int64))
        else:
            builder.ret_void()

    linked = _linked(callee, routine, body)
    internalise((*linked.functions, *linked.global_variables), [symbol])
    optimise(linked, 2)
    return code_of(target_machine(), linked, symbol)


def _linked(
    callee: Callee,
    function: ir.Function,
    body: Callable[[ir.IRBuilder, Sequence[ir.Value]], None],
) -> llvm.ModuleRef:
    """Emit a function by ``body``; return its module, linked with the functions that it calls."""
    needed = _Needed(codegen(), function.name)  # by casts of results
    with callee.context.push_code_library(needed):
        body(ir.IRBuilder(function.append_basic_block("entry")), function.args)
    linked = llvm.parse_assembly(cgutils.normalize_ir_text(str(function.module)))
    for part in _parts(callee.result.library, needed.libraries):
        linked.link_in(part, preserve=True)
    called = [item.name for item in linked.functions if item.is_declaration]
    for name in (name for name in called if name.startswith(PREFIX)):
        linked.link_in(llvm.parse_assembly(definitions(name)))
    return linked


def _wrapping(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """Return a module whose integers wrap around, as NumPy's do.

    The flags ``nuw`` and ``nsw`` let LLVM assume that nothing overflows: once functions are joined,
    ``x + 1 > x`` would be true of the largest integer as well.
    """
    return llvm.parse_assembly(_NO_OVERFLOW.sub(r"\1 ", str(module)))


class _Needed(JITCodeLibrary):
    """A code library that notes which libraries its code calls."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.libraries: list[Any] = []

    def add_linking_library(self, library: Any) -> None:
        """Note a library, whose code is linked into the kernel later."""
        self.libraries.append(library)


def _parts(library: Any, others: Iterable[Any]) -> list[llvm.ModuleRef]:
    """Return the LLVM modules of a library, of its callees and of others, to be linked."""
    if numba_internals.has_libraries():
        callees = {id(x): x for x in (*library._linking_libraries, *others)}
        called = [library._get_module_for_linking() for library in callees.values()]
        return [library._final_module, *called]
    found = {id(x): x for x in (library, *others)}
    return [llvm.parse_bitcode(x.serialize_using_bitcode()[2]) for x in found.values()]
