"""Programs as scientists write them, with SciPy's functions imported and patched: their gradients
against differences of the same program on arrays."""

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, ndimage, signal, stats

import numgrad as ng

from .differences import agree, derivative

RNG = np.random.default_rng(4)
SAMPLE = RNG.normal(size=(2, 30))
NEW = RNG.normal(size=(2, 12))
GRID = np.linspace(0.0, 3.0, 9)
TABLE = np.sin(GRID)[:, None] * np.cos(GRID)
SITES = RNG.uniform(0, 2, (14, 2))
PICTURE = ndimage.gaussian_filter(RNG.normal(size=(12, 14)), 1.5)


def regulator(p):
    """The cost of a pendulum under the best feedback, by its length, friction and weights."""
    length, friction, effort = p
    a = np.vstack([[0.0, 1.0], np.stack([9.81 / length, -friction])])
    b = np.stack([0.0 * length, 1.0 / length**2])[:, None]
    x = linalg.solve_continuous_are(a, b, np.diag(np.array([10.0, 1.0])), effort * np.eye(1))
    gain = linalg.solve(effort * np.eye(1), b.T @ x)
    start = np.array([0.3, 0.0])
    return start @ x @ start + 0.01 * (gain**2).sum()


def kalman(p):
    """The trace of the steady covariance of a filter, by the noise of process and sensor."""
    a, c = np.array([[1.0, 0.1], [0.0, 0.95]]), np.array([[1.0, 0.0]])
    noise = p[0] * np.array([[0.0025, 0.005], [0.005, 0.01]]) + 1e-4 * np.eye(2)
    return np.trace(linalg.solve_discrete_are(a.T, c.T, noise, p[1] * np.eye(1)))


def bandwidth(p):
    """The likelihood of new points under the density of others, by bandwidth and a scale."""
    return stats.gaussian_kde(SAMPLE * p[1], p[0]).logpdf(NEW).sum()


def registration(p):
    moved = ndimage.shift(PICTURE, [p[0], p[1]], mode="nearest")
    return ((moved - ndimage.median_filter(PICTURE, 3)) ** 2).mean()


def table(p):
    """Values and slopes of a table of two variables along a path."""
    surface = interpolate.RectBivariateSpline(GRID, GRID, TABLE)
    line = interpolate.interp1d(GRID, TABLE[:, 0] * p[0], "cubic")
    path = p[1] * np.linspace(0.2, 1.8, 5)
    return (surface.ev(path, 0.5 * path) * line(path)).sum() + surface(1.0, p[1], grid=False)


def surrogate(p):
    """A surrogate through runs whose results depend on a parameter, at a point that is asked."""
    runs = np.sin(SITES[:, 0] * p[0]) + SITES[:, 1] ** 2
    return interpolate.RBFInterpolator(SITES, runs)(np.stack([p[1:3], 0.5 * p[1:3]])).sum()


def dose(p):
    """A dose over a disc, from a field with a parameter."""
    edge = lambda x: np.sqrt(np.maximum(1.0 - x * x, 0.0))  # noqa: E731
    field = lambda y, x: np.exp(-p[0] * (x - p[1]) ** 2 - y * y)  # noqa: E731
    return integrate.dblquad(field, -0.9, 0.9, 0.0, edge)[0]


def tides(p):
    times = np.array([0.0, 0.7, 1.1, 2.5, 3.1, 4.4, 5.0])
    return signal.lombscargle(times, np.sin(2.0 * times), [p[0], 2 * p[0]]).sum()


PROGRAMS = {
    regulator: [0.8, 0.3, 0.5], kalman: [1.3, 0.4], bandwidth: [0.4, 1.2], table: [1.3, 1.1],
    registration: [0.37, -0.61], surrogate: [1.4, 0.7, 0.9], dose: [0.8, 0.2], tides: [1.7],
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_of_scientists_have_the_gradients_of_differences(program):
    p = np.array(PROGRAMS[program])
    with ng.interop.scipy.patch():
        y, gradient = ng.func.value_and_grad(lambda p: ng.asarray(program(p)).sum())(p)
    plain = lambda p: np.sum(program(p))  # noqa: E731
    np.testing.assert_allclose(float(y), plain(p), rtol=1e-8)
    agree(gradient, derivative(plain, p), 1e-6)
