"""The continuous adjoint of stiff problems: against sensitivities of SciPy's and closed forms, of
functions that can be captured and of those that cannot."""

import numpy as np
import pytest
from scipy import integrate

import numgrad as ng
from numgrad.errors import ConvergenceError
from numgrad.interop.scipy.integration import collocation
from numgrad.testing.boehm import RATES, boehm
from tests.sampling import one_in

solve_ivp = ng.interop.scipy.solve_ivp
START = np.array([143.8668, 62.1332, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
TIMES = np.linspace(15.0, 240.0, 16)


def signalling(t, s, p):
    """Boehm's model of STAT5: two rates are ten orders apart."""
    return boehm(s, t, p)


def sensitivities():
    """Return the derivative of the sum of squares by the equation of the sensitivities."""
    f = lambda t, s, p: np.array(signalling(t, s, p))  # noqa: E731

    def both(t, z):  # derivatives by complex steps
        s, S = z[:8], z[8:].reshape(8, 6)
        columns = [f(t, s + 1e-20j * S[:, n], RATES + 1e-20j * np.eye(6)[n]) for n in range(6)]
        return np.concatenate([f(t, s, RATES), (np.array(columns).T.imag / 1e-20).ravel()])

    z = np.concatenate([START, np.zeros(48)])
    found = integrate.solve_ivp(both, (0, 240), z, "LSODA", TIMES, rtol=1e-11, atol=1e-13)
    return 2.0 * np.einsum("it,ijt->j", found.y[:8], found.y[8:].reshape(8, 6, -1))


def test_a_stiff_model_is_recorded_a_few_times_and_as_exact_as_its_solution():
    expected = sensitivities()
    for method, tolerance in (("BDF", 2e-6), ("LSODA", 2e-6), ("Radau", 1e-7)):
        calls = []

        def counted(t, s, p):
            calls.append(t)  # noqa: B023
            return signalling(t, s, p)

        p = ng.tensor(RATES, requires_grad=True)
        y = solve_ivp(counted, (0, 240), START, method, TIMES, (p,), rtol=1e-8).y
        found = ng.grad((y**2).sum(), p)[0].numpy()
        np.testing.assert_allclose(found, expected, rtol=tolerance)
        assert len(calls) < 20


def decaying(t, y, k, c, name):
    assert name == "x"
    return [-k * (y[0] - c[0]), -1000.0 * (y[1] - y[0])]


def decided(t, y, k, c, name):
    """The same, by a function that wants to know a number."""
    return [-k * (y[0] - (c[0] if t >= 0.0 else 0.0)), -1000.0 * (y[1] - y[0])]


@pytest.mark.parametrize("method", one_in(3, ["BDF", "Radau", "LSODA"]))
def test_functions_that_can_be_captured_and_those_that_cannot(method):
    k, c, t = 0.7, np.array([0.4]), np.array([0.5, 2.0])
    decay = np.exp(-k * t)
    expected = -t * decay * 0.6, (1.0 - decay)[:, None], decay  # of c + (1 - c) exp(-k t)
    for f, jit, rtol in ((decaying, True, 1e-8), (decided, True, 1e-5), (decaying, False, 1e-5)):

        def states(k, c, a):
            args = {"t_eval": t, "args": (k, c, "x"), "rtol": rtol, "atol": rtol, "jit": jit}  # noqa: B023
            y0 = ng.stack([a, a])
            return solve_ivp(f, (0.0, 3.0), y0, method, **args).y[0]  # noqa: B023

        found = ng.func.jacrev(states, argnums=(0, 1, 2))(np.array(k), c, np.array(1.0))
        for ours, closed in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, closed, atol=100.0 * rtol)


def test_many_unknowns_are_integrated_by_scipy_with_the_same_result():
    n, t = 36, np.array([0.5, 1.0])
    d, w = np.linspace(0.1, 50.0, n), np.linspace(1.0, 2.0, n)

    def total(method, **options):
        def f(k, d):
            options.update(rtol=1e-8, atol=1e-10)
            y = solve_ivp(
                lambda t, y, k, d: -k * d * y, (0, 1), np.ones(n), method, t, (k, d), **options
            ).y
            return (w[:, None] * y).sum()

        return ng.func.grad(f, argnums=(0, 1))(np.array(0.9), d)

    y = np.exp(-0.9 * d[:, None] * t) * w[:, None]
    for method, options in (
        ("BDF", {}),
        ("BDF", {"jac": "sparse"}),
        ("RK45", {"adjoint": "continuous"}),
    ):
        gk, gd = total(method, **options)
        np.testing.assert_allclose(gk, -(d[:, None] * t * y).sum(), rtol=1e-5)
        np.testing.assert_allclose(gd, -(0.9 * t * y).sum(axis=1), atol=1e-5)


def test_windows_of_steps_are_one_integration(monkeypatch):
    def found(span, times):
        p = ng.tensor(RATES[:3] * [1.0, 1e5, 100.0], requires_grad=True)

        def f(t, y, p):
            return [-p[0] * y[0] * t, p[1] * y[0] - p[2] * y[1], -1e4 * (y[2] - y[0] * y[1])]

        y = solve_ivp(f, span, [1.0, 0.5, 0.5], "BDF", times, (p,), rtol=1e-7).y
        rows = np.random.default_rng(0).normal(size=(3, *y.shape))
        return ng.grad(y, p, rows, is_grads_batched=True)[0].numpy()

    cases = ((0.0, 2.0), None), ((0.0, 2.0), [0.0, 1.0, 1.7])
    whole = [found(*case) for case in cases]
    monkeypatch.setattr(collocation, "KEPT", 1)
    for case, expected in zip(cases, whole, strict=True):
        np.testing.assert_allclose(found(*case), expected, rtol=1e-5, atol=1e-7)


def test_a_complex_parameter_and_one_in_single_precision():
    for k in (np.array([0.5 + 0.25j]), np.array([0.5], np.float32)):
        t = ng.tensor(k, requires_grad=True)
        y = solve_ivp(
            lambda t, y, k: [-(ng.abs(k[0]) ** 2) * y[0]],
            (0, 1),
            [1.0],
            "BDF",
            [1.0],
            (t,),
            rtol=1e-9,
            atol=1e-9,
        ).y
        found = ng.grad(y[0, 0], t)[0]
        assert found.dtype == k.dtype
        np.testing.assert_allclose(found.numpy(), -2.0 * k * np.exp(-(np.abs(k) ** 2)), rtol=1e-5)


class Matrix:
    """A trajectory of which the matrix is a known function of time."""

    def __init__(self, of_time):
        self.of_time = of_time

    def jacobians(self, times):
        return np.array([self.of_time(t) for t in times])


def carried(of_time, grid, tolerance):
    grid, one = np.array(grid), np.ones(1)
    added = {grid[0]: np.ones((1, 1))}
    windows = collocation.carried(
        Matrix(of_time), grid, np.zeros((1, 1)), added, tolerance * one, tolerance * one
    )
    parts = list(windows)
    return parts[-1][2].item(), sum(weighted.sum() for _, weighted, _ in parts)


def test_collocation_divides_steps_until_they_are_exact():
    def rate(t):
        return np.full((1, 1), -2.0 - np.cos(t))

    for tolerance in (1e-4, 1e-7, 1e-11):
        end, _ = carried(rate, [3.0, 0.0], tolerance)
        np.testing.assert_allclose(end, np.exp(-6.0 - np.sin(3.0)), atol=tolerance)
        for stiff in (1e2, 1e6, 1e10):  # one long step, in which all happens at its beginning
            end, area = carried(lambda t: np.full((1, 1), -stiff), [1.0, 0.0], tolerance)  # noqa: B023
            np.testing.assert_allclose([end, area * stiff], [0.0, 1.0], atol=20.0 * tolerance)
        end, area = carried(
            lambda t: np.full((1, 1), 3.0 if t > 0.3 else -1.0), [1.0, 0.0], tolerance
        )
        np.testing.assert_allclose(end, np.exp(2.1 - 0.3), rtol=20.0 * tolerance)


def test_a_matrix_that_is_no_number_is_refused():
    with pytest.raises(ConvergenceError, match="as small as the spacing of numbers"):
        carried(lambda t: np.full((1, 1), np.nan if t < 0.5 else 1.0), [1.0, 0.7, 0.0], 1e-6)


def test_a_step_whose_matrix_is_singular_is_divided():
    at = 1.0 / np.linalg.eigvals(collocation.radau().matrix).real.max()  # the pole of the method
    end, _ = carried(lambda t: np.full((1, 1), at), [1.0, 0.0], 1e-9)
    np.testing.assert_allclose(end, np.exp(at), rtol=1e-7)
    systems = np.stack([2.0 * np.eye(2), np.zeros((2, 2))])
    found = collocation._solved(systems, np.stack([np.eye(2)] * 2))
    np.testing.assert_array_equal(found, [0.5 * np.eye(2), np.full((2, 2), np.nan)])
