"""Initial value problems as functions of start and arguments: order of the error, adjoints of both
kinds against differences of tight solves, refusals."""

import numpy as np
import pytest
from scipy import integrate

import numgrad as ng
from numgrad.errors import ConvergenceError, NotDifferentiableError
from numgrad.interop.scipy.integration.continuous import Problem
from numgrad.interop.scipy.integration.steps import ClosedRun
from tests.sampling import exhaustive, one_in

from ..differences import agree, derivative

solve_ivp = ng.interop.scipy.solve_ivp
START, RATES = np.array([1.0, 2.0, 2.0]), np.array([2.0, 3.0, 2.5])
TIMES = np.array([0.0, 0.3, 0.55, 1.0])


def lorenz(t, y, p):
    return [
        p[0] * (y[1] - y[0]),
        y[0] * (p[1] - y[2]) - y[1] + np.sin(t),
        y[0] * y[1] - p[2] * y[2],
    ]


def states(method, span=(0.0, 1.0), times=TIMES, **options):
    return lambda y0, p: solve_ivp(lorenz, span, y0, method, times, (p,), **options).y


TIGHT = states("DOP853", rtol=1e-13, atol=1e-13)


@pytest.fixture(scope="module")
def expected():
    """Derivatives of the exact solution, by differences of a tight one."""
    return (
        derivative(lambda y0: TIGHT(y0, RATES), START),
        derivative(lambda p: TIGHT(START, p), RATES),
    )


def jacobians(f):
    return ng.func.jacrev(f, argnums=(0, 1))(START, RATES)


@pytest.mark.parametrize(("method", "order"), [("Euler", 1), ("RK4", 4)])
def test_the_gradient_converges_at_the_order_of_the_method(method, order, expected):
    errors = []
    for step in (0.05, 0.025, 0.0125):
        found = jacobians(states(method, step=step))
        errors.append([np.abs(a - b).max() for a, b in zip(found, expected, strict=True)])
    rates = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert (rates > order - 0.3).all()


@pytest.mark.parametrize(
    ("method", "options", "tolerance"),
    [
        ("RK23", {"rtol": 1e-6, "atol": 1e-6}, 1e-5),
        ("RK45", {"rtol": 1e-8, "atol": 1e-8}, 1e-7),
        ("RK45", {"rtol": 1e-8, "atol": 1e-8, "jit": False}, 1e-7),
        ("DOP853", {"rtol": 1e-10, "atol": 1e-10}, 1e-9),
        ("RK45", {"rtol": 1e-8, "atol": 1e-8, "adjoint": "continuous"}, 1e-7),
        ("DOP853", {"rtol": 1e-9, "atol": 1e-9, "adjoint": "continuous"}, 1e-8),
        ("Radau", {"rtol": 1e-7, "atol": 1e-7}, 1e-6),
        ("Radau", {"rtol": 1e-7, "atol": 1e-7, "jac": "sparse"}, 1e-6),
        ("BDF", {"rtol": 1e-7, "atol": 1e-7}, 1e-5),
        ("LSODA", {"rtol": 1e-7, "atol": 1e-7}, 1e-5),
    ],
)
def test_adjoints(method, options, tolerance, expected):
    f = states(method, **options)
    agree(f(START, RATES), TIGHT(START, RATES), tolerance)
    for found, known in zip(jacobians(f), expected, strict=True):
        agree(found, known, tolerance)


@pytest.mark.parametrize("method", ["RK4", "Euler"])
def test_a_discrete_adjoint_is_that_of_the_numbers(method):
    f = states(method, step=0.07)
    found = jacobians(f)
    agree(found[0], derivative(lambda y0: f(y0, RATES), START), 1e-10)
    agree(found[1], derivative(lambda p: f(START, p), RATES), 1e-10)


@exhaustive
def test_second_derivatives():
    def total(f):
        return lambda p: (f(START, p)[:, 1:] ** 2).sum()

    fixed, adaptive = states("RK4", step=0.1), states("RK45", rtol=1e-9, atol=1e-9)
    found = ng.func.hessian(total(fixed))(RATES)
    agree(found, derivative(ng.func.grad(total(fixed)), RATES), 1e-9)
    found = ng.func.hessian(total(adaptive))(RATES)
    agree(found, derivative(ng.func.grad(total(TIGHT)), RATES), 1e-6)


def test_all_steps_and_backwards_in_time():
    p = ng.tensor(RATES, requires_grad=True)
    found = solve_ivp(lorenz, (0.0, 1.0), START, args=(p,))
    assert found.y.shape == (3, found.t.size)
    plain = solve_ivp(lorenz, (0.0, 1.0), START, args=(RATES,))
    np.testing.assert_allclose(found.y.detach().numpy(), plain.y, rtol=1e-14)
    np.testing.assert_array_equal(found.t, plain.t)
    times = np.array([0.8, 0.1, 0.0])
    tight = states("DOP853", (1.0, 0.0), times, rtol=1e-13, atol=1e-13)
    expected = derivative(lambda p: tight(START, p), RATES)
    close = {"rtol": 1e-8, "atol": 1e-8}
    for method, options in (("RK45", close), ("RK4", {"step": 0.01}), ("Radau", close)):
        agree(jacobians(states(method, (1.0, 0.0), times, **options))[1], expected, 1e-5)


def test_shapes_containers_and_many_parameters():
    def pull(t, y, options):
        return options["k"] * (options["c"] - y)

    def final(k, c):
        options = {"rtol": 1e-10, "atol": 1e-10, "t_eval": [1.0]}
        args = ({"k": k, "c": c, "name": "x"},)
        return solve_ivp(pull, (0.0, 1.0), np.zeros((2, 3)), args=args, **options).y

    k, c = np.array(0.7), np.arange(6.0).reshape(2, 3)
    assert final(k, c).shape == (2, 3, 1)
    gk, gc = ng.func.jacrev(final, argnums=(0, 1))(k, c)
    agree(gk[..., 0], c * np.exp(-0.7), 1e-8)
    agree(gc.reshape(6, 6), np.eye(6) * (1.0 - np.exp(-0.7)), 1e-8)


def test_tensors_in_tensors_out():
    for method, options in (("RK45", {}), ("RK4", {"step": 0.1}), ("BDF", {})):
        plain = solve_ivp(lorenz, (0.0, 1.0), START, method, args=(RATES,), **options)
        assert type(plain.y) is np.ndarray
        tensors = solve_ivp(lorenz, (0.0, 1.0), START, method, args=(ng.tensor(RATES),), **options)
        np.testing.assert_array_equal(tensors.y.numpy(), plain.y)
        assert not tensors.y.requires_grad
        np.testing.assert_array_equal(tensors.t, plain.t)


def test_a_stiff_batch_is_one_integration(monkeypatch):
    shapes = []
    adjoint = Problem.adjoint

    def counted(self, g, *rest):
        shapes.append(g.shape)
        return adjoint(self, g, *rest)

    monkeypatch.setattr(Problem, "adjoint", counted)

    def decay(t, y, k):
        return ng.stack([-k[0] * y[0], k[0] * y[0] - 1000.0 * (y[1] - np.sin(t))])

    def final(k):
        options = {"t_eval": [1.0], "rtol": 1e-8, "atol": 1e-10}
        return solve_ivp(decay, (0.0, 1.0), [1.0, 0.0], "BDF", args=(k,), **options).y

    k = np.array([0.5])
    agree(ng.func.jacrev(final)(k)[0, 0, 0], -np.exp(-0.5), 1e-5)
    assert shapes == [(2, 1, 2)]


def refused(message, **options):
    with pytest.raises((NotDifferentiableError, ValueError), match=message):
        solve_ivp(lorenz, options.pop("span", (0.0, 1.0)), START, args=(RATE,), **options)


RATE = ng.tensor(RATES, requires_grad=True)


def test_refusals():
    refused("no discrete adjoint here", method="BDF", adjoint="discrete")
    refused("the adjoint is discrete", method="RK4", step=0.1, adjoint="continuous")
    refused("adjoint must be", adjoint="both")
    refused("with events", events=lambda t, y: y[0])
    refused("needs a length of steps", method="RK4")
    refused("not within t_span", t_eval=[0.5, 1.5])
    refused("not properly sorted", t_eval=[0.5, 0.2])
    refused("one axis", t_eval=[[0.5]])


def test_second_derivatives_of_a_continuous_adjoint_are_refused():
    total = lambda p: (states("BDF")(START, p) ** 2).sum()  # noqa: E731
    with pytest.raises(NotDifferentiableError, match="once_differentiable"):
        ng.func.hessian(total)(RATES)


def test_what_blows_up_has_no_gradient():
    with pytest.raises(ConvergenceError, match="step size"):
        solve_ivp(lambda t, y, a: a[0] * y**2, (0.0, 2.0), [1.0], args=(RATE,))


@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_a_number_as_parameter_of_the_continuous_adjoint(method):
    a = ng.tensor(0.7, requires_grad=True)
    found = solve_ivp(
        lambda t, y, a: -a * y, (0.0, 1.0), [1.0], method, args=(a,), adjoint="continuous",
        rtol=1e-8, atol=1e-10,
    )  # fmt: skip
    (slope,) = ng.grad(found.y[0, -1], a)
    assert slope.shape == ()
    np.testing.assert_allclose(slope.item(), -np.exp(-0.7), rtol=1e-6)


@pytest.mark.parametrize(
    ("method", "options"),
    one_in(2, [
        pytest.param("RK4", {"step": 0.1}), pytest.param("RK23", {"rtol": 1e-4}),
        pytest.param("RK45", {"jit": False}),
    ]),
)  # fmt: skip
def test_forward_mode_steps_along_the_run(method, options, monkeypatch):
    f = states(method, **options)

    def second(outer, inner):
        return outer(inner(lambda p: f(START, p)[:, -1].sum()))(RATES)

    transforms = ng.func.jacrev, ng.func.jacfwd
    expected, *others = (second(a, b) for b in transforms for a in transforms)
    assert all(np.allclose(other, expected, rtol=1e-11) for other in others)
    rows = jacobians(f)
    monkeypatch.setattr(ClosedRun, "backward", None)  # which is not differentiated for it
    columns = ng.func.jacfwd(f, argnums=(0, 1))(START, RATES)
    for row, column in zip(rows, columns, strict=True):
        assert np.allclose(row, column, rtol=1e-12)
    tangents = np.array([1.0, -2.0, 0.5]), np.array([0.5, 0.0, 1.0])
    _, along = ng.func.jvp(f, (START, RATES), tangents)
    assert np.allclose(along, rows[0] @ tangents[0] + rows[1] @ tangents[1], rtol=1e-12)


def test_a_jacobian_of_the_user_gets_the_arguments_as_in_scipy():
    def rate(t, y, k):
        return [-k[0] * y[0], k[0] * y[0] - k[1] * y[1]]

    def jacobian(t, y, k):
        return np.array([[-k[0], 0.0], [k[0], -k[1]]])

    k, common = np.array([0.8, 0.3]), {"rtol": 1e-9, "atol": 1e-11}
    call = (0.0, 4.0), [1.0, 0.0]
    for method in ("BDF", "Radau"):
        options = {"jac": jacobian, "method": method, "args": (k,), **common}
        exact = integrate.solve_ivp(rate, *call, **options)
        found = solve_ivp(rate, *call, **options)
        np.testing.assert_allclose(found.y[:, -1], exact.y[:, -1], rtol=1e-8)
