"""The machine and the versions a table was measured with, and when not to measure."""

import os
import platform
import sys
from importlib import metadata
from pathlib import Path

DISTRIBUTIONS = ("numgrad", "numpy", "scipy", "numba", "torch", "jax", "pytensor", "autograd")


def refusal(environment: dict[str, str], module: str = "asv_benchmarks.peers") -> str:
    """Why figures from this environment would mislead; empty if they would not."""
    forced = [n for n in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if environment.get(n)]
    if not forced:
        return ""
    names = " and ".join(f"{name}={environment[name]}" for name in forced)
    verb = "is" if len(forced) == 1 else "are"
    return (
        f"{names} {verb} set: OpenBLAS would not run the kernels of this machine, and every matrix "
        f"product of NumPy, SciPy and Numba would be slower than users see. Unset and run again: "
        f"env -u {' -u '.join(forced)} python -m {module}"
    )


def installed(distribution: str) -> str:
    """Version, or nothing."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def processor() -> str:
    """The name of the processor."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def facts(threads: int, command: str) -> dict[str, object]:
    """What a reader needs to know to compare figures."""
    import llvmlite.binding as llvm

    return {
        "command": command,
        "processor": processor(),
        "architecture": llvm.get_host_cpu_name(),
        "cores": os.cpu_count(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "python": sys.version.split()[0],
        "versions": {name: installed(name) or "not installed" for name in DISTRIBUTIONS},
    }


# glibc keeps what is freed: the next result of 8 MB is not fresh memory, page faults and all.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**34)}


def worker_environment(
    environment: dict[str, str], threads: int, keep_memory: bool = False
) -> dict[str, str]:
    """The environment of every worker: the same threads and allocator for every library."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    kept = KEEP_MEMORY if keep_memory else {}
    return {**environment, **kept, **dict.fromkeys(names, str(threads)), "JAX_PLATFORMS": "cpu"}
