"""Interpolants: values of SciPy's to rounding, and derivatives to values, coordinates, conditions
and points against closed forms and differences."""

from itertools import product

import numpy as np
import pytest
from scipy import interpolate
from scipy.sparse.linalg import spsolve

import numgrad as ng
from tests.sampling import one_in

from ..differences import agree, derivative

scipy = ng.interop.scipy
RNG = np.random.default_rng(7)
X = np.cumsum(RNG.uniform(0.3, 1.0, 8))


def rounded(found, expected, tolerance=1e-12):
    """Compare relative to the largest element, kinds and NaN included."""
    assert type(found) is type(expected)
    assert np.shape(found) == np.shape(expected)
    size = max(np.abs(np.nan_to_num(expected)).max(initial=0.0), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


def with_equal_ends(y, axis):
    y = np.moveaxis(y.copy(), axis, 0)
    y[-1] = y[0]
    return np.moveaxis(y, 0, axis)


def cubic_cases(y, axis):
    shape = np.moveaxis(y, axis, 0).shape[1:]
    slopes = (1, np.full(shape, 0.3)), (2, np.full(shape, -0.2))
    ends = ["not-a-knot", "natural", "clamped", slopes, slopes[::-1], ("natural", "not-a-knot")]
    for bc_type, extrapolate in product(ends, (None, False)):
        yield "CubicSpline", y, {"bc_type": bc_type, "extrapolate": extrapolate}
    yield "CubicSpline", with_equal_ends(y, axis), {"bc_type": "periodic"}
    yield "CubicSpline", y, {"extrapolate": "periodic"}
    for values in (y, np.round(y)):
        yield "PchipInterpolator", values, {}
        yield "Akima1DInterpolator", values, {"extrapolate": True}
        yield "Akima1DInterpolator", values, {"method": "makima"}


USES = [
    *[lambda f, q, nu=nu: f(q, nu) for nu in range(5)],
    lambda f, q: f.derivative()(q),
    lambda f, q: f.antiderivative(2)(q),
    lambda f, q: f.integrate(q[0] + 0.1, q[-2] - 0.3),
    lambda f, q: f.c,
    lambda f, q: f.x,
]


@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_piecewise_cubics_have_the_values_of_scipy(n):
    x = X[:n]
    q = np.concatenate([x, RNG.uniform(x[0] - 1.0, x[-1] + 1.0, 5), [np.nan]])
    for shape, axis in (((n,), 0), ((2, n, 3), 1)):
        for name, y, options in cubic_cases(RNG.normal(size=shape), axis):
            pair = [
                getattr(module, name)(x, y, axis=axis, **options) for module in (scipy, interpolate)
            ]
            for use in USES:
                rounded(*[use(f, q) for f in pair])
            rounded(*[f(q[:4].reshape(2, 2)) for f in pair])


def test_a_complex_spline_and_one_of_given_slopes():
    y = RNG.normal(size=(2, 8)) + 1j * RNG.normal(size=(2, 8))
    pair = [module.CubicSpline(X, y, axis=-1)(X[:-1] + 0.1) for module in (scipy, interpolate)]
    rounded(*pair)
    slopes = RNG.normal(size=(2, 8))
    pair = [
        module.CubicHermiteSpline(X, y.real, slopes, axis=1)(X[:-1] + 0.1)
        for module in (scipy, interpolate)
    ]
    rounded(*pair)
    c = RNG.normal(size=(3, 2, 7, 4))  # powers and intervals behind an axis
    pair = [module.PPoly(np.moveaxis(c, 0, 1), X, axis=1) for module in (scipy, interpolate)]
    rounded(*[f(X + 0.1) for f in pair])


def spline_cases(y, axis):
    shape = np.moveaxis(y, axis, 0).shape[1:]
    one = np.full(shape, 0.3)
    for k in range(6):
        yield y, {"k": k}
    for k in (2, 3, 5):
        yield with_equal_ends(y, axis), {"k": k, "bc_type": "periodic"}
    for bc_type in ("natural", "clamped", ([(1, one)], [(2, one)])):
        yield y, {"bc_type": bc_type}
    yield y, {"k": 5, "bc_type": ([(1, one), (2, one)], [(1, one), (3, one)])}
    yield y, {"k": 2, "bc_type": ([(1, one)], None), "t": np.r_[[X[0]] * 3, X[1:-1], [X[-1]] * 3]}


def test_splines_of_any_degree_have_the_values_of_scipy():
    q = np.concatenate([X, RNG.uniform(X[0] - 1.0, X[-1] + 1.0, 5)])
    for shape, axis in (((8,), 0), ((2, 8, 3), 1)):
        for y, options in spline_cases(RNG.normal(size=shape), axis):
            modules = scipy, interpolate
            pair = [module.make_interp_spline(X, y, axis=axis, **options) for module in modules]
            uses = [
                lambda f: f.t, lambda f: f.c, lambda f: f(q), lambda f: f(q, 1),
                lambda f: f(q, extrapolate=False),
                lambda f: f(q[:4].reshape(2, 2)), lambda f: f(q, f.k),
            ]  # fmt: skip
            if options.get("k", 3):
                uses += [lambda f: f.derivative()(q), lambda f: f.antiderivative(2)(q)]
            if options.get("k", 3):
                limits = (21.0, -3.0), (1.0, 1.2), (X[0], X[-1])
                uses += [
                    lambda f, ends=ends: f.integrate(*ends, extrapolate="periodic")
                    for ends in limits
                ]
            if options.get("bc_type") != "periodic":
                uses.append(lambda f: f.integrate(X[0] + 0.2, X[-1] - 0.3))
            if options.get("k", 3) and options.get("bc_type") != "periodic":
                uses.append(lambda f: f.integrate(X[0] - 0.2, X[-1] + 0.3, extrapolate=False))
            for use in uses:
                rounded(*[use(f) for f in pair], 1e-11)
            rounded(*[module.BSpline(*f.tck)(q) for module, f in zip(modules, pair, strict=True)])


def test_the_whole_integral_of_a_step_function():  # which is NaN in SciPy
    steps = scipy.make_interp_spline(X, X**2, k=0)
    expected = (X[:-1] ** 2 * np.diff(X)).sum()
    agree(steps.integrate(X[0], X[-1]), expected, 1e-14)
    agree(steps.integrate(X[0] - 1.0, X[-1] + 1.0, extrapolate=False), expected, 1e-14)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_grids_have_the_values_of_scipy(ndim):
    shape = (6, 7, 6)[:ndim]
    grid = [np.cumsum(RNG.uniform(0.3, 1.0, n)) for n in shape]
    grid[0] = grid[0][::-1]
    ends = [(min(x), max(x)) for x in grid]
    inside = np.stack([RNG.uniform(*end, 9) for end in ends], -1)
    inside[0] = [low for low, _ in ends]
    inside[1] = [high for _, high in ends]
    around = np.stack([RNG.uniform(low - 0.5, high + 0.5, 8) for low, high in ends], -1)
    around[0, 0] = np.nan
    around = around.reshape(2, 4, ndim)
    values = RNG.normal(size=(*shape, 2))
    for method in ("linear", "nearest", "slinear", "cubic", "quintic", "pchip"):
        # SciPy's own solver of the splines is iterative, and stops at four or five digits
        exact = {"solver": spsolve} if method in ("slinear", "cubic", "quintic") else {}
        name = "RegularGridInterpolator"
        ours = getattr(scipy, name)(grid, values, method)
        theirs = getattr(interpolate, name)(grid, values, method, **exact)
        rounded(ours(inside), theirs(inside), 1e-11)
        rounded(ours(inside[0]), theirs(inside[0]), 1e-11)
        if ndim > 1:
            rounded(ours(tuple(inside.T)), theirs(tuple(inside.T)), 1e-11)
        for fill in (np.nan, None, 3.0):
            ours = getattr(scipy, name)(grid, values, method, False, fill)
            theirs = getattr(interpolate, name)(grid, values, method, False, fill, **exact)
            rounded(ours(around), theirs(around), 1e-11)
        if method == "cubic":
            nu = [1] * ndim
            rounded(ours(inside, nu=nu), theirs(inside, nu=nu), 1e-10)


# Derivatives --------------------------------------------------------------------------------------

Q = X[:-1] + np.array([0.1, 0.2, 0.15, 0.05, 0.2, 0.1, 0.25])
INTERPOLANTS = {
    "not-a-knot": lambda x, y, q: scipy.CubicSpline(x, y)(q),
    "natural": lambda x, y, q: scipy.CubicSpline(x, y, bc_type="natural")(q),
    "periodic": lambda x, y, q: scipy.CubicSpline(
        x, np.concatenate([y[:-1], y[:1]]), bc_type="periodic"
    )(q),
    "given": lambda x, y, q: scipy.CubicSpline(x, y, bc_type=((1, y[0]), (2, x[1])))(q),
    "pchip": lambda x, y, q: scipy.PchipInterpolator(x, y)(q),
    "akima": lambda x, y, q: scipy.Akima1DInterpolator(x, y)(q),
    "makima": lambda x, y, q: scipy.Akima1DInterpolator(x, y, method="makima")(q),
    "quartic": lambda x, y, q: scipy.make_interp_spline(x, y, k=4)(q),
    "bound": lambda x, y, q: scipy.make_interp_spline(x, y, bc_type=([(1, y[0])], [(2, x[1])]))(q),
    "closed": lambda x, y, q: scipy.make_interp_spline(
        x, np.concatenate([y[:-1], y[:1]]), bc_type="periodic"
    )(q),
    "linear": lambda x, y, q: scipy.RegularGridInterpolator((x,), y)(q),
    "cubic": lambda x, y, q: scipy.RegularGridInterpolator((x,), y, "cubic")(q),
    "quintic": lambda x, y, q: scipy.RegularGridInterpolator((x,), y, "quintic")(q),
    "slinear": lambda x, y, q: scipy.RegularGridInterpolator(
        (x, x[:4]), y[:, None] * y[3:7], "slinear"
    )(np.stack([q[:3], q[2:5] - 1.7], -1)),
    "folded": lambda x, y, q: scipy.RegularGridInterpolator(
        (x, x[:5] - x[0]), y[:, None] * y[3:] + np.arange(5.0) ** 2, "pchip"
    )(np.stack([q[:4], q[:4] - x[0]], -1)),
    "periods": lambda x, y, q: scipy.make_interp_spline(x, y, k=2).integrate(
        q[0] - 11.0, q[2] + 7.0, extrapolate="periodic"
    )[None],
    "integral": lambda x, y, q: scipy.CubicSpline(x, y).integrate(q[0], q[2])[None],
    "slope": lambda x, y, q: scipy.CubicSpline(x, y)(q, 1),
}


@pytest.mark.parametrize("name", one_in(6, INTERPOLANTS))
def test_derivatives_to_coordinates_values_and_points(name):
    f = INTERPOLANTS[name]
    y = np.sin(1.3 * X) + 0.2 * X

    def of_all(v):
        return f(v[: X.size], v[X.size : 2 * X.size], v[2 * X.size :])

    v = np.concatenate([X, y, Q])
    first = ng.func.jacrev(of_all)
    agree(first(v), derivative(of_all, v, 3e-4), 1e-8)
    agree(ng.func.jacfwd(of_all)(v), first(v), 1e-13)
    total = lambda v: (of_all(v) ** 2).sum()  # noqa: E731
    agree(ng.func.hessian(total)(v), derivative(ng.func.grad(total), v), 1e-7)


@pytest.mark.parametrize("name", ["not-a-knot", "cubic", "quartic"])
def test_a_spline_through_a_cubic_is_that_wherever_its_points_are(name):
    f, cubic = INTERPOLANTS[name], np.polynomial.Polynomial([0.3, -1.0, 0.5, 0.2])
    slope = cubic.deriv()
    gx, gy, gq = ng.func.jacrev(f, argnums=(0, 1, 2))(X, cubic(X), Q)
    agree(np.diagonal(gq), slope(Q), 1e-11)
    agree(gx, -gy * slope(X), 1e-11)  # so that moving a point along the cubic changes nothing
    moved = ng.func.hessian(lambda x: f(x, 0.3 - x + 0.5 * x**2 + 0.2 * x**3, Q).sum())(X)
    agree(moved, 0.0 * moved, 1e-10)
    if name != "cubic":
        (bend,) = ng.func.hessian(lambda q: f(X, cubic(X), q).sum(), argnums=(0,))(Q)[0]
        agree(np.diagonal(bend), slope.deriv()(Q), 1e-10)


def test_the_gradient_to_values_is_the_interpolant_of_unit_vectors():
    for bc_type in ("not-a-knot", "natural", "clamped"):
        found = ng.func.jacrev(lambda y, bc=bc_type: scipy.CubicSpline(X, y, bc_type=bc)(Q))(X)
        agree(found, interpolate.CubicSpline(X, np.eye(8), bc_type=bc_type)(Q), 1e-13)
    grid = X[:5], X[2:8]
    at = np.array([[1.1, 2.5], [1.6, 3.1]])
    for method in ("linear", "cubic"):
        unit = np.eye(30).reshape(5, 6, 30)
        exact = {"solver": spsolve} if method == "cubic" else {}
        expected = interpolate.RegularGridInterpolator(grid, unit, method, False, None, **exact)(at)
        found = ng.func.jacrev(
            lambda v, m=method: scipy.RegularGridInterpolator(grid, v, m, False, None)(at)
        )(np.zeros((5, 6)))
        agree(found.reshape(2, 30), expected, 1e-12)


def test_a_bilinear_interpolant_of_a_product_has_its_derivatives():
    def f(x, y, at):
        return scipy.RegularGridInterpolator((x, y), x[:, None] * y, "linear")(at)[0]

    at = np.array([1.7, 2.2])
    gx, gy, gat = ng.func.grad(f, argnums=(0, 1, 2))(X, X, at)
    agree(gat, at[::-1], 1e-13)
    agree(np.concatenate([gx, gy]), np.zeros(16), 1e-13)
    mixed = ng.func.hessian(lambda at: f(X, X, at))(at)
    agree(mixed, [[0.0, 1.0], [1.0, 0.0]], 1e-12)


@pytest.mark.parametrize("name", INTERPOLANTS)
def test_interpolants_are_captured_and_mapped(name):
    f = INTERPOLANTS[name]
    y = np.stack([np.sin(X), np.cos(X)])
    gradient = ng.func.grad(lambda x, y, q: f(x, y, q).sum(), argnums=(0, 1, 2))
    captured, eager = ng.jit(gradient)(X, y[0], Q), gradient(X, y[0], Q)
    for a, b in zip(captured, eager, strict=True):
        assert np.array_equal(a, b)
    mapped = ng.func.vmap(f, in_axes=(None, 0, None))(X, y, Q)
    agree(mapped, np.stack([f(X, row, Q) for row in y]), 1e-13)


def test_results_are_tensors_where_tensors_come_in():
    t = ng.tensor(X, requires_grad=True)
    assert isinstance(scipy.CubicSpline(X, X)(Q), np.ndarray)
    assert isinstance(scipy.CubicSpline(t, X)(Q), ng.Tensor)
    assert isinstance(scipy.CubicSpline(X, X)(t), ng.Tensor)
    assert isinstance(scipy.make_interp_spline(X, t).derivative().integrate(1.0, 2.0), ng.Tensor)
    assert isinstance(scipy.CubicSpline(X, [t[0]] * 8).c, ng.Tensor)


def test_what_interpolants_refuse():
    spline, grid = scipy.CubicSpline, scipy.RegularGridInterpolator
    refused = [
        (lambda: spline(X[::-1], X), "strictly increasing"),
        (lambda: spline(X, X[:-1]), "is not that of x"),
        (lambda: spline(X, np.full(8, np.nan)), "only finite values"),
        (lambda: spline(X, X, bc_type="periodic"), "must be the same"),
        (lambda: spline(X, X, bc_type="loose"), "not allowed"),
        (lambda: spline(X, X, bc_type=((3, 0.0), "natural")), "must be 1 or 2"),
        (lambda: spline(X, X, bc_type=((1, [0.0]), "natural")), "has shape"),
        (lambda: spline(X[:1], X[:1]), "2 or more"),
        (lambda: scipy.PchipInterpolator(X, X * 1j), "real values"),
        (lambda: scipy.make_interp_spline(X[:3], X[:3]), "1 derivatives at the ends"),
        (lambda: scipy.make_interp_spline(X, X, t=X), "knots"),
        (lambda: scipy.make_interp_spline(X, X, k=1, bc_type="natural"), "only be None"),
        (lambda: grid((X,), X)(np.array([X[-1] + 1.0])), "out of bounds in dimension 0"),
        (lambda: grid((X, X), np.zeros((8, 8)))(X[:3]), "dimension"),
        (lambda: grid((X[:3],), X[:3], "cubic"), "requires at least 4"),
        (lambda: grid((X[:3],), X[:3], "pchip"), "requires at least 4"),
        (lambda: grid((X,), X * 1j, "pchip"), "real values"),
        (lambda: grid((X,), X, "spline"), "is not defined"),
    ]
    for call, words in refused:
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(NotImplementedError, match="leave solver out"):
        grid((X,), X, "cubic", solver=spsolve)
