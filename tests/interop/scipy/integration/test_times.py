"""Derivatives to times and to the ends of the interval, against the closed form of a problem:
``y' = k y cos(t)`` through ``y(s) = a`` is ``a exp(k (sin(t) - sin(s)))``."""

import pickle
from itertools import product

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import NotDifferentiableError
from tests.sampling import exhaustive, one_in

solve_ivp = ng.interop.scipy.solve_ivp
TIMES, A, K = np.array([0.4, 0.9, 2.0]), np.array([1.5, -0.7]), np.array([0.8])
TIGHT = {"rtol": 1e-9, "atol": 1e-10}
ALL = [
    ("RK45", {}), ("RK23", {"rtol": 1e-7}), ("DOP853", {}), ("RK45", {"adjoint": "continuous"}),
    ("Radau", {}), ("BDF", {}), ("LSODA", {}), ("RK4", {"step": 0.02}), ("Euler", {"step": 2e-4}),
]  # fmt: skip


def field(t, y, k):
    return k[0] * y * np.cos(t)


def states(method="DOP853", span=(0.0, 2.5), **options):
    given = TIGHT | options
    return lambda t, a=A, k=K: solve_ivp(field, span, a, method, t, (k,), **given).y


def closed(t, s=0.0, a=A, k=K[0]):
    return np.asarray(a)[:, None] * np.exp(k * (np.sin(t) - np.sin(s)))


def diagonal(x):
    """Return what depends on one time each as a Jacobian."""
    return x[:, :, None] * np.eye(x.shape[1])


def close(found, expected, tolerance=1e-5):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance)


def test_the_derivative_to_a_time_is_the_slope_there():
    slopes = diagonal(K[0] * np.cos(TIMES) * closed(TIMES))
    for method, options in ALL:
        f = states(method, **options)
        found = ng.func.jacrev(f)(TIMES)
        close(found, slopes, 1e-3 if method == "Euler" else 1e-5)
        numbers = np.einsum("int->it", diagonal(K[0] * np.cos(TIMES) * np.asarray(f(TIMES))))
        close(np.einsum("int->it", found), numbers, 1e-15)  # to rounding, of the states returned
        np.testing.assert_array_equal(ng.func.jacfwd(f)(TIMES), found)


@exhaustive
def test_derivatives_of_second_and_third_order_and_mixed_ones():
    c, s, k = np.cos(TIMES), np.sin(TIMES), K[0]
    y = closed(TIMES).sum(axis=0)
    for method, options in (("RK45", {}), ("RK4", {"step": 0.02}), ("BDF", {"rtol": 1e-7})):
        total = lambda t, a, k: states(method, **options)(t, a, k).sum()  # noqa: B023, E731
        first = ng.func.grad(total)
        close(ng.func.hessian(total)(TIMES, A, K), np.diag((k * k * c * c - k * s) * y))
        mixed = (c + k * c * s) * y
        close(ng.func.jacrev(first, argnums=2)(TIMES, A, K)[:, 0], mixed)
        if method != "BDF":  # of whose adjoint there are no second derivatives
            other = ng.func.grad(total, argnums=2)
            close(ng.func.jacrev(other)(TIMES, A, K)[0], mixed)
            close(ng.func.jacfwd(other)(TIMES, A, K)[0], mixed)
    curve = lambda t: states()(t[None]).sum()  # noqa: E731
    third = ng.func.grad(ng.func.grad(ng.func.grad(curve)))(TIMES[1])
    c, s, y = c[1], s[1], y[1]
    close(third, ((k * c) ** 3 - 3.0 * k * k * s * c - k * c) * y)


def test_a_batch_has_the_bits_of_its_rows():
    for method, options in (("RK45", {}), ("Radau", {}), ("RK4", {"step": 0.1})):
        t, a = ng.tensor(TIMES, requires_grad=True), ng.tensor(A, requires_grad=True)
        y = states(method, **options)(t, a)
        rows = np.random.default_rng(0).normal(size=(3, *y.shape))
        found = ng.grad(y, t, rows, is_grads_batched=True, retain_graph=True)[0]
        looped = [ng.grad(y, t, row, retain_graph=True)[0].numpy() for row in rows]
        np.testing.assert_array_equal(found.numpy(), looped)


FAST = [case for case in ALL if case[0] != "Euler"]
ENDS = [pytest.param(direction, *case) for direction, case in product((-1, 1), FAST)]


@pytest.mark.parametrize(("direction", "method", "options"), one_in(3, ENDS))
def test_both_ends_of_the_interval(direction, method, options):
    span, k = np.array([0.3, 1.4])[::direction].copy(), K[0]
    start, end = span

    def final(span, k):
        found = solve_ivp(field, (span[0], span[1]), A, method, args=(k,), **TIGHT | options)
        return found.y[:, -1], found.y[:, 0], found.t

    last, first, times = ng.func.jacrev(final)(span, K)
    y = closed(end, start)
    close(last, k * np.cos(span) * [-1.0, 1.0] * y)
    np.testing.assert_array_equal(first, 0.0)  # the start is the start, whenever it is
    np.testing.assert_array_equal(times.sum(axis=0), [1.0, 1.0])
    if options.get("adjoint") or method in ("Radau", "BDF", "LSODA"):
        return
    total = lambda span, k: final(span, k)[0].sum()  # noqa: E731
    c, s, y = np.cos(span), np.sin(span), y.sum()
    both = np.array([[k * k * c[0] ** 2 + k * s[0], -k * k * c[0] * c[1]],
                     [-k * k * c[0] * c[1], k * k * c[1] ** 2 - k * s[1]]]) * y  # fmt: skip
    close(ng.func.hessian(total)(span, K), both)
    mixed = ng.func.jacrev(ng.func.grad(total, argnums=1))(span, K)[0]
    close(mixed, c * [-1.0, 1.0] * (1.0 + k * (s[1] - s[0])) * y)


def test_the_end_does_not_matter_where_other_times_are_asked_for():
    def asked(span, t):
        return solve_ivp(field, span, A, t_eval=t, args=(K,), **TIGHT).y

    found = ng.func.jacrev(lambda span: asked(span, TIMES))(np.array([0.1, 2.5]))
    close(found[..., 0], -K[0] * np.cos(0.1) * closed(TIMES, 0.1))
    np.testing.assert_array_equal(found[..., 1], 0.0)
    both = ng.func.jacrev(lambda t: asked((t[0], 2.5), t))(np.array([0.1, 1.0]))
    np.testing.assert_array_equal(both[:, 0], 0.0)  # the time of the start, and the state there


def test_times_that_are_returned_carry_their_gradient():
    t = ng.tensor(TIMES, requires_grad=True)
    found = solve_ivp(field, (0.0, 2.5), A, t_eval=t, args=(K,))
    assert ng.grad(found.t.sum(), t)[0].tolist() == [1.0, 1.0, 1.0]
    with ng.no_grad():
        found = solve_ivp(field, (0.0, 2.5), A, t_eval=t, args=(K,))
    assert not found.y.requires_grad
    assert isinstance(found.t, np.ndarray)


def test_no_time_at_all():
    for method, options in (("RK45", {}), ("BDF", {"dense_output": True}), ("RK4", {"step": 0.1})):
        f = lambda t: solve_ivp(field, (0.0, 1.0), A, method, t, (K,), **options).y  # noqa: B023, E731
        assert f([]).shape == (2, 0)
        assert ng.func.jacrev(f)(np.zeros(0)).shape == (2, 0, 0)


def test_a_time_in_single_precision_and_a_start_of_several_axes():
    def f(t):
        return solve_ivp(field, (0.0, 1.0), np.ones((2, 2)), t_eval=t, args=(K,), **TIGHT).y.sum()

    found = ng.func.grad(f)(np.array([0.5], np.float32))
    assert found.dtype == np.float32
    close(found, 4.0 * K[0] * np.cos(0.5) * np.exp(K[0] * np.sin(0.5)))


def test_what_says_how_to_solve_has_no_gradient_and_says_so():
    number = ng.tensor(1e-3, requires_grad=True)
    for name in ("rtol", "atol", "max_step", "first_step", "step", "adjoint_rtol", "adjoint_atol"):
        with pytest.raises(NotDifferentiableError, match=f"no gradient flows to {name},"):
            solve_ivp(field, (0.0, 1.0), A, args=(K,), **{name: number})
    a = ng.tensor(A)
    plain = solve_ivp(field, (0.0, 1.0), a, args=(K,), rtol=1e-5).y.numpy()
    given = solve_ivp(field, (0.0, 1.0), a, args=(K,), rtol=ng.tensor(1e-5)).y.numpy()
    np.testing.assert_array_equal(given, plain)


def test_events_refuse_a_start_that_moves_and_do_not_depend_on_the_end():
    t = ng.tensor(0.5, requires_grad=True)
    event = lambda t, y: y[0] - 1.6  # noqa: E731
    message = r"with events .*ng\.ode\.odeint_event\(.* gradients\. .*Where no gradient is"
    with pytest.raises(NotDifferentiableError, match=message):
        solve_ivp(field, (t, 1.0), A, args=(K,), events=event)
    for options in ({"events": event}, {"dense_output": True}):
        found = solve_ivp(field, (0.0, t), A, args=(K,), **options)
        (slope,) = ng.grad(found.y[0, -1], t)
        assert slope.item() == pytest.approx(K[0] * np.cos(0.5) * found.y[0, -1].item())


SPANS = (0.0, 2.0), (2.0, 0.0)
DENSE = [pytest.param(*case) for case in product(SPANS, ("RK45", "Radau", "RK4"))]


@pytest.mark.parametrize(("span", "method"), one_in(2, DENSE))
def test_a_dense_solution_is_a_function_of_all_that_was_given(span, method):
    options = {"step": 0.01} if method == "RK4" else TIGHT
    at = np.array([1.5, 0.3, 1.5])

    def states(p, t=at):
        found = solve_ivp(
            field, span, p[:2], method, args=(p[2:],), dense_output=True, **options
        )
        assert (found.sol.t_min, found.sol.t_max) == (0.0, 2.0)
        return np.concatenate([found.sol(t).ravel(), found.sol(t[1]), found.y[:, -1]])

    def plain(p, t=at):
        parts = (closed(np.array(at), span[0], p[:2], p[2]) for at in (t, t[1:2], span[1:]))
        return np.concatenate([part.ravel() for part in parts])

    p, h = np.array([*A, *K]), 1e-5
    value = states(ng.tensor(p, requires_grad=True)).detach().numpy()
    np.testing.assert_allclose(value, plain(p), rtol=1e-6)
    slopes = [(plain(p + h * e) - plain(p - h * e)) / (2 * h) for e in np.eye(p.size)]
    np.testing.assert_allclose(ng.func.jacobian(states)(p), np.transpose(slopes), rtol=1e-4)
    slopes = [(plain(p, at + h * e) - plain(p, at - h * e)) / (2 * h) for e in np.eye(3)]
    moved = ng.func.jacobian(lambda t: states(ng.tensor(p, requires_grad=True), t))(at)
    np.testing.assert_allclose(moved, np.transpose(slopes), rtol=1e-4, atol=1e-6)


def test_a_dense_solution_of_states_with_several_axes_has_their_shape():
    start = np.array([[1.0, 2.0], [3.0, 4.0]])
    y0 = ng.tensor(start, requires_grad=True)
    found = solve_ivp(lambda t, y: -y, (0.0, 2.0), y0, dense_output=True, **TIGHT)
    assert found.sol(0.5).shape == (2, 2)
    assert found.sol([0.5, 1.5]).shape == (2, 2, 2)
    np.testing.assert_allclose(found.sol(0.5).detach().numpy(), start * np.exp(-0.5), rtol=1e-8)
    (slope,) = ng.grad(found.sol(1.5)[1, 0], y0)
    np.testing.assert_allclose(slope.numpy(), [[0, 0], [np.exp(-1.5), 0]], rtol=1e-7)


def test_the_time_of_an_event_is_a_root():
    def when(k):  # the first state, 1.5 exp(k sin(t)), reaches 2.5
        def event(t, k):
            return solve_ivp(field, (0.0, 2.5), A, t_eval=t, args=(k,), **TIGHT).y[0] - 2.5

        return ng.interop.scipy.root(event, np.array([0.6]), args=(k,), tol=1e-12).x[0]

    z = np.log(2.5 / 1.5) / K[0]
    close(when(K), np.arcsin(z), 1e-8)
    slope = -z / K[0] / np.sqrt(1.0 - z * z)
    close(ng.func.grad(when)(K), [slope], 1e-7)
    bend = z / K[0] ** 2 * (2.0 + z * z / (1.0 - z * z)) / np.sqrt(1.0 - z * z)
    close(ng.func.hessian(when)(K), [[bend]], 1e-5)


def test_the_interpolant_has_derivatives_to_the_time():
    found = solve_ivp(field, (0.0, 2.5), A, args=(K,), dense_output=True, **TIGHT)
    sol = pickle.loads(pickle.dumps(found.sol))
    np.testing.assert_array_equal(sol(TIMES), found.sol(TIMES))
    np.testing.assert_array_equal(found.sol(ng.tensor(TIMES)), sol(TIMES))
    found_slopes = ng.func.jacrev(found.sol)(TIMES)
    close(found_slopes, diagonal(K[0] * np.cos(TIMES) * closed(TIMES)))
    np.testing.assert_array_equal(ng.func.jacfwd(found.sol)(TIMES), found_slopes)
    c, s, k = np.cos(TIMES[0]), np.sin(TIMES[0]), K[0]
    second = ng.func.grad(ng.func.grad(lambda t: found.sol(t)[1]))(TIMES[0])
    close(second, (k * k * c * c - k * s) * closed(TIMES)[1, 0])


def test_times_of_a_captured_function():
    f = states()
    np.testing.assert_array_equal(ng.jit(f)(TIMES), f(TIMES))
    found, expected = (ng.func.jacobian(g)(TIMES) for g in (ng.jit(f), f))
    np.testing.assert_array_equal(found, expected)
