"""Roots in an interval as functions of what they depend on, against closed forms."""

import numpy as np
import pytest
from scipy import optimize

import numgrad as ng
from numgrad.errors import ConvergenceError, InplaceError, MatrixError

from ..integration.test_integrals import same_derivatives

scipy = ng.interop.scipy


@pytest.mark.parametrize(
    "root",
    [
        lambda a, b: scipy.brentq(lambda x, a, b: x * x - a * b, 0.0, 3.0, args=(a, b)),
        lambda a, b: scipy.brentq(lambda x: x * x - a * b, 0.0, 3.0),
        lambda a, b: scipy.brentq(lambda x, c: x * x - a * b * c / a, 0.0, 3.0, args=a),
    ],
    ids=["args", "closed over", "both"],
)
def test_roots_in_an_interval(root):
    same_derivatives(lambda v: root(*v), lambda v: np.sqrt(v[0] * v[1]), [1.3, 0.4])


def test_results_of_brentq_are_those_of_scipy():
    f = lambda x, a: x**3 - a  # noqa: E731
    assert scipy.brentq(f, 0, 2, args=(2.0,)) == optimize.brentq(f, 0, 2, args=(2.0,))
    x, r = scipy.brentq(f, 0, 2, args=(ng.tensor(2.0, requires_grad=True),), full_output=True)
    assert x.item() == optimize.brentq(f, 0, 2, args=(2.0,))
    assert r.converged
    assert r.root is x
    with pytest.raises(ValueError, match="different signs"):
        scipy.brentq(f, 2, 3, args=(ng.tensor(2.0),))


FINDERS = {
    "brenth": lambda f, *args: scipy.brenth(f, 0.0, 3.0, args),
    "bisect": lambda f, *args: scipy.bisect(f, 0.0, 3.0, args, xtol=1e-14),
    "ridder": lambda f, *args: scipy.ridder(f, 0.0, 3.0, args, xtol=1e-14),
    "toms748": lambda f, *args: scipy.toms748(f, 0.0, 3.0, args, 2),
    "interval": lambda f, *args: scipy.root_scalar(f, args, bracket=[0.0, 3.0]).root,
    "secant": lambda f, *args: scipy.root_scalar(f, args, x0=1.0, x1=2.0, xtol=1e-14).root,
    "newton": lambda f, *args: scipy.root_scalar(f, args, x0=1.0, xtol=1e-14).root,
}


@pytest.mark.parametrize("name", FINDERS)
def test_other_finders_of_roots(name):
    find = FINDERS[name]
    exact = lambda v: np.sqrt(v[0] * v[1])  # noqa: E731
    same_derivatives(lambda v: find(lambda x: x * x - v[0] * v[1]), exact, [1.3, 0.4])
    captured = ng.jit(lambda v: find(lambda x, a, b: x * x - a * b, v[0], v[1]))
    np.testing.assert_allclose(
        ng.func.grad(captured)(np.array([1.3, 0.4])), ng.func.grad(exact)([1.3, 0.4]), rtol=1e-7
    )
    found = find(lambda x: x**3 - 2.0)
    assert isinstance(found, float)
    assert abs(found - 2.0 ** (1 / 3)) < 1e-11


def test_finders_give_what_those_of_scipy_give():
    f = lambda x, a=2.0: x**3 - a  # noqa: E731
    for name in ("brenth", "bisect", "ridder", "toms748"):
        given = ng.tensor(2.0, requires_grad=True)
        x, r = getattr(scipy, name)(f, 0, 2, args=(given,), full_output=True)
        expected, other = getattr(optimize, name)(f, 0, 2, args=(2.0,), full_output=True)
        assert x.item() == expected
        assert r.root is x
        assert r.iterations == other.iterations
    slope = lambda x, a: 3.0 * x**2  # noqa: E731
    r = scipy.root_scalar(f, (given,), x0=1.0, fprime=slope)
    assert r.root.item() == optimize.root_scalar(f, (2.0,), x0=1.0, fprime=slope).root
    with pytest.raises(TypeError, match="fprime=True says that the function returns"):
        scipy.root_scalar(f, (given,), x0=1.0, fprime=True)
    with pytest.raises(ConvergenceError, match="root_scalar: only a root"):
        scipy.root_scalar(lambda x: x * x + given, x0=1.0, x1=1.1)
    with pytest.raises(ng.errors.NotDifferentiableError, match="no gradient flows to x0"):
        scipy.root_scalar(f, (given,), x0=given)


@pytest.mark.usefixtures("scipy_as_it_is")
def test_the_finders_of_scipy_say_what_to_write_instead():
    s = ng.tensor(0.5, requires_grad=True)
    f = lambda x: x**3 - s  # noqa: E731
    calls = [
        lambda: optimize.brentq(f, 0, 3), lambda: optimize.brenth(f, 0, 3),
        lambda: optimize.bisect(f, 0, 3), lambda: optimize.ridder(f, 0, 3),
        lambda: optimize.toms748(f, 0, 3), lambda: optimize.brentq(f, 2, 3),
        lambda: optimize.root_scalar(f, bracket=[0, 3]),
    ]  # fmt: skip
    for call in calls:  # in compiled code of SciPy, which goes on after an error
        for _ in range(5):
            with pytest.raises(ng.errors.DetachedError, match=r"write .*ng\.interop\.scipy"):
                call()


def test_what_has_no_derivative_in_an_interval():
    p, scale = ng.tensor(1.0, requires_grad=True), np.array(3.0)
    with pytest.raises(ConvergenceError, match="a pole or a jump"):
        scipy.brentq(lambda x: p / (x - 0.5), 0.0, 2.0)
    with pytest.raises(MatrixError):
        ng.grad(scipy.brentq(lambda x: p * np.sign(x - 0.5), 0.0, 2.0), p)
    x = scipy.brentq(lambda x: p - scale * x, 0.0, 2.0)
    scale *= 2.0
    with pytest.raises(InplaceError, match="brentq: the function has changed"):
        ng.grad(x, p)


def test_fsolve_is_that_of_scipy():
    f = lambda x, a: [x[0] ** 2 - a[0], a[1] * x[1] - x[0]]  # noqa: E731
    a = np.array([2.0, 3.0])
    expected = optimize.fsolve(f, [1.0, 1.0], args=(a,))
    x, info, status, message = scipy.fsolve(
        f, [1.0, 1.0], args=(ng.tensor(a, requires_grad=True),), full_output=True
    )
    np.testing.assert_allclose(x.detach().numpy(), expected, rtol=1e-12)
    assert status == 1
    assert message == "The solution converged."
    assert {"nfev", "fjac", "r", "qtf", "fvec"} <= info.keys()
    same_derivatives(
        lambda a: scipy.fsolve(f, [1.0, 1.0], args=(a,), xtol=1e-13)[1],
        lambda a: np.sqrt(a[0]) / a[1],
        a,
    )
    with pytest.warns(RuntimeWarning, match="not making good progress"):
        scipy.fsolve(lambda x: x * x + 1.0, 1.0)
    with pytest.raises(ConvergenceError):
        scipy.fsolve(lambda x, a: x * x + a[0], 1.0, args=(ng.tensor(a, requires_grad=True),))


def rates(y, t, k):
    return [-k[0] * y[0], k[0] * y[0] - k[1] * y[1]]


def test_odeint_is_that_of_scipy():
    from scipy import integrate

    t, k = np.linspace(0.0, 3.0, 5), np.array([1.0, 2.0])
    expected = integrate.odeint(rates, [1.0, 0.0], t, (k,))
    np.testing.assert_allclose(scipy.odeint(rates, [1.0, 0.0], t, (k,)), expected, atol=1e-7)
    swapped = scipy.odeint(lambda t, y, k: rates(y, t, k), [1.0, 0.0], t, (k,), tfirst=True)
    assert np.array_equal(swapped, scipy.odeint(rates, [1.0, 0.0], t, (k,)))
    jacobian = lambda y, t, k: [[-k[0], k[0]], [0.0, -k[1]]]  # noqa: E731
    given = scipy.odeint(rates, [1.0, 0.0], t, (k,), Dfun=jacobian, col_deriv=True)
    np.testing.assert_allclose(given, expected, atol=1e-7)
    twice = scipy.odeint(rates, [1.0, 0.0], t[[0, 0, 3, 3, 4]], (k,))
    np.testing.assert_allclose(twice, expected[[0, 0, 3, 3, 4]], atol=1e-7)
    assert np.array_equal(scipy.odeint(rates, [1.0, 0.0], t[:1], (k,)), [[1.0, 0.0]])
    for option in ({"full_output": True}, {"tcrit": [1.0]}, {"mxordn": 3}):
        with pytest.raises(NotImplementedError, match="is not served"):
            scipy.odeint(rates, [1.0, 0.0], t, (k,), **option)


def test_gradients_of_odeint():
    def last(v):
        start, k = v[0], v[1:]
        return scipy.odeint(rates, [start, 0.0], [0.0, 1.0], (k,), rtol=1e-11, atol=1e-11)[-1, 1]

    def exact(v):
        y, a, b = v
        return y * a / (b - a) * (np.exp(-a) - np.exp(-b))

    v = np.array([1.3, 1.0, 2.0])
    np.testing.assert_allclose(ng.func.grad(last)(v), ng.func.grad(exact)(v), rtol=1e-8)


def test_starts_and_times_are_lists_of_tensors():
    t = ng.tensor(1.5, requires_grad=True)
    found = scipy.solve_ivp(
        lambda _, y: -y, (0.0, 2.0), [t, 2.0 * t], t_eval=[t, 2.0], rtol=1e-9, atol=1e-9
    )
    assert found.y.shape == (2, 2)
    (g,) = ng.grad(found.y[1, 0], t)  # of 2 t exp(-t)
    np.testing.assert_allclose(g.numpy(), 2.0 * (1.0 - 1.5) * np.exp(-1.5), rtol=1e-7)
    x = scipy.root(lambda x, a: x**2 - a[0] * a[1], [t, t], args=([t, t],), tol=1e-13).x
    np.testing.assert_allclose(ng.grad(x[0], t)[0].numpy(), 1.0, rtol=1e-10)
