"""Several GPUs: every launch is made while its own GPU is the current one of the thread."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.graph.runtime import runtime
from numgrad.targets import cuda
from numgrad.targets.cuda.device.driver import Driver
from numgrad.testing.cuda.checks import devices
from numgrad.testing.cuda.report import Skipped
from numgrad.testing.cuda.sizes import QUICK

from ..conftest import HOSTED


def test_one_gpu_is_no_second_one():
    with pytest.raises(Skipped, match="there is one GPU"):
        devices._several(QUICK)


@pytest.mark.skipif(not HOSTED, reason="needs NUMGRAD_TEST_DRIVER=hosted")
def test_two_gpus_in_turns(monkeypatch):
    monkeypatch.setattr(cuda, "count", lambda: 2)
    hosted = cuda._driver

    def one_of_many(index):
        driver = hosted(index)
        driver._is_one_of_many = True
        return driver

    monkeypatch.setattr(cuda, "_driver", one_of_many)
    monkeypatch.setattr(runtime, "targets", {})
    pointed = []
    for name in ("cuda:0", "cuda:1"):
        x = ng.tensor(np.ones(3), device=name)
        driver = x.array.target.runtime.driver
        assert isinstance(driver, Driver)
        host = driver.host
        del host.devices[:]
        for n in range(120):
            y = ng.sin(x * float(n)) + 1
        pointed.append(y)
        assert set(host.devices) == {int(name[-1])}
    devices._several(QUICK)
    for name in ("cuda:0", "cuda:1", "cuda:0"):
        del host.devices[:]
        x = ng.tensor(np.ones(3), device=name)
        captured = ng.jit(lambda x: (ng.sin(x) * x).sum(), fuse="now")
        for _ in range(4):
            ng.ones(2, device="cuda:0") * 1
            ng.ones(2, device="cuda:1") * 1
            del host.devices[:]
            captured(x)
            assert set(host.devices) == {int(name[-1])}
