"""Kernels whose threads share memory compile for GPUs, see `test_compiled`, and have room there."""

import re

import numpy as np
import pytest

from numgrad.ir.pairwise import larger
from numgrad.targets.cuda.kernels import product, reduction
from numgrad.targets.cuda.kernels.elementwise import ElementWalk

from .compiling import CAPABILITY, codegen, is_single, linked


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["sum", "max"])
def test_reductions_of_many_elements_compile(name, dtype):
    if name == "max" and dtype == "complex64":
        return
    join = reduction.add if name == "sum" else larger
    dtypes = (np.dtype(dtype),) * 2
    for kernel in (
        reduction.of_blocks(name, join, dtypes, ElementWalk(1, False), 256, True),
        reduction.of_parts(name, join, dtypes, ElementWalk(2, False), 256),
    ):
        code = codegen.compiled(kernel, CAPABILITY)
        assert ".shared" in code.ptx
        assert dtype == "float64" or ".f64" not in code.ptx


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("float32", 0), ("float32", 2), ("float64", 0), ("complex64", 0), ("complex128", 0)],
)
def test_threads_have_registers_for_their_elements_of_a_tile(dtype, number):
    dtype = np.dtype(dtype)
    tile = product.tiles(dtype)[number]
    kernel = product.product(dtype, 1, tile)
    code = codegen.compiled(kernel, (8, 0))
    assert ".local" not in code.ptx
    assert is_single(kernel) <= (".f64" not in code.ptx)
    for arch in ("sm_80", "sm_90"):
        log = linked(code.ptx, arch)
        registers = int(re.search(r"Used (\d+) registers", log).group(1))
        assert registers * tile.threads <= 1 << 16
        assert "0 bytes spill stores" in log
        assert int(re.search(r"(\d+) bytes smem", log).group(1)) <= 48 << 10
