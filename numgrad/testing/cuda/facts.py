# pyright: reportMissingImports=false
"""Facts about the machine and its libraries, for the head of a report."""

import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import numgrad as ng

from ...targets.cpu.compile.disk_cache import cache_info
from ...targets.cpu.platform.numba_setup import installed_version
from ...targets.cuda import is_simulated
from .report import said

PACKAGES = ("numgrad", "numpy", "numba", "numba-cuda", "cuda-core", "cuda-bindings")
OTHERS = ("torch", "jax", "cupy-cuda12x", "cupy-cuda13x")


def facts() -> Iterator[tuple[str, str]]:
    """Yield pairs of a name and a fact, in the order of the report."""
    yield "Python", f"{platform.python_version()} on {platform.platform()}"
    for name in (*PACKAGES, *OTHERS):
        yield name, installed_version(name, "not installed")
    for name, fact in _of_gpu().items():
        yield name, _or_why_not(fact)
    yield "kernel cache", _cache()


def kept_kernels() -> set[str]:
    """Return the file names of the kernels for GPUs in the disk cache."""
    folder = cache_info().directory
    return set() if folder is None else {path.name for path in Path(folder).glob("*.cubin")}


def _cache() -> str:
    info = cache_info()
    if info.directory is None:
        return "none: kernels are compiled by each process"
    if is_simulated():
        return f"{info.directory}, which the simulator does not use"
    state = "" if info.writable else ", read-only"
    return f"{info.directory}{state}, {len(kept_kernels())} kernels for GPUs before this run"


def _of_gpu() -> dict[str, Callable[[], str]]:
    if is_simulated():
        return {"GPU": lambda: "none: Numba's simulator", "memory": _memory}
    return {
        "GPU": lambda: f"{_device().name}, the first of {ng.cuda.device_count()}",
        "compute capability": lambda: "{}.{}".format(*_device().compute_capability),
        "multiprocessors": lambda: str(_device().properties.multiprocessor_count),
        "memory": _memory,
        "NVIDIA driver": _driver,
        "CUDA of the driver": _cuda,
        "products": _products,
        "large matrices": _factorizations,
        "Fourier": _transforms,
    }


def _or_why_not(fact: Callable[[], str]) -> str:
    try:
        return fact()
    except Exception as error:  # the other facts are reported all the same
        return f"unknown ({said(error)})"


def _device():
    from cuda.core import Device

    return Device(0)


def _memory() -> str:
    free, total = ng.cuda.mem_get_info()
    return f"{total / 2**30:.1f} GiB, {free / 2**30:.1f} GiB of it free"


def _driver() -> str:
    from cuda.core import system

    return ".".join(map(str, system.get_kernel_mode_driver_version()))


def _cuda() -> str:
    from cuda.bindings import driver

    _, number = driver.cuDriverGetVersion()
    return f"{number // 1000}.{number % 1000 // 10}"


def _products() -> str:
    if ng.cuda.default_stream()._runtime.driver.blas is None:
        return "by numgrad's own kernels; there is no cuBLAS"
    return f"by cuBLAS, as the flag cublas says: {ng.get_flags('cublas')['cublas']}"


def _factorizations() -> str:
    from ...targets.cuda.libraries.solver import why_not

    if ng.cuda.default_stream()._runtime.driver.solver is not None:
        return "factorized by cuSOLVER"
    return f"factorized on the host, as cuSOLVER cannot be loaded: {why_not()}"


def _transforms() -> str:
    from ...targets.cuda.libraries.fourier import why_not

    if ng.cuda.default_stream()._runtime.driver.fourier is not None:
        return "transforms by cuFFT"
    return f"transforms on the host, as cuFFT cannot be loaded: {why_not()}"
