# pyright: basic, reportMissingImports=false
"""Machine code of kernels for a GPU, kept in the disk cache.

A process that finds the code of a kernel in the cache does not import Numba.
"""

import hashlib
import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...binding import Names, bind
from ...cpu.compile import disk_cache as disk
from ...cpu.compile.fingerprint import UnstableValueError, fingerprint
from ...cpu.platform.numba_setup import installed_version, version_of
from .kernel import Function, Kernel

CUBIN = "cubin"


def loaded(kernel: Kernel, capability: tuple[int, int]) -> Any:
    """Return a compiled kernel as cuda.core launches it on GPUs of a compute capability."""
    from cuda.core import ObjectCode

    entry = cubin(kernel, capability)
    return ObjectCode.from_cubin(entry.payload, name=kernel.name).get_kernel(entry.symbol)


def cubin(kernel: Kernel, capability: tuple[int, int]) -> disk.Entry:
    """Return the machine code of a kernel, from the disk cache or newly compiled."""
    entry = kept(kernel, capability)
    if entry is None:
        from .codegen import compiled

        code = compiled(kernel, capability)
        entry = disk.Entry(code.entry, (), linked(code.ptx, capability))
        key = key_of(kernel, capability)
        if key is not None:
            disk.write(key, entry, CUBIN)
    return entry


def kept(kernel: Kernel, capability: tuple[int, int]) -> disk.Entry | None:
    """Return the machine code of a kernel from the disk cache; None if it is not there."""
    key = key_of(kernel, capability)
    return None if key is None else disk.read(key, CUBIN)




def linked(ptx: str, capability: tuple[int, int]) -> bytes:
    """Translate PTX to machine code for GPUs of a compute capability; no GPU is needed."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    major, minor = capability
    options = LinkerOptions(arch=f"sm_{major}{minor}")
    code = Linker(ObjectCode.from_ptx(ptx.encode()), options=options).link("cubin").code
    assert isinstance(code, bytes)
    return code


def key_of(kernel: Kernel, capability: tuple[int, int]) -> str | None:
    """Return the key of a kernel in the disk cache.

    None stands for a kernel that is not kept on disk, as another process could not recognise a
    value on which its code depends. The processor of the host is no part of the key: code for a GPU
    may be made on another machine than that with the GPU.
    """
    scope: Any = tuple([(name, _plain(value)) for name, value in sorted(kernel.scope.items())])
    parts = ("cuda", kernel.text, repr(kernel.parameters), repr(kernel.multiply_adds))
    parts += (repr(capability), _tools())
    try:
        return fingerprint((scope, parts))
    except UnstableValueError:
        return None


def _plain(value: Any) -> Any:
    """Return a value of a kernel's scope with scalar functions in place of the operators that it
    calls, which another process would not recognise."""
    if not isinstance(value, Function):
        return value
    function = getattr(value.function, "py_func", value.function)
    known = _plain_functions[value.is_complex]
    plain = bind(function, _SAME, is_complex=value.is_complex, known=known)
    return value._replace(function=plain)


_SAME = Names(math, math, None, {})
_plain_functions: dict[bool, dict[Any, Any]] = {False: {}, True: {}}


@cache
def _tools() -> tuple[str, ...]:
    """Return a digest of the sources of code for GPUs, and the versions of what compiles them."""
    sha, targets = hashlib.sha256(), Path(__file__).parents[2]
    ours = (*Path(__file__).parents[1].rglob("*.py"), *targets.glob("*.py"))
    for path in sorted((*ours, *(targets / "cpu" / "math").glob("*.py"))):
        sha.update(path.read_bytes())
    versions = [installed_version(name, "none") for name in _DISTRIBUTIONS]
    numba = version_of("numba", "_version.py"), version_of("numba_cuda", "VERSION")
    python = repr(tuple(sys.version_info)), str(sys.implementation.cache_tag), np.__version__
    return (sha.hexdigest(), *python, *numba, *versions)


_DISTRIBUTIONS = (
    "cuda-core", "cuda-toolkit", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvcc-cu12",
)  # fmt: skip
