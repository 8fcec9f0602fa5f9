"""Load object files into memory, and find the addresses of their functions.

numgrad loads its kernels with an execution engine of its own. So a kernel that an earlier process
compiled needs neither Numba's type inference nor LLVM's optimiser, only a copy and a relocation.
"""

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import binding as llvm

from . import interrupts, memory_check, threads
from .numba_setup import compiler_lock, import_numba

PYTHON = "numgrad_python:"
"""The prefix, in routines, of the names of CPython's functions."""

_HELPERS = ("numba_", "Py", "_Py")
_THREADING = frozenset(
    {
        "numba_parallel_for", "do_scheduling_signed", "do_scheduling_unsigned", "allocate_sched",
        "deallocate_sched", "get_num_threads", "set_num_threads", "get_thread_id",
        "set_parallel_chunksize", "get_parallel_chunksize", "get_sched_size",
    }
)  # fmt: skip
_providers: list[tuple[Callable[[str], bool], Callable[[list[str]], Any]]] = []
_engine: llvm.ExecutionEngine | None = None


class MissingSymbolError(Exception):
    """An object file refers to functions that this process does not have."""


def add_symbol_provider(
    provider: Callable[[list[str]], Any], concerns: Callable[[str], bool] = bool
) -> None:
    """Register a function that tells LLVM the addresses of functions that LLVM does not know.

    The provider is called with a list of names. ``concerns(name)`` tells whether the provider may
    know a name; by default the provider is asked for all names.
    """
    _providers.append((concerns, provider))


def load(payload: bytes, symbol: str, externals: Iterable[str]) -> int:
    """Load an object file and return the address of its function ``symbol``.

    Parameters
    ----------
    payload : bytes
        The object file.
    symbol : str
        The name of the function.
    externals : iterable of str
        The functions that the object calls. They are looked up first, because LLVM aborts the
        process for an unknown function.

    Raises
    ------
    MissingSymbolError
        If an external function does not exist in this process.
    """
    with compiler_lock, interrupts.held():
        memory_check.require(memory_check.LOAD + 4 * len(payload), "load a kernel")
        provide(externals)
        engine = _get_engine()
        engine.add_object_file(llvm.ObjectFileRef.from_data(payload))
        engine.finalize_object()
        address = engine.get_function_address(symbol)
    if not address:
        raise MissingSymbolError(symbol)
    return address


def find(symbol: str) -> int:
    """Return the address of a function of a loaded object; 0 if there is none."""
    with compiler_lock:
        return _get_engine().get_function_address(symbol)


def provide(externals: Iterable[str]) -> None:
    """Tell LLVM the addresses of ``externals``, and start no more of Numba than these names need.
    """
    missing = _unknown(externals)
    steps = (
        (lambda name: name.startswith("NRT_"), lambda _: _add_nrt_helpers()),
        (_THREADING.__contains__, lambda _: _start_threads()),
        (lambda name: name.startswith(_HELPERS), lambda _: _add_helpers()),
        (lambda name: name.startswith(PYTHON), _add_python),
        *_providers,
        (bool, lambda _: _start_runtime()),
    )
    for concerns, step in steps:
        if any(map(concerns, missing)):
            step(missing)
            missing = _unknown(missing)
    if missing:
        raise MissingSymbolError(", ".join(missing))


def _unknown(symbols: Iterable[str]) -> list[str]:
    """Return those of the symbols whose address LLVM does not know."""
    return [symbol for symbol in symbols if llvm.address_of_symbol(symbol) is None]


def _add_nrt_helpers() -> None:
    """Tell LLVM the C half of Numba's reference counting: most kernels need nothing else of Numba.
    """
    import_numba()
    from numba.core.runtime import (
        _nrt_python,  # pyright: ignore[reportAttributeAccessIssue]  an extension without stubs
    )

    for name, address in _nrt_python.c_helpers.items():
        llvm.add_symbol(name[1:] if name.startswith("_") else f"NRT_{name}", address)


def _add_python(names: Iterable[str]) -> None:
    """Tell LLVM the addresses of functions of CPython."""
    for name in names:
        function = getattr(ctypes.pythonapi, name.removeprefix(PYTHON), None)
        if name.startswith(PYTHON) and function is not None:
            llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


def _add_helpers() -> Any:
    """Tell LLVM Numba's C helpers and Python's exceptions, by making Numba's CPU context."""
    import_numba()
    from numba.core.registry import cpu_target

    return cpu_target.target_context


def _start_runtime() -> None:
    """Compile the rest of Numba's reference-counting runtime, which takes 40 ms."""
    import_numba()
    from numba.core.runtime.nrt import rtsys

    rtsys.initialize(_add_helpers())


def _start_threads() -> None:
    """Tell LLVM the functions of Numba's threading layer, and start its threads."""
    import_numba()
    threads.start()


def _get_engine() -> llvm.ExecutionEngine:
    global _engine
    if _engine is None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
        _engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    return _engine
