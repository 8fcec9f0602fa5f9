"""What the host takes for operations on a device, beside what the processor takes for them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import HOSTED

ROOT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.skipif(not HOSTED, reason="needs NUMGRAD_TEST_DRIVER=hosted"),
    pytest.mark.short_ways,
]

MOST = {
    "x * y, eager": 2.5, "x + 1, eager": 2.5, "x * y, recorded": 2.0, "x[1:], a view": 3.0,
    "x.sum(), eager": 2.5, "captured, three operations in a kernel": 1.8,
    "captured, a graph of 21 launches": 6.0, "x * y with its gradient": 3.0,
    "Lorenz-96, captured, 80 launches": 0.8, "a scan of 100 steps": 0.2,
    "a scan of 100 steps with its gradient": 0.2, "250 scans of 100 steps with gradients": 1.0,
    "x * y, eager, on a stream": 7.0,
    "x * y, recorded, on a stream": 3.5, "captured, three operations in a kernel, on a stream": 4.0,
    "Lorenz-96, captured, 80 launches, on a stream": 0.8,
}  # fmt: skip
"""The most times what the processor takes: at least one and a half times what was measured."""


@pytest.fixture(scope="module")
def costs():
    command = [sys.executable, "-m", "tests.cuda.hosted.costs", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_all_cases_have_a_bound(costs):
    assert costs.keys() == MOST.keys()


@pytest.mark.parametrize("name", MOST)
def test_the_host_takes_no_longer_for_a_device(costs, name):
    here, there = costs[name]
    assert there <= MOST[name] * here, f"{there:.2f} us on the device, {here:.2f} on the processor"
