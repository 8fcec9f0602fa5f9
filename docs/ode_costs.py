"""Print what `ng.ode.odeint` costs beside SciPy's solvers: the tables of docs/ode.md.

Processor time, on one thread, the least of several calls, all warm; `accuracy` is the largest
difference to the same at a tolerance of 1e-12.
"""

import time

import numpy as np
from scipy.integrate import solve_ivp

import numgrad as ng
from numgrad.testing.boehm import RATES as BOEHM
from numgrad.testing.boehm import VOLUMES as K
from numgrad.testing.boehm import boehm

START = np.array([99.6996231, 44.1670769, 0, 0, 0, 0, 0, 0])
TIMES = np.array([0, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 160, 200, 240.0])
WEIGHTS = np.linspace(1.0, 2.0, 16)[:, None] * np.linspace(0.5, 1.0, 8)
# The derivative of each state by the nine rates of reactions.
REACTIONS = np.array([
    [-2, -1, 0, 0, 0, 0, 2 * K, K, 0], [0, -1, -2, 0, 0, 0, 0, K, 2 * K],
    [0, 1, 0, 0, -1, 0, 0, 0, 0], [1, 0, 0, -1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, -1, 0, 0, 0],
    [0, 0, 0, 1 / K, 0, 0, -1, 0, 0], [0, 0, 0, 0, 1 / K, 0, 0, -1, 0],
    [0, 0, 0, 0, 0, 1 / K, 0, 0, -1],
])  # fmt: skip


def with_sensitivities(t, z):
    """Return the slope of the states and of their derivatives, with derivatives by hand."""
    s, along = z[:8], z[8:].reshape(8, 6)
    A, B = s[:2]
    p, decay = BOEHM, 1.25e-7 * np.exp(-BOEHM[0] * t)
    e, pairs = decay * p[5], np.array([A * A, A * B, B * B])
    to_s, to_p = np.zeros((9, 8)), np.zeros((9, 6))
    to_s[0, 0], to_s[1, 0], to_s[1, 1], to_s[2, 1] = 2 * e * A, e * B, e * A, 2 * e * B
    for n, (state, param) in enumerate([(3, 4), (2, 3), (4, 4), (5, 2), (6, 1), (7, 2)]):
        to_s[3 + n, state], to_p[3 + n, param] = p[param], s[state]
    to_p[:3, 5], to_p[:3, 0] = decay * pairs, -t * e * pairs
    slope = REACTIONS @ (to_s @ along + to_p)
    return np.concatenate([boehm(s, t, p, np), slope.ravel()])


def by_sensitivities(_=1.0, method="BDF", rtol=1e-8, atol=1e-6):
    z = np.concatenate([START, np.zeros(48)])
    found = solve_ivp(with_sensitivities, (0, 240), z, method, TIMES, rtol=rtol, atol=atol).y
    return np.einsum("tn,npt->p", WEIGHTS, found[8:].reshape(8, 6, 16))


def loss(p):
    states = ng.ode.odeint(boehm, START, TIMES, p, method="rodas5p", rtol=1e-8, atol=1e-6)
    return (states * WEIGHTS).sum()


def loss_by_scipy(p):
    found = ng.interop.scipy.solve_ivp(
        lambda t, s, p: boehm(s, t, p), (0, 240), START, "BDF", TIMES, args=(p,), rtol=1e-8
    )
    return (found.y.T * WEIGHTS).sum()


def lorenz(s, t, p):
    x, y, z = s
    return [p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z]


def least(f, rounds=7):
    """Return the least processor time of a call, in milliseconds, once everything is compiled; the
    argument is a factor close to 1, so that no call is that of a problem seen before."""
    best = np.inf
    for n in range(rounds + 2):
        begun = time.process_time()
        f(1.0 + 1e-7 * n)
        if n > 1:
            best = min(best, time.process_time() - begun)
    return best * 1e3


def table_of_boehm():
    exact = by_sensitivities(1.0, "Radau", 1e-11, 1e-13)
    gradient = ng.func.value_and_grad(loss)
    fast, adjoint = ng.jit(gradient), ng.func.value_and_grad(loss_by_scipy)
    rows = {
        "`odeint`, the states": lambda c: ng.ode.odeint(
            boehm, START, TIMES, c * BOEHM, method="rodas5p", rtol=1e-8, atol=1e-6),
        "`odeint`, value and gradient": lambda c: gradient(c * BOEHM)[1],
        "the same under `ng.jit`": lambda c: fast(c * BOEHM)[1],
        "SciPy's BDF, the states": lambda c: solve_ivp(
            lambda t, s: boehm(s, t, c * BOEHM, np), (0, 240), START, "BDF", TIMES, rtol=1e-8),
        "SciPy's BDF, with sensitivities": by_sensitivities,
        "`ng.interop.scipy.solve_ivp`, value and gradient": lambda c: adjoint(c * BOEHM)[1],
    }  # fmt: skip
    for name, f in rows.items():
        found, took = f(1.0), least(f, 3)
        is_gradient = getattr(found, "shape", None) == (6,)
        error = f"{np.abs(np.asarray(found) / exact - 1).max():.0e}" if is_gradient else ""
        print(f"| {name} | {took:.1f} | {error} |")


def table_of_lorenz():
    first, p, count = np.array([1.0, 2.0, 3.0]), np.array([10.0, 28.0, 8 / 3]), 2000
    t = np.linspace(0.0, 20.0, count + 1)
    equal = ng.jit(ng.func.value_and_grad(
        lambda s: ng.ode.odeint(lorenz, s, t, p, method="rk4")[-1].sum()))  # fmt: skip
    print(f"| Lorenz, {count} steps of `rk4` | {least(lambda c: equal(c * first)):.2f} |")
    starts = first + np.linspace(0.0, 1.0, 1000)[:, None]
    for method in ("tsit5", "dopri5", "rodas5p"):
        one = ng.func.value_and_grad(
            lambda s, m=method: ng.ode.odeint(lorenz, s, [0.0, 1.0], p, method=m)[-1].sum()
        )
        single, many = ng.jit(one), ng.jit(ng.func.vmap(one))
        print(f"| Lorenz to t = 1, `{method}` | {least(lambda c, f=single: f(c * first)):.2f} |")
        print(f"| 1 000 of them, `{method}` | {least(lambda c, f=many: f(c * starts), 3):.0f} |")


if __name__ == "__main__":
    ng.set_flags(fuse="now")
    table_of_boehm()
    table_of_lorenz()
    print([f"{v:.9g}" for v in by_sensitivities(1.0, "Radau", 1e-11, 1e-13)])
