"""Slopes of the incomplete beta function and of its relatives in their parameters, against the
power series of it, differentiated term by term in integers of 150 bits."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng
from tests.sampling import one_in

BITS, LEAST = 150, 1 << 20
SHAPES = [1e-3, 0.02, 0.4, 1.0, 2.5, 17.0, 300.0, 3e3]


def series(a, b, x, y):
    """Return the slopes of ``I_x(a, b)`` in ``a`` and ``b`` (DLMF 8.17.8), where it converges."""

    def fixed(v):
        return int(mp.nint(mp.ldexp(v, BITS)))

    one = 1 << BITS
    rate_a = fixed(mp.digamma(a + b) - mp.digamma(a + 1) + mp.log(x))
    rate_b = fixed(mp.digamma(a + b) - mp.digamma(b) + mp.log(y))
    up, down, x_fixed, term = fixed(a + b), fixed(a + 1), fixed(x), one
    total_a, total_b = rate_a, rate_b
    while term > LEAST:
        term = (term * up // down * x_fixed) >> BITS
        rate_a += one * one // up - one * one // down
        rate_b += one * one // up
        total_a += (term * rate_a) >> BITS
        total_b += (term * rate_b) >> BITS
        up, down = up + one, down + one
    gammas = mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b)
    power = mp.exp(a * mp.log(x) + b * mp.log(y) + gammas)
    return power * mp.ldexp(total_a, -BITS), power * mp.ldexp(total_b, -BITS)


def slopes(a, b, x, y=None):
    a, b, x = mp.mpf(a), mp.mpf(b), mp.mpf(x)
    y = 1 - x if y is None else y
    if x > a / (a + b):
        in_b, in_a = series(b, a, y, x)
        return -in_a, -in_b
    return series(a, b, x, y)


def cases():
    """Yield parameters of all sizes with places in both tails and between."""
    for n, a in enumerate(SHAPES):
        for m, b in enumerate(SHAPES):
            middle = a / (a + b)
            spread = np.sqrt(middle * (1 - middle) / (a + b + 1))
            near = middle + ((n + 3 * m) % 5 - 2) * spread
            far = (1e-9, 0.03, 0.7, 1 - 1e-9)[(n + m) % 4]
            x = near if (n + m) % 2 else far
            is_short = (1 - x if x <= middle else x) > 0.01  # of the series
            if 0 < x < 1 and is_short:
                yield a, b, x
    yield from ((1e4, 3.0, 0.9), (0.1, 1e4, 1e-5), (1e4, 1e4, 0.49), (3e3, 0.02, 1 - 1e-9))


def gradients(function, *columns):
    tensors = [ng.tensor(np.asarray(c, float), requires_grad=True) for c in columns]
    return [g.numpy() for g in ng.grad(function(*tensors).sum(), tensors)]


@pytest.mark.parametrize("part", one_in(6, range(6)))
def test_both_parts_in_both_parameters(part):
    places = list(cases())[part::6]
    with mp.workdps(40):
        exact = np.array([[float(v) for v in slopes(*place)] for place in places]).T
    seen = np.abs(exact) > 1e-280
    for function, sign in ((ng.special.betainc, 1), (ng.special.betaincc, -1)):
        both = gradients(function, *np.transpose(places))[:2]
        for found, expected, usual in zip(both, exact, seen, strict=True):
            assert not np.isnan(found).any()
            np.testing.assert_allclose(sign * found[usual], expected[usual], rtol=2e-12)


def test_a_number_that_is_known():
    (slope, _, _) = gradients(ng.special.betainc, 2.0, 3.0, 0.4)
    np.testing.assert_allclose(slope, -0.24086937608755682, rtol=1e-14)


def test_at_the_ends_nothing_moves():
    for function in (ng.special.betainc, ng.special.betaincc):
        a, b, _ = gradients(function, [2.0, 2.0, 0.5, 0.5], [3.0] * 4, [0.0, 1.0, 0.0, 1.0])
        np.testing.assert_array_equal([a, b], 0)
    (a, b, _) = gradients(ng.special.fdtr, [2.0, 0.5], [3.0, 3.0], [0.0, np.inf])
    np.testing.assert_array_equal([a, b], 0)
    (df, _) = gradients(ng.special.stdtr, [2.0, 2.0, 2.0, np.inf], [0.0, np.inf, -np.inf, 1.0])
    np.testing.assert_array_equal(df, 0)


NEAR = [(0.05, 0.7), (0.5, -30.0), (1.0, 1e-3), (2.5, 2.0), (7.0, -0.6), (300.0, 3.0), (2e4, -2.0)]
FAR = [(3e5, 1.5), (2e7, 2.0), (1e6, 5.0)]


@pytest.mark.parametrize(
    ("df", "t", "rtol"),
    one_in(3, [pytest.param(*p, 1e-11) for p in NEAR] + [pytest.param(*p, 1e-9) for p in FAR]),
)
def test_students_distribution_in_its_degrees_of_freedom(df, t, rtol):
    def moved(df, t):
        """The slope of the density in ``df``."""
        z = t * t / df
        rate = mp.digamma((df + 1) / 2) - mp.digamma(df / 2) - 1 / df - mp.log1p(z)
        density = (1 + z) ** (-(df + 1) / 2) / (mp.sqrt(df) * mp.beta(df / 2, mp.mpf(1) / 2))
        return density * (rate + (1 + 1 / df) * z / (1 + z)) / 2

    with mp.workdps(40):
        expected = mp.quad(lambda s: moved(mp.mpf(df), s), mp.linspace(0, mp.mpf(t), 9))
    found, _ = gradients(ng.special.stdtr, df, t)
    np.testing.assert_allclose(found, float(expected), rtol=rtol)


def test_fishers_distribution_in_both_parameters():
    places = [(0.1, 0.2, 3.0), (1.0, 4.0, 1e-4), (3.0, 5.0, 1.2), (40.0, 0.5, 1e6), (2e3, 7e3, 1.0)]
    expected = []
    with mp.workdps(40):
        for n, m, x in places:
            n, m, x = mp.mpf(n), mp.mpf(m), mp.mpf(x)
            w = n * x + m
            u, v = n * x / w, m / w
            in_a, in_b = slopes(n / 2, m / 2, u, v)
            density = u ** (n / 2 - 1) * v ** (m / 2 - 1) / mp.beta(n / 2, m / 2)
            moved = density * x / (w * w)
            expected.append((float(in_a / 2 + moved * m), float(in_b / 2 - moved * n)))
    for function, sign in ((ng.special.fdtr, 1), (ng.special.fdtrc, -1)):
        found = gradients(function, *np.transpose(places))[:2]
        np.testing.assert_allclose(sign * np.transpose(found), expected, rtol=1e-9)
        np.testing.assert_allclose(sign * np.transpose(found)[:4], expected[:4], rtol=1e-11)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("betaincinv", (2.0, 3.0)), ("betainccinv", (0.3, 8.0)), ("stdtrit", (4.0,)),
        ("fdtri", (3.0, 9.0)),
    ],
)
def test_inverses_by_differences(name, shapes):
    p = np.array([0.05, 0.3, 0.8])
    values = [*(np.full(3, s) for s in shapes), p]
    for place, found in enumerate(gradients(getattr(ng.special, name), *values)[: len(shapes)]):

        def at(step, place=place):
            given = [v * (1 + step * (i == place)) for i, v in enumerate(values)]
            return getattr(sp, name)(*given)

        h = 1e-3
        expected = (8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h * shapes[place])
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_mixed_second_derivatives_are_there_and_those_to_parameters_are_refused_in_words():
    mixed = ng.func.jacrev(ng.func.grad(ng.special.betainc), argnums=2)(2.0, 3.0, 0.4)
    density = 0.4 * 0.6**2 * 12
    expected = density * (np.log(0.4) + sp.digamma(5.0) - sp.digamma(2.0))
    np.testing.assert_allclose(mixed, expected, rtol=1e-12)
    with pytest.raises(ng.errors.NotDifferentiableError, match="slope of `betainc`"):
        ng.func.hessian(lambda a: ng.special.betainc(a, 3.0, 0.4))(2.0)
    with pytest.raises(ng.errors.NotDifferentiableError, match="slope of `stdtr`"):
        ng.func.hessian(lambda df: ng.stats.t.cdf(1.0, df))(2.0)


def test_batched_captured_and_forward_derivatives_agree():
    x = np.array([0.1, 0.4, 0.9])

    def f(a):
        return ng.special.betainc(a, 1.5, x)

    a = np.array([0.5, 2.0, 30.0])
    expected = gradients(f, a)[0]
    for jacobian in (ng.func.jacrev(f)(a), ng.func.jacfwd(f)(a), ng.jit(ng.func.jacrev(f))(a)):
        np.testing.assert_array_equal(np.diag(np.asarray(jacobian)), expected)
