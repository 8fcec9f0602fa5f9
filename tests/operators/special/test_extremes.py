"""Values and derivatives of special functions at infinity, next to poles and at the smallest
numbers, beside limits and numbers of mpmath."""

import mpmath as mp
import numpy as np
import pytest

import numgrad as ng

S = ng.special
INF, TINY = np.inf, 5e-324


def derivatives(function, x, order, dtype=float):
    """Return the value of a function at a number and its derivatives, as many as are asked for."""
    x = ng.tensor(np.asarray(x, dtype), requires_grad=True)
    y = function(x)
    found = [y.item()]
    for _ in range(order):
        (y,) = ng.grad(y, x, create_graph=True)
        found.append(y.item())
    return found


LIMITS = [
    (lambda x: S.gammaincc(40.0, x), TINY, [1.0, 0.0, 0.0]),
    (lambda x: S.gammainc(40.0, x), TINY, [0.0, 0.0, 0.0]),
    (lambda x: S.gammainc(2.0, x), TINY, [0.0, TINY, 1.0]),
    (lambda q: S.zeta(2.0, q), INF, [0.0, 0.0, 0.0]),
    (lambda x: S.zeta(x, 1.0), INF, [1.0]),
    (lambda x: S.zeta(x, 2.0), INF, [0.0]),
    (lambda x: S.zeta(x, 0.5), INF, [INF]),
    (S.zeta, -TINY, [-0.5]),
    (S.zeta, -1e-310, [-0.5]),
    (S.wrightomega, INF, [INF, 1.0, 0.0]),
    (S.wrightomega, -INF, [0.0, 0.0, 0.0]),
    (S.rgamma, INF, [0.0, 0.0, 0.0]),
    (S.ellipk, -INF, [0.0, 0.0, 0.0]),
    (S.ellipe, -INF, [INF, 0.0, 0.0]),
    (S.ellipkm1, INF, [0.0, 0.0, 0.0]),
    (S.log_ndtr, -INF, [-INF, INF, -1.0, 0.0]),
    (S.log_ndtr, INF, [0.0, 0.0, 0.0]),
    (S.expi, INF, [INF, INF]),
    (S.expi, -INF, [0.0, 0.0, 0.0]),
]


@pytest.mark.parametrize("number", range(len(LIMITS)))
def test_limits(number):
    function, x, wanted = LIMITS[number]
    found = derivatives(function, x, len(wanted) - 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-15, atol=0)


MODULI = [-1e100, -1e16, -30.0, -2.1, -1.9, 0.79, 0.81, 1 - 1e-12, 1 - 2**-52]
COMPLEMENTS = [1e-100, 1e-16, 0.19, 0.21, 2.9, 3.1, 1e16, 1e100]
EXACT = [  # with the digits that mpmath needs
    (S.ellipk, 60, mp.ellipk, MODULI),
    (S.ellipe, 60, mp.ellipe, MODULI),
    (S.ellipkm1, 260, lambda p: mp.ellipk(1 - p), COMPLEMENTS),
    (S.wrightomega, 60, lambda z: mp.lambertw(mp.exp(z)).real, [-30.0, 0.9, 1.1, 30.0, 1e3]),
    (S.j0, 60, lambda x: mp.besselj(0, x), [3.0, 1e3, 1e5, 1e10, 1e16]),
    (S.j1, 60, lambda x: mp.besselj(1, x), [3.0, 1e3, 1e5, 1e10, 1e16]),
    (S.y1, 60, lambda x: mp.bessely(1, x), [3.0, 1e3, 1e5, 1e10, 1e16]),
]


@pytest.mark.parametrize("number", range(len(EXACT)))
def test_first_and_second_derivatives_far_out_and_next_to_ends(number):
    function, digits, exact, points = EXACT[number]
    for x in points:
        with mp.workdps(digits):
            step = mp.mpf(10) ** -25 * abs(mp.mpf(x))
            wanted = [float(mp.diff(exact, mp.mpf(x), n, h=step)) for n in (0, 1, 2)]
        np.testing.assert_allclose(derivatives(function, x, 2), wanted, rtol=1e-11, err_msg=f"{x}")


def test_zeta_next_to_0_in_single_precision():
    x = np.array([-1e-8, -1e-7, -3e-7, -1e-5, -1e-3], np.float32)
    found = S.zeta(x)
    assert found.dtype == np.float32
    wanted = [float(mp.zeta(float(number))) for number in x]
    np.testing.assert_allclose(found.numpy(), wanted, rtol=3e-7)


@pytest.mark.parametrize(("dtype", "largest"), [(np.complex64, 1e30), (np.complex128, 1e200)])
def test_slopes_of_the_faddeeva_function_where_squares_overflow(dtype, largest):
    """The slope is ``-1j / (sqrt(pi) * z**2)`` there, which is 0 in the end."""
    for z in (1e8, 1e15 + 1e15j, 3e17j, largest * (1 + 1j), largest):
        t = ng.tensor(np.asarray(z, dtype), requires_grad=True)
        value = S.wofz(t)
        (slope,) = ng.grad(value, t)
        expected = 1j / complex(z) / np.sqrt(np.pi)
        wanted = np.conj(-1j / np.sqrt(np.pi) / complex(z) / complex(z))
        tolerance = 1e-5 if dtype is np.complex64 else 1e-12
        np.testing.assert_allclose(value.item(), expected, rtol=tolerance)
        np.testing.assert_allclose(slope.numpy(), wanted, rtol=tolerance, atol=1e-44)


def test_slopes_of_the_faddeeva_function_at_infinity():
    z = ng.tensor([np.inf + 14j, -np.inf + 0.1j, complex(0.0, np.inf)], requires_grad=True)
    (slope,) = ng.grad(S.wofz(z).real.sum(), z, create_graph=True)
    (second,) = ng.grad(slope.real.sum(), z)
    assert not slope.detach().numpy().any()
    assert not second.numpy().any()


@pytest.mark.parametrize("function", [S.comb, S.perm])
def test_counts_of_nothing_have_the_slope_0(function):
    n = ng.tensor([1.0, 0.0, 40.0, 40.0, 5.0], requires_grad=True)
    k = ng.tensor([28.0, 12.0, 1e8, -2.0, 2.0], requires_grad=True)
    y = function(n, k)
    slopes = ng.grad(y.sum(), [n, k], create_graph=True)
    second = ng.grad(slopes[0].sum(), [n, k])
    for found in (*slopes, *second):
        assert not found[:4].any()
        assert np.isfinite(found[4].item())
        assert found[4] != 0
    assert function(3, 2) == (3 if function is S.comb else 6)
    assert function(np.float32(3), 2).dtype == np.float32


@pytest.mark.parametrize("df", [0.05, 0.5, 1.0, 3.0, 100.0])
def test_quantiles_of_student_next_to_the_middle(df):
    for distance in (5.6e-17, 1e-15, 1e-12, 1e-10, 3e-9, 1e-8, 1e-6, 1e-3):
        p = 0.5 - distance
        t = S.stdtrit(df, p).item()
        with mp.workdps(40):
            ratio = mp.mpf(t) ** 2 / (df + mp.mpf(t) ** 2)
            share = mp.betainc(0.5, mp.mpf(df) / 2, 0, ratio, regularized=True) / 2
            error = float(share / (mp.mpf(0.5) - mp.mpf(p)) - 1)
        assert t < 0
        assert abs(error) < 4e-15, distance


def test_slopes_of_the_beta_function_at_infinity():
    for a, b in ((np.inf, 2.0), (0.5, np.inf)):
        tensors = [ng.tensor(x, requires_grad=True) for x in (a, b)]
        slopes = ng.grad(S.beta(*tensors), tensors, create_graph=True)
        second = ng.grad(slopes[0] + slopes[1], tensors, materialize_grads=True)
        assert not any(x.item() for x in (*slopes, *second))


@pytest.mark.parametrize("function", [S.inv_boxcox, S.inv_boxcox1p])
def test_slopes_of_inverse_transforms_of_box_and_cox_for_large_parameters(function):
    for x, parameter in ((0.1798, 1e16), (0.1798, 1e100), (3.0, 0.6), (3.0, 0.7), (2.0, 1e3)):
        with mp.workdps(260):
            exact = lambda p: mp.mpf(1 + p * mp.mpf(x)) ** (1 / p)  # noqa: B023, E731
            step = mp.mpf(10) ** -25 * parameter
            wanted = [float(mp.diff(exact, mp.mpf(parameter), n, h=step)) for n in (1, 2)]
        found = derivatives(lambda p: function(x, p), parameter, 2)  # noqa: B023
        np.testing.assert_allclose(found[1:], wanted, rtol=1e-11)
