"""``python -m numgrad`` as a newcomer runs it: twice, in fresh processes."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest


@dataclass
class Run:
    status: int
    output: str
    progress: str


def run_main_job(cache, *arguments):
    """Run the main job with a kernel cache of its own.

    No program is fused: whether one is depends on its time, which on a busy machine may be five
    times as long in the second run, and that run then compiles kernels that the first did not need.
    """
    done = subprocess.run(
        [sys.executable, "-m", "numgrad", *arguments],
        env={**os.environ, "NUMGRAD_CACHE_DIR": str(cache), "NUMGRAD_FUSE": "never"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    cache = tmp_path_factory.mktemp("kernels")
    return [run_main_job(cache) for _ in range(2)]


def test_both_runs_succeed_and_print_the_same_fit(runs):
    assert [run.status for run in runs] == [0, 0], runs[0].progress
    tables = [run.output.split("fit ")[0] for run in runs]
    assert tables[0] == tables[1]
    assert "converged" in runs[0].output
    assert "agrees with central differences" in runs[0].output


def test_the_report_gives_the_parameters_of_an_independent_fit(runs):
    """An adaptive integrator and finite differences, as in test_fit.py, to four digits."""
    found = dict(re.findall(r"^(\S+) +([\d.]+) +[\d.]+   ", runs[0].output, re.MULTILINE))
    expected = {"alpha": "0.5402", "beta": "0.02717", "gamma": "0.7964", "delta": "0.02369"}
    assert {name: found[name] for name in expected} == expected


def test_the_first_run_compiles_and_the_second_compiles_nothing(runs):
    compiled = [int(re.search(r"(\d+) compiled", run.output)[1]) for run in runs]
    assert compiled[0] > 0
    assert compiled[1] == 0


def test_the_second_run_says_first_that_it_fits(runs):
    assert runs[1].progress.startswith("fitting")


def test_info_prints_what_a_bug_report_needs(tmp_path):
    run = run_main_job(tmp_path, "info")
    assert run.status == 0, run.progress
    for name in ("numgrad", "numba", "threading layer", "SIMD math", "kernel cache", "CUDA"):
        assert re.search(rf"^{name}  +\S", run.output, re.MULTILINE), name
    assert str(tmp_path) in run.output
