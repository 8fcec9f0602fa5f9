"""Functions of kernels are lowered with less LLVM code than Numba writes, see `short_lowering`."""

import math
from contextlib import nullcontext

from numba.core import types

from numgrad.targets.cpu.callees.numba_passes import ScalarPipeline
from numgrad.targets.cpu.codegen import emit
from numgrad.targets.cpu.compile import short_lowering
from numgrad.targets.cpu.platform.numba_setup import compiler_lock


def roots(x, n):
    total = 0.0
    for k in range(n):
        y = math.sqrt(x + k)
        total += y
        x = y - 1.0
    return total


def lowered():
    """Return the LLVM code of the function, as lines."""
    with compiler_lock:
        callee = emit.Callee(roots, (types.float64, types.int64), ScalarPipeline)
    return str(callee.result.library._final_module).splitlines()


def zeros(lines):
    return sum("store double 0" in line for line in lines)


def test_functions_of_kernels_are_lowered_with_less_code(monkeypatch):
    short = lowered()
    monkeypatch.setattr(short_lowering, "used", nullcontext)
    usual = lowered()
    assert len(short) < 0.8 * len(usual)
    assert zeros(short) < zeros(usual)  # at the end of a variable Numba writes a zero over it
