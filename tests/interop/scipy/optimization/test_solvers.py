"""SciPy's solvers with exact derivatives find what they find with its own, in fewer calls."""

import warnings

import numpy as np
import pytest
from scipy import integrate, optimize

import numgrad as ng
from numgrad.errors import ArgTypeError, ImplicitGradError
from tests.sampling import one_in

from ..differences import POINT, agree, diffusion, residuals, rosenbrock

scipy = ng.interop.scipy
FIRST = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP"]
SECOND = ["Newton-CG", "trust-ncg", "trust-exact", "trust-krylov", "trust-constr"]
NONE = ["Nelder-Mead", "Powell", "COBYLA", "COBYQA"]


def numpy_rosenbrock(x, a):
    return float((a * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


@pytest.mark.parametrize("method", [None, *FIRST, *SECOND])
@pytest.mark.parametrize("jit", [True, False])
def test_minima_are_those_of_derivatives_by_hand(method, jit):
    options = {"maxfun": 1000} if method == "TNC" else {}
    found = scipy.minimize(rosenbrock, POINT, (100.0,), method, jit=jit, options=options)
    second = {"hessp": optimize.rosen_hess_prod} if method in SECOND else {}
    if method == "trust-exact":
        second = {"hess": optimize.rosen_hess}
    expected = optimize.minimize(
        optimize.rosen, POINT, method=method, jac=optimize.rosen_der, options=options, **second
    )
    # Roundings differ, and iterations amplify them.
    atol = 5e-3 if method == "TNC" else 1e-4
    np.testing.assert_allclose(found.x, expected.x, atol=atol)
    assert found.nfev <= expected.nfev + 10
    assert type(found.x) is np.ndarray


@pytest.mark.parametrize("method", one_in(4, NONE))
def test_methods_without_gradients_get_none(method):
    found = scipy.minimize(rosenbrock, POINT, (100.0,), method)
    expected = optimize.minimize(numpy_rosenbrock, POINT, (100.0,), method)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-6)


@pytest.mark.parametrize(
    ("method", "hess"),
    [("trust-constr", "dense"), ("trust-constr", "sparse"), ("trust-constr", "operator"),
     ("Newton-CG", "dense"), ("Newton-CG", "operator"), ("trust-ncg", "sparse"),
     ("trust-ncg", "operator"), ("trust-exact", "dense")],
)  # fmt: skip
def test_forms_of_the_hessian(method, hess):
    found = scipy.minimize(rosenbrock, POINT, (100.0,), method, hess=hess, tol=1e-10)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


@pytest.mark.parametrize("hess", ["sparse", "operator"])
def test_a_method_that_knows_arrays_alone_gets_products(hess):
    found = scipy.minimize(rosenbrock, POINT, (100.0,), "trust-krylov", hess=hess)
    products = scipy.minimize(rosenbrock, POINT, (100.0,), "trust-krylov")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)
    assert found.nhev == products.nhev


@pytest.mark.parametrize("method", ["dogleg", "trust-exact"])
@pytest.mark.parametrize("hess", ["sparse", "operator"])
def test_methods_that_take_arrays_alone_say_so(method, hess):
    with pytest.raises(ArgTypeError, match=f"{method}.*as an array, not {hess}"):
        scipy.minimize(rosenbrock, POINT, (100.0,), method, hess=hess)


def test_what_the_user_gives_is_passed_on():
    seen = []
    found = scipy.minimize(
        rosenbrock, POINT, (100.0,), "BFGS", jac="3-point", options={"maxiter": 2},
        callback=lambda xk: seen.append(xk),
    )  # fmt: skip
    assert found.nit == len(seen) == 2
    assert found.nfev > 2 * 7  # differences
    found = scipy.minimize(
        rosenbrock, POINT, (100.0,), "trust-constr", hess=optimize.BFGS(), bounds=[(-2, 0.5)] * 3
    )
    assert found.x.max() <= 0.5


def test_pairs_of_value_and_derivative_are_refused():
    for solver in (scipy.minimize, scipy.root):
        with pytest.raises(TypeError, match="return the value alone"):
            solver(lambda x: (x.sum(), x), POINT, jac=True)


def test_nothing_to_solve():
    a = ng.tensor(2.0, requires_grad=True)
    for method in ("hybr", "newton"):
        x = scipy.root(lambda x, a: a * x, np.zeros((0, 2)), (a,), method).x
        assert x.shape == (0, 2)
        assert ng.grad(x.sum(), a)[0].item() == 0.0
    empty = np.zeros(0, int)
    assert scipy.spsolve((ng.zeros(0), empty, [0]), np.zeros(0)).shape == (0,)
    found = scipy.solve_ivp(lambda t, y, a: a * y, (0.0, 1.0), np.zeros(0), args=(a,), t_eval=[1.0])
    assert found.y.shape == (0, 1)


def test_what_is_no_system_of_equations():
    for method in ("hybr", "newton"):
        with pytest.raises(TypeError, match="returned 1 numbers for 3 unknowns"):
            scipy.root(lambda x: x[:1], POINT, method=method)
    with pytest.raises(TypeError, match="returned 1 numbers for 3 unknowns"):
        scipy.fixed_point(lambda x: x.sum(), POINT)
    for solver in (scipy.root, scipy.minimize, scipy.least_squares, scipy.fixed_point):
        with pytest.raises(TypeError, match="lack a return statement"):
            solver(lambda x: None, POINT)


CIRCLE = {"fun": lambda x: ng.stack([x[0] ** 2 + x[1] ** 2, x[2]]), "lb": [0.0, -3.0], "ub": [1, 3]}


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_nonlinear_constraints(method):
    def numbers(x):
        return np.array([x[0] ** 2 + x[1] ** 2, x[2]])

    ours = optimize.NonlinearConstraint(**CIRCLE)
    start = np.zeros(3)
    found = scipy.minimize(rosenbrock, start, (100.0,), method, constraints=ours)
    plain = optimize.NonlinearConstraint(numbers, CIRCLE["lb"], CIRCLE["ub"])
    expected = optimize.minimize(
        optimize.rosen, start, method=method, jac=optimize.rosen_der, constraints=plain
    )
    np.testing.assert_allclose(found.x, expected.x, atol=1e-3)
    assert found.x[0] ** 2 + found.x[1] ** 2 == pytest.approx(1.0, abs=1e-4)


def test_constraints_as_dictionaries_and_linear_ones():
    equal = {"type": "eq", "fun": lambda x, c: x[0] - x[1] + c, "args": (0.2,)}
    found = scipy.minimize(rosenbrock, np.zeros(3), method="SLSQP", constraints=equal)
    assert found.x[0] - found.x[1] == pytest.approx(-0.2)
    above = optimize.LinearConstraint(np.eye(3)[:1], [-np.inf], [0.3])
    by_hand = {"type": "ineq", "fun": lambda x: 0.5 - x[1], "jac": lambda x: np.array([0, -1.0, 0])}
    found = scipy.minimize(rosenbrock, np.zeros(3), method="SLSQP", constraints=[above, by_hand])
    assert found.x[0] <= 0.3 + 1e-12
    assert found.x[1] <= 0.5 + 1e-12


@pytest.mark.parametrize("method", ["BFGS", "Nelder-Mead", "L-BFGS-B"])
def test_an_objective_must_be_one_number(method):
    with pytest.raises(ImplicitGradError, match="use least_squares"):
        scipy.minimize(residuals, POINT, method=method)


def test_unknowns_of_any_shape():
    target = np.arange(6.0).reshape(2, 3)
    found = scipy.minimize(lambda x: ((x - target) ** 2).sum(), np.zeros((2, 3)))
    np.testing.assert_allclose(found.x, target, atol=1e-6)
    found = scipy.least_squares(lambda x: x - target, np.zeros((2, 3)))
    np.testing.assert_allclose(found.x, target, atol=1e-12)
    found = scipy.root(lambda x: x**3 + x - target, np.zeros((2, 3), np.float32))
    np.testing.assert_allclose(found.x**3 + found.x, target, atol=1e-8)
    assert scipy.root(lambda x: x**3 + x - 2.0, 0.0).x.shape == ()


CASES = [(method, jac, loss) for method in ("trf", "dogbox") for loss in ("linear", "cauchy")
         for jac in ("dense", "sparse", "operator", "2-point")]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "jac", "loss"), [*CASES, ("lm", "dense", "linear"), ("lm", "2-point", "linear")]
)
def test_least_squares(method, jac, loss):
    start = np.array([0.8, 0.7, 0.5])
    found = scipy.least_squares(residuals, start, jac, args=(10.0,), method=method, loss=loss)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)
    calls = []

    def numbers(x):
        calls.append(None)
        return np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])

    plain = optimize.least_squares(numbers, start, method=method, loss=loss)
    np.testing.assert_allclose(found.x, plain.x, atol=1e-4)
    if jac == "dense":
        assert found.nfev < 0.5 * len(calls)  # which are those of the differences, too


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "anderson", "df-sane", "newton"])
@pytest.mark.parametrize("jit", [True, False])
def test_roots(method, jit):
    def f(x, a):
        return [x[0] + 0.5 * (x[0] - x[1]) ** 3 - a, 0.5 * (x[1] - x[0]) ** 3 + x[1]]

    found = scipy.root(f, np.zeros(2), (1.0,), method, jit=jit)
    assert found.success
    np.testing.assert_allclose(found.x, [0.8411639, 0.1588361], atol=1e-5)


def test_an_exact_jacobian_saves_evaluations():
    found = scipy.root(diffusion, np.ones(50), (0.01,))
    plain = optimize.root(lambda x: np.diff(np.pad(x, 1), 2) + 0.01 * np.exp(0.1 * x), np.ones(50))
    np.testing.assert_allclose(found.x, plain.x, atol=1e-8)
    assert found.nfev < plain.nfev - 40
    assert found.njev == 1


@pytest.mark.parametrize("jac", ["dense", "sparse", "operator"])
def test_newtons_method(jac):
    found = scipy.root(diffusion, np.ones(30), (0.01,), "newton", jac)
    assert found.success
    assert found.nit < 8
    x = found.x
    rest = np.diff(np.pad(x, 1), 2) + 0.01 * np.exp(0.1 * x)
    assert np.abs(rest).max() < 1e-13


def test_newtons_method_halves_steps_and_gives_up():
    found = scipy.root(lambda x: np.arctan(x), np.array([3.0]), method="newton")  # diverges without
    np.testing.assert_allclose(found.x, 0.0, atol=1e-12)
    found = scipy.root(lambda x: x * x + 1.0, np.array([1.5]), method="newton")
    assert not found.success
    found = scipy.root(np.arctan, np.array([3.0]), method="newton", options={"maxiter": 1})
    assert not found.success
    assert "maximum number" in found.message
    with pytest.raises(TypeError, match="newton"):
        scipy.root(np.arctan, np.array([3.0]), method="newton", options={"xtol": 1.0})
    with pytest.raises(ValueError, match="takes a dense Jacobian"):
        scipy.root(diffusion, np.ones(3), (0.1,), "hybr", "sparse")


def robertson(t, y):
    a, b = 0.04 * y[0], 1e4 * y[1] * y[2]
    c = 3e7 * y[1] ** 2
    return ng.stack([b - a, a - b - c, c])


@pytest.mark.parametrize("method", one_in(3, ["BDF", "Radau", "LSODA"], 1))
@pytest.mark.parametrize("jac", ["dense", "sparse"])
def test_stiff_problems(method, jac):
    options = {"rtol": 1e-8, "atol": 1e-12, "t_eval": [0.4, 4.0, 40.0]}
    found = scipy.solve_ivp(robertson, (0.0, 40.0), [1.0, 0.0, 0.0], method, jac=jac, **options)
    expected = [0.98517, 0.90552, 0.71583]  # Hairer and Wanner, and others since 1966
    np.testing.assert_allclose(found.y[0], expected, atol=1e-5)
    plain = integrate.solve_ivp(
        lambda t, y: robertson(t, y).numpy(), (0.0, 40.0), [1.0, 0.0, 0.0], method, **options
    )
    np.testing.assert_allclose(found.y, plain.y, rtol=1e-5)
    if method != "LSODA":
        assert found.nfev <= plain.nfev


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
def test_explicit_methods_and_shapes(method):
    found = scipy.solve_ivp(
        lambda t, y, w: w * y[::-1], (0.0, 1.0), np.array([[1.0, 0.0], [0.0, 2.0]]), method,
        args=(np.array([[1.0], [-1.0]]),), rtol=1e-9, atol=1e-9, events=lambda t, y: y[0] - 0.9,
    )  # fmt: skip
    assert found.y.shape == (2, 2, found.t.size)
    np.testing.assert_allclose(found.y[:, :, -1][:, 0], [np.cos(1.0), -np.sin(1.0)], atol=1e-6)
    assert found.t_events[0].size == 1


def test_nothing_warns_where_scipy_does_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scipy.minimize(rosenbrock, POINT, method="COBYQA")
        scipy.minimize(rosenbrock, POINT, method="trust-constr", hess="operator")
        scipy.solve_ivp(robertson, (0.0, 1.0), [1.0, 0.0, 0.0])
    agree(scipy.minimize(rosenbrock, POINT).fun, 0.0, 1e-8)


def test_products_with_the_hessian_that_the_user_gives_are_taken():
    asked = []

    def hessp(x, p):
        asked.append(1)
        return optimize.rosen_hess_prod(x, p)

    function = lambda x: rosenbrock(x, 100.0)  # noqa: E731
    found = scipy.minimize(function, np.zeros(3), method="trust-ncg", hessp=hessp)
    assert found.success
    assert asked
