# pyright: basic, reportMissingImports=false
"""Machine code of kernels for a GPU, kept in the disk cache.

A process that finds the code of a kernel in the cache does not import Numba.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from ...cpu.compile import disk_cache as disk
from ...cpu.compile.compiler import make_key
from ...cpu.platform.numba_setup import installed_version, version_of
from .kernel import Kernel

CUBIN = "cubin"

def loaded(kernel: Kernel, capability: tuple[int, int]) -> Any:
    """Return a compiled kernel as cuda.core launches it on GPUs of a compute capability."""
    from cuda.core import ObjectCode

    entry = cubin(kernel, capability)
    return ObjectCode.from_cubin(entry.payload, name=kernel.name).get_kernel(entry.symbol)


def cubin(kernel: Kernel, capability: tuple[int, int]) -> disk.Entry:
    """Return the machine code of a kernel, from the disk cache or newly compiled."""
    key = _key(kernel, capability)
    can_be_kept = not key.startswith("-")
    entry = disk.read(key, CUBIN) if can_be_kept else None
    if entry is None:
        from .codegen import compiled

        code = compiled(kernel, capability)
        entry = disk.Entry(code.entry, (), linked(code.ptx, capability))
        if can_be_kept:
            disk.write(key, entry, CUBIN)
    return entry


def linked(ptx: str, capability: tuple[int, int]) -> bytes:
    """Translate PTX to machine code for GPUs of a compute capability; no GPU is needed."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    major, minor = capability
    options = LinkerOptions(arch=f"sm_{major}{minor}")
    code = Linker(ObjectCode.from_ptx(ptx.encode()), options=options).link("cubin").code
    assert isinstance(code, bytes)
    return code


def _key(kernel: Kernel, capability: tuple[int, int]) -> str:
    """Return the key of a kernel in the disk cache.

    A key that begins with ``-`` is valid in this process only: such a kernel is not kept on disk.
    """
    scope: Any = tuple(sorted(kernel.scope.items()))
    parts = ("cuda", kernel.text, repr(kernel.parameters), repr(kernel.multiply_adds))
    parts += (repr(capability), _tools())
    return make_key(scope, (), parts)


@cache
def _tools() -> tuple[str, ...]:
    """Return a digest of this target's sources, and the versions of the compilers."""
    sha = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        sha.update(path.read_bytes())
    versions = [installed_version(name, "none") for name in _DISTRIBUTIONS]
    return (sha.hexdigest(), version_of("numba_cuda", "VERSION"), *versions)


_DISTRIBUTIONS = (
    "cuda-core", "cuda-toolkit", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvcc-cu12",
)  # fmt: skip
