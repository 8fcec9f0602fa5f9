"""The simulator when its threads take turns at the worst moments, and the races that it finds."""

import threading
import time

import numpy as np
import pytest

import numgrad as ng
from numgrad.ir import program as _program
from numgrad.targets.cuda.kernels import product, reduction

from .programs import TARGET, on_device, program_of

simulator = pytest.importorskip("numgrad.targets.cuda_simulator.driver")
kernelapi = pytest.importorskip("numba.cuda.simulator.kernelapi")

RNG = np.random.default_rng(5)
_BARRIER = "cuda.syncthreads()"


@pytest.fixture
def slow(monkeypatch):
    """Let the first call of each thread take longer than that of the thread before."""

    def make(owner, name):
        original, met = getattr(owner, name), {}

        def slowly(*args, **options):
            thread = threading.get_ident()
            if thread not in met:
                met[thread] = len(met)
                time.sleep(0.02 * (1 + met[thread] % simulator.THREADS))
            return original(*args, **options)

        monkeypatch.setattr(owner, name, slowly)

    return make


def test_threads_of_a_block_share_their_memory(slow):
    a, b = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 5))
    x, y = (ng.tensor(m, device="cuda") for m in (a, b))
    slow(np, "empty")
    np.testing.assert_allclose((x @ y).cpu().numpy(), a @ b, 1e-12)


def test_functions_of_kernels_are_in_the_kernel_as_long_as_they_run(monkeypatch, slow):
    monkeypatch.setattr(_program, "MANY_ELEMENTS", 1 << 9)
    x = RNG.standard_normal(5000)
    y = ng.tensor(x, device="cuda")
    slow(kernelapi.FakeCUDALocal, "array")
    np.testing.assert_allclose(y.sum().item(), x.sum(), 1e-12)


_ROWS = RNG.standard_normal((6, 5000))
_RACING = {
    "_TEXT": (lambda a, b: a @ b, _ROWS[:, :9], _ROWS[:, 9:18].T),
    "_BLOCKS": (lambda a: a.sum(), _ROWS),
    "_PARTS": (lambda a: a.sum(axis=1), _ROWS),
}


def _with_one_barrier_less():
    for name in _RACING:
        module = product if name == "_TEXT" else reduction
        text = getattr(module, name)
        for n in range(text.count(_BARRIER)):
            yield pytest.param(module, name, _without(text, n), id=f"{name}-{n}")


def _without(text, n):
    parts = text.split(_BARRIER)
    return _BARRIER.join(parts[: n + 1]) + "pass" + _BARRIER.join(parts[n + 1 :])


@pytest.mark.parametrize(("module", "name", "text"), list(_with_one_barrier_less()))
def test_every_barrier_is_missed(module, name, text, monkeypatch):
    """The simulator sees that threads race, whatever the order in which they run."""
    monkeypatch.setattr(module, name, text)
    monkeypatch.setattr(TARGET, "_prepared", {})
    monkeypatch.setattr(_program, "MANY_ELEMENTS", 1 << 9)
    program = program_of(*_RACING[name])
    with pytest.raises(Exception, match="no barrier"):
        on_device(program)
