"""Newton's method finds what SciPy finds, and its roots are functions of the arguments."""

import numpy as np
import pytest
from scipy import optimize

import numgrad as ng
from numgrad.errors import ConvergenceError, NotDifferentiableError

newton = ng.interop.scipy.newton
MEAN = np.array([[0.1, 0.5, 2.0], [3.0, 1.0, 0.2]])


def kepler(anomaly, eccentricity, mean):
    return anomaly - eccentricity * np.sin(anomaly) - mean


def slope(anomaly, eccentricity, mean):
    return 1 - eccentricity * np.cos(anomaly)


def curvature(anomaly, eccentricity, mean):
    return eccentricity * np.sin(anomaly)


WAYS = [{}, {"x1": 1.2}, {"fprime": slope}, {"fprime": slope, "fprime2": curvature}]


@pytest.mark.parametrize("options", WAYS)
def test_roots_are_those_of_scipy(options):
    alone = newton(kepler, 0.9, args=(0.3, 0.9), **options)
    e = ng.tensor(0.3, requires_grad=True)
    found, result = newton(kepler, 0.9, args=(e, 0.9), full_output=True, **options)
    expected = optimize.newton(kepler, 0.9, args=(0.3, 0.9), full_output=True, **options)
    np.testing.assert_allclose([alone, found.item()], expected[0], 1e-14)
    assert result.root is found
    assert result.iterations == expected[1].iterations


@pytest.mark.parametrize("options", WAYS)
def test_the_gradient_of_a_root(options):
    def solved(e, mean):
        return optimize.newton(kepler, mean, args=(e, mean), **options)

    found = ng.func.grad(solved, argnums=(0, 1))(np.array(0.3), np.array(0.9))
    x = optimize.newton(kepler, 0.9, args=(0.3, 0.9), tol=1e-14)
    of_mean = 1 / slope(x, 0.3, 0.9)
    np.testing.assert_allclose(found, (np.sin(x) * of_mean, of_mean), 1e-9)


@pytest.mark.parametrize("given", [{}, {"fprime": lambda x: 1 - 0.3 * np.cos(x)}])
def test_many_roots_at_once(given):
    def solved(p):
        return newton(lambda x: x - p[0] * np.sin(x) - p[1] * MEAN, MEAN, tol=1e-14, **given)

    p = np.array([0.3, 0.9])
    x = solved(p)
    np.testing.assert_allclose(kepler(x, *p[:1], p[1] * MEAN), np.zeros(MEAN.shape), atol=1e-12)
    over = 1 / slope(x, p[0], None)
    expected = np.stack([np.sin(x) * over, MEAN * over], -1)
    np.testing.assert_allclose(ng.func.jacobian(solved)(p), expected, 1e-10)


def test_what_is_said_of_many_roots():
    a = ng.tensor(2.0, requires_grad=True)
    root, converged, zero = newton(lambda x: x * x - a, [1.0, -1.0], full_output=True)
    np.testing.assert_allclose(root.detach(), [2**0.5, -(2**0.5)])
    assert converged.all()
    assert not zero.any()


def test_a_list_of_tensors_is_a_start():
    a = ng.tensor(2.0, requires_grad=True)
    root = newton(lambda x: x * x - a, [a, 2 * a])
    np.testing.assert_allclose(ng.grad(root.sum(), a)[0].item(), 2**-0.5)


@pytest.mark.parametrize("start", [1.0, [1.0, 3.0]])
def test_no_root(start):
    a = ng.tensor(1.0, requires_grad=True)
    with pytest.raises(ConvergenceError, match="newton: "):
        newton(lambda x: x * x + a, start)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_point_that_is_no_root_has_no_derivative():
    a = ng.tensor(1.0, requires_grad=True)
    with pytest.raises(ConvergenceError, match="only a root has a derivative"):
        newton(lambda x: x * x + a, 1.0, disp=False)
    with pytest.raises(ConvergenceError, match="only a root has a derivative"):
        newton(lambda x: x * x - a * np.array([1.0, -1.0]), [1.0, 3.0])


def test_the_tolerance_has_no_gradient():
    a = ng.tensor(1e-8, requires_grad=True)
    with pytest.raises(NotDifferentiableError, match="tol"):
        newton(lambda x: x * x - a, 1.0, tol=a)
