"""Functions of complex numbers near the ends of the range and on the axes, eagerly and captured."""

import numpy as np
import pytest

import numgrad as ng

HYPERBOLIC = ["atan", "atanh", "cos", "cosh", "sin", "sinh"]
NAMES = [*HYPERBOLIC, "exp", "exp2", "log", "log10", "log2", "sqrt"]
UNITS = {"complex64": 8 * np.finfo(np.float32).eps, "complex128": 8 * np.finfo(float).eps}


def points(dtype):
    """Return numbers made of every pair of parts that tells something."""
    info = np.finfo(dtype)
    big, tiny = info.max, info.smallest_subnormal
    parts = [0.0, -0.0, 1.0, -0.5, 3.0, tiny, info.tiny, big, -big, big / 3, 2e4, -2e4]
    parts += [0.999 * np.log(float(big)), 1.001 * np.log(float(big))]
    real, imag = np.meshgrid(np.array(parts, info.dtype), np.array(parts, info.dtype))
    return (real + 1j * imag).astype(dtype).ravel()


def agree(found, expected, tolerance):
    """Whether parts agree relative to the larger one, where NumPy's are no NaN."""
    size = np.maximum(abs(expected.real), abs(expected.imag))
    for a, b in ((found.real, expected.real), (found.imag, expected.imag)):
        close = abs(a - b) <= tolerance * size
        yield close | (a == b) | (np.isnan(a) & np.isnan(b))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", UNITS)
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_complex_numbers_are_numpys(name, dtype):
    x = points(dtype)
    function = getattr(ng, name)
    expected = getattr(np, name)(x)
    for found in (function(ng.tensor(x)).numpy(), ng.jit(function, fuse="never")(x)):
        assert found.dtype == dtype
        wrong = ~np.logical_and(*agree(found, expected, UNITS[dtype]))
        assert not wrong.any(), (x[wrong][:3], found[wrong][:3], expected[wrong][:3])


@pytest.mark.parametrize("name", HYPERBOLIC)
def test_what_is_no_number_in_numpy_is_none_here(name):
    parts = [0.0, 1.0, np.inf, -np.inf, np.nan]
    x = np.array([complex(a, b) for a in parts for b in parts])
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    found = getattr(ng, name)(ng.tensor(x)).numpy()
    assert np.isnan(found.real[np.isnan(expected.real)]).all()
    assert np.isnan(found.imag[np.isnan(expected.imag)]).all()


def test_the_slope_of_a_root_of_a_large_number():
    z = ng.tensor([1e308j, 1e-320 + 0j], requires_grad=True)
    (found,) = ng.grad(ng.real(ng.sqrt(z)).sum(), z)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found.numpy(), np.conj(0.5 / np.sqrt(z.detach().numpy())), 1e-14)
