"""The simulator when its threads take turns at the worst moments."""

import threading
import time

import numpy as np
import pytest

import numgrad as ng
from numgrad import _program

simulator = pytest.importorskip("numgrad.targets.cuda.simulator")
kernelapi = pytest.importorskip("numba.cuda.simulator.kernelapi")

RNG = np.random.default_rng(5)


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
