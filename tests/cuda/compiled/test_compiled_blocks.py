"""Kernels whose threads share memory compile for GPUs, see `test_compiled`, and have room there."""

import re

import numpy as np
import pytest

from numgrad.ir.pairwise import larger
from numgrad.targets.cuda.kernels import product, reduction
from numgrad.targets.cuda.kernels.elementwise import ElementWalk
from tests.sampling import one_in

from .compiling import CAPABILITY, codegen, is_single, linked

CASES = [
    ("sum", "float32"), ("sum", "float64"), ("sum", "complex64"), ("sum", "complex128"),
    ("sum", "int64"), ("max", "float32"), ("max", "float64"), ("max", "bool"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), CASES)
@pytest.mark.parametrize("leaves", one_in(2, [32, 2]))
def test_warps_hold_the_elements_of_blocks_in_registers(name, dtype, leaves):
    join = reduction.add if name == "sum" else larger
    dtypes = (np.dtype(dtype),) * 2
    kernel = reduction.of_blocks(name, join, dtypes, ElementWalk(1, False), leaves, 256, True)
    ptx = codegen.compiled(kernel, CAPABILITY).ptx
    assert not re.search(r"\.local|\.shared|bar\.sync", ptx)
    assert dtype in ("float64", "complex128") or ".f64" not in ptx
    words = 1 if dtype == "float32" else 4 if dtype == "complex128" else 2
    rounds = 31 + leaves.bit_length() - 1
    # Each of them once: in two branches the threads of a warp would wait for one another.
    assert len(re.findall(r"shfl\.sync\.\w+\.b32 ", ptx)) == words * rounds
    log = linked(ptx, "sm_90")
    assert "0 bytes spill stores" in log
    assert int(re.search(r"Used (\d+) registers", log).group(1)) * 256 <= 1 << 16


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("across", [1, 32])
def test_a_sum_of_parts_waits_for_additions_alone(dtype, across):
    dtypes = (np.dtype(dtype),) * 2
    kernel = reduction.of_parts("sum", dtypes, ElementWalk(1, False), across, 256)
    ptx = codegen.compiled(kernel, CAPABILITY).ptx
    assert ".local" not in ptx
    assert dtype in ("float64", "complex128") or ".f64" not in ptx
    log = linked(ptx, "sm_90")
    assert "0 bytes spill stores" in log
    assert int(re.search(r"(\d+) bytes smem", log).group(1)) <= 48 << 10
    if dtype == "float32" and across == 1:
        series = max(loops(ptx), key=lambda lines: sum("st.shared" in line for line in lines))
        assert sum("add.rn" in line for line in series) == 16
        assert len(series) <= 4 * 16


def loops(ptx):
    """Return the lines of each loop of PTX that contains no other label."""
    blocks = re.split(r"^(\$L\w+):", ptx, flags=re.MULTILINE)[1:]
    named = zip(blocks[::2], blocks[1::2], strict=True)
    return [
        [line for line in body.splitlines() if line.strip().endswith(";")]
        for label, body in named
        if re.search(rf"bra(\.uni)?\s+{re.escape(label)};", body)
    ]


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("float32", 0), ("float32", 1), ("float32", 3), ("float64", 0), ("float64", 1),
     ("complex64", 0), ("complex128", 0)],
)  # fmt: skip
def test_threads_have_registers_for_their_elements_of_a_tile(dtype, number):
    dtype = np.dtype(dtype)
    tile = product.tiles(dtype)[number]
    kernel = product.product(dtype, 1, tile)
    code = codegen.compiled(kernel, (8, 0))
    assert ".local" not in code.ptx
    assert is_single(kernel) <= (".f64" not in code.ptx)
    if (dtype, number) in (("float32", 0), ("float32", 1)):
        # Between the multiply-adds of a tile shared memory is read; where, is found out once.
        body = [line for line in code.ptx.splitlines() if line.strip().endswith(";")]
        multiplies = [n for n, line in enumerate(body) if "fma.rn.f32" in line]
        assert len(multiplies) == tile.depth * tile.down * tile.across
        between = body[multiplies[0] : multiplies[-1]]
        rest = [line for line in between if not re.search(r"fma\.rn\.f32|ld\.shared", line)]
        assert len(rest) <= 4 * (tile.down + tile.across)
    for arch in ("sm_80", "sm_90"):
        log = linked(code.ptx, arch)
        registers = int(re.search(r"Used (\d+) registers", log).group(1))
        assert registers * tile.threads <= 1 << 16
        assert "0 bytes spill stores" in log
        assert int(re.search(r"(\d+) bytes smem", log).group(1)) <= 48 << 10
