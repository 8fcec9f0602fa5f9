"""Solutions that end by an event: its time, its state, their derivatives, and errors."""

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

METHODS = ("dopri5", "tsit5", "rodas5p")
START = np.array([1.0, 0.2])
PARAMS = np.array([1.3, 0.1])
SPAN = np.array([0.2, 20.0])
TIGHT = {"rtol": 1e-11, "atol": 1e-11}


def pendulum(s, t, p):
    return ng.stack([s[1], -p[0] * ng.sin(s[0]) - p[1] * s[1] + 0.05 * ng.cos(t)])


def level(s, t, p):
    return s[0] + 0.1 * s[1] + 0.3 * p[1] - 0.01 * t


def swing(s=START, p=PARAMS, t=SPAN, **options):
    return ng.ode.odeint_event(pendulum, s, t, p, event=level, **TIGHT, **options)


def by_scipy(s, p, t, direction=0):
    from scipy.integrate import solve_ivp

    def event(time, y):
        return y[0] + 0.1 * y[1] + 0.3 * p[1] - 0.01 * time

    event.terminal, event.direction = True, direction

    def slope(time, y):
        return [y[1], -p[0] * np.sin(y[0]) - p[1] * y[1] + 0.05 * np.cos(time)]

    found = solve_ivp(slope, t, s, "DOP853", events=event, rtol=1e-12, atol=1e-12)
    return np.array([found.t[-1], *found.y[:, -1]])


def flat(event):
    return ng.concat([event.t[None], event.y])


@pytest.mark.parametrize("method", one_in(2, METHODS))
@pytest.mark.parametrize("direction", [0, 1, -1])
def test_the_event_is_that_of_another_solver(method, direction):
    found = swing(direction=direction, method=method)
    exact = by_scipy(START, PARAMS, SPAN, direction)
    assert bool(found.happened)
    assert np.abs(flat(found).numpy() - exact).max() < 1e-8
    assert abs(level(found.y, found.t, PARAMS).item()) < 1e-14


@pytest.mark.parametrize("method", one_in(2, ["dopri5", "rodas5p"]))
def test_derivatives_are_those_of_differences(method):
    given = (START, PARAMS, SPAN)

    def outcome(*given):
        return flat(swing(*given, method=method))

    jacobians = ng.func.jacobian(outcome, (0, 1, 2))(*given)
    for place, jacobian in enumerate(jacobians):
        for n in range(given[place].size):
            ends = []
            for sign in (1.0, -1.0):
                moved = [np.array(x) for x in given]
                moved[place][n] += sign * 1e-5
                ends.append(by_scipy(*moved))
            slope = (ends[0] - ends[1]) / 2e-5
            assert np.abs(jacobian[:, n] - slope).max() < 2e-6
    forward = ng.func.jacfwd(outcome, (0, 1, 2))(*given)
    for first, second in zip(jacobians, forward, strict=True):
        assert np.allclose(first, second, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("method", "orders"), one_in(2, [pytest.param("rodas5p", 2), pytest.param("tsit5", 3)])
)
def test_higher_derivatives_of_a_fall(method, orders):
    def time(height):
        start = ng.stack([height, 0.0])
        return ng.ode.odeint_event(
            lambda y, t: ng.stack([y[1], -9.81]), start, [0.0, 9.0], event=lambda y, t: y[0],
            method=method,
        ).t  # fmt: skip

    exact = np.array([5.0**-0.5, -0.5 * 5.0**-1.5, 0.75 * 5.0**-2.5]) / np.sqrt(2 * 9.81)
    for order in range(orders):
        time = ng.func.grad(time)
        assert abs(time(5.0) - exact[order]) < 1e-13


def test_tensors_from_outside_of_both_functions_get_gradients():
    rate, mark = (ng.tensor(x, requires_grad=True) for x in (0.7, 0.4))
    found = ng.ode.odeint_event(
        lambda y, t: -rate * y, 2.0, [1.0, 9.0], event=lambda y, t: y - mark, **TIGHT
    )
    assert abs(found.t.item() - 1.0 - np.log(5.0) / 0.7) < 1e-8
    for got, exact in zip(
        ng.grad(found.t, (rate, mark)), (-np.log(5.0) / 0.49, -1 / 0.28), strict=True
    ):
        assert abs(got.item() - exact) < 1e-7


def test_captured_events_are_those_of_eager_calls():
    def outcome(s, p):
        return flat(swing(s, p))

    value, gradient = outcome(START, PARAMS), ng.func.jacobian(outcome, 1)(START, PARAMS)
    assert np.array_equal(ng.jit(outcome)(START, PARAMS), value.numpy())
    both = ng.jit(ng.func.jacobian(outcome, 1))(START, PARAMS)
    assert np.allclose(both, gradient, rtol=1e-12, atol=1e-14)


def test_samples_have_events_of_their_own():
    starts = np.stack([START, 0.3 * START, np.array([0.05, -3.0]), np.array([-1.0, 0.1])])

    def outcome(s):
        found = swing(s, direction=-1)
        return found.t, found.y, found.happened

    times, states, happened = ng.func.vmap(outcome)(starts)
    slopes = ng.func.vmap(ng.func.grad(lambda s: outcome(s)[0]))(starts)
    for n, start in enumerate(starts):
        alone = outcome(start)
        assert times[n] == alone[0].item()
        assert np.array_equal(states[n], alone[1].numpy())
        assert happened[n] == alone[2].item()
        assert np.array_equal(slopes[n], ng.func.grad(lambda s: outcome(s)[0])(start))


def test_without_an_event_the_solution_ends_at_the_last_time():
    def last(rate, end):
        return ng.ode.odeint_event(
            lambda y, t: -rate * y, 2.0, ng.stack([0.0, end]), event=lambda y, t: y + 1.0
        )

    found = last(0.5, 3.0)
    assert not bool(found.happened)
    assert found.t.item() == 3.0
    states = ng.ode.odeint(lambda y, t: -0.5 * y, 2.0, [0.0, 3.0])
    assert abs(found.y.item() - states[1].item()) < 1e-15
    assert ng.func.grad(lambda r, e: last(r, e).t, (0, 1))(0.5, 3.0) == (0.0, 1.0)
    slopes = ng.func.grad(lambda r, e: last(r, e).y, (0, 1))(0.5, 3.0)
    assert np.allclose(slopes, [-6 * np.exp(-1.5), -np.exp(-1.5)], rtol=1e-7)


def test_a_solution_may_begin_where_another_one_ended():
    """A ball that loses a part of its speed at each bounce: the total time is a geometric sum."""

    def fall(y, t):
        return {"height": y["speed"], "speed": -9.81}

    def rest_after(count, height, kept):
        state, time, total = {"height": height, "speed": 0.0}, 0.0, 0.0
        for _ in range(count):
            found = ng.ode.odeint_event(
                fall, state, ng.stack([time, time + 9.0]), event=lambda y, t: y["height"],
                direction=0,
            )  # fmt: skip
            assert bool(found.happened)
            time, total = found.t, total + 1.0
            state = {"height": found.y["height"], "speed": -kept * found.y["speed"]}
        return time

    def exact(count, height, kept):
        return np.sqrt(2 * height / 9.81) * (1 + 2 * sum(kept**n for n in range(1, count)))

    assert abs(rest_after(4, 2.0, 0.8).item() - exact(4, 2.0, 0.8)) < 1e-9
    slopes = ng.func.grad(lambda h, k: rest_after(4, h, k), (0, 1))(2.0, 0.8)
    for n, slope in enumerate(slopes):
        step = 1e-6 * np.eye(2)[n]
        ends = [exact(4, *(np.array([2.0, 0.8]) + sign * step)) for sign in (1, -1)]
        assert abs(slope - (ends[0] - ends[1]) / 2e-6) < 1e-7


def test_times_may_fall():
    found = ng.ode.odeint_event(lambda y, t: y, 1.0, [0.0, -5.0], event=lambda y, t: y - 0.25)
    assert abs(found.t.item() - np.log(0.25)) < 1e-8


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"t": [0.0, 1.0, 2.0]}, ng.errors.ArgTypeError, "two times"),
        ({"t": [0.0, np.nan]}, ValueError, "finite"),
        ({"event": lambda y, t: ng.stack([y, y])}, ng.errors.ArgTypeError, "one real number"),
        ({"event": lambda y, t: (y, y)}, ng.errors.ArgTypeError, "one real number"),
        ({"event": lambda y, t: y < 0.5}, ng.errors.ArgTypeError, "a - b for a comparison"),
        ({"event": lambda y, t: y + 1j}, ng.errors.ArgTypeError, "one real number"),
        ({"event": 1.0}, TypeError, "odeint_event"),
        ({"direction": 2}, ValueError, "direction"),
        ({"method": "rk4"}, ValueError, "dopri5"),
        ({"max_steps": 3, "t": [0.0, 50.0]}, ng.errors.ConvergenceError, "odeint_event: 3 steps"),
        ({"f": lambda y, t: np.inf * y}, ng.errors.ConvergenceError, "odeint_event: the function"),
    ],
)
def test_errors_say_what_to_write(options, error, words):
    given = {"f": lambda y, t: -y, "t": [0.0, 1.0], "event": lambda y, t: y - 0.5, **options}
    f, t = given.pop("f"), given.pop("t")
    with pytest.raises(error, match=words):
        ng.ode.odeint_event(f, 1.0, t, **given)
