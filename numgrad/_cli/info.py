"""The facts that a bug report needs."""

import os
import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING

from numgrad.targets.cpu.platform.numba_setup import installed_version

if TYPE_CHECKING:
    from numgrad.targets.cpu.compile.disk_cache import CacheInfo

REQUIRED = ("numgrad", "numpy", "scipy", "numba", "llvmlite", "threadpoolctl")
OPTIONAL = ("numba-cuda", "matplotlib", "graphviz")


def describe() -> Iterator[tuple[str, str]]:
    """Pairs of name and fact, in the order to print."""
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "platform", platform.platform()
    for name in REQUIRED + OPTIONAL:
        yield name, installed_version(name, "not installed")
    yield from _processor()
    yield from _threads()
    yield from _target()
    yield "CUDA", _cuda()
    yield "environment", _environment()


def kernel_counts() -> str:
    """How many kernels this process compiled and how many it found on disk."""
    from numgrad.targets.cpu.compile.disk_cache import cache_info

    cache = cache_info()
    return f"{cache.compiled} compiled, {cache.hits} from the cache ({_place(cache)})"


def _place(cache: "CacheInfo") -> str:
    if cache.directory is None:
        return "memory only"
    return cache.directory + ("" if cache.writable else ", read-only")


def _processor() -> Iterator[tuple[str, str]]:
    import llvmlite.binding as llvm

    yield "processor", f"{llvm.get_host_cpu_name()}, {os.cpu_count()} logical cores"


def _threads() -> Iterator[tuple[str, str]]:
    from threadpoolctl import threadpool_info

    import numgrad  # noqa: F401  (loads BLAS the way a user's program does)

    from ..targets.cpu.platform.threads import get_num_threads

    yield "threads", str(get_num_threads())
    pools = [
        f"{pool['internal_api']} {pool['version']}, {pool['num_threads']} threads"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]
    yield "BLAS", "; ".join(pools) or "unknown"


def _target() -> Iterator[tuple[str, str]]:
    from numgrad.targets.cpu import CPUTarget

    target = CPUTarget()
    cache = target.cache_info()
    yield "threading layer", target.threading_layer()
    yield "SIMD math", target.math()
    yield "L2 cache", f"{target.l2_bytes() // 1024} KiB"
    yield "kernel cache", _place(cache)


def _cuda() -> str:
    try:
        from numba import cuda

        if not cuda.is_available():
            return "no device"
        name = cuda.get_current_device().name
        return name.decode() if isinstance(name, bytes) else name
    except Exception as reason:  # a broken driver must not keep the other facts from being printed
        return f"not usable: {reason}"


def _environment() -> str:
    prefixes = ("NUMGRAD_", "NUMBA_", "OMP_", "GOMP_", "MKL_", "OPENBLAS_", "XDG_CACHE_HOME")
    names = sorted(name for name in os.environ if name.startswith(prefixes))
    return " ".join(f"{name}={os.environ[name]}" for name in names) or "nothing set"
