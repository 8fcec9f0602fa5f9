"""Kernels whose threads share a row or a matrix compile for GPUs, and have room there."""

import re

import numpy as np
import pytest

from numgrad.targets.cuda.kernels import scanning, searching, small_matrices, sorting
from numgrad.targets.cuda.kernels.elementwise import ElementWalk

from .compiling import CAPABILITY, codegen, linked

POSITION = np.dtype(np.int64)


def require_room(kernel):
    """Link a kernel; its blocks of threads must not need more than all multiprocessors have."""
    ptx = codegen.compiled(kernel, CAPABILITY).ptx
    assert ".f64" not in ptx or any(p.dtype.char in "dD" for p in _arrays(kernel))
    log = linked(ptx, "sm_90")
    assert "0 bytes spill stores" in log
    assert int(re.search(r"Used (\d+) registers", log).group(1)) <= 128
    assert int(re.search(r"(\d+) bytes smem", log).group(1)) <= 48 << 10


def _arrays(kernel):
    return [parameter for parameter in kernel.parameters if hasattr(parameter, "dtype")]


@pytest.mark.parametrize(
    ("dtype", "walk"),
    [("bool", ElementWalk(0, False)), ("float16", ElementWalk(2, True)),
     ("float32", ElementWalk(1, False)), ("complex128", ElementWalk(1, True))],
)  # fmt: skip
def test_sorting(dtype, walk):
    dtype = np.dtype(dtype)
    key, place = sorting.key_type(dtype), sorting.place_type(walk)
    require_room(sorting.of_tiles((dtype, POSITION), walk, 256, is_last=True))
    require_room(sorting.of_tiles((dtype, place), walk, 256, is_last=False))
    require_room(sorting.of_runs((key, POSITION), walk, 256, is_last=True))
    require_room(sorting.of_runs((key, place), walk, 256, is_last=False))


def test_scanning():
    require_room(
        scanning.of_rows("recurrence", np.dtype("float32"), ElementWalk(1, False), 32, 256)
    )


@pytest.mark.parametrize("dtype", ["bool", "float32", "complex64"])
@pytest.mark.parametrize("name", ["any", "count_nonzero", "argmin"])
def test_searching(name, dtype):
    if name == "argmin" and dtype == "complex64":
        return
    dtype = np.dtype(dtype)
    result = np.dtype(bool) if name == "any" else POSITION
    between = dtype if name == "argmin" else POSITION
    flat, wide = ElementWalk(0, False), ElementWalk(2, True)
    require_room(searching.of_rows(name, (dtype, result), flat, 256, False, True))
    require_room(searching.of_rows(name, (dtype, POSITION), wide, 256, False, False))
    require_room(searching.of_rows(name, (between, result), wide, 256, True, True))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
@pytest.mark.parametrize("name", ["lu_factor", "lu_solve", "solve_triangular", "cholesky"])
def test_small_matrices(name, dtype):
    for adjoint in (False, True) if name == "lu_solve" else (True,):
        form = small_matrices.Form(name, np.dtype(dtype), True, adjoint)
        require_room(small_matrices.small_matrices(form, ElementWalk(1, adjoint), 256))
