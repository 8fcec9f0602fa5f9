"""The kernel of products of real matrices, written in LLVM for the registers of this processor.

Every element of a product is computed by the same operations in the same order: the terms of each
block of `BLOCK` are added up by multiply-adds, from the first to the last, and then the blocks are
added. So the bits of an element depend on its row of A and its column of B alone: not on the other
rows, on how matrices lie in memory, on threads, nor on the width of registers. (A BLAS may return
other bits for another number of rows.)

A few rows by two registers of columns of the result are computed at a time, and stay in registers
for a whole block of terms. Columns of B that are not contiguous are first copied, for one block of
terms and two registers of columns at a time: the copy stays in the first-level cache for all rows.

`gemm_codegen` and `gemm_blocks` write the code, and `gemm_unrolled` that of kernels for one small
size; they are imported only if the kernel is not in the cache.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import binding as llvm

from ..compile.compiler import Code, join_keys, obtain, symbol_of
from ..platform.numba_setup import config

BLOCK = 256
"""The terms of a block, which are added up by multiply-adds; blocks are added afterwards."""

MANY_ROWS = 240
"""The most rows that share a copy of columns: with a block of terms they fill half an L2 cache."""


class Geometry(NamedTuple):
    """The registers and instructions for which the code of a product is made.

    Attributes
    ----------
    dtype : dtype
        float32 or float64.
    lanes : int
        Elements of a register.
    rows : int
        Rows of the result that are computed at a time, by two registers of columns.
    fused : bool
        Whether the processor has a fused multiply-add.
    """

    dtype: np.dtype
    lanes: int
    rows: int
    fused: bool


@cache
def geometry(dtype: np.dtype) -> Geometry:
    """Return the geometry for a dtype on this processor: its widest registers, and as many rows as
    the registers hold."""
    has = _features()
    arm = llvm.get_process_triple().startswith(("aarch64", "arm64"))
    nbytes = 64 if "avx512f" in has else 32 if "avx" in has else 16
    # A tile of the result, its factors' registers and a few more: 32 registers, or 16.
    rows = 12 if arm or nbytes == 64 else 6
    return Geometry(dtype, nbytes // dtype.itemsize, rows, arm or "fma" in has)


def _features() -> frozenset[str]:
    text = config.CPU_FEATURES
    if text is None:  # an empty text means none at all
        text = llvm.get_host_cpu_features().flatten()
    return frozenset(part[1:] for part in text.split(",") if part.startswith("+"))


def address(dtype: np.dtype, core: tuple[int, int, int] | None = None) -> int:
    """Return the address of the kernel of ``(m,k),(k,n)->(m,n)``.

    The kernel is compiled if it is not in the cache. Factors may have any strides; rows of the
    result are contiguous. A kernel for the sizes ``core`` multiplies pairs of these sizes only.
    """
    made_for = geometry(np.dtype(dtype))
    if core is not None:
        return _unrolled(made_for, core)
    key = join_keys((), repr(("product", made_for.dtype.name, made_for[1:])))

    def compiled() -> Code:
        from .gemm_codegen import product  # it imports Numba

        return product(made_for, symbol_of(key))

    return obtain(key, compiled)


def _unrolled(made_for: Geometry, core: tuple[int, int, int]) -> int:
    key = join_keys((), repr(("product", made_for.dtype.name, made_for[1:], core)))

    def compiled() -> Code:
        from .gemm_unrolled import product  # it imports Numba

        return product(made_for, core, symbol_of(key))

    return obtain(key, compiled)
