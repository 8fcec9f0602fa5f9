"""Kernels as NumPy ufuncs: broadcasting, `out`, no warnings, statuses."""

import gc
import math
import warnings

import numpy as np
import pytest

from numgrad.targets.cpu.kernels.kernel import Kernel, LoopSpec, kernel

from ..kernel_tools import F32, F64, spec_of


def multiply(x, y):
    return x * y


def inverse(x):
    return 1 / x


def total(x, out):
    out[0] = x.sum()


@pytest.fixture
def product():
    return kernel(spec_of(multiply, F64, F64, F64)).ufunc


def test_is_a_genuine_ufunc(product):
    assert isinstance(product, np.ufunc)
    assert (product.nin, product.nout, product.signature) == (2, 1, None)
    assert product.__name__ == "multiply"


def test_broadcasts_allocates_and_writes_to_out(product):
    x, y = np.arange(3.0)[:, None], np.arange(4.0)
    np.testing.assert_array_equal(product(x, y), x * y)
    out = np.zeros((4, 3)).T
    assert product(x, y, out=out) is out
    np.testing.assert_array_equal(out, x * y)
    assert product(np.float64(2), 3.0) == 6.0


def test_overlapping_operands_are_copied_by_numpy(product):
    x = np.arange(6.0)
    expected = x[:-1] * x[1:]
    product(x[:-1], x[1:], out=x[1:])
    np.testing.assert_array_equal(x[1:], expected)


def test_a_kernel_serves_its_own_dtypes_only():
    single = kernel(spec_of(multiply, F32, F32, F32)).ufunc
    assert single(np.ones(2, F32), np.ones(2, F32)).dtype == F32
    with pytest.raises(TypeError):
        single(np.ones(2), np.ones(2))


def test_floating_point_flags_raise_no_warnings(product):
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert kernel(spec_of(inverse, F64, F64)).ufunc(np.zeros(2)).tolist() == [math.inf] * 2
        assert math.isnan(product(math.inf, 0.0))
        assert product(1e200, 1e200) == math.inf
        np.multiply(2.0, 3.0)  # and leaves no flag behind for the next ufunc


def test_a_signature_makes_a_generalized_ufunc():
    sums = kernel(LoopSpec("total", total, "(n)->()", (F64,), (F64,))).ufunc
    assert sums.signature == "(n)->()"
    x = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(sums(x), x.sum(-1))
    np.testing.assert_array_equal(sums(x[::-1, ::2]), x[::-1, ::2].sum(-1))


def test_a_ufunc_outlives_its_kernel():
    """Threads that meet a kernel at the same time may each make one, of which one is forgotten."""
    spec = spec_of(lambda x: x + 1.0, F64, F64)
    ufuncs = [Kernel(spec, kernel(spec).address).ufunc for _ in range(20)]
    gc.collect()
    rubbish = [bytes(n) for n in range(2000)]
    x = np.arange(3.0)
    assert all((ufunc(x) == x + 1.0).all() for ufunc in ufuncs)
    assert {ufunc.__name__ for ufunc in ufuncs} == {spec.name}
    assert len(rubbish) == 2000
