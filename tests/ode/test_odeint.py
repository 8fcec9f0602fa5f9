"""Initial value problems: orders, tolerances, derivatives in all modes, ensembles, and errors."""

from typing import NamedTuple

import numpy as np
import pytest

import numgrad as ng

START = np.array([1.0, 2.0, 3.0])
PARAMS = np.array([10.0, 28.0, 8 / 3])
TIMES = np.array([0.0, 0.1, 0.25, 0.3])
ALL = {
    "dopri5": {}, "tsit5": {}, "rodas5p": {}, "rk4": {"substeps": 8},
    "implicit_midpoint": {"substeps": 8},
}  # fmt: skip


def lorenz(s, t, p):
    x, y, z = s
    return ng.stack([p[0] * (y - x), x * (p[1] - z) - y + 0.1 * ng.cos(t), x * y - p[2] * z])


def states(method, s=START, p=PARAMS, t=TIMES, **options):
    return ng.ode.odeint(lorenz, s, t, p, method=method, **ALL[method], **options)


def loss(method, s, p, t=TIMES):
    return (states(method, s, p, t) * np.array([1.0, 2.0, -1.0])).sum()


def error_of(method, count):
    """Return the error of equal steps for a problem whose solution is exp(-sin(t))."""
    t = np.linspace(0.0, 2.0, count + 1)
    found = ng.ode.odeint(lambda y, t: -ng.cos(t) * y, 1.0, t, method=method)
    return abs(found[-1].item() - np.exp(-np.sin(2.0)))


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("implicit_midpoint", 2)])
def test_orders_of_equal_steps_are_those_of_the_methods(method, order):
    rate = np.log2(error_of(method, 40) / error_of(method, 80))
    assert abs(rate - order) < 0.15


@pytest.mark.parametrize("method", ["dopri5", "tsit5", "rodas5p"])
def test_orders_of_single_steps_are_those_of_the_methods(method):
    # The first step is as long as the whole interval, and its error is one power higher.
    def error(h):
        t = np.array([0.3, 0.3 + h])
        found = ng.ode.odeint(
            lambda y, t: -ng.cos(t) * y * y, 1.0, t, method=method, rtol=1e3, atol=1e3,
            first_step=h,
        )  # fmt: skip
        exact = 1.0 / (1.0 + np.sin(0.3 + h) - np.sin(0.3))
        return abs(found[-1].item() - exact)

    assert abs(np.log2(error(0.025) / error(0.0125)) - 6) < 0.5


@pytest.mark.parametrize("method", ["dopri5", "tsit5", "rodas5p"])
def test_smaller_tolerances_give_smaller_errors(method):
    from scipy.integrate import solve_ivp

    def slope(t, s):
        x, y, z = s
        p = PARAMS
        return [p[0] * (y - x), x * (p[1] - z) - y + 0.1 * np.cos(t), x * y - p[2] * z]

    exact = solve_ivp(slope, (0, 0.3), START, "DOP853", TIMES, rtol=1e-13, atol=1e-13).y.T
    for rtol in (1e-5, 1e-7, 1e-9):
        found = states(method, rtol=rtol, atol=rtol).numpy()
        assert np.abs(found - exact).max() < 50 * rtol * np.abs(exact).max()


@pytest.mark.parametrize("method", ALL)
def test_gradients_are_those_of_differences(method):
    given = START, PARAMS, TIMES
    gradients = ng.func.grad(lambda s, p, t: loss(method, s, p, t), (0, 1, 2))(*given)
    for place, gradient in enumerate(gradients):
        for n in range(gradient.size):
            e = 1e-6 * np.eye(gradient.size)[n]
            ends = []
            for sign in (1, -1):
                moved = list(given)
                moved[place] = moved[place] + sign * e
                ends.append(loss(method, *moved).item())
            found = (ends[0] - ends[1]) / 2e-6
            assert abs(found - gradient[n]) < 2e-6 * np.abs(gradient).max()


@pytest.mark.parametrize("method", ALL)
def test_all_modes_agree(method):
    def of(p):
        return states(method, p=p)

    value, gradient = of(PARAMS).numpy(), ng.func.grad(lambda p: loss(method, START, p))
    assert np.array_equal(ng.jit(of)(PARAMS), value)
    assert np.array_equal(ng.jit(gradient)(PARAMS), gradient(PARAMS))
    forward, reverse = ng.func.jacfwd(of)(PARAMS), ng.func.jacrev(of)(PARAMS)
    assert np.allclose(forward, reverse, rtol=1e-12, atol=1e-12 * np.abs(forward).max())
    hessian = ng.func.hessian(lambda p: loss(method, START, p))(PARAMS)
    assert np.allclose(hessian, hessian.T, rtol=1e-10)
    directional = ng.func.jvp(gradient, (PARAMS,), (np.ones(3),))[1]
    assert np.allclose(hessian @ np.ones(3), directional, rtol=1e-10)


@pytest.mark.parametrize("method", ALL)
def test_samples_of_an_ensemble_are_single_solutions(method):
    starts = START + np.linspace(0.0, 2.0, 5)[:, None]
    params = PARAMS * (1.0 + np.linspace(0.0, 0.3, 5)[:, None])
    found = ng.func.vmap(lambda s, p: states(method, s, p))(starts, params)
    gradient = ng.func.grad(lambda s, p: loss(method, s, p), (0, 1))
    both = ng.func.vmap(gradient)(starts, params)
    shared = ng.func.vmap(lambda s: states(method, s))(starts)
    for n in range(5):
        assert np.array_equal(found[n], states(method, starts[n], params[n]))
        assert np.array_equal(shared[n], states(method, starts[n]))
        for part, alone in zip(both, gradient(starts[n], params[n]), strict=True):
            assert np.array_equal(part[n], alone)


def test_gradients_are_those_of_the_continuous_adjoint():
    def by_scipy(p):
        found = ng.interop.scipy.solve_ivp(
            lambda t, s, p: lorenz(s, t, p), (0.0, 0.3), START, "Radau", TIMES, args=(p,),
            rtol=1e-11, atol=1e-11,
        )  # fmt: skip
        return (found.y.T * np.array([1.0, 2.0, -1.0])).sum()

    def by_steps(p, method):
        found = states(method, p=p, rtol=1e-10, atol=1e-10)
        return (found * np.array([1.0, 2.0, -1.0])).sum()

    expected = ng.func.grad(by_scipy)(PARAMS)
    for method in ("dopri5", "tsit5", "rodas5p"):
        found = ng.func.grad(by_steps)(PARAMS, method)
        assert np.allclose(found, expected, rtol=1e-7)


class Pair(NamedTuple):
    position: object
    speed: object


def test_states_and_parameters_are_containers():
    def slope(s, t, p):
        return Pair(s.speed, -p["k"] * s.position - p["c"][0] * s.speed)

    def energy(first, p):
        last = ng.ode.odeint(slope, first, np.array([0.0, 1.0]), p)
        return (last.position[-1] ** 2).sum() + (last.speed[-1] ** 2).sum()

    first = Pair(np.array([1.0, 0.5]), np.array([[0.0], [1.0]])[:, 0])
    p = {"k": 2.0, "c": [0.1]}
    to_first, to_p = ng.func.grad(energy, (0, 1))(first, p)
    assert isinstance(to_first, Pair)
    e = 1e-6
    difference = energy(first, p | {"k": 2.0 + e}) - energy(first, p | {"k": 2.0 - e})
    assert abs(difference.item() / (2 * e) - to_p["k"]) < 1e-7
    assert to_p["c"][0] < 0


def test_parameters_are_given_as_scipy_takes_them_too():
    def decay(y, t, rate, scale):
        return -rate * scale * y

    found = [
        ng.ode.odeint(decay, 1.0, [0.0, 1.0], *params, **given)
        for params, given in (
            ((0.5, 2.0), {}), ((), {"args": (0.5, 2.0)}), ((0.5,), {"args": 2.0}),
            ((0.5,), {"args": (2.0,)}),
        )
    ]  # fmt: skip
    assert len({one[1].item() for one in found}) == 1
    end = ng.jit(lambda rate: ng.ode.odeint(decay, 1.0, [0.0, 1.0], args=(rate, 2.0))[1])
    slope = ng.func.grad(end)(0.5)
    np.testing.assert_allclose(slope, -2 * np.exp(-1), rtol=1e-7)


def test_closed_over_tensors_get_gradients():
    rate = ng.tensor(0.5, requires_grad=True)
    last = ng.ode.odeint(lambda y, t: -rate * y, 2.0, np.array([0.0, 2.0]))[-1]
    (gradient,) = ng.grad(last, rate)
    assert abs(gradient.item() + 4.0 * np.exp(-1.0)) < 1e-6


def test_time_may_run_backwards_and_repeat():
    t = np.array([2.0, 1.0, 1.0, 0.0])
    found = ng.ode.odeint(lambda y, t: -y, np.exp(-2.0), t).numpy()
    assert np.allclose(found, np.exp(-t), rtol=1e-7)
    assert ng.ode.odeint(lambda y, t: -y, 3.0, np.array([1.0])).numpy() == [3.0]


def test_float32_comes_back_as_float32():
    first = np.array([1.0, 2.0], np.float32)
    found = ng.ode.odeint(lambda y, t: -y, first, np.array([0.0, 1.0]))
    assert found.dtype == np.float32
    gradient = ng.func.grad(lambda y: ng.ode.odeint(lambda y, t: -y, y, [0.0, 1.0])[1].sum())(first)
    assert gradient.dtype == np.float32
    assert np.allclose(gradient, np.exp(-1.0))


def test_large_systems_are_programs():
    count = 40
    matrix = -2.0 * np.eye(count) + np.eye(count, k=1) + np.eye(count, k=-1)
    first, t = np.sin(np.pi * np.arange(1, count + 1) / (count + 1)), np.array([0.0, 5.0])
    decay = np.exp(-5.0 * (2.0 - 2.0 * np.cos(np.pi / (count + 1))))
    for method in ("tsit5", "rodas5p"):
        found = ng.ode.odeint(lambda y, t: matrix @ y, first, t, method=method)[-1].numpy()
        assert np.allclose(found, decay * first, atol=1e-7)
        gradient = ng.func.grad(
            lambda y: ng.ode.odeint(lambda y, t: matrix @ y, y, t, method=method)[-1] @ first  # noqa: B023
        )(first)
        assert np.allclose(gradient, decay * first, atol=1e-7)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: ng.ode.odeint(lambda y, t: y * y, 1.0, [0.0, 2.0]), ng.errors.ConvergenceError,
         "the spacing of numbers"),
        (lambda: ng.ode.odeint(lambda y, t: ng.cos(100 * t), 1.0, [0.0, 9.0], max_steps=5),
         ng.errors.ConvergenceError, "5 steps led to t = "),
        (lambda: ng.ode.odeint(lambda y, t: ng.log(-y), 1.0, [0.0, 2.0]),
         ng.errors.ConvergenceError, "the function returns"),
        (lambda: ng.ode.odeint(lambda y, t: ng.stack([y, y]), 1.0, [0.0, 2.0]),
         ng.errors.ArgTypeError, r"slope of shape \(2,\), made at .*test_odeint"),
        (lambda: ng.ode.odeint(lambda y, t: (y, y), (1.0,), [0.0, 2.0]), ng.errors.ArgTypeError,
         "another structure than y0"),
        (lambda: ng.ode.odeint(lambda y, t: -ng.stack(y), [1.0, 2.0], [0.0, 2.0]),
         ng.errors.ArgTypeError, r"write np\.array\(y0\) for a state that is one array"),
        (lambda: ng.ode.solve_ivp, AttributeError, r"write ng\.interop\.scipy\.solve_ivp"),
        (lambda: ng.ode.odeint(lambda y, t: y * 1j, 1.0, [0.0, 2.0]), ng.errors.DtypeError,
         "complex128, made at .*test_odeint"),
        (lambda: ng.ode.odeint(lambda y, t: y, 1j, [0.0, 2.0]), ng.errors.DtypeError, "y0"),
        (lambda: ng.ode.odeint(lambda y, t: y, 1.0, [0.0, 2.0, 1.0]), ValueError, "rise or fall"),
        (lambda: ng.ode.odeint(lambda y, t: y, 1.0, 2.0), ng.errors.ArgTypeError, "one axis"),
        (lambda: ng.ode.odeint(lambda y, t: y, 1.0, [0.0, 1.0], method="bdf"), ValueError,
         "'rodas5p'"),
        (lambda: ng.ode.odeint(lambda y, t: y * y, 1.0, [0.0, 50.0], method="implicit_midpoint"),
         ng.errors.ConvergenceError, "smaller steps"),
    ],
)  # fmt: skip
def test_errors_say_what_happened(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
