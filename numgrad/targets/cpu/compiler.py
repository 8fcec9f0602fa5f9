"""From a Python function and a signature to the address of machine code.

One mechanism serves kernels and the machine: Numba types, lowers and optimises the function; the
object file that results goes to the disk cache under a key that covers everything it depends on;
`loader` maps it into memory. Where the cache already has it, nothing of Numba's compiler runs.
"""

import hashlib
import importlib.util
import itertools
import platform
import sys
import types as pytypes
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm
from numba.core import config as numba_config
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock

from . import cache as disk
from . import loader, vector_library
from .fingerprint import UnstableValueError, fingerprint

ABI_VERSION = 1

config: Any = numba_config  # its names are set at run time

_addresses: dict[str, int] = {}
_volatile: dict[int, tuple[Any, int]] = {}
_volatile_numbers = itertools.count()


class Code(NamedTuple):
    """An object file or bit code, its entry, and the functions that it needs from elsewhere."""

    payload: bytes
    symbol: str
    externals: tuple[str, ...]
    portable: bool  # no address of this process is baked in


def load_or_compile(
    function: Callable,
    argtypes: Sequence[types.Type],
    key_parts: Any = (),
    parallel: bool = False,
    restype: types.Type = types.void,
    emit: Callable[[str], Code] | None = None,
) -> int:
    """Return the address of a C function compiled from a Python function.

    Parameters
    ----------
    function : callable
        Plain Python source in Numba's dialect; it may call plain functions registered as jitable,
        dispatchers and intrinsics.
    argtypes : sequence of numba types
        The C signature.
    key_parts : object
        Whatever the code depends on that is not reachable from `function`: anything that
        `fingerprint` accepts.
    parallel : bool
        Compile `prange` to parallel loops.
    restype : numba type
        The result, void unless given.
    emit : callable, optional
        ``emit(symbol)`` compiles in Numba's place, to a function of that name.

    Returns
    -------
    int
        An address valid for the life of the process: equal arguments give the same one.
    """
    key = make_key(function, argtypes, (key_parts, parallel, str(restype), emit is None))

    def compiled() -> Code | int:
        if emit is not None:
            return emit(symbol_of(key))
        return compile_object(function, argtypes, key, parallel, restype)

    return obtain(key, compiled)


def symbol_of(key: str) -> str:
    """Name of the entry of a kernel."""
    return f"numgrad_kernel_{key.lstrip('-')[:32]}"


def make_key(function: Callable, argtypes: Sequence[types.Type], key_parts: Any) -> str:
    """Return the key of a compilation, beginning with ``-`` if only this process can know it."""
    signature = ",".join(map(str, argtypes))
    prefix = ""
    try:
        body = fingerprint((function, key_parts))
    except UnstableValueError:
        # The object itself is the identity, and is kept alive so that its id is not reused.
        known = _volatile.setdefault(id(function), (function, next(_volatile_numbers)))
        prefix, body = "-", f"{known[1]} {key_parts!r}"
    return prefix + _digest(signature, body)


def join_keys(keys: Sequence[str], text: str) -> str:
    """Return the key of something made of parts that have keys, as ``text`` says."""
    prefix = "-" if any(key.startswith("-") for key in keys) else ""
    return prefix + _digest(*keys, text)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join((_platform_key(), *texts)).encode()).hexdigest()


@cache
def _platform_key() -> str:
    """Everything outside the function that decides what it compiles to."""
    return "\n".join(
        map(
            str,
            (
                ABI_VERSION, _generator_digest(), sys.version, sys.implementation.cache_tag,
                numba.__version__, llvmlite.__version__, np.__version__, _scipy_version(),
                llvm.get_process_triple(), platform.machine(),
                config.CPU_NAME or llvm.get_host_cpu_name(),
                config.CPU_FEATURES or llvm.get_host_cpu_features().flatten(),
                config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE, config.LLVM_REFPRUNE_PASS,
                config.ENABLE_AVX, config.DEBUGINFO_DEFAULT, config.BOUNDSCHECK,
                vector_library.identity(),
            ),
        )
    )  # fmt: skip


def _scipy_version() -> str:
    """Return SciPy's version without importing it: Numba takes BLAS from there."""
    from importlib import metadata

    try:
        return metadata.version("scipy")
    except metadata.PackageNotFoundError:
        return "none"


def _generator_digest() -> str:
    """Digest this package's own sources: an edit of a code generator makes old objects invalid."""
    sha = hashlib.sha256()
    spec = importlib.util.find_spec(__package__ or "")
    folders = (spec.submodule_search_locations if spec else None) or ()
    for path in sorted(path for folder in folders for path in Path(folder).glob("*.py")):
        sha.update(path.read_bytes())
    return sha.hexdigest()


def obtain(key: str, compiled: Callable[[], Code | int]) -> int:
    """Return the address of what ``compiled()`` compiles: from memory, from disk or made now."""
    address = _addresses.get(key)
    if address is None:
        with global_compiler_lock:
            address = _addresses.get(key) or _load(key, compiled)
            _addresses[key] = address
    return address


def is_compiled(key: str, kind: str = disk.KERNEL) -> bool:
    """Whether `obtain` would find a kernel, or `scalar` a scalar function, without compiling."""
    return key in _addresses or (not key.startswith("-") and disk.holds(key, kind))


def _load(key: str, compiled: Callable[[], Code | int]) -> int:
    entry = _read(key, disk.KERNEL)
    if entry is not None:
        try:
            return loader.load(entry.payload, entry.symbol, entry.externals)
        except loader.MissingSymbolError:
            pass  # compiled where a library offered more than here: compile again
    code = _compile(key, compiled, disk.KERNEL)
    return code if isinstance(code, int) else loader.load(code.payload, code.symbol, code.externals)


def scalar(key: str, compiled: Callable[[], Code]) -> bytes:
    """Return the LLVM code of a scalar function: from disk, or what ``compiled()`` makes."""
    with global_compiler_lock:
        entry = _read(key, disk.SCALAR)
        return entry.payload if entry else _compile(key, compiled, disk.SCALAR).payload


def _read(key: str, kind: str) -> disk.Entry | None:
    return None if key.startswith("-") else disk.read(key, kind)


def _compile(key: str, compiled: Callable[[], Any], kind: str) -> Any:
    code = compiled()
    disk.count_compiled(kind)
    if isinstance(code, Code) and code.portable and not key.startswith("-"):
        disk.write(key, disk.Entry(code.symbol, code.externals, code.payload), kind)
    return code


def compile_object(
    function: Callable,
    argtypes: Sequence[types.Type],
    key: str = "",
    parallel: bool = False,
    restype: types.Type = types.void,
) -> Code | int:
    """Compile to an object file; to an address where Numba must link the code itself."""
    from numba.core.ccallback import CFunc

    options: dict[str, Any] = {"nopython": True, "error_model": "numpy"}
    if parallel:
        options["parallel"] = True
    with global_compiler_lock:
        cfunc: Any = CFunc(
            _renamed(function, key), (tuple(argtypes), restype), locals={}, options=options
        )
        result = cfunc._compile_uncached()
        library, symbol = result.library, result.fndesc.llvm_cfunc_wrapper_name
        if not _optimise(library, symbol):
            return library.get_pointer_to_function(symbol)
        return code_of(library._codegen._tm, library._final_module, symbol)


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
    """Link and optimise outside Numba's engine; False if recursive code had to be loaded there."""
    module = library._final_module
    optimise, finish = library._optimize_final_module, library._finalize_final_module
    recursive = False

    def internalise_and_optimise() -> None:
        nonlocal recursive
        names = [item.name for item in module.global_variables]
        recursive = any(name.startswith(".numba.unresolved$") for name in names)
        if not recursive:
            internalise(module.functions, [symbol])
        optimise()

    library._optimize_final_module = internalise_and_optimise
    library._finalize_final_module = lambda: finish() if recursive else None
    library.finalize()
    return not recursive


def internalise(items: Iterable[llvm.ValueRef], symbols: Collection[str]) -> None:
    """Hide everything that is defined but the entries.

    Numba numbers versions per process, so callees of two objects from different processes can
    share a name (numba #10486); internal symbols cannot.
    """
    for item in items:
        special = item.name in symbols or item.name.startswith("llvm.")
        if not item.is_declaration and not special:
            item.linkage = "internal"


def code_of(machine: llvm.TargetMachine, module: llvm.ModuleRef, symbol: str) -> Code:
    """Return the object code of a module whose entry is ``symbol``."""
    functions = (item.name for item in module.functions if item.is_declaration)
    externals = tuple(name for name in functions if not name.startswith("llvm."))
    return Code(bytes(machine.emit_object(module)), symbol, externals, _is_portable(module))


def bit_code_of(module: llvm.ModuleRef, symbol: str) -> Code:
    """Return the LLVM code of a module, to be linked into others."""
    return Code(module.as_bitcode(), symbol, (), _is_portable(module))


def _is_portable(module: llvm.ModuleRef) -> bool:
    variables = (item.name for item in module.global_variables)
    return not any(name.startswith("numba.dynamic.globals") for name in variables)
