"""Series of polynomials: values are NumPy's, derivatives those of differences of these."""

import doctest
from importlib import import_module

import numpy as np
import pytest

import numgrad as ng

PREFIXES = {
    "polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "laguerre": "lag",
    "hermite": "herm", "hermite_e": "herme",
}  # fmt: skip
CLASSES = ["Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE"]
rng = np.random.default_rng(0)
X, Y, Z, W = rng.normal(size=(3, 6)).tolist() + [rng.uniform(0.5, 1.0, 6).tolist()]
X, Y, Z, W = map(np.array, (X, Y, Z, W))
C, C2, C3 = rng.normal(size=5), rng.normal(size=(3, 4)), rng.normal(size=(3, 4, 2))

CALLS = {
    "val": [(X, C), (0.3, C), (X.reshape(2, 3), C2), (X, [2]), (X, np.arange(3)), (X, C + 1j)],
    "val2d": [(X, Y, C2)],
    "val3d": [(X, Y, Z, C3)],
    "grid2d": [(X, Y[:2], C2)],
    "grid3d": [(X, Y[:2], Z[:3], C3)],
    "vander": [(X, 3), (0.3, 2), (X.reshape(2, 3), 0)],
    "vander2d": [(X, Y, [1, 2])],
    "vander3d": [(X, Y, Z, [1, 2, 1])],
    "der": [(C,), (C, 2, 1.5), (C, 9), (C2, 1, 1, 1), (C, 0)],
    "int": [(C,), (C, 2, [1.0, 2.0], 0.3, 1.7), (C2, 2, [3.0], 0.5, 1, 1), (C[:1], 2, 4.0)],
    "fit": [(X, Y, 3), (X, Y, [0, 2], None, False, W), (X, np.stack([Y, Z], axis=1), 2)],
}


def pair(family, name):
    modules = getattr(ng.polynomial, family), import_module(f"numpy.polynomial.{family}")
    return [getattr(module, PREFIXES[family] + name) for module in modules]


@pytest.mark.parametrize("family", PREFIXES)
@pytest.mark.parametrize("name", CALLS)
def test_values(family, name):
    ours, numpys = pair(family, name)
    for args in CALLS[name]:
        found, expected = ours(*args), numpys(*args)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("family", PREFIXES)
@pytest.mark.parametrize("name", CALLS)
def test_derivatives(family, name):
    """In all arguments that are arrays of floats, forwards and backwards, captured and not."""
    ours, numpys = pair(family, name)
    args = CALLS[name][0]
    where = tuple(i for i, x in enumerate(args) if np.asarray(x).dtype.kind == "f")
    weights = np.cos(np.arange(numpys(*args).size)).reshape(numpys(*args).shape)
    steps = [rng.normal(size=np.shape(args[i])) for i in where]

    def moved(s):
        given = list(args)
        for i, step in zip(where, steps, strict=True):
            given[i] = given[i] + s * step
        return (numpys(*given) * weights).sum()

    h = 1e-3
    slope = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    floats = [args[i] for i in where]

    def loss(*given):
        filled = list(args)
        for i, x in zip(where, given, strict=True):
            filled[i] = x
        return (ours(*filled) * weights).sum()

    gradient = ng.func.grad(loss, argnums=tuple(range(len(where))))
    scale = max(1.0, *(np.abs(g).max() for g in gradient(*floats)))
    for found in (gradient(*floats), ng.jit(gradient)(*floats)):
        total = sum((g * step).sum() for g, step in zip(found, steps, strict=True))
        np.testing.assert_allclose(total, slope, rtol=1e-6, atol=1e-7 * scale)
    np.testing.assert_allclose(
        ng.func.jvp(loss, tuple(floats), tuple(steps))[1], slope, rtol=1e-6, atol=1e-7 * scale
    )


@pytest.mark.parametrize("family", PREFIXES)
def test_constants_of_integrals_have_derivatives(family):
    ours, numpys = pair(family, "int")
    units = [numpys(C, 2, list(unit), 0.3) - numpys(C, 2, [0.0, 0.0], 0.3) for unit in np.eye(2)]
    found = ng.func.jacrev(lambda k: ours(C, 2, k, 0.3))(np.array([0.4, 0.7]))
    np.testing.assert_allclose(found, np.stack(units, axis=1), atol=1e-14)


@pytest.mark.parametrize("family", PREFIXES)
def test_precision_is_that_of_the_coefficients(family):
    val, c = getattr(ng.polynomial, family), C.astype(np.float32)
    assert getattr(val, PREFIXES[family] + "val")(0.5, c).dtype == np.float32
    assert getattr(val, PREFIXES[family] + "der")(c, 1, 0.5).dtype == np.float32
    assert getattr(val, PREFIXES[family] + "int")(c, 1, [2.0]).dtype == np.float32


@pytest.mark.parametrize("family", PREFIXES)
def test_status_of_a_fit(family):
    ours, numpys = pair(family, "fit")
    (found, status), (expected, known) = ours(X, Y, 2, full=True), numpys(X, Y, 2, full=True)
    np.testing.assert_allclose(found, expected, 1e-12)
    np.testing.assert_allclose(status[0], known[0], 1e-12)
    assert (status[1], status[3]) == (known[1], known[3])
    np.testing.assert_allclose(status[2], known[2], 1e-12)


@pytest.mark.parametrize("name", CLASSES)
def test_objects(name):
    ours, numpys = getattr(ng.polynomial, name), getattr(np.polynomial, name)
    x = ng.tensor(X, requires_grad=True)
    c = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for given in (c, list(c), [1.0, 2.0, 3.0]):
        found, expected = ours(given, domain=[0, 2]), numpys([1.0, 2.0, 3.0], domain=[0, 2])
        y = found(x)
        np.testing.assert_allclose(y.detach(), expected(X), 1e-12)
        np.testing.assert_allclose(ng.grad(y.sum(), x)[0], expected.deriv()(X), 1e-12, 1e-12)
        for a, b in (
            (found.deriv(2), expected.deriv(2)),
            (found.integ(2, k=[1.0, 2.0]), expected.integ(2, k=[1.0, 2.0])),
        ):
            assert isinstance(a, ours)
            np.testing.assert_allclose(a(x).detach(), b(X), 1e-11, 1e-12)
    basis = [numpys.basis(n, domain=[0, 2])(X).sum() for n in range(3)]
    slopes = ng.grad(ours(c, domain=[0, 2])(X).sum(), c)[0]
    np.testing.assert_allclose(slopes, basis, 1e-12, 1e-12)
    fitted = ours.fit(X, ng.tensor(Y, requires_grad=True), 3)
    np.testing.assert_allclose(fitted(X).detach(), numpys.fit(X, Y, 3)(X), 1e-10)


def test_what_is_numpys_own():
    assert ng.polynomial.set_default_printstyle is np.polynomial.set_default_printstyle
    assert ng.polynomial.legendre.leggauss is np.polynomial.legendre.leggauss
    c = ng.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ng.errors.DetachedError):
        ng.polynomial.polyutils.trimcoef(c)
    with pytest.raises(AttributeError, match=r"numgrad\.polynomial\.legendre.*nothing"):
        ng.polynomial.legendre.nothing  # noqa: B018


@pytest.mark.parametrize("family", PREFIXES)
def test_examples_hold_for_all_families(family):
    runner = doctest.DocTestRunner()
    for name in CALLS:
        function = pair(family, name)[0]
        for example in doctest.DocTestFinder().find(function, function.__name__):
            runner.run(example)
    assert runner.summarize(verbose=False) == (0, 25)


def test_degrees_are_not_negative():
    with pytest.raises(ValueError, match="chebvander: deg must not be negative"):
        ng.polynomial.chebyshev.chebvander(X, -1)
