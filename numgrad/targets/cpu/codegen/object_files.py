"""Object files and bit code: functions compiled by Numba and LLVM.

The module imports Numba, so it is imported only when a function has to be compiled.
"""

import types as pytypes
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import binding as llvm
from numba import cfunc
from numba.core import compiler, types
from numba.core.ccallback import CFunc
from numba.core.registry import cpu_target

from ..compile.compiler import Code, symbol_of
from ..compile.optimize import externals, internalise, is_portable
from ..platform.numba_internals import has, has_libraries
from ..platform.numba_setup import compiler_lock
from ..platform.target_machine import numba_machine, optimise

_loaded: list[Any] = []  # functions without object files


def compile_object(
    function: Callable,
    argtypes: Sequence[types.Type],
    key: str = "",
    parallel: bool = False,
    restype: types.Type | None = None,
) -> Code | int:
    """Compile a function to an object file; for a recursive function, return an address instead.

    Only Numba can link recursive code, and it loads the code at once. ``key`` makes the symbols of
    the code unique.
    """
    options: dict[str, Any] = {"nopython": True, "error_model": "numpy"}
    if parallel:
        options["parallel"] = True
    with compiler_lock:
        signature = (tuple(argtypes), restype or types.void)
        renamed = _renamed(function, key)
        if not (has_libraries() and has(CFunc, "_compile_uncached")):
            return _compiled_ahead(renamed, signature, options)
        made: Any = CFunc(renamed, signature, locals={}, options=options)
        result = made._compile_uncached()
        library, symbol = result.library, result.fndesc.llvm_cfunc_wrapper_name
        if not _optimise(library, symbol):
            return library.get_pointer_to_function(symbol)
        return code_of(numba_machine(), library._final_module, symbol)


def _compiled_ahead(function: Callable, signature: Any, options: dict[str, Any]) -> Code | int:
    """Compile a function without Numba's private names; return what `compile_object` does."""
    from ..callees.numba_passes import PlainPipeline

    pipeline: Any = PlainPipeline
    args, restype = signature
    flags: Any = compiler.Flags()  # its options are attributes made at run time
    flags.no_cpython_wrapper, flags.no_cfunc_wrapper, flags.no_compile = True, False, True
    cpu_target.options.parse_as_flags(flags, options)
    result: Any = compiler.compile_extra(
        cpu_target.typing_context, cpu_target.target_context, function, args, restype, flags, {},
        pipeline_class=pipeline,
    )  # fmt: skip
    module = llvm.parse_bitcode(result.library.serialize_using_bitcode()[2])
    if _is_recursive(module):
        made: Any = cfunc(restype(*args), **options)(function)
        _loaded.append(made)  # for ever, like all that is loaded
        return made.address
    symbol = result.fndesc.llvm_cfunc_wrapper_name
    internalise((*module.functions, *module.global_variables), [symbol])
    optimise(module, 3)
    return code_of(numba_machine(), module, symbol)


def compile_routine(function: Callable, key: str, returns: bool, parallel: bool) -> Code | int:
    """Compile a function of words (int64) that neither raises nor counts references.

    With ``returns`` the result of the function is a word too, otherwise there is none.
    """
    argtypes = (types.int64,) * function.__code__.co_argcount
    if parallel:
        return compile_object(function, argtypes, key, parallel, types.int64)
    from . import emit  # `emit` imports this module

    return emit.emit_routine(symbol_of(key), function, argtypes, returns)


def _renamed(function: Callable, key: str) -> Callable:
    """Copy a function under a name that holds its key, so that two kernels never share a symbol."""
    copy = pytypes.FunctionType(
        function.__code__, function.__globals__, function.__name__,
        function.__defaults__, function.__closure__,
    )  # fmt: skip
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = function.__module__
    stem = function.__name__.replace("<lambda>", "f")
    copy.__name__ = copy.__qualname__ = f"{stem}_{key.lstrip('-')[:16]}"
    return copy


def _optimise(library: Any, symbol: str) -> bool:
    """Link and optimise one of Numba's code libraries without loading its code.

    Return False if the code is recursive: then Numba has linked and loaded the code.
    """
    module = library._final_module
    optimise, finish = library._optimize_final_module, library._finalize_final_module
    recursive = False

    def internalise_and_optimise() -> None:
        nonlocal recursive
        recursive = _is_recursive(module)
        if not recursive:
            internalise(module.functions, [symbol])
        optimise()

    library._optimize_final_module = internalise_and_optimise
    library._finalize_final_module = lambda: finish() if recursive else None
    library.finalize()
    return not recursive


def _is_recursive(module: llvm.ModuleRef) -> bool:
    """Whether a function of a module calls itself."""
    names = [item.name for item in module.global_variables]
    return any(name.startswith(".numba.unresolved$") for name in names)


def code_of(machine: llvm.TargetMachine, module: llvm.ModuleRef, symbol: str) -> Code:
    """Return the object code of a module whose entry is ``symbol``."""
    payload = bytes(machine.emit_object(module))
    return Code(payload, symbol, externals(module), is_portable(module))


def bit_code_of(module: llvm.ModuleRef, symbol: str) -> Code:
    """Return the LLVM bit code of a module, to be linked into other modules."""
    return Code(module.as_bitcode(), symbol, (), is_portable(module))
