"""Compilation of a Python function for a signature, to the address of machine code.

One mechanism serves kernels and the machine: Numba types, lowers and optimises the function
(`object_files`); the object file goes to the disk cache under a key of everything on which it
depends; `object_loader` maps it into memory. If the object is in the cache, Numba is not even
imported. One thread compiles at a time, under a lock; a thread that has waited for the lock looks
first whether the function has been compiled meanwhile. Two processes may both compile a function;
the file of either serves both.
"""

import hashlib
import importlib.util
import itertools
import platform
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numpy as np
from llvmlite import binding as llvm

from numgrad.ir import kernel_spec

from ..platform import interrupts, memory_check, object_loader, vector_library
from ..platform.numba_setup import (
    code_settings,
    compiler_lock,
    config,
    import_numba,
    jit_enabled,
    version_of,
)
from . import disk_cache as disk
from .fingerprint import UnstableValueError, fingerprint

ABI_VERSION = 1

_addresses: dict[str, int] = {}
_volatile: dict[int, tuple[Any, int]] = {}
_volatile_numbers = itertools.count()


class Code(NamedTuple):
    """Compiled code: an object file or bit code, the symbol of its entry, and what it calls.

    ``externals`` are the symbols of functions that the code calls and does not contain.
    """

    payload: bytes
    symbol: str
    externals: tuple[str, ...]
    portable: bool  # no address of this process is baked in


def load_or_compile(
    function: Callable,
    argtypes: Sequence[Any],
    key_parts: Any = (),
    parallel: bool = False,
    restype: Any = None,
) -> int:
    """Return the address of a C function compiled from a Python function.

    Parameters
    ----------
    function : callable
        Plain Python source in Numba's dialect; it may call plain functions registered as jitable,
        dispatchers and intrinsics.
    argtypes : sequence of numba types
        The types of the C function's parameters.
    key_parts : object
        Values on which the code depends and that are not reachable from `function`, of any kind
        that `fingerprint` accepts.
    parallel : bool
        Compile `prange` to parallel loops.
    restype : numba type
        The type of the result, void unless given.

    Returns
    -------
    int
        An address valid for the life of the process: equal arguments give the same one.
    """
    key = make_key(function, argtypes, (key_parts, parallel, str(restype)))

    def compiled() -> Code | int:
        from ..codegen.object_files import compile_object  # it imports Numba

        return compile_object(function, argtypes, key, parallel, restype)

    return obtain(key, compiled)


def symbol_of(key: str) -> str:
    """Return the symbol of a kernel's entry, from the cache key of the kernel."""
    return f"numgrad_kernel_{key.lstrip('-')[:32]}"


def make_key(function: Callable, argtypes: Sequence[Any], key_parts: Any) -> str:
    """Return the cache key of a compilation.

    A key that begins with ``-`` is valid in this process only, as another process could not
    recognise a value on which the code depends.
    """
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
    """Return the cache key of code that is made of parts.

    ``keys`` are the keys of the parts, and ``text`` describes how they are put together.
    """
    prefix = "-" if any(key.startswith("-") for key in keys) else ""
    return prefix + _digest(*keys, text)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join((_platform_key(), *texts)).encode()).hexdigest()


@cache
def _platform_key() -> str:
    """Return the versions, settings and processor on which all compiled code depends, as text."""
    return "\n".join(
        map(
            str,
            (
                ABI_VERSION, _generator_digest(), sys.version, sys.implementation.cache_tag,
                version_of("numba", "_version.py"), llvmlite.__version__, np.__version__,
                version_of("scipy", "version.py"),  # Numba takes BLAS from there
                llvm.get_process_triple(), platform.machine(),
                config.CPU_NAME or llvm.get_host_cpu_name(),
                config.CPU_FEATURES or llvm.get_host_cpu_features().flatten(),
                code_settings(), vector_library.identity(),
            ),
        )
    )  # fmt: skip


def _generator_digest() -> str:
    """Return a digest of the sources of `targets.cpu` and of the modules that all targets share.

    An edit of a code generator makes old objects invalid.
    """
    sha = hashlib.sha256()
    cpu = (__package__ or "").rpartition(".")[0]
    for name, files in ((cpu, "**/*.py"), (cpu.rpartition(".")[0], "*.py")):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        for folder in spec.submodule_search_locations or ():
            for file in sorted(map(str, Path(folder).glob(files))):
                sha.update(Path(file).read_bytes())
    sha.update(Path(kernel_spec.__file__).read_bytes())
    return sha.hexdigest()


def obtain(key: str, compiled: Callable[[], Code | int]) -> int:
    """Return the address of the code with a key, made by ``compiled()`` if memory and disk lack it.
    """
    address = _addresses.get(key)
    if address is None:
        with compiler_lock:
            address = _addresses.get(key) or _load(key, compiled)
            _addresses[key] = address
    return address


def _load(key: str, compiled: Callable[[], Code | int]) -> int:
    entry = _read(key, disk.KERNEL)
    if entry is not None:
        try:
            return object_loader.load(entry.payload, entry.symbol, entry.externals)
        except object_loader.MissingSymbolError:
            pass  # the object calls a function that this process lacks: compile again
    code = _compile(key, compiled, disk.KERNEL)
    if isinstance(code, int):
        return code
    return object_loader.load(code.payload, code.symbol, code.externals)


def scalar(key: str, compiled: Callable[[], Code]) -> bytes:
    """Return the LLVM bit code of a scalar function: from disk, or made by ``compiled()``."""
    with compiler_lock:
        entry = _read(key, disk.SCALAR)
        return entry.payload if entry else _compile(key, compiled, disk.SCALAR).payload


def _read(key: str, kind: str) -> disk.Entry | None:
    return None if key.startswith("-") else disk.read(key, kind)


def _compile(key: str, compiled: Callable[[], Any], kind: str) -> Any:
    memory_check.require(memory_check.COMPILE, "compile a kernel")
    import_numba()
    from ..codegen import object_files  # noqa: F401  imports Numba, so that the lock is Numba's too

    with compiler_lock, interrupts.held(), jit_enabled():
        code = compiled()
    disk.count_compiled(kind)
    if isinstance(code, Code) and code.portable and not key.startswith("-"):
        disk.write(key, disk.Entry(code.symbol, code.externals, code.payload), kind)
    return code
