"""A mixed load that is interrupted again and again: says what was left of a mode afterwards."""

import gc
import random
import signal
import sys
import warnings

import numpy as np

import numgrad as ng
from numgrad._autograd import anomaly
from numgrad.engine.graph.value import capturing
from numgrad.engine.record import apply


@ng.no_grad()
def silent(x):
    return ng.sin(x) * 2.0


@ng.enable_grad()
def heard(x):
    return ng.cos(x) * 2.0


def tripled(x):
    y = x * 3.0
    y.register_hook(lambda g: g * 2.0)
    return y


def load(x, captured):
    with ng.no_grad():
        x[0] = 1.0
    with ng.no_grad(), ng.enable_grad():
        heard(x)
    with ng.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (tripled(x) * x).sum() + silent(x).sum()
    with ng.detect_anomaly():
        ng.grad(y, x, create_graph=True)
    ng.grad(tripled(x), x, np.ones((2, 3)), is_grads_batched=True)
    ng.func.hessian(lambda v: (v * v * v).sum())(x.detach())
    captured(np.ones(3))
    ng.jit(lambda v: ng.exp(v) * ng.func.grad(lambda u: (u * u).sum())(v))(np.ones(3))


def state():
    """Return everything that has to be as before, `site` excepted, which is for messages."""
    found = apply.mode.present()
    found.pop("site")
    others = {
        "differentiating": apply.mode.transform_calls,
        "showing": apply.mode.showing,
        "anomaly": anomaly._state.enabled,
        "collector": gc.isenabled(),
    }
    return found | others


def repair(expected):
    apply.mode.set(**{name: expected[name] for name in apply._DEFAULTS if name in expected})
    apply.mode.transform_calls, apply.mode.showing = (), None
    anomaly._state.enabled = False
    gc.enable()


def interrupted(count, seed):
    """Return what differed after interrupts, at most one for each."""
    chance, lost = random.Random(seed), []
    x = ng.tensor(np.ones(3), requires_grad=True)
    captured = ng.jit(lambda v: ng.func.grad(lambda u: ng.sin(u).sum())(v))
    load(x, captured)
    expected = state()
    for _ in range(count):
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.00005, 0.004))
            for _ in range(50):  # an interrupt that comes in a destructor is only printed
                load(x, captured)
        except KeyboardInterrupt:
            # CPython remembers an interrupt inside of a text that it executes, as `namedtuple` does
            # when a module is imported at its first use, and would end the process by it. The next
            # text that comes to its end makes it forget.
            exec("")
        found = state()
        if found != expected:
            lost.append({name for name in found if found[name] != expected[name]})
            repair(expected)
    load(x, captured)
    assert not capturing
    assert not apply.other_modes
    return lost


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    print(interrupted(int(sys.argv[1]), int(sys.argv[2])))
