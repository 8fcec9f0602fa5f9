"""Loops over many numbers: the program of a step runs again and again without Python in between."""

import os
import signal
import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower.executable import Executable

from .bodies import assert_equal

CELLS = np.sin(np.arange(700) * 0.05)
RATES = np.linspace(0.1, 0.9, 23)
LENGTHS = [1, 2, 3, 4, 5, 6, 23]

pytestmark = pytest.mark.skipif(
    ng.get_flags("path")["path"] == "reference", reason="nothing is compiled on the reference path"
)


def warmed(u, rate):
    inner = u[1:-1] + rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    return ng.concatenate([u[:1], inner, u[-1:]])


def plain(u, rates, weight, reverse):
    seen = {}
    for t in reversed(range(len(rates))) if reverse else range(len(rates)):
        u = weight * warmed(u, rates[t])
        seen[t] = u[::3]
    return (u * u).sum() + sum(seen[t].sum() * (t + 1) for t in range(len(rates)))


def scanned(u, rates, weight, reverse):
    def step(u, rate):
        u = weight * warmed(u, rate)
        return u, u[::3]

    u, seen = ng.scan(step, u, rates, reverse=reverse)
    total = (u * u).sum()
    for t in range(len(rates)):
        total = total + seen[t].sum() * (t + 1)
    return total


@pytest.fixture
def repeated(monkeypatch):
    """The numbers of runs that were done without Python in between, call by call."""
    counts = []
    run = Executable.repeat

    def counted(self, *args):
        counts.append(run(self, *args))
        return counts[-1]

    monkeypatch.setattr(Executable, "repeat", counted)
    return counts


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
def test_steps_have_the_bits_of_steps_from_python(monkeypatch, length, reverse):
    def found():
        args = ng.tensor(CELLS), ng.tensor(RATES[:length]), ng.tensor(0.97)
        pulled = ng.func.value_and_grad(scanned, argnums=(0, 1, 2))(*args, reverse)
        batch = np.stack([CELLS, CELLS[::-1]])
        rows = ng.func.vmap(lambda u: ng.func.grad(scanned)(u, *args[1:], reverse))(batch)
        captured = ng.jit(ng.func.grad(scanned), static_argnums=3)(*args, reverse)
        return [*pulled, rows, captured]

    together = found()
    monkeypatch.setattr(Executable, "repeat", lambda *args: 0)
    assert_equal(found(), together)
    expected = ng.func.value_and_grad(plain, argnums=(0, 1, 2))(
        ng.tensor(CELLS), ng.tensor(RATES[:length]), ng.tensor(0.97), reverse
    )
    np.testing.assert_allclose(together[0].numpy(), expected[0].numpy(), rtol=1e-12)
    for one, other in zip(together[1], expected[1], strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10, atol=1e-12)


def test_python_runs_two_steps_of_a_loop_and_its_reverse_one(repeated):
    args = ng.tensor(CELLS), ng.tensor(RATES), ng.tensor(0.97)
    ng.func.grad(scanned)(*args, False)
    repeated.clear()
    ng.func.grad(scanned)(*args, False)
    assert sum(repeated) >= 2 * (len(RATES) - 2) - 1


def test_steps_between_snapshots(repeated):
    def loss(u, checkpoint):
        u, _ = ng.scan(lambda u, r: (warmed(u, r), None), u, RATES, checkpoint=checkpoint)
        return (u**3).sum()

    wanted = ng.func.grad(loss)(ng.tensor(CELLS), None)
    for checkpoint in (1, 2, 5, 22):
        assert_equal(ng.func.grad(loss)(ng.tensor(CELLS), checkpoint), wanted)
    assert sum(repeated) > 4 * len(RATES)


def test_a_step_that_fails_is_named_with_its_line(repeated):
    matrix = np.eye(20) * 2.0

    def step(a, _):
        return a - 0.1 * ng.linalg.cholesky(a), None

    first = ng.scan(step, ng.tensor(matrix), length=8)[0]
    assert np.isfinite(first.numpy()).all()
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        ng.scan(step, ng.tensor(matrix), length=200)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        ng.jit(lambda a: ng.scan(step, a, length=200)[0])(ng.tensor(matrix))
    assert max(repeated) > 3


@pytest.mark.parametrize("captured", [False, True])
def test_a_loop_that_ends_by_a_condition_takes_the_steps_of_python(captured, repeated):
    matrix = np.random.default_rng(0).normal(size=(40, 40)) * 0.08

    def solved(b):
        def goes_on(state):
            return ng.abs(state[0] - state[1]).max() > 1e-9

        def step(state):
            return matrix @ state[0] + b, state[0], state[2] + 1

        x, _, count = ng.while_loop(goes_on, step, (b, b + 1, 0))
        return x, count

    b = ng.tensor(np.linspace(-1.0, 1.0, 40))
    x, count = (ng.jit(solved) if captured else solved)(b)
    new, old, taken = b.numpy(), b.numpy() + 1, 0
    while np.abs(new - old).max() > 1e-9:
        new, old, taken = matrix @ new + b.numpy(), new, taken + 1
    assert int(count) == taken
    np.testing.assert_allclose(x.numpy(), new, rtol=1e-12)
    assert sum(repeated) > taken // 2


def test_states_in_files(tmp_path):
    def loss(u, **options):
        u, _ = ng.scan(lambda u, r: (warmed(u, r), None), u, RATES, **options)
        return (u**3).sum()

    wanted = ng.func.grad(loss)(ng.tensor(CELLS))
    assert_equal(ng.func.grad(lambda u: loss(u, storage=tmp_path))(ng.tensor(CELLS)), wanted)


@pytest.mark.parametrize("captured", [False, True])
def test_an_interrupt_is_heard_between_steps(captured):
    def endless(u):
        return ng.scan(lambda u, _: (warmed(u, 0.2), None), u, length=10**9)[0]

    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        (ng.jit(endless) if captured else endless)(CELLS)
    timer.join()
    args = ng.tensor(CELLS), ng.tensor(RATES), ng.tensor(0.97)
    np.testing.assert_allclose(scanned(*args, False).numpy(), plain(*args, False).numpy())
