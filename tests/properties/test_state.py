"""The result of a call does not depend on the calls before; faults that are planted are found."""

import os
import re
import subprocess
import sys

import pytest

from tests.robustness.processes import ROOT, environment
from tests.sampling import one_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the judges are forks")
SLOTS = ("passes", "--name", "factors", "--axes", "outputs", "--plant", "slots")
NAMES = ("captured", "--axes", "k", "array", "--plant", "names")


def compared(*arguments):
    """Run the comparison in a process that has done nothing else."""
    return subprocess.run(
        [sys.executable, "-m", "tests.properties.state", *map(str, arguments)],
        env=environment(), cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("seed", one_in(8, range(8)))
@pytest.mark.parametrize("subject", ["passes", "captured"])
def test_results_do_not_depend_on_earlier_calls(subject, seed):
    calls = 1000 if seed == 0 else 4000
    done = compared(subject, "--calls", calls, "--seed", seed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.match("([0-9]+) calls, no difference", done.stdout)[1]) >= calls


@pytest.mark.parametrize("planted", [SLOTS, NAMES], ids=["slots", "names"])
def test_a_planted_fault_is_found_with_the_calls_before(planted):
    done = compared(*planted, "--calls", 10_000, "--seed", 1)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith("DIFFERS")
    before = re.search("after ([0-9]+) calls:\n((?: +the same call with .*\n)+)", done.stdout)
    assert int(before[1]) == len(before[2].splitlines()) <= 5
