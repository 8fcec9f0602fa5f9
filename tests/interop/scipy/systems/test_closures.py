"""Tensors that the function of a solver closes over: their gradients are those of arguments."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import DetachedError, InplaceError
from tests.sampling import one_in

from ..differences import agree

S = ng.interop.scipy
ODE = {"rtol": 1e-8, "atol": 1e-8}
TRIPLE = {"xtol": 1e-15, "gtol": 1e-15, "ftol": 1e-15}
START = np.array([1.0])


def _field(name):
    return lambda f, **o: S.least_squares(f, START, **TRIPLE, **o)[name]


def _minimum(name, **options):
    def solve(f, **o):
        def cost(x, *p):
            return (f(x, *p) ** 2 + x).sum()

        return S.minimize(cost, START, tol=1e-12, **options, **o)[name]

    return solve


def _state(**options):
    def solve(f, **o):
        found = S.solve_ivp(lambda t, y, *p: -f(y, *p) * t, (0.0, 1.0), START, **options, **o)
        return found.y[:, -1]

    return solve


TWICE = {
    "root": lambda f, **o: S.root(f, START, tol=1e-12, **o).x,
    "root, not captured": lambda f, **o: S.root(f, START, tol=1e-12, jit=False, **o).x,
    "root, sparse": lambda f, **o: S.root(f, START, jac="sparse", tol=1e-12, **o).x,
    "root, operator": lambda f, **o: S.root(f, START, jac="operator", tol=1e-12, **o).x,
    "fixed_point": lambda f, **o: S.fixed_point(lambda x, *p: x - 0.1 * f(x, *p), START, **o),
    "fsolve": lambda f, **o: S.fsolve(f, START, **o),
    "minimize": _minimum("x"),
    "minimize, fun": _minimum("fun"),
    "minimize, bounds": _minimum("x", bounds=[(0.0, None)]),
    "least_squares": _field("x"),
    "least_squares, fun": _field("fun"),
    "brentq": lambda f, **o: S.brentq(f, 0.0, 3.0, **o),
    "newton": lambda f, **o: S.newton(f, START, **o),
    "quad": lambda f, **o: S.quad(f, 0.0, 2.0, **o)[0],
    "RK45": _state(**ODE),
    "RK4": _state(method="RK4", step=0.1),
}
ONCE = {
    "BDF": _state(method="BDF", **ODE),
    "Radau, not captured": _state(method="Radau", jit=False, **ODE),
    "RK45, continuous": _state(adjoint="continuous", **ODE),
    "odeint": lambda f, **o: S.odeint(lambda y, t, *p: -f(y, *p) * t, START, [0.0, 1.0], **o)[-1],
}


def equation(x, p, q):
    return x**2 + q * x - p


@pytest.mark.parametrize("name", one_in(6, [*TWICE, *ONCE], 1))
@pytest.mark.filterwarnings("ignore:The iteration is not making:RuntimeWarning")
def test_they_have_the_gradients_of_arguments(name):
    solve = (TWICE | ONCE)[name]

    def passed(p):  # one of the tensors depends on the other one
        return ng.sum(solve(equation, args=(p, p * p)))

    def closed(p):
        q = p * p
        return ng.sum(solve(lambda x: equation(x, p, q)))

    p = ng.tensor(0.7, requires_grad=True)
    rows = np.array([1.0, -2.0])
    twice = name in TWICE
    (expected,) = ng.grad(passed(p), p, create_graph=twice)
    (found,) = ng.grad(closed(p), p, create_graph=twice)
    agree(found.item(), expected.item(), 1e-9)
    (batched,) = ng.grad(closed(p), p, rows, is_grads_batched=True)
    agree(batched, rows * found.item(), 1e-12)
    agree(ng.func.grad(closed)(0.7), expected.item(), 1e-9)
    if twice:
        (second,) = ng.grad(expected, p)
        agree(ng.grad(found, p)[0].item(), second.item(), 1e-8)
        agree(ng.func.jacobian(ng.func.grad(closed))(0.7), second.item(), 1e-8)


def test_one_that_depends_on_another_is_counted_once():
    p = ng.tensor(0.5, requires_grad=True)
    q = p * p
    y, _ = S.quad(lambda z: q * z + p * z, 0.0, 1.0)  # (p**2 + p) / 2
    agree(ng.grad(y, p)[0].item(), p.item() + 0.5, 1e-12)

    def inner(x):
        return S.quad(lambda z: np.exp(-p * z * x[0]), 0.0, 1.0)[0]

    x = S.root(lambda x: x - inner(x), [0.5], tol=1e-12).x[0]  # x = (1 - exp(-u)) / u, u = p x
    found, u = ng.grad(x, p)[0].item(), p.item() * x.item()
    slope = (np.exp(-u) * (1.0 + u) - 1.0) / u**2
    agree(found, slope * x.item() / (1.0 - p.item() * slope), 1e-10)


def test_one_that_is_read_on_one_side_of_a_choice():
    p = ng.tensor(2.0, requires_grad=True)

    def chosen(x):
        return ng.cond(x[0] > 1.2, lambda x: x * x - p, lambda x: x * x - 2.0, x)

    for options in ({}, {"jac": "sparse"}, {"jac": "operator"}, {"jit": False}):
        x = S.root(chosen, START, **options).x
        agree(ng.grad(x[0], p)[0].item(), 0.125**0.5, 1e-7)
    for jit in (True, False):  # before t = 1 nothing says that it will be read
        with pytest.raises(DetachedError, match=r"pass the tensor in args: solve_ivp\("):
            S.solve_ivp(lambda t, y: p * y if t > 1.0 else y, (0.0, 2.0), START, jit=jit)
        with ng.no_grad():
            found = S.solve_ivp(lambda t, y: p * y if t > 1.0 else y, (0.0, 2.0), START, jit=jit)
        assert found.success


def test_writes_before_the_backward_pass_are_refused():
    for name, solve in (TWICE | ONCE).items():
        if name == "fsolve":  # it is root
            continue
        p = ng.tensor(0.7, requires_grad=True)
        found = ng.sum(solve(lambda x, p=p: equation(x, p, 0.5)))
        with ng.no_grad():
            p += 1.0
        with pytest.raises(InplaceError, match=r"written|has changed"):
            ng.grad(found, p)


def test_results_are_tensors_where_a_tensor_is_closed_over():
    p = ng.tensor(0.7, requires_grad=True)
    assert isinstance(S.root(lambda x: x * x - p, START).x, ng.Tensor)
    with ng.no_grad():
        assert not S.root(lambda x: x * x - p, START).x.requires_grad
    assert isinstance(S.root(lambda x: x * x - 2.0, START).x, np.ndarray)
