"""Settings, version and compiler lock of Numba, without importing it.

LLVM alone loads kernels from the cache. So a process that compiles nothing never imports Numba. The
import would take longer than all that such a process does before its first gradient.
"""

import hashlib
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ....process.fork_locks import held_during_fork

_CODE = (
    "CPU_NAME", "CPU_FEATURES", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "LLVM_REFPRUNE_PASS",
    "ENABLE_AVX", "DEBUGINFO_DEFAULT", "BOUNDSCHECK",
)  # fmt: skip
_FILE = ".numba_config.yaml"
_THREADS = "NUMBA_NUM_THREADS"
# Defaults of Numba's settings; ``ENABLE_AVX`` where AVX is of use to numgrad.
_UNSET = {"CPU_NAME": None, "CPU_FEATURES": None, "ENABLE_AVX": True}


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_loaded() -> bool:
    """Whether this process has imported Numba."""
    return "numba" in sys.modules


class _Config:
    """Numba's settings; the defaults of a few are known without importing Numba."""

    def __getattr__(self, name: str) -> Any:
        if name in _UNSET and not is_loaded() and _is_default():
            return _UNSET[name]
        if name == _THREADS and not is_loaded():
            return _number_of_threads()
        return getattr(_numba_config(), name)


@cache
def _number_of_threads() -> int:
    """Return Numba's number of threads; the number is cached because every run of a program asks.
    """
    if _THREADS not in os.environ and _is_default():
        return processors()
    return _numba_config().NUMBA_NUM_THREADS


config: Any = _Config()


def code_settings() -> tuple[Any, ...]:
    """Return Numba's settings on which compiled code depends; importing Numba does not change the
    result."""
    if _is_default() and (not is_loaded() or _values(_numba_config()) == _values(_pristine())):
        return ("default",)
    return _values(_numba_config())


def _is_default() -> bool:
    """Whether neither the environment nor a file changes Numba's settings."""
    return not any("NUMBA_" + name in os.environ for name in (*_CODE, "DEBUGINFO")) and not (
        os.path.exists(_FILE)
    )


def _values(settings: Any) -> tuple[Any, ...]:
    return tuple([str(getattr(settings, name)) for name in _CODE])


def import_numba() -> None:
    """Import Numba as a whole, before any of its modules.

    A thread that imports a module of a package does not wait for another thread that is importing
    the package, and may meet modules that do not exist yet; a thread that imports the package
    waits.
    """
    importlib.import_module("numba")


@contextmanager
def jit_enabled() -> Iterator[None]:
    """Compile within the block, although ``NUMBA_DISABLE_JIT`` may be set.

    The setting is for functions of users; kernels exist only as compiled code. The caller holds the
    compiler lock.
    """
    settings = _numba_config()
    before, settings.DISABLE_JIT = settings.DISABLE_JIT, 0
    try:
        yield
    finally:
        settings.DISABLE_JIT = before


def _numba_config() -> Any:
    import_numba()
    from numba.core import config

    return config


def _pristine() -> Any:
    """Return a second copy of Numba's settings, without changes made in this process."""
    spec = importlib.util.find_spec("numba.core.config")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version_of(package: str, file: str) -> str:
    """Return a text that differs between versions of a package, without importing the package.

    The text is a digest of ``file``, which contains the version: metadata of packages take long to
    find.
    """
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        path = Path(folder) / file
        if path.exists():
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return installed_version(package, "none")


def installed_version(distribution: str, missing: str) -> str:
    """Return the version of a distribution; the text ``missing`` if none is installed."""
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return missing


class _CompilerLock:
    """The lock of a thread that compiles or loads: numgrad's own, and Numba's if Numba is imported.

    Numba's lock alone would not do, as it does not exist before the import.
    """

    def __init__(self) -> None:
        self._own = threading.RLock()
        self._taken: list[Any] = []  # changed only by the thread that holds ``_own``

    def acquire(self, blocking: bool = True) -> bool:
        """Take both locks, numgrad's first; return whether they were taken.

        Unless ``blocking``, return False at once if another thread holds numgrad's lock. There is
        no deadlock: a thread that holds Numba's lock alone never waits for numgrad's.
        """
        if not self._own.acquire(blocking):
            return False
        module = sys.modules.get("numba.core.compiler_lock")
        lock = getattr(module, "global_compiler_lock", None)
        if lock is not None:
            lock.acquire()
        self._taken.append(lock)
        return True

    def release(self) -> None:
        lock = self._taken.pop()
        if lock is not None:
            lock.release()
        self._own.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


compiler_lock = held_during_fork(_CompilerLock())
