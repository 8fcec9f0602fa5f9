"""What the tests of kernels share: views of generated code, and calls through the kernel ABI."""

import ctypes

import numpy as np

from numgrad.ir.kernel_spec import ElementwiseSpec
from numgrad.targets.cpu.codegen import scalar_graph
from numgrad.targets.cpu.compile import optimize
from numgrad.targets.cpu.kernels import scalar_kernel

F32, F64, C64, C128 = (np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
_ABI = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)
_ROWS = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 6)


def spec_of(function, *dtypes, nout=1):
    """Spec of an elementwise function whose last `nout` dtypes are those of the results."""
    return ElementwiseSpec(function.__name__, function, dtypes[:-nout], dtypes[-nout:])


def generated_code(spec, monkeypatch):
    """Optimised LLVM code and assembly of an elementwise kernel."""
    seen = []
    original = optimize.finish

    def spy(job):
        machine, module = optimize.optimised(job)
        seen.append((str(module), machine.emit_assembly(module)))
        return original(job)

    for module in (scalar_kernel.optimize, scalar_kernel.worker):
        monkeypatch.setattr(module, "finish", spy)
    scalar_graph.graph(spec).emit("kernel_under_test")
    return seen[0]


def call(kernel, arrays, n, steps, core_dims=()):
    """Call a kernel by address; returns its status word."""
    ptrs = np.array([array.ctypes.data for array in arrays], np.int64)
    sizes, strides = np.array([*core_dims, 0], np.int64), np.array(steps, np.int64)
    status = np.zeros(1, np.int64)
    tables = (table.ctypes.data for table in (sizes, strides, status))
    _ABI(kernel.address)(ptrs.ctypes.data, n, *tables)
    return int(status[0])


def call_rows(kernel, arrays, n, rows, steps, row_steps):
    """Call a kernel's entry for rows; returns its status word and where it left the pointers."""
    ptrs = np.array([array.ctypes.data for array in arrays], np.int64)
    first = ptrs.copy()
    tables = [np.array(values, np.int64) for values in (steps, [0], row_steps)]
    strides, status, moves = (table.ctypes.data for table in tables)
    _ROWS(kernel.rows_address)(ptrs.ctypes.data, n, rows, strides, status, moves)
    return int(tables[1][0]), (ptrs - first).tolist()
