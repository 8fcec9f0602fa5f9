"""What operators hand to a target: kernel specs. Those of libraries are made when they are first needed."""

from typing import Any

from .targets.cpu.specs import ElementwiseSpec as ElementwiseSpec
from .targets.cpu.specs import LoopSpec as LoopSpec
from .targets.cpu.specs import RawSpec as RawSpec


def matmul_spec(dtype: Any) -> RawSpec:
    """Return the kernel of the matrix product."""
    from .targets.cpu import blas

    return blas.matmul_spec(dtype)


def lapack_spec(name: str, dtype: Any, **options: bool) -> RawSpec:
    """Return a LAPACK kernel."""
    from .targets.cpu import lapack

    return lapack.lapack_spec(name, dtype, **options)
