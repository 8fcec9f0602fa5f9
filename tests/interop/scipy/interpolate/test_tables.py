"""Interpolators of tables under the older names: SciPy's values, and derivatives by differences."""

import numpy as np
import pytest
from scipy import interpolate

import numgrad as ng
from numgrad.testing import gradcheck, gradgradcheck

scipy = ng.interop.scipy
RNG = np.random.default_rng(0)
X, Y = (np.cumsum(RNG.uniform(0.3, 1.0, n)) for n in (9, 7))
V = RNG.standard_normal((9, 7))
FAR = RNG.uniform(X[0] - 1.0, X[-1] + 1.0, (3, 4))
KINDS = ("linear", "nearest", "nearest-up", "zero", "slinear", "quadratic", "cubic", "previous",
         "next", 5)  # fmt: skip


def tensors(*values):
    return [ng.tensor(value, requires_grad=True) for value in values]


def checked(f, *given):
    """Check derivatives, and that eager, captured, mapped and batched calls agree."""
    gradcheck(f, tensors(*given))
    gradgradcheck(f, tensors(*given))
    y = np.asarray(f(*given))
    np.testing.assert_array_equal(np.asarray(ng.jit(f)(*given)), y)
    mapped = np.asarray(ng.func.vmap(f)(*[np.stack([x, x]) for x in given]))
    np.testing.assert_allclose(mapped[1], y, rtol=1e-12, atol=1e-13)
    leaves, g = tensors(*given), RNG.standard_normal((2, *y.shape))
    batched = ng.grad(f(*leaves), leaves, g, is_grads_batched=True, allow_unused=True)
    looped = ng.grad(f(*leaves), leaves, g[1], allow_unused=True)
    for found, one in zip(batched, looped, strict=True):
        if one is not None:
            np.testing.assert_allclose(found[1].numpy(), one.numpy(), rtol=1e-11, atol=1e-12)


def test_interp1d_equals_that_of_scipy_for_every_kind():
    order, y = RNG.permutation(9), RNG.standard_normal((2, 9, 3))
    everywhere = np.concatenate([FAR.ravel(), X, (X[1:] + X[:-1]) / 2])
    inner = FAR.clip(X[0], X[-1])
    for kind in KINDS:
        for options, at in (
            ({}, inner),
            ({"fill_value": "extrapolate"}, everywhere),
            ({"bounds_error": False, "fill_value": (1.5, 2.5)}, everywhere),
            ({"bounds_error": False}, everywhere),
        ):
            expected = interpolate.interp1d(X[order], y[:, order], kind, 1, **options)(at)
            found = scipy.interp1d(X[order], y[:, order], kind, 1, **options)(at)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10, err_msg=str(kind))


@pytest.mark.parametrize("kind", ["linear", "nearest", "quadratic", "cubic", "previous"])
def test_derivatives_of_interp1d(kind):
    f = lambda x, y, at: scipy.interp1d(x, y, kind, fill_value="extrapolate")(at)  # noqa: E731
    checked(f, X, V[:, 0], FAR[0])


def test_splines_of_fitpack_equal_those_of_scipy():
    y = V[:, 0]
    for k in range(1, 6):
        own, theirs = scipy.splrep(X, y, k=k), interpolate.splrep(X, y, k=k)
        for found, expected in zip(own[:2], theirs[:2], strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
        a, b = X[0] - 1.0, X[4] + 0.1
        expected = interpolate.splint(a, b, theirs)
        np.testing.assert_allclose(scipy.splint(a, b, own), expected, rtol=1e-10)
        for ext in (0, 1, 3):
            one, other = (m.UnivariateSpline(X, y, k=k, s=0, ext=ext) for m in (scipy, interpolate))
            for nu in (0, 1):
                expected = interpolate.splev(FAR, theirs, nu, ext)
                found = scipy.splev(FAR, own, nu, ext)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
                np.testing.assert_allclose(one(FAR, nu), other(FAR, nu), rtol=0, atol=1e-8)
        one, other = (m.InterpolatedUnivariateSpline(X, y, k=k) for m in (scipy, interpolate))
        for name, args in (("get_knots", ()), ("get_coeffs", ()), ("integral", (a, b)),
                           ("derivatives", (X[2] + 0.1,))):  # fmt: skip
            found, expected = (getattr(f, name)(*args) for f in (one, other))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
        if 1 < k < 5:
            for name in ("derivative", "antiderivative"):
                found, expected = (getattr(f, name)()(X[:-1] + 0.05) for f in (one, other))
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    assert one.get_residual() == 0.0


def test_derivatives_of_splines():
    checked(lambda x, y, at: scipy.splev(at, scipy.splrep(x, y)), X[:6], V[:6, 0], FAR[0])
    checked(lambda x, y, at: scipy.UnivariateSpline(x, y, s=0, ext=3)(at), X[:6], V[:6, 0], FAR[0])


def test_surfaces_equal_those_of_scipy():
    p, q = RNG.uniform(X[0] - 1, X[-1] + 1, 20), RNG.uniform(Y[0] - 1, Y[-1] + 1, 20)
    for kx, ky in ((3, 3), (2, 2), (5, 4)):
        own, theirs = (m.RectBivariateSpline(X, Y, V, kx=kx, ky=ky) for m in (scipy, interpolate))
        for name, args in (
            ("ev", (p, q)), ("ev", (p, q, 1, 1)), ("__call__", (np.sort(p), np.sort(q))),
            ("__call__", (1.0, 2.0)), ("get_coeffs", ()),
            ("integral", (X[0] + 0.1, X[4], Y[0] - 1.0, Y[3])),
        ):  # fmt: skip
            found, expected = (getattr(f, name)(*args) for f in (own, theirs))
            assert np.shape(found) == np.shape(expected)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    f = lambda x, y, z, at: scipy.RectBivariateSpline(x, y, z).ev(at, at[::-1])  # noqa: E731
    checked(f, X[:5], Y[:5], V[:5, :5], np.array([1.5, 2.2]))


def test_interpn_equals_that_of_scipy():
    at = np.stack([FAR.clip(X[0], X[-1]), (Y[-1] - FAR).clip(Y[0], Y[-1])], axis=-1)
    for method in ("linear", "nearest", "slinear", "pchip", "splinef2d"):
        expected = interpolate.interpn((X, Y), V, at, method)
        np.testing.assert_allclose(scipy.interpn((X, Y), V, at, method), expected, atol=1e-10)
    inner = np.array([[2.1, 1.9], [3.3, 2.2]])
    checked(lambda v, at: scipy.interpn((X, Y), v, at, "cubic"), V, inner)


def test_tables_of_constants_take_tensors_while_scipy_is_patched():
    surface = interpolate.RectBivariateSpline(X, Y, V)
    radial = interpolate.RBFInterpolator(X[:, None], V)
    made = {
        "interp1d": interpolate.interp1d(X, V, axis=0),
        "cubic": interpolate.interp1d(X, V[:, 0], "cubic", fill_value="extrapolate"),
        "smooth": interpolate.UnivariateSpline(X, V[:, 0], s=1.0),
        "rbf": lambda x: radial(x[:, None]),
        "surface": lambda x: surface.ev(x, x),
    }
    at = np.array([2.1, 2.9])
    for name, f in made.items():
        (x,) = tensors(at)
        with scipy.patch():
            y = f(x)
            assert isinstance(y, ng.Tensor), name
            new = interpolate.interp1d(X, tensors(V)[0], axis=0)(2.5)
            assert new.requires_grad
        np.testing.assert_allclose(y.detach().numpy(), f(at), rtol=1e-10, atol=1e-12)
        (g,) = ng.grad(y.sum(), x)
        slope = (f(at + 1e-6) - f(at - 1e-6)) / 2e-6
        slope = slope.reshape(2, -1).sum(axis=1)
        np.testing.assert_allclose(g.numpy(), slope, rtol=1e-6, err_msg=name)


def test_what_is_not_computed_is_refused_in_words():
    for what, call in (
        ("UnivariateSpline: s must be 0", lambda: scipy.UnivariateSpline(X, V[:, 0])),
        ("splrep: s must be 0", lambda: scipy.splrep(X, V[:, 0], s=1.0)),
        ("RectBivariateSpline: s must be 0", lambda: scipy.RectBivariateSpline(X, Y, V, s=2.0)),
        ("RectBivariateSpline: the ends", lambda: scipy.RectBivariateSpline(X, Y, V, [0, 9, 0, 9])),
    ):
        with pytest.raises(NotImplementedError, match=what):
            call()
    line = V[:, 0]
    for what, call in (
        ("interp1d: kind must be", lambda: scipy.interp1d(X, line, "far")),
        ("interp1d: a point is outside", lambda: scipy.interp1d(X, line)(99.0)),
        ("splev: a point is outside", lambda: scipy.splev(99.0, scipy.splrep(X, line), ext=2)),
        ("splrep: k must be in 1..5", lambda: scipy.splrep(X, line, k=7)),
        ("RectBivariateSpline: the points of a grid must ascend",
         lambda: scipy.RectBivariateSpline(X, Y, V)([2.0, 1.0], [1.0])),
        ("interpn: method must be", lambda: scipy.interpn((X, Y), V, [1.0, 1.0], "far")),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=what):
            call()
