"""Functions of complex numbers at special points and on both sides of their branch cuts."""

import numpy as np
import pytest

import numgrad as ng

FUNCTIONS = (
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "abs", "sign", "conj",
    "negative", "reciprocal",
)  # fmt: skip


def points(dtype):
    """Return numbers made of all pairs of special parts, as arrays, which no sum has touched."""
    info = np.finfo(dtype)
    parts = [0.0, 0.5, 1.0, 2.0, 3.0, np.inf, np.nan, info.tiny, info.smallest_subnormal]
    parts = np.array([*parts, info.max / 2, 1e-10], info.dtype)
    parts = np.concatenate([parts, -parts])
    z = np.empty(len(parts) ** 2, dtype)
    z.real, z.imag = np.repeat(parts, len(parts)), np.tile(parts, len(parts))
    return z


def differing(found, expected):
    """Return where values differ: numbers by more than rounding, zeros in sign, NaN in place."""
    parts = [np.stack([a.real, a.imag]) for a in (found, expected)]
    found, expected = parts
    size = np.max(abs(expected), 0, keepdims=True, initial=0, where=~np.isnan(expected))
    with np.errstate(all="ignore"):
        near = abs(found - expected) <= 16 * np.finfo(expected.dtype).eps * size
    near |= (found == expected) | (np.isnan(found) & np.isnan(expected))
    turned = (expected == 0) & (np.signbit(found) != np.signbit(expected))
    return (~near | turned).any(0)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values_are_numpys(name, dtype):
    z = points(dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(z)
    for found in (
        getattr(ng, name)(ng.tensor(z)).numpy(),
        ng.jit(getattr(ng, name), fuse="now")(z),
    ):
        assert found.dtype == expected.dtype
        wrong = differing(found, expected)
        if name == "expm1":  # NumPy's has NaN where a limit exists
            wrong &= ~np.isnan(expected)
        if name == "reciprocal":  # NumPy's of 0 is NaN, 1 / 0 is not; of tiny numbers, infinite
            wrong &= np.isfinite(expected) | (abs(z) > 1)
        if name == "log1p":  # NumPy's loses digits near 0
            wrong &= abs(z) > 1e-3
        assert not wrong.any(), (z[wrong][:4], found[wrong][:4], expected[wrong][:4])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_quotients_are_numpys(dtype):
    """Signs of zeros included: they are the side of a branch cut on which the quotient is."""
    parts = np.array([0.0, 0.5, 1.0, 3.0, 1e-10, np.inf, np.nan])
    z = np.empty((14, 14), dtype)
    z.real, z.imag = np.meshgrid(*[np.concatenate([parts, -parts])] * 2)
    a, b = (x.ravel() for x in np.meshgrid(z, z))
    with np.errstate(all="ignore"):
        expected = a / b
    for found in ((ng.tensor(a) / ng.tensor(b)).numpy(), ng.jit(ng.divide, fuse="now")(a, b)):
        wrong = differing(found, expected)
        assert not wrong.any(), (a[wrong][:4], b[wrong][:4], found[wrong][:4], expected[wrong][:4])


def test_roots_of_quotients_are_on_numpys_side_of_the_cut():
    z = np.array([complex(-2.0, 0.0), complex(-2.0, -0.0), 2j, -2j])
    for quotient in (np.reciprocal, lambda z: 1j / z, lambda z: 1 / z):
        found = np.sqrt(quotient(ng.tensor(z))).numpy()
        np.testing.assert_allclose(found, np.sqrt(quotient(z)), rtol=1e-15)


# Cuts along the real axis, and along the imaginary one.
REAL = [(2.0, 0.0), (2.0, -0.0), (-2.0, 0.0), (-2.0, -0.0)]
IMAGINARY = [(0.0, 3.0), (-0.0, 3.0), (0.0, -3.0), (-0.0, -3.0)]
PLACES = [
    (name, place)
    for names, places in (
        (("asin", "acos", "acosh", "atanh", "sqrt", "log", "log2", "log10", "log1p"), REAL),
        (("asinh", "atan"), IMAGINARY),
    )
    for name in names
    for place in places
]


@pytest.mark.parametrize(("name", "place"), PLACES, ids=str)
def test_slopes_are_those_of_the_side_of_the_cut(name, place):
    """Differences along the cut stay on the side that the sign of the zero says."""
    real, function, h = place[0] != 0, getattr(np, name), 1e-5

    def value(step):
        a, b = place
        return function(np.complex128(complex(a + step, b) if real else complex(a, b + step)))

    along = h if real else h * 1j
    slope = (value(h) - value(-h)) / (2 * along)
    second = (value(h) - 2 * value(0) + value(-h)) / along**2
    z = ng.tensor(np.array(complex(*place)), requires_grad=True)
    (g,) = ng.grad(getattr(ng, name)(z), z, np.array(1 + 0j), create_graph=True)
    np.testing.assert_allclose(np.conj(g.detach().numpy()), slope, 1e-8)
    (gg,) = ng.grad(g, z, np.array(1 + 0j))
    np.testing.assert_allclose(np.conj(gg.numpy()), second, 1e-4, 1e-9 / h)
    captured = ng.jit(ng.func.grad(lambda z: ng.real(getattr(ng, name)(z))), fuse="now")
    np.testing.assert_allclose(np.conj(captured(np.array(complex(*place)))), slope, 1e-8)


@pytest.mark.parametrize("name", ["asin", "acos"])
def test_slopes_at_the_ends_of_the_domain_stay_infinite(name):
    for x in (1.0, -1.0):
        t = ng.tensor(x, requires_grad=True)
        (g,) = ng.grad(getattr(ng, name)(t), t)
        assert g.item() == (np.inf if name == "asin" else -np.inf)


def test_the_modulus_has_slope_0_at_0_and_no_further_derivatives():
    zero, one = np.array(0j), np.array(1 + 1j)
    slope = ng.func.grad(lambda z: np.abs(z))
    second = ng.func.grad(lambda z: np.real(slope(z)))
    assert slope(zero) == 0
    assert np.isnan(second(zero))
    for function in (slope, second):
        assert np.isnan(ng.func.jvp(function, (zero,), (one,))[1])
