"""Kernels compile with NumPy 2.5, which lacks a name that numba-cuda looks for."""

import subprocess
import sys

import pytest

pytest.importorskip("numgrad.targets.cuda.compile.codegen", exc_type=ImportError)

WITHOUT = """
import numpy as np
vars(np).pop("row_stack", None)
np.__all__ = [name for name in np.__all__ if name != "row_stack"]
def gone(name, before=np.__getattr__):
    if name == "row_stack":
        raise AttributeError(name)
    return before(name)
np.__getattr__ = gone
from numgrad.targets.cuda.compile import codegen
from numgrad.targets.cuda.compile.kernel import Kernel, Pointer, Word
x = np.dtype(np.float32)
text = "def kernel(n, x, out):\\n    out[n] = x[n]"
kernel = Kernel("copy", text, (Word(), Pointer(x), Pointer(x)))
assert ".entry" in codegen.compiled(kernel, (9, 0)).ptx
assert not hasattr(np, "row_stack")
"""


def test_a_name_that_numpy_has_removed_is_there_while_numba_cuda_is_imported():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
