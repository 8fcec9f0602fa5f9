"""Sums, products, quotients and roots of series, and classes that compute with them: values are
NumPy's, derivatives those of differences of these."""

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
A = np.array([0.34, 0.82, 0.33, -1.3, 0.9])
B = np.array([0.45, -0.54, 0.58])

CALLS = {
    "add": [(A, B), (B, A), ([1.0, 2.0], [1.0, -2.0]), ([1], [2, 3])],
    "sub": [(A, B), (B, A), ([1.0, 2.0], [1.0, 2.0])],
    "mulx": [(A,), ([0.0],), (A + 1j,)],
    "mul": [(A, B), ([0.0], B), (A, B * 1j), ([2], [3, 4])],
    "div": [(A, B), (B, A), (A, [3.0]), (A, A), ([1.0, 2.0, 1.0], [1.0, 1.0, 0.0])],
    "pow": [(B, 3), (B, 0), (B, 1)],
    "line": [(2.0, 3.0), (2.0, 0.0)],
    "trim": [(np.array([1.0, 2.0, 1e-9, 0.0]), 1e-6), (np.zeros(3),)],
    "fromroots": [(A,), ([],), ([2.0],)],
    "companion": [(A,), (B[:2],)],
    "roots": [(A,), (B[:2],), ([1.0],)],
}


def pair(family, name):
    modules = getattr(ng.polynomial, family), import_module(f"numpy.polynomial.{family}")
    name = name.replace("*", PREFIXES[family]) if "*" in name else PREFIXES[family] + name
    return [getattr(module, name) for module in modules]


def parts(result):
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("family", PREFIXES)
@pytest.mark.parametrize("name", CALLS)
def test_values(family, name):
    ours, numpys = pair(family, name)
    for args in CALLS[name]:
        for found, expected in zip(parts(ours(*args)), parts(numpys(*args)), strict=True):
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("family", list(PREFIXES)[1:])
@pytest.mark.parametrize("name", ["*2poly", "poly2*"])
def test_conversions(family, name):
    ours, numpys = pair(family, name)
    np.testing.assert_allclose(ours(A), numpys(A), rtol=1e-12)
    slopes = ng.func.jacrev(ours)(A)
    np.testing.assert_allclose(slopes @ A, numpys(A), rtol=1e-12)


@pytest.mark.parametrize("family", PREFIXES)
@pytest.mark.parametrize("name", [n for n in CALLS if n != "trim"])
def test_derivatives(family, name):
    """In all arguments that are arrays of floats, captured and not."""
    ours, numpys = pair(family, name)
    args = CALLS[name][0]
    where = tuple(n for n, x in enumerate(args) if isinstance(x, np.ndarray | float))

    def total(function, *xs):
        full = [*args]
        for n, x in zip(where, xs, strict=True):
            full[n] = x
        made = function(*full)
        made = made if isinstance(made, tuple) else (made,)
        return sum(
            (abs(m) ** 2 * (1.0 + np.arange(m.shape[0]).reshape(-1, *(1,) * (m.ndim - 1)))).sum()
            for m in made
        )

    points = [np.asarray(args[n]) for n in where]
    numbers = tuple(range(len(points)))
    slopes = ng.func.grad(lambda *xs: total(ours, *xs), numbers)(*points)
    captured = ng.jit(ng.func.grad(lambda *xs: total(ours, *xs), numbers))(*points)
    for n, x in enumerate(points):
        for k in range(x.size):
            step = np.zeros(x.size)
            step[k] = 1e-6
            step = step.reshape(x.shape)
            ends = [
                total(numpys, *[p + s * step if m == n else p for m, p in enumerate(points)])
                for s in (1, -1)
            ]
            expected = (ends[0] - ends[1]) / 2e-6
            assert np.ravel(slopes[n])[k] == pytest.approx(expected, rel=1e-5, abs=1e-6)
        np.testing.assert_allclose(captured[n], slopes[n], 1e-9, 1e-12)


def computed(kind, np, a, t):
    """Return what is made of a polynomial in all ways, by name."""
    p, q = kind(a), kind(a[:3] * 2.0)
    return {
        "sum": (p + q)(t), "difference": (p - q * 2)(t), "product": (p * q)(t), "power": (p**2)(t),
        "quotient": (p // q)(t), "rest": (p % q)(t), "both": divmod(p, q)[0](t), "minus": (-p)(t),
        "plus 1": (p + 1.0)(t), "2 minus": (2.0 - p)(t), "half": (p / 2.0)(t),
        "number first": (a[0] * p)(t), "number last": (p * a[0])(t), "plus": (a[1] + p)(t),
        "over": (p / a[0])(t), "deriv": p.deriv()(t), "integ": p.integ()(t),
        "integ from": p.integ(lbnd=a[0])(t), "twice": p.integ(2, [1.0, a[1]], 0.5)(t),
        "convert": p.convert(domain=[-2, 3])(t), "powers": p.convert(kind=powers(np))(t),
        "of another": p(q)(t), "cutdeg": p.cutdeg(2)(t), "fromroots": kind.fromroots(a)(t),
        "roots": (p.roots() ** 2).sum().real, "domain": kind(a, domain=[0, 2]).roots().sum().real,
        "fit": kind.fit(np.linspace(0, 1, 5), a, 2)(t), "identity": kind.identity()(a[0]),
    }  # fmt: skip


def powers(np):
    return np.polynomial.Polynomial


@pytest.mark.parametrize("name", CLASSES)
def test_objects(name):
    ours, numpys = getattr(ng.polynomial, name), getattr(np.polynomial, name)
    expected = computed(numpys, np, A, 0.37)
    found = computed(ours, ng, ng.asarray(A), 0.37)
    for key, value in expected.items():
        assert float(found[key]) == pytest.approx(value, rel=1e-9), key


@pytest.mark.parametrize("name", CLASSES)
def test_derivatives_of_objects(name):
    ours, numpys = getattr(ng.polynomial, name), getattr(np.polynomial, name)
    slopes = ng.func.jacrev(lambda a: ng.stack(list(computed(ours, ng, a, 0.37).values())))
    found = slopes(A)
    for k, step in enumerate(np.eye(A.size) * 1e-6):
        ends = [computed(numpys, np, A + s * step, 0.37) for s in (1, -1)]
        for n, key in enumerate(ends[0]):
            expected = (ends[0][key] - ends[1][key]) / 2e-6
            assert found[n, k] == pytest.approx(expected, rel=1e-4, abs=1e-5), key
    np.testing.assert_allclose(ng.jit(slopes)(A), found, 1e-8, 1e-10)


def test_points_of_a_fit_have_derivatives():
    def fitted(p, x):
        return p.fit(x, x**2 + 1.0, 2)(0.3) + p.fit(x, x**3, 1).convert().coef[0]

    points = np.array([0.1, 0.5, 0.7, 1.3])
    slopes = ng.func.grad(lambda x: fitted(ng.polynomial.Polynomial, x))(points)
    for k, step in enumerate(np.eye(4) * 1e-6):
        ends = [fitted(np.polynomial.Polynomial, points + s * step) for s in (1, -1)]
        assert slopes[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", CLASSES)
def test_they_are_printed_as_numpys(name):
    ours, numpys = getattr(ng.polynomial, name), getattr(np.polynomial, name)
    p, q = ours(ng.tensor(A, requires_grad=True)), numpys(A)
    assert (str(p), repr(p), f"{p:ascii}") == (str(q), repr(q), f"{q:ascii}")
    assert str(p * p) == str(ours((q * q).coef))


def test_trim():
    p = ng.polynomial.Polynomial(ng.tensor([1.0, 2.0, 1e-9])).trim(1e-6)
    assert p.coef.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="polytrim: tol must be non-negative"):
        p.trim(-1.0)


def test_a_captured_series_keeps_zeros_at_its_end():
    add = ng.polynomial.polynomial.polyadd
    assert add(ng.tensor([1.0, 2.0]), [1.0, -2.0]).tolist() == [2.0]
    assert ng.jit(add)(np.array([1.0, 2.0]), np.array([1.0, -2.0])).tolist() == [2.0, 0.0]


def test_errors():
    c = ng.tensor([1.0, 2.0])
    poly = ng.polynomial.polynomial
    with pytest.raises(ZeroDivisionError, match="polydiv"):
        poly.polydiv(c, [0.0])
    with pytest.raises(ValueError, match="non-negative integer"):
        poly.polypow(c, -1)
    with pytest.raises(ValueError, match="too large"):
        poly.polypow(c, 17)
    with pytest.raises(ValueError, match="coefficients along one axis"):
        poly.polymul(c[None], c)
    with pytest.raises(ValueError, match="degree of at least 1"):
        poly.polycompanion([1.0])
    with pytest.raises(ValueError, match="2 constants for 1 integrations"):
        poly.polyint(c, 1, [1.0, 2.0])
    with pytest.raises(TypeError, match="Domains differ"):
        ng.polynomial.Polynomial(c) + ng.polynomial.Polynomial(c, domain=[0, 1])


@pytest.mark.parametrize("family", PREFIXES)
def test_examples_hold_for_all_families(family):
    runner = doctest.DocTestRunner()
    for name in CALLS:
        function = pair(family, name)[0]
        for example in doctest.DocTestFinder().find(function, function.__name__):
            runner.run(example)
    assert runner.summarize(verbose=False) == (0, 25)
