"""Solutions as functions of their arguments: first and second derivatives against differences of
whole solves, and how many systems they cost."""

import numpy as np
import pytest
from scipy import sparse

import numgrad as ng
from numgrad.errors import (
    ConvergenceError,
    MatrixError,
    NotDifferentiableError,
)
from tests.sampling import one_in

from ..differences import agree, checked, derivative, diffusion

scipy = ng.interop.scipy
A = np.array([1.0, 0.1])


def cubic(x, a, b):
    return [
        x[0] + 0.5 * (x[0] - x[1]) ** 3 - a[0],
        0.5 * (x[1] - x[0]) ** 3 + b * x[1] + a[1] * x[0],
    ]


def root(a, **options):
    return scipy.root(cubic, np.zeros(2), (a, 1.3), tol=1e-14, **options).x


@pytest.mark.parametrize("jit", one_in(2, [True, False]))
@pytest.mark.parametrize("jac", one_in(3, ["dense", "sparse", "operator"], 1))
def test_roots(jac, jit):
    checked(lambda a: root(a, jac=jac, jit=jit), A)


def test_third_derivatives():
    total = lambda a: (root(a) ** 3).sum()  # noqa: E731
    third = ng.func.jacrev(ng.func.hessian(total))
    agree(third(A), derivative(ng.func.hessian(total), A), 1e-7)


@pytest.mark.parametrize("jit", [True, False])
def test_arguments_that_are_written_before_the_backward_pass(jit):
    a, offset = ng.tensor(A, requires_grad=True), np.array([0.5, 0.25])
    f = lambda x, a, offset: x**3 + offset * x - a  # noqa: E731
    b = a * 1.0
    found = scipy.root(f, np.ones(2), (b, offset), tol=1e-14, jit=jit).x
    x = found.detach().numpy()
    b *= 7.0
    offset *= 9.0
    expected = 1.0 / (3.0 * x**2 + np.array([0.5, 0.25]))
    agree(ng.grad(found.sum(), a)[0].numpy(), expected, 1e-12)


def test_arguments_in_containers_and_of_other_kinds():
    def f(x, options, name, scale):
        assert name == "cubic"
        return x**3 + options["b"][0] * x - scale * options["c"]

    def solved(b, c):
        options = {"b": (b, None), "c": c}
        return scipy.root(f, np.ones(2), (options, "cubic", np.float64(2.0)), tol=1e-14).x

    b, c = np.array(1.5), np.array([1.0, 2.0], np.float32)
    gb, gc = ng.func.jacrev(solved, argnums=(0, 1))(b, c)
    x = np.asarray(solved(b, c))
    agree(gb, -x / (3.0 * x**2 + b), 1e-9)
    agree(gc, np.diag(2.0 / (3.0 * x**2 + b)), 1e-6)
    assert gc.dtype == np.float32


def test_tensors_in_tensors_out():
    plain = scipy.root(cubic, np.zeros(2), (A, 1.3)).x
    assert type(plain) is np.ndarray
    constant = scipy.root(cubic, np.zeros(2), (ng.tensor(A), 1.3)).x
    assert isinstance(constant, ng.Tensor)
    assert not constant.requires_grad
    np.testing.assert_array_equal(constant.numpy(), plain)
    with ng.no_grad():
        assert not scipy.root(
            cubic, np.zeros(2), (ng.tensor(A, requires_grad=True), 1.3)
        ).x.requires_grad


def test_a_gradient_costs_one_transposed_solve(systems):
    a = ng.tensor(A, requires_grad=True)
    x = root(a)
    assert systems["solved"] == []
    ng.grad(x.sum(), a, retain_graph=True)
    assert systems == {"solved": [((2,), True)], "factorised": 1}
    ng.grad(x, a, np.eye(2), is_grads_batched=True, retain_graph=True)
    assert systems["solved"][1:] == [((2, 2), True)]
    (slope,) = ng.grad(x.sum(), a, create_graph=True)
    ng.grad(slope.sum(), a)
    assert systems["factorised"] == 1
    assert len(systems["solved"]) == 5  # once again, and for its own derivative one of each kind


def test_large_sparse_roots(systems):
    n = 10_000
    a = ng.tensor(1e-9, requires_grad=True)
    found = scipy.root(diffusion, np.ones(n), (a,), jac="sparse", options={"maxiter": 20})
    (slope,) = ng.grad(found.x.sum(), a)
    assert systems == {"solved": [((n,), True)], "factorised": 1}
    x = found.x.detach().numpy()
    rate = 1e-9 * np.exp(0.1 * x)
    jacobian = sparse.diags_array(
        [np.ones(n - 1), 0.1 * rate - 2.0, np.ones(n - 1)], offsets=[-1, 0, 1], format="csc"
    )
    expected = -sparse.linalg.spsolve(jacobian, rate / 1e-9).sum()
    assert slope.item() == pytest.approx(expected, rel=1e-6)


def test_a_start_that_requires_grad_has_no_gradient():
    start = ng.tensor([1.0], requires_grad=True)
    a = ng.tensor(2.0, requires_grad=True)
    x = scipy.root(lambda x, a: x * x - a, start, (a,)).x
    assert ng.grad(x.sum(), [start, a], allow_unused=True)[0] is None


def test_no_solution_has_no_derivative():
    a = ng.tensor(1.0, requires_grad=True)
    for options in ({}, {"method": "newton"}):
        with pytest.raises(ConvergenceError, match="has not converged"):
            scipy.root(lambda x, a: x * x + a, [1.5], (a,), **options)
    assert not scipy.root(lambda x, a: x * x + a, [1.5], (1.0,)).success
    with pytest.raises(ConvergenceError):
        scipy.minimize(
            lambda x, a: (x[0] - a) ** 4 + x[1] ** 2, np.ones(2) * 3, (a,), options={"maxiter": 1}
        )
    with pytest.raises(ConvergenceError, match="fixed_point"):
        scipy.fixed_point(lambda x, a: 3.0 * x + a, [1.0], (a,), method="iteration", maxiter=20)


def test_a_solver_that_found_more_than_it_says_is_believed():
    a = ng.tensor(A, requires_grad=True)
    start = root(A)
    found = scipy.root(cubic, start, (a, 1.3), "newton", options={"maxiter": 0})
    assert not found.success
    expected = derivative(lambda a: root(a).sum(), A)
    agree(ng.grad(found.x.sum(), a)[0].numpy(), expected, 1e-8)


@pytest.mark.parametrize("jac", ["dense", "sparse"])
def test_a_singular_system_is_named(jac):
    a = ng.tensor(1.0, requires_grad=True)

    def line(x, a):  # a whole line of roots
        return [x[0] + x[1] - a, 2.0 * (x[0] + x[1] - a)]

    x = scipy.root(line, np.array([0.25, 0.75]), (a,), "df-sane", jac="dense").x
    if jac == "sparse":
        with pytest.raises(MatrixError, match=r"root: .* singular to working precision"):
            scipy.root(line, np.array([0.2, 0.7]), (a,), jac="sparse")
    else:
        with pytest.raises(MatrixError, match=r"root: .* singular to working precision"):
            ng.grad(x.sum(), a)


# Minima -------------------------------------------------------------------------------------------


def bowl(x, a):
    return (a[0] * (x[1:] - x[:-1] ** 2) ** 2 + (a[1] - x[:-1]) ** 2 + 0.1 * x[1:] ** 4).sum()


BOWL = np.array([3.0, 1.2])


def polished(method, **options):
    """Minimise, then let Newton's method find the last digits: for differences."""
    tight = {"tol": 1e-12} if method != "L-BFGS-B" else {"options": {"ftol": 1e-16, "gtol": 1e-11}}
    return lambda a: scipy.minimize(bowl, np.ones(3), (a,), method, **tight, **options).x


def stationary(a):
    return scipy.root(lambda x, a: ng.func.grad(bowl)(x, a), np.ones(3), (a,), "newton").x


@pytest.mark.parametrize(
    ("method", "hess"),
    one_in(2, [
        pytest.param("BFGS", None), pytest.param("BFGS", "sparse"),
        pytest.param("BFGS", "operator"), pytest.param("trust-constr", "dense"),
    ], 1),
)  # fmt: skip
def test_minima(method, hess):
    first = ng.func.jacrev(polished(method, hess=hess))
    agree(first(BOWL), derivative(stationary, BOWL), 1e-6)
    agree(ng.func.jacrev(first)(BOWL), derivative(ng.func.jacrev(stationary), BOWL), 1e-5)


def test_the_value_at_a_minimum():
    best = lambda a: scipy.minimize(bowl, np.ones(3), (a,), tol=1e-10).fun  # noqa: E731
    by_newton = lambda a: bowl(ng.asarray(stationary(a)), a).numpy()  # noqa: E731
    agree(ng.func.grad(best)(BOWL), derivative(by_newton, BOWL), 1e-8)
    agree(ng.func.hessian(best)(BOWL), derivative(ng.func.grad(best), BOWL), 1e-6)


@pytest.mark.parametrize(
    ("method", "hess"),
    one_in(2, [
        pytest.param("L-BFGS-B", "dense"), pytest.param("L-BFGS-B", "sparse"),
        pytest.param("L-BFGS-B", "operator"), pytest.param("trust-constr", "sparse"),
    ], 1),
)  # fmt: skip
def test_elements_at_a_bound_stay_there(method, hess):
    bounds = [(None, 0.5), (None, None), (-3.0, 3.0)]
    found = ng.func.jacrev(polished(method, bounds=bounds, hess=hess))(BOWL)

    def fixed(a):
        slope = lambda x, a: ng.func.grad(bowl)(ng.concat([[0.5], x]), a)[1:]  # noqa: E731
        return np.append(0.5, scipy.root(slope, np.ones(2), (a,), "newton").x)

    agree(found, derivative(fixed, BOWL), 1e-5)
    assert np.abs(found[0]).max() < 1e-14


def test_a_solver_that_stops_beside_a_bound_is_not_believed():
    """SciPy's own start on a bound: it does not move from there, and says that it has converged."""
    y = ng.tensor([3.0, 1.0], requires_grad=True)
    options = {"bounds": (0.0, [1.0, 2.0]), "args": (y,)}
    with pytest.raises(ConvergenceError, match=r"element 0 is at .*, not at a bound"):
        scipy.least_squares(lambda x, y: x - y, np.zeros(2), **options)
    found = scipy.least_squares(lambda x, y: x - y, np.full(2, 0.5), **options)
    (slope,) = ng.grad(found.x, y, np.eye(2), is_grads_batched=True)
    np.testing.assert_allclose(slope.numpy(), np.diag([0.0, 1.0]), atol=1e-12)


def test_minima_under_constraints_are_refused():
    a = ng.tensor(BOWL, requires_grad=True)
    constraint = {"type": "eq", "fun": lambda x: x[0] - 0.3}
    with pytest.raises(NotDifferentiableError, match="under constraints"):
        scipy.minimize(bowl, np.ones(3), (a,), "SLSQP", constraints=constraint)
    scipy.minimize(bowl, np.ones(3), (a.detach(),), "SLSQP", constraints=constraint)


TIMES = np.linspace(0.0, 2.0, 7)
DATA = np.exp(-1.3 * TIMES) + 0.05 * np.sin(9.0 * TIMES)


def decay(x, y):
    return x[0] * np.exp(-x[1] * TIMES) - y


def weighted(z, loss):
    return {
        "linear": lambda: z,
        "soft_l1": lambda: 2.0 * ((1.0 + z) ** 0.5 - 1.0),
        "cauchy": lambda: np.log1p(z),
        "arctan": lambda: np.arctan(z),
        "huber": lambda: ng.where(z < 1.0, z, 2.0 * ng.maximum(z, 1.0) ** 0.5 - 1.0),
    }[loss]()


@pytest.mark.parametrize(
    ("loss", "jac"),
    one_in(4, [
        *[pytest.param("linear", jac) for jac in ("operator", "dense", "sparse")],
        *[pytest.param(loss, "dense") for loss in ("cauchy", "soft_l1", "arctan", "huber")],
    ]),
)  # fmt: skip
def test_least_squares(loss, jac):
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "loss": loss, "f_scale": 0.06}
    fit = lambda y: scipy.least_squares(decay, [1.0, 1.3], jac, args=(y,), **tight).x  # noqa: E731

    def equations(x, y):
        return ng.func.grad(lambda x: weighted((decay(x, y) / 0.06) ** 2, loss).sum())(x)

    by_newton = lambda y: scipy.root(equations, fit(y), (y,), "newton").x  # noqa: E731
    first = ng.func.jacrev(fit)(DATA)
    agree(first, derivative(by_newton, DATA, 1e-5), 1e-6)


def test_residuals_and_cost_of_a_fit_and_bounds():
    y = ng.tensor(DATA, requires_grad=True)
    bounds = ([0.0, 0.0], [2.0, 1.2])
    found = scipy.least_squares(decay, [1.0, 1.0], bounds=bounds, args=(y,), xtol=1e-14)
    np.testing.assert_allclose(found.cost.item(), 0.5 * (found.fun.detach().numpy() ** 2).sum())
    (slope,) = ng.grad(found.cost, y, retain_graph=True)
    np.testing.assert_allclose(slope.numpy(), -found.fun.detach().numpy(), atol=1e-6)
    shape = np.exp(-1.2 * TIMES)
    gx = ng.grad(found.x[0], y)[0].numpy()
    np.testing.assert_allclose(
        gx, shape / (shape @ shape), atol=1e-6
    )  # linear once the rate is fixed
    with pytest.raises(NotDifferentiableError, match="by name"):
        scipy.least_squares(
            decay, [1.0, 1.0], args=(y,), loss=lambda z: np.stack([z, np.ones_like(z), 0.0 * z])
        )


# Fixed points -------------------------------------------------------------------------------------


@pytest.mark.parametrize("jac", one_in(3, ["dense", "sparse", "operator"]))
@pytest.mark.parametrize("method", one_in(2, ["del2", "iteration"]))
def test_fixed_points(jac, method):
    def g(x, a):
        return np.cos(a * x) + 0.1 * x[::-1]

    options = {"xtol": 1e-14, "jac": jac, "method": method}
    checked(lambda a: scipy.fixed_point(g, np.ones(3), (a,), **options), np.array([0.5, 0.6, 0.7]))


def test_memory_of_a_fixed_point_does_not_grow_with_its_iterations():
    calls = []

    def g(x, a):
        calls.append(None)
        return 0.99 * x + 0.01 * np.cos(a * x)

    a = ng.tensor(0.5, requires_grad=True)
    scipy.fixed_point(g, [1.0], (a,), method="iteration", maxiter=4000)
    assert len(calls) < 10  # recorded, captured; never recorded step by step
