"""Special functions at poles, ends of domains, infinities and limits; those of several results."""

import mpmath
import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng
from numgrad import special
from numgrad.errors import NotDifferentiableError

INF = np.inf


def slope(function, points):
    x = ng.tensor(np.array(points, float), requires_grad=True)
    return ng.grad(function(x).sum(), x)[0].numpy()


def curvature(function, points):
    x = ng.tensor(np.array(points, float), requires_grad=True)
    first = ng.grad(function(x).sum(), x, create_graph=True)[0]
    return ng.grad(first.sum(), x)[0].numpy()


LIMITS = {
    "j1": ([0.0], [0.5]),
    "i1e": ([0.0, INF], [0.5, 0.0]),
    "i0e": ([0.0, INF], [0.0, 0.0]),
    "entr": ([0.0], [INF]),
    "rgamma": ([0.0, -1.0, -2.0, -3.0], [1.0, -1.0, 2.0, -6.0]),
    "erfcx": ([0.0, INF], [-2 / np.sqrt(np.pi), 0.0]),
    "dawsn": ([0.0, INF], [1.0, 0.0]),
    "ndtri": ([0.0, 1.0], [INF, INF]),
    "log_ndtr": ([INF, -1e10], [0.0, 1e10]),
    "exprel": ([0.0], [0.5]),
    "ellipk": ([0.0, 1.0], [np.pi / 8, INF]),
    "ellipe": ([0.0, 1.0], [-np.pi / 8, -INF]),
    "sinc": ([0.0, 1.0], [0.0, -1.0]),
    "spence": ([1.0, 0.0], [-1.0, -INF]),
    "kolmogorov": ([0.0, INF], [0.0, 0.0]),
    "y1": ([0.0], [INF]),
    "k0": ([0.0], [-INF]),
    "exp1": ([0.0, INF], [-INF, 0.0]),
    "cbrt": ([0.0, INF], [INF, 0.0]),
}


@pytest.mark.parametrize("name", ["erf", "erfc", "ndtr"])
def test_a_share_of_a_normal_distribution_is_flat_at_infinity(name):
    function, ends = getattr(special, name), [INF, -INF]
    np.testing.assert_array_equal(slope(function, ends), [0.0, 0.0])
    np.testing.assert_array_equal(curvature(function, ends), [0.0, 0.0])
    third = ng.func.grad(ng.func.grad(ng.func.grad(function)))
    assert third(INF) == third(-INF) == 0
    assert curvature(special.log_ndtr, [INF]) == 0


def test_categories_with_an_open_end():
    ends, x = np.array([-INF, 0.0, 1.0, INF]), np.array([0.3, -0.4, 1.2])

    def loss(b):
        p = special.ndtr(ends[1:] - b * x) - special.ndtr(ends[:-1] - b * x)
        return -np.log(p).sum()

    found = ng.func.hessian(loss)(np.array(0.3))
    slopes = [ng.func.grad(loss)(np.array(0.3 + d)) for d in (1e-6, -1e-6)]
    np.testing.assert_allclose(found, (slopes[0] - slopes[1]) / 2e-6, rtol=1e-8)


@pytest.mark.parametrize("name", LIMITS)
def test_derivatives_have_their_limits(name):
    points, expected = LIMITS[name]
    np.testing.assert_allclose(slope(getattr(special, name), points), expected, 1e-13)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_bessel_functions_at_zero(order):
    first, second = [0.0, 0.5, 0.0, 0.0], [-0.5, 0.0, 0.25, 0.0]
    assert slope(lambda x: special.jv(order, x), [0.0]) == first[order]
    assert curvature(lambda x: special.jv(order, x), [0.0]) == second[order]


def test_incomplete_gamma_function_at_the_ends():
    np.testing.assert_array_equal(slope(lambda x: special.gammainc(1.0, x), [0.0, INF]), [1, 0])
    np.testing.assert_array_equal(slope(lambda x: special.gammainc(0.5, x), [0.0, INF]), [INF, 0])
    for a, expected in ((1.0, -1.0), (2.0, 1.0), (3.0, 0.0)):
        assert curvature(lambda x, a=a: special.gammainc(a, x), [0.0]) == expected
    np.testing.assert_array_equal(slope(lambda x: special.betainc(1.0, 1.0, x), [0.0, 1.0]), [1, 1])


def test_the_losses_of_huber_at_the_kink_and_at_zero():
    np.testing.assert_array_equal(slope(lambda r: special.huber(1.0, r), [1, 0, -9]), [1, 0, -1])
    points = [0.0, 1e200, -INF]
    np.testing.assert_allclose(slope(lambda r: special.pseudo_huber(2.0, r), points), [0, 2, -2])


def test_polynomials_at_the_ends_and_of_degree_zero():
    ends = slope(lambda x: special.eval_legendre(3.0, x), [1.0, -1.0])
    np.testing.assert_allclose(ends, [6, 6], 1e-14)
    assert not slope(lambda x: special.eval_legendre(0.0, x), [1.0, 0.3, -1.0]).any()


@pytest.mark.parametrize(
    ("function", "point"),
    [
        (lambda y: special.xlogy(0.0, y), 0.0),
        (lambda y: special.xlog1py(0.0, y), -1.0),
        (lambda y: special.rel_entr(0.0, y), 0.0),
        (lambda y: special.kl_div(0.0, y), 0.0),
        (lambda y: special.xlogy(0.0, 0.0 / y), 2.0),  # counts of a deviance, one of which is 0
    ],
)
def test_limits_have_second_derivatives_in_both_modes(function, point):
    first = ng.func.grad(function)
    assert ng.func.grad(first)(point) == ng.func.jvp(first, (point,), (1.0,))[1] == 0


def test_spence_at_one():
    """Its second derivative is 1/2 there, its third -2/3."""
    function = special.spence
    for expected in (-1.0, 0.5, -2 / 3):
        function = ng.func.grad(function)
        np.testing.assert_allclose(function(1.0), expected, 1e-14)
        np.testing.assert_allclose(function(1.0 + 1e-9), expected, 1e-8)


@pytest.mark.parametrize("name", ["struve", "modstruve"])
@pytest.mark.parametrize("v", [-1.6, -2.0, -2.5, -3.0, -3.7])
def test_struve_functions_of_negative_order(name, v):
    h, x = 1e-4, 1.3
    near, far = (getattr(sp, name)(v, x + s) - getattr(sp, name)(v, x - s) for s in (h, 2 * h))
    expected = (8 * near - far) / (12 * h)
    found = slope(lambda x: getattr(special, name)(v, x), [x])
    np.testing.assert_allclose(found, expected, 1e-9)


WHOLE = {
    "yn": (1.7,), "kn": (1.7,), "expn": (1.7,), "bdtr": (1.3, 4.6), "nbdtr": (1.3, 4.6),
    "bdtri": (1.3, 4.6), "nbdtri": (-0.3, 4.6), "spherical_jn": (2.6,), "spherical_yn": (2.6,),
    "spherical_in": (2.6,), "spherical_kn": (2.6,), "eval_hermite": (3.6,),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:floating point number truncated")
@pytest.mark.parametrize("name", WHOLE)
def test_orders_that_are_cut_to_integers_are_so_in_derivatives(name):
    function, cut = getattr(special, name), np.trunc(WHOLE[name])
    given = [lambda x: function(*WHOLE[name], x), lambda x: function(*cut, x)]
    assert slope(given[0], [0.4]) == slope(given[1], [0.4])
    assert curvature(given[0], [0.4]) == curvature(given[1], [0.4])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda p: special.jv(p, 2.0), "v"),
        (lambda p: special.hyp1f1(p, 2.0, 0.5), "a"),
        (lambda p: special.zeta(p), "x"),
    ],
)
def test_parameters_without_a_closed_form_are_refused_by_name(call, name):
    p = ng.tensor(1.5, requires_grad=True)
    with pytest.raises(NotDifferentiableError, match=f"with respect to {name} is not known"):
        ng.grad(call(p), p)
    with pytest.raises(NotDifferentiableError, match=f"with respect to {name} is not known"):
        ng.func.jvp(call, (1.5,), (1.0,))
    assert np.isfinite(call(p).item())


Z = np.array([0.7 + 0.4j, -1.2 + 2.0j, 3.0 - 1.0j])
HOLOMORPHIC = {
    "gamma": (), "loggamma": (), "erf": (), "erfc": (), "erfi": (), "wofz": (), "ndtr": (),
    "exp1": (), "expi": (), "spence": (), "wrightomega": (), "lambertw": (), "hyp0f1": (1.5,),
    "jv": (1.5,), "yv": (0.5,), "iv": (1.5,), "kv": (0.5,), "kve": (0.5,), "hankel1": (1.0,),
    "spherical_jn": (2,), "hyp1f1": (0.5, 1.5),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_complex_arguments(name):
    ours, scipys, args = getattr(special, name), getattr(sp, name), HOLOMORPHIC[name]
    z = ng.tensor(Z, requires_grad=True)
    y = ours(*args, z)
    np.testing.assert_allclose(y.detach().numpy(), scipys(*args, Z), 1e-12)
    gradient = ng.grad(y.sum().real, z)[0].numpy()
    h = 1e-6
    differences = (scipys(*args, Z + h) - scipys(*args, Z - h)) / (2 * h)
    np.testing.assert_allclose(gradient, np.conj(differences), 1e-7)


def test_lambert_at_its_points():
    found = special.lambertw([0.0, -1 / np.e, np.e]).numpy()
    np.testing.assert_allclose(found, [0, -1, 1], 1e-7)
    assert slope(lambda z: special.lambertw(z).real, [0.0]) == 1.0
    assert special.lambertw(0.0, -1).numpy().real == -INF


def test_several_results():
    for name, args in (("sici", (0.5,)), ("shichi", (0.5,)), ("ellipj", (0.5, 0.3))):
        found = [r.item() for r in getattr(special, name)(*args)]
        np.testing.assert_array_equal(found, getattr(sp, name)(*args))


def test_several_results_that_are_not_of_scipy():
    a, b, x = mpmath.airyai, mpmath.airybi, 0.5
    exact = [a(x), a(x, derivative=1), b(x), b(x, derivative=1)]
    for found, wanted in (
        (special.airy(x), exact),
        (special.fresnel(x), [mpmath.fresnels(x), mpmath.fresnelc(x)]),
    ):
        wanted = [float(w) for w in wanted]
        apart = np.abs([r.item() - w for r, w in zip(found, wanted, strict=True)])
        assert (apart <= 2 * np.spacing(np.abs(wanted))).all()


@pytest.mark.parametrize("letter", "jyik")
def test_spherical_bessel_functions_and_their_derivatives(letter):
    ours, scipys = getattr(special, f"spherical_{letter}n"), getattr(sp, f"spherical_{letter}n")
    z = np.linspace(0.5, 4, 7)
    z = z if letter == "k" else np.concatenate([-z, z])
    for n in (0, 1, 4):
        np.testing.assert_array_equal(ours(n, z).numpy(), scipys(n, z))
        np.testing.assert_allclose(ours(n, z, True).numpy(), scipys(n, z, True), 1e-11)


def test_orders_of_polygamma_may_be_an_array():
    n, x = np.array([0, 1, 3]), np.array([0.5, 2.0, 4.0])
    np.testing.assert_allclose(special.polygamma(n, x).numpy(), sp.polygamma(n, x), 1e-13)


def test_zeta_multigammaln_and_counts():
    np.testing.assert_allclose(special.zeta([2.0, 3.5]).numpy(), sp.zeta([2.0, 3.5]), 1e-15)
    s, q = np.array([1.01, 2.0, 9.0, 30.0]), np.array([0.1, 3.0, 40.0, 0.7])
    np.testing.assert_allclose(special.zeta(s, q).numpy(), sp.zeta(s, q), 1e-14)
    np.testing.assert_allclose(special.multigammaln(7.0, 3).item(), sp.multigammaln(7.0, 3), 1e-15)
    with pytest.raises(ValueError, match="not met"):
        special.multigammaln(0.5, 3)
    N, k = np.array([5, 5, 3, -1]), np.array([2, 0, 4, 1])
    np.testing.assert_allclose(special.comb(N, k).numpy(), sp.comb(N, k))
    np.testing.assert_allclose(special.perm(N, k).numpy(), sp.perm(N, k))
    np.testing.assert_allclose(special.comb(N, k, repetition=True).numpy()[:2], [15, 1])


def test_exact_counts_are_integers_of_scipy():
    assert special.comb(60, 30, exact=True) == sp.comb(60, 30, exact=True)
    assert special.comb(5, 2, exact=True, repetition=True) == 15
    assert special.perm(25, 20, exact=True) == sp.perm(25, 20, exact=True)
    assert type(special.comb(5, 2, exact=True)) is int

    def bernstein(weights, t, n=3):
        terms = [special.comb(n, k, exact=True) * t**k * (1 - t) ** (n - k) for k in range(n + 1)]
        return (weights * ng.stack(terms)).sum()

    np.testing.assert_allclose(ng.func.grad(bernstein)(np.ones(4), 0.25).sum(), 1.0)
    with pytest.raises(ng.errors.DetachedError):
        ng.func.grad(lambda n: special.comb(n, 2, exact=True))(5.0)


@pytest.mark.parametrize("name", ["expit", "log_expit", "erf", "gammaln", "xlogy", "betainc"])
def test_results_are_written_where_scipys_are(name):
    x = np.array([0.2, 0.5, 0.7])
    others = (x[::-1], 0.3 + 0.1 * x)[: getattr(sp, name).nin - 1]
    mask = np.array([True, False, True])
    here, there = x.copy(), x.copy()
    function, scipys = getattr(special, name), getattr(sp, name)
    assert function(here, *others, out=here) is here
    np.testing.assert_allclose(here, scipys(there, *others, out=there), rtol=1e-13)

    def written(x):
        y = 2.0 * x
        function(*others, x, out=y, where=mask)
        return y

    def total(x):  # SciPy's own where= writes elsewhere in memory
        return np.where(mask, scipys(*others, x), 2.0 * x).sum()

    np.testing.assert_allclose(written(ng.tensor(x)).sum().item(), total(x), rtol=1e-13)
    slopes = ng.func.grad(lambda x: written(x).sum())(x)
    steps = 1e-6 * np.eye(3)
    expected = [(total(x + step) - total(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(slopes, expected, rtol=1e-6)
    with pytest.raises(TypeError, match=f"{name} of tensors does not take axis="):
        function(x, *others, axis=0)


A = np.array([[1.0, -2.0, 800.0], [0.5, 3.0, -INF]])
WEIGHTS = np.array([[1.0, -2.0, 0.5], [1.0, 0.0, 2.0]])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_weighted_logsumexp(axis, keepdims):
    options = {"axis": axis, "keepdims": keepdims, "return_sign": True}
    for a in (A, A + 0.3j):
        for b in (None, WEIGHTS):
            found = special.logsumexp(a, b=b, **options)
            expected = sp.logsumexp(a, b=b, **options)
            for x, y in zip(found, expected, strict=True):
                np.testing.assert_allclose(x.numpy(), y, 1e-13, 1e-13)


def test_derivatives_of_logsumexp_to_exponents_and_weights():
    a = ng.tensor([0.5, 900.0, 899.0], requires_grad=True)
    b = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    ga, gb = ng.grad(special.logsumexp(a, b=b), [a, b])
    terms = np.exp(a.detach().numpy() - 900) * b.detach().numpy()
    np.testing.assert_allclose(ga.numpy(), terms / terms.sum(), 1e-14)
    np.testing.assert_allclose(gb.numpy() * b.detach().numpy(), terms / terms.sum(), 1e-14)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_softmax_and_its_logarithm(axis):
    x = np.array([[1.0, 2.0, 1000.0], [0.0, -3.0, 999.0]])
    np.testing.assert_allclose(special.softmax(x, axis).numpy(), sp.softmax(x, axis), 1e-14)
    np.testing.assert_allclose(special.log_softmax(x, axis).numpy(), sp.log_softmax(x, axis), 1e-14)
    t = ng.tensor(x / 500, requires_grad=True)
    g = np.arange(6.0).reshape(2, 3)
    y = sp.softmax(x / 500, axis)
    expected = y * (g - (g * y).sum(axis=axis, keepdims=True))
    np.testing.assert_allclose(ng.grad(special.softmax(t, axis), t, g)[0].numpy(), expected, 1e-12)
