"""From LLVM code around a Numba function to an object file, by the shortest way.

A kernel is one LLVM function with the C signature of the kernel ABI. Its loop is written directly
in LLVM; only the scalar or core function that it calls goes through Numba's front end. That takes
a fifth of the time of compiling the same loop from Python source, and tests compile a thousand.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, compiler, types
from numba.core.registry import cpu_target

from .compiler import Code, code_of, internalise
from .intrinsics import INT64, KERNEL_TYPE
from .rewrite import JIT_OPTIONS


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
        options = {**(options or {}), **JIT_OPTIONS, "nopython": True}
        cpu_target.options.parse_as_flags(flags, options)
        self.context: Any = cpu_target.target_context  # a property of Numba's own kind
        self.result: Any = compiler.compile_extra(
            cpu_target.typing_context, self.context, function, tuple(argtypes), None, flags, {},
            pipeline_class=pipeline,
        )  # fmt: skip
        self.restype = self.result.signature.return_type

    def call(
        self, builder: ir.IRBuilder, values: Sequence[ir.Value], index: ir.Value, status: ir.Value
    ) -> ir.Value:
        """Emit a call; if it raises, the kernel stores ``1 + index`` in its status and returns."""
        function = self.context.declare_function(builder.module, self.result.fndesc)
        outcome, value = self.context.call_conv.call_function(
            builder, function, self.restype, self.result.signature.args, values
        )
        with builder.if_then(outcome.is_error, likely=False):
            word = builder.inttoptr(status, INT64.as_pointer())
            builder.store(builder.add(index, ir.Constant(INT64, 1)), word)
            builder.ret_void()
        return value


def emit_kernel(
    symbol: str,
    callee: Callee,
    body: Callable[[ir.IRBuilder, Sequence[ir.Value]], None],
    *,
    counts_references: bool,
) -> Code:
    """Compile the kernel whose code ``body(builder, arguments)`` writes.

    Parameters
    ----------
    symbol : str
        Name of the kernel in the object file.
    callee : Callee
        The function that the body calls.
    body : callable
        Writes the whole function, returns included.
    counts_references : bool
        Whether the callee may allocate arrays, so that pruning reference counts pays.
    """
    codegen = callee.context.codegen()
    module = codegen._create_empty_module(symbol)
    function = ir.Function(module, KERNEL_TYPE, symbol)
    library = codegen.create_library(symbol)  # collects what casts of results need
    with callee.context.push_code_library(library):
        body(ir.IRBuilder(function.append_basic_block("entry")), function.args)
    linked = llvm.parse_assembly(cgutils.normalize_ir_text(str(module)))
    for part in (
        callee.result.library._final_module,
        *_dependencies(callee.result.library, library),
    ):
        linked.link_in(part, preserve=True)
    internalise((*linked.functions, *linked.global_variables), symbol)
    _optimise(codegen, linked, counts_references)
    return code_of(_target_machine(codegen), linked, symbol)


@cache
def _target_machine(codegen: Any) -> llvm.TargetMachine:
    """Numba's target machine one level lower: the same loops in three quarters of the time."""
    options: dict[str, Any] = {"opt": 2}
    codegen._customize_tm_options(options)
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(**options)


def _dependencies(*libraries: Any) -> list[llvm.ModuleRef]:
    """The modules of everything that the functions of some libraries call."""
    callees = {id(x): x for library in libraries for x in library._linking_libraries}
    return [library._get_module_for_linking() for library in callees.values()]


def _optimise(codegen: Any, module: llvm.ModuleRef, counts_references: bool) -> None:
    if counts_references:  # Numba's order: inline, prune, then optimise in full
        manager, builder = codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=0, cost="cheap"
        )
        manager.run(module, builder)
    manager, builder = codegen._module_pass_manager(opt=2)  # 3 adds nothing to a loop but time
    manager.run(module, builder)
