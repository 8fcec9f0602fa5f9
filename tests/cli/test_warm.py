"""``python -m numgrad warm``: a process after it compiles nothing."""

import os
import subprocess
import sys

import numpy as np
import pytest

from numgrad._cli import warm
from numgrad._cli.command import main
from numgrad.testing.scenarios import Scenario
from tests.sampling import exhaustive

GRADIENT = """
import numpy as np
import numgrad as ng
from numgrad.targets.cpu.compile.disk_cache import cache_info

x = ng.tensor(np.ones((2, 3), "{dtype}"), requires_grad=True)
y = np.sin(x)
ng.grad(y, x, np.ones((5, 2, 3), "{dtype}"), is_grads_batched=True, retain_graph=True)
(g,) = ng.grad(y, x, np.ones((2, 3), "{dtype}"), create_graph=True)
ng.grad(g, x, np.ones((2, 3), "{dtype}"))
ng.jit(lambda x: np.sin(x))(np.ones(3, "{dtype}"))
print(cache_info().compiled)
"""


def python(folder, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, "NUMGRAD_CACHE_DIR": str(folder)},
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def warmed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache") / "kernels"
    return folder, python(folder, "-m", "numgrad", "warm", "--operators", "sin", "--jobs", "1")


def test_what_was_warmed_is_not_compiled_again(warmed):
    folder, (status, summary, progress) = warmed
    assert (status, "compiling operators in 1 process" in progress) == (0, True)
    assert str(folder) in summary
    assert int(summary.split()[1]) > 10
    assert python(folder, "-c", GRADIENT.format(dtype="float64"))[1].strip() == "0"


@exhaustive
def test_processes_share_the_work_and_find_what_is_there(warmed):
    arguments = ("--dtypes", "float64,float32", "--operators", "sin", "--jobs", "2")
    status, summary, progress = python(warmed[0], "-m", "numgrad", "warm", *arguments)
    assert (status, "in 2 processes" in progress) == (0, True)
    assert int(summary.splitlines()[1].split()[-1]) > 10  # from the cache
    assert python(warmed[0], "-c", GRADIENT.format(dtype="float32"))[1].strip() == "0"


@pytest.mark.parametrize("arguments", [["--operators", "sin,sine"], ["--dtypes", "float65"]])
def test_unknown_names_are_refused(arguments, capsys):
    assert main(["warm", *arguments]) == 2
    assert arguments[0][2:] in capsys.readouterr().err


def test_a_failure_is_reported(monkeypatch, capsys):
    def broken(x):
        raise RuntimeError("no such thing")

    scenario = Scenario(name="broken", function=broken, operators=(), points=((np.ones(2),),))
    monkeypatch.setattr(warm, "SCENARIOS", (scenario,))
    assert warm.run(["float64"], jobs=1) == 1
    assert "broken float64: RuntimeError: no such thing" in capsys.readouterr().out


def test_every_scenario_has_its_turn():
    tasks = list(warm._tasks(warm.DTYPES, set()))
    assert {number for number, _ in tasks} == set(range(len(warm.SCENARIOS)))
    assert {dtype for _, dtype in tasks} == set(warm.DTYPES)
