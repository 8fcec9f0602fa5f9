"""Interpolation of scattered values: SciPy's values, and derivatives by differences."""

import warnings

import numpy as np
import pytest
from scipy import interpolate

import numgrad as ng

from .test_tables import checked

scipy = ng.interop.scipy
RNG = np.random.default_rng(0)
KERNELS = ("linear", "thin_plate_spline", "cubic", "quintic", "multiquadric",
           "inverse_multiquadric", "inverse_quadratic", "gaussian")  # fmt: skip


@pytest.mark.parametrize("size", [2, 3])
def test_values_on_simplices_equal_those_of_scipy_and_derivatives_differences(size):
    scale = np.array([1.0, 10.0, 3.0])[:size]
    points, values = RNG.uniform(0, 1, (20, size)) * scale, RNG.standard_normal((20, 2))
    at = RNG.uniform(-0.1, 1.1, (3, 8, size)) * scale
    for rescale in (False, True):
        for name, options in (("LinearNDInterpolator", (1.5, rescale)),
                              ("NearestNDInterpolator", (rescale,))):  # fmt: skip
            own, theirs = (getattr(m, name)(points, values, *options) for m in (scipy, interpolate))
            np.testing.assert_allclose(own(at), theirs(at), rtol=0, atol=1e-12)
        for method in ("linear", "nearest"):
            for given in (at, tuple(at.T)):
                args = points, values, given, method, 0.5, rescale
                expected = interpolate.griddata(*args)
                np.testing.assert_allclose(scipy.griddata(*args), expected, rtol=0, atol=1e-12)
    inner = points.mean(axis=0) + 0.1 * scale * RNG.standard_normal((3, size))
    checked(lambda p, v, at: scipy.LinearNDInterpolator(p, v, 0.0)(at), points, values, inner)
    checked(lambda v: scipy.griddata(points, v, inner, "nearest"), values)


def test_one_dimension_is_interpolated_along_a_line():
    x, y, at = (RNG.uniform(0, 1, 9) for _ in range(3))
    for method in ("linear", "nearest", "cubic"):
        expected = interpolate.griddata(x, y, at, method)
        np.testing.assert_allclose(scipy.griddata(x, y, at, method), expected, atol=1e-9)


def test_radial_functions_equal_those_of_scipy():
    y, d, x = RNG.uniform(0, 1, (15, 2)), RNG.standard_normal((15, 2)), RNG.uniform(0, 1, (5, 2))
    for kernel in KERNELS:
        for options in ({}, {"smoothing": 0.1}, {"degree": 1}, {"degree": -1}):
            options = {"kernel": kernel, "epsilon": 1.3, **options}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # SciPy's, of a degree that is low
                expected = interpolate.RBFInterpolator(y, d, **options)(x)
            found = scipy.RBFInterpolator(y, d, **options)(x)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [0.0, 3.0]])
    waves = np.array([1.0 + 2.0j, 2.0, 3.0, 1.0j])
    expected = interpolate.RBFInterpolator(corners, waves)(x)
    np.testing.assert_allclose(scipy.RBFInterpolator(corners, waves)(x), expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "thin_plate_spline", "quintic", "gaussian"])
def test_derivatives_of_radial_functions(kernel):
    def f(y, d, x, noise, epsilon):
        return scipy.RBFInterpolator(y, d, None, noise, kernel, epsilon)(x)

    y, d = 3.0 * RNG.uniform(0, 1, (7, 2)), RNG.standard_normal(7)
    checked(f, y, d, RNG.uniform(0, 3, (2, 2)), np.array(0.1), np.array(1.2))


def test_what_is_not_computed_is_refused_in_words():
    y, d = RNG.uniform(0, 1, (7, 2)), RNG.standard_normal(7)
    for what, call in (
        ("RBFInterpolator: .*neighbors", lambda: scipy.RBFInterpolator(y, d, 3)),
        ("griddata: method 'cubic'", lambda: scipy.griddata(y, d, y, "cubic")),
    ):
        with pytest.raises(NotImplementedError, match=what):
            call()
    for what, call in (
        ("RBFInterpolator: kernel must be", lambda: scipy.RBFInterpolator(y, d, kernel="far")),
        ("RBFInterpolator: kernel 'gaussian' needs epsilon",
         lambda: scipy.RBFInterpolator(y, d, kernel="gaussian")),
        ("RBFInterpolator: y of shape", lambda: scipy.RBFInterpolator(y, d[:3])),
        ("griddata: method must be", lambda: scipy.griddata(y, d, y, "far")),
        ("LinearNDInterpolator: points", lambda: scipy.LinearNDInterpolator(y, d)([1.0])),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=what):
            call()
