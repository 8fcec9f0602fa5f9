"""SciPy's solvers with functions that return tensors: plain ones are taken for arrays everywhere,
those that require grad raise what says why."""

import numpy as np
import pytest
from scipy import integrate, optimize

import numgrad as ng
from numgrad import errors, func
from numgrad.errors import DetachedError
from tests.sampling import one_in

START = np.array([-1.2, 1.0, 0.8])


def loss(x):
    x = ng.asarray(x)
    return ng.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def gradient(x):
    return func.grad(loss)(ng.tensor(x))


def pair(x):
    return func.value_and_grad(loss)(ng.tensor(x))


def hessian(x):
    return func.hessian(loss)(ng.tensor(x))


def product(x, p):
    return func.hvp(loss, (ng.tensor(x),), (ng.tensor(p),))[1][0]


def residuals(x):
    x = ng.asarray(x)
    return ng.concat([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])


def slopes(x):
    return func.jacrev(residuals)(ng.tensor(x))


FIRST = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG", "trust-constr"]
SECOND = ["dogleg", "trust-ncg", "trust-exact", "trust-krylov"]


def minimized(method, fun=loss, **options):
    """Minimise as far as a method gets, with tensors and with arrays: to the same place."""
    result = optimize.minimize(fun, START, method=method, **options)
    arrays = {name: as_arrays(value) for name, value in options.items()}
    expected = optimize.minimize(as_arrays(fun), START, method=method, **arrays)
    np.testing.assert_array_equal(np.asarray(result.x), expected.x)
    assert result.fun == expected.fun < 1.0


def as_arrays(function):
    """Return a function that returns arrays of NumPy, of one that returns tensors."""
    if not callable(function):
        return function

    def plain(*args):
        result = function(*args)
        return tuple(map(np.array, result)) if isinstance(result, tuple) else np.array(result)

    return plain


@pytest.mark.parametrize("method", one_in(3, FIRST + SECOND))
@pytest.mark.parametrize("fun", [loss, pair, lambda x: (loss(x), gradient(x))])
def test_gradients_are_tensors(method, fun):
    second = {"hess": hessian} if method in SECOND else {}
    minimized(method, fun=fun, jac=gradient if fun is loss else True, **second)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-constr", "trust-ncg", "trust-krylov"])
def test_products_with_the_hessian_are_tensors(method):
    minimized(method, jac=gradient, hessp=product)
    if method in FIRST:
        minimized(method, jac=gradient, hess=hessian)


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", "COBYQA"])
def test_values_alone_are_tensors(method):
    minimized(method)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_are_tensors(method):
    def circle(x):
        x = ng.asarray(x)
        return ng.stack([x[0] ** 2 + x[1] ** 2, x[2]])

    options = {"jac": lambda x: func.jacrev(circle)(ng.tensor(x))}
    if method == "trust-constr":
        options["hess"] = lambda x, v: func.hessian(lambda u: ng.sum(circle(u) * v))(ng.tensor(x))
    constraint = optimize.NonlinearConstraint(circle, [0.0, -3.0], [1.0, 3.0], **options)
    minimized(method, jac=gradient, constraints=constraint)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
@pytest.mark.parametrize("weights", ["linear", "soft_l1"])
def test_least_squares_with_tensors(method, weights):
    if method == "lm" and weights != "linear":
        pytest.skip("lm takes no other loss")
    result = optimize.least_squares(residuals, START, jac=slopes, method=method, loss=weights)
    np.testing.assert_allclose(result.x, 1.0, rtol=1e-3)


def test_what_a_solver_writes_to_is_no_memory_of_a_tensor():
    kept = ng.tensor(np.eye(2))
    optimize.least_squares(
        lambda x: 3.0 * (ng.asarray(x) - 1.0), [0.0, 0.0], jac=lambda x: kept, loss="cauchy"
    )
    np.testing.assert_array_equal(kept.numpy(), np.eye(2))


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "anderson", "df-sane"])
def test_roots_with_tensors(method):
    def f(x):
        x = ng.asarray(x)
        return ng.stack([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])

    jac = (lambda x: func.jacrev(f)(ng.tensor(x))) if method in ("hybr", "lm") else None
    result = optimize.root(f, np.zeros(2), jac=jac, method=method)
    np.testing.assert_allclose(result.x, [0.8411639, 0.1588361], rtol=1e-4)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_differential_equations_with_tensors(method):
    def f(t, y):
        y = ng.asarray(y)
        return ng.stack([y[1], -y[0]])

    options = {"jac": lambda t, y: func.jacrev(lambda u: f(t, u))(ng.tensor(y))}
    options = options if method in ("Radau", "BDF", "LSODA") else {}
    found = integrate.solve_ivp(
        f, (0.0, 1.0), ng.tensor([1.0, 0.0]), method=method, rtol=1e-8, atol=1e-8, **options
    )
    np.testing.assert_allclose(found.y[:, -1], [np.cos(1.0), -np.sin(1.0)], atol=1e-5)


WEIGHT = ng.tensor(2.0, requires_grad=True)


@pytest.mark.usefixtures("scipy_as_it_is")
@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", *FIRST, "COBYLA", "COBYQA"])
def test_a_value_that_requires_grad_says_so(method):
    jac = gradient if method == "Newton-CG" else None
    with pytest.raises(DetachedError, match="no gradient is to flow"):
        optimize.minimize(lambda x: WEIGHT * loss(x), START, method=method, jac=jac)


@pytest.mark.usefixtures("scipy_as_it_is")
@pytest.mark.parametrize("method", FIRST)
def test_a_gradient_that_requires_grad_says_so(method):
    with pytest.raises(DetachedError, match="no gradient is to flow"):
        optimize.minimize(loss, START, method=method, jac=lambda x: WEIGHT * gradient(x))


@pytest.mark.usefixtures("scipy_as_it_is")
@pytest.mark.parametrize(
    "solve",
    [
        lambda f: optimize.least_squares(f, START),
        lambda f: optimize.leastsq(f, START),
        lambda f: optimize.root(f, START),
        lambda f: optimize.fsolve(f, START),
        lambda f: optimize.newton(lambda x: f(x)[0], START, fprime=np.cos).sum(),
        lambda f: optimize.differential_evolution(lambda x: f(x)[0], [(0, 1)] * 2, maxiter=1),
        lambda f: integrate.solve_ivp(lambda t, y: f(y), (0, 1), START),
        lambda f: integrate.odeint(lambda y, t: f(y), START, [0.0, 1.0]),
        lambda f: integrate.quad(lambda x: f([x])[0], 0.0, 1.0),
    ],
)
def test_solvers_do_not_swallow_it(solve):
    with pytest.raises(DetachedError):
        solve(lambda x: WEIGHT * ng.asarray(x))


@pytest.mark.parametrize(
    "name",
    ["DetachedError", "CaptureError", "InplaceError", "FreedGraphError", "NoGradError",
     "NotDifferentiableError", "AnomalyError", "GraphError", "CustomGradError"],
)  # fmt: skip
def test_what_keeps_a_wrong_number_away_is_nothing_that_libraries_catch(name):
    caught = TypeError, ValueError, AttributeError, LookupError
    assert not issubclass(getattr(errors, name), caught)
