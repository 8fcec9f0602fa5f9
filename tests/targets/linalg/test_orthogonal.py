"""QR factors from LAPACK, beside NumPy's."""

import numpy as np
import pytest

from numgrad.ir.kernel_spec import LibrarySpec
from numgrad.targets.cpu.kernels.kernel import kernel

SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (4, 3), (3, 4), (40, 40), (70, 20), (20, 70)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors_are_those_of_numpy(dtype, shape):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, *shape)) + 1j * rng.standard_normal((3, *shape))
    a = (a if np.dtype(dtype).kind == "c" else a.real).astype(dtype)
    near = 20 * (1 + sum(shape)) * np.finfo(dtype).eps
    turned = np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2)
    for lies in (a, turned, np.repeat(a, 2, 1)[:, ::2]):
        for name, mode in (("qr", "reduced"), ("qr_square", "complete")):
            if name == "qr" and shape[0] < shape[1]:
                continue
            found, status = kernel(LibrarySpec(name, a.dtype)).call(lies)
            assert status == 0
            for one, other in zip(found, np.linalg.qr(a, mode), strict=True):
                assert (one.shape, one.dtype) == (other.shape, other.dtype)
                np.testing.assert_allclose(one, other, near, near)
