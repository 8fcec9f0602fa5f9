"""Products of real matrices by code of our own: which code, for the registers of this machine.

Every element of a product is made of the same operations in the same order: of blocks of `BLOCK`
terms, each added up by multiply-adds from the first to the last, and then the blocks. So its bits
depend on its row and its column alone: not on the other rows, on how matrices lie in memory, on
threads, and not on the width of registers. A BLAS has other bits for another number of rows.

The work is done on a few rows by two registers of columns at a time, which stay in registers along
a block. Columns that do not lie side by side are copied so that they do, a block of as many at a
time: that stays in the first-level cache while all rows pass by.

`gemm_codegen` and `gemm_blocks` write the code; they are imported when there is none in the
cache.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import binding as llvm

from ..compile.compiler import Code, join_keys, obtain, symbol_of
from ..platform.numba_setup import config

BLOCK = 256
"""Terms that are added up by multiply-adds; more of them are added block by block."""

MANY_ROWS = 240
"""Rows that pass by the same columns: with a block of terms they fill half of a L2 cache."""


class Geometry(NamedTuple):
    """What code is made for.

    Attributes
    ----------
    dtype : dtype
        float32 or float64.
    lanes : int
        Elements of a register.
    rows : int
        Rows by two registers of columns are worked on at a time.
    fused : bool
        Whether there is an instruction that multiplies and adds.
    """

    dtype: np.dtype
    lanes: int
    rows: int
    fused: bool


@cache
def geometry(dtype: np.dtype) -> Geometry:
    """Return what suits this machine."""
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


def address(dtype: np.dtype) -> int:
    """Return the address of the kernel of ``(m,k),(k,n)->(m,n)``, compiled or loaded.

    Factors may have any strides; rows of the result are contiguous.
    """
    made_for = geometry(np.dtype(dtype))
    key = join_keys((), repr(("product", made_for.dtype.name, made_for[1:])))

    def compiled() -> Code:
        from .gemm_codegen import product  # it imports Numba

        return product(made_for, symbol_of(key))

    return obtain(key, compiled)
