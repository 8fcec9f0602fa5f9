"""The report of a GPU, in the simulator: it is made, and it sees what is wrong."""

import json
import runpy
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda.device import memory, runtime
from numgrad.targets.cuda.program import measured_program
from numgrad.targets.cuda_simulator.driver import Simulator
from numgrad.testing.cuda import benchmarks, checks, command, facts, other_libraries
from numgrad.testing.cuda.benchmarks import bandwidth, libraries, steps, timing, workloads
from numgrad.testing.cuda.checks import exchange
from numgrad.testing.cuda.report import Benchmark, Bound, Check, Figure, Skipped
from numgrad.testing.cuda.sizes import QUICK

from .conftest import HOSTED


def test_one_command_makes_the_report(monkeypatch, capsys, tmp_path):
    file = tmp_path / "report.json"
    monkeypatch.setattr(sys, "argv", ["cuda", "--quick", "--json", str(file)])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("numgrad.testing.cuda", run_name="__main__")
    text = capsys.readouterr().out
    assert stop.value.code == 0, text
    first, *lines = text.splitlines()
    assert first == command.SIMULATED
    assert lines[-1].startswith("all is right: ")
    assert not any("met" in line.split() for line in lines)
    report = json.loads(file.read_text())
    assert report["simulated"]
    assert report["facts"]["numpy"] == np.__version__
    assert [check["name"] for check in report["checks"]] == [check.name for check in checks.CHECKS]
    made = [figure["name"] for figure in report["figures"] if figure["value"] is not None]
    wanted = {"sums of rows, float64", "launch of a kernel", "a batch beside as many single passes"}
    assert wanted <= set(made)


def test_words_choose_checks_and_benchmarks(capsys, tmp_path):
    file = tmp_path / "report.json"
    assert command.main(["--only", "MEMORY:", "overhead", "--json", str(file)]) == 0
    report = json.loads(file.read_text())
    names = [check["name"] for check in report["checks"]]
    assert names == [check.name for check in checks.CHECKS if "memory:" in check.name]
    assert {"x * y, eager", "launch of a kernel"} <= {f["name"] for f in report["figures"]}
    assert command.main(["--only", "nothing of that name"]) == 1
    assert "no check and no benchmark has" in capsys.readouterr().out


def kinds(function, *arrays):
    given = [ng.tensor(a, device="cuda") for a in arrays]
    found = steps.kinds_of(lambda: function(*given), QUICK)
    assert all(kind.microseconds > 0 for kind in found)
    return {kind.name: (kind.steps, kind.nbytes, kind.launches) for kind in found}


def test_steps_say_what_they_move_and_launch():
    x, row, w = np.ones((6, 4)), np.ones(4), np.ones((4, 5))

    def call(x, row, w):
        return ng.tanh(x + row) @ w, ng.linalg.eig(w[:, :4])[0]

    assert kinds(ng.jit(call, fuse="now"), x, row, w) == {
        "fused[2: add tanh]": (1, 8 * (24 + 4 + 24), 1),  # the row is read once
        "matmul": (1, 8 * (24 + 20 + 30), 1),
        "copy": (1, 8 * (16 + 16), 1),
        "eig on the host": (1, 8 * 16 + 16 * (4 + 16), 0),
    }


def test_steps_of_a_loop_are_those_of_its_programs():
    def loop(x):
        return ng.scan(lambda c, u: (ng.sin(ng.roll(c, 1)) * u, None), x[0], x)[0]

    found = kinds(ng.jit(loop, fuse="now"), np.ones((5, 70)))
    assert found.pop("ng.scan")[0] == 1
    assert found == {"fused[2: sin multiply]": (5, 5 * 8 * 210, 5)}


def test_a_loop_inside_of_a_kernel_is_one_step():
    def loop(x):
        return ng.scan(lambda c, u: (ng.sin(c) * u, None), x[0], x)[0]

    found = kinds(ng.jit(loop, fuse="now"), np.ones((5, 3)))
    assert found == {"ng.scan, all steps in one kernel": (1, 8 * (3 + 15 + 3), 1)}


@pytest.mark.skipif(HOSTED, reason="the device that is the host has no times of events")
def test_a_card_tells_the_time_between_events(monkeypatch):
    monkeypatch.setattr(measured_program, "is_simulated", lambda: False)
    monkeypatch.setattr(Simulator, "milliseconds", lambda self, begin, end: 0.25)
    x = ng.ones(3, device="cuda")
    call = ng.jit(lambda x: ng.sin(x) @ x, fuse="now")
    (kind, other) = steps.kinds_of(lambda: call(x), QUICK)
    assert kind.microseconds == other.microseconds == 250.0
    assert kind.figure().more["GB/s"] == pytest.approx(kind.nbytes / 250e3)


def test_steps_are_not_measured_where_programs_are_watched():
    with ng.display.profile(), pytest.raises(Skipped, match="looks at programs"):
        steps.kinds_of(lambda: None, QUICK)


def test_steps_are_lines_of_the_report(capsys, tmp_path):
    file = tmp_path / "report.json"
    assert command.main(["--only", "steps: a scan", "--json", str(file)]) == 0
    figures = json.loads(file.read_text())["figures"]
    (whole,) = [f for f in figures if f["name"].startswith("all steps")]
    others = [f for f in figures if f["value"] is not None and f is not whole]
    for unit in ("bytes", "launches"):
        assert whole["more"][unit] == sum(f["more"][unit] for f in others) > 0
    assert "launches" in capsys.readouterr().out


def test_libraries_may_be_left_out(monkeypatch):
    made = {"checks": [1], "figures": [], "is right": True}
    monkeypatch.setattr(command, "make", lambda *args: made)
    assert command.main(["--without", "torch", "jax", "cupy"]) == 0
    for name in other_libraries.NAMES:
        with pytest.raises(Skipped, match=f"{name} was left out"):
            exchange.library(name)
    assert command.main([]) == 0
    assert not other_libraries.left_out


def test_a_long_call_is_measured_once(monkeypatch):
    calls = []
    monkeypatch.setattr(timing, "_LONG", -1.0)
    timing.milliseconds(lambda: calls.append(1), replace(QUICK, warm=3, repeats=15))
    assert len(calls) == 3


def test_without_a_gpu_a_line_says_why(monkeypatch, capsys):
    monkeypatch.setattr(ng.cuda, "unavailable_reason", lambda: "there is no NVIDIA driver")
    assert command.main([]) == 1
    assert capsys.readouterr().out == "no GPU: there is no NVIDIA driver\n"


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("kind", "error", "status"),
    [
        ("check", AssertionError("other\nnumbers"), 1), ("check", ValueError("an error"), 1),
        ("check", Skipped("not here"), 0), ("benchmark", AssertionError("it differs"), 1),
    ],
)  # fmt: skip
def test_what_is_wrong_decides_the_status(kind, error, status, monkeypatch, capsys):
    run = lambda sizes: _raise(error)  # noqa: E731
    is_check = kind == "check"
    monkeypatch.setattr(checks, "CHECKS", (Check("one", run),) if is_check else ())
    monkeypatch.setattr(benchmarks, "BENCHMARKS", () if is_check else (Benchmark("one", run),))
    assert command.main([]) == status
    text = capsys.readouterr().out
    assert " ".join(str(error).split()) in text
    assert ("WRONG: one" in text) == bool(status)


def _check(name):
    (check,) = [check for check in checks.CHECKS if check.name == name]
    return check


@pytest.mark.parametrize(
    "name",
    [
        "operators: elementwise, float32", "large arrays: sums", "large arrays: index arrays",
        "more elements than 2^31", "streams: beside the processor",
    ],
)  # fmt: skip
def test_wrong_numbers_are_seen(name, monkeypatch):
    read = runtime.Runtime.read

    def wrong(*args):
        array = np.array(read(*args), order="C")
        array.reshape(-1)[-1:] += 1
        return array

    monkeypatch.setattr(runtime.Runtime, "read", wrong)
    with pytest.raises(AssertionError):
        _check(name).run(QUICK)


def test_memory_that_is_not_given_back_is_seen(monkeypatch):
    add = memory.Usage.add
    monkeypatch.setattr(memory.Usage, "add", lambda self, nbytes: add(self, max(nbytes, 0)))
    with pytest.raises(AssertionError, match="bytes in use after equal work grow"):
        _check("memory: given back").run(QUICK)


def test_a_bound_is_judged_where_times_mean_something():
    fast = Figure("a share", 90.0, "%", Bound(85.0))
    slow = Figure("a launch", 12.0, "us", Bound(10.0, is_upper=True))
    assert fast.line(True).endswith("90 %, wanted at least 85: met")
    assert slow.line(True).endswith("12 us, wanted at most 10: NOT MET")
    assert slow.line(False).endswith("not judged")
    assert Figure("not there", None).line(True) == "not there"
    assert [figure.is_met for figure in (fast, slow, Figure("x", 1.0))] == [True, False, None]


def test_without_memory_a_problem_is_halved(monkeypatch):
    def compared(task, sizes):
        if sizes.options > 2000:
            raise MemoryError
        yield Figure("a time", sizes.options)

    monkeypatch.setattr(workloads, "_compared", compared)
    sizes = replace(QUICK, options=8000)
    figures = [f.value for f in workloads._halved(lambda sizes: None, sizes)]
    assert figures == [8000, 4000, 2000, 2000]


TASKS = {
    "lorenz": workloads._lorenz, "perceptron": workloads._perceptron,
    "options": lambda sizes: workloads._black_scholes("float64", sizes),
}  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("make", [libraries.Torch, libraries.Jax])
def test_other_libraries_compute_the_same(make, task):
    try:
        other = make("cpu")
    except Skipped as reason:
        pytest.skip(str(reason))
    task = TASKS[task](replace(QUICK, ring=6, width=3))
    results = [[way.read(g, 1) for g in task.of(way)()] for way in (other, libraries.Numgrad())]
    workloads._require_equal(other.name, *results, task)


def test_results_that_differ_are_seen():
    task = TASKS["options"](QUICK)
    right = [np.ones(3)] * 5
    found = [*right[:4], np.array([1.0, 1.0, 1.0 + 1e-6])]
    with pytest.raises(AssertionError, match="differs by 1e-06"):
        workloads._require_equal("it", found, right, task)


def test_kernels_of_a_library_like_numpy():
    kernels = list(bandwidth.kernels_of(np, "float32", 64))
    assert [np.shape(kernel.call()) for kernel in kernels] == [(4, 4), (), (4,), (4,)]
    assert [kernel.nbytes for kernel in kernels] == [192, 64, 64, 64]


only_hosted = pytest.mark.skipif(not HOSTED, reason="needs NUMGRAD_TEST_DRIVER=hosted")


@only_hosted
def test_streams_of_another_library(monkeypatch):
    side = ng.cuda.Stream()
    monkeypatch.setattr(exchange, "library", lambda name: side)
    like_torch = lambda side: SimpleNamespace(cuda_stream=side.cuda_stream)  # noqa: E731
    exchange._stream("like torch", like_torch, QUICK)
    exchange._stream("like cupy", lambda side: side.handle, QUICK)


@only_hosted
def test_memory_of_another_library(monkeypatch):
    like_torch = SimpleNamespace(from_dlpack=ng.from_dlpack)
    monkeypatch.setattr(exchange, "library", lambda name: like_torch)
    exchange._memory("like torch", QUICK)
    like_torch.from_dlpack = lambda x: ng.from_dlpack(x) + 1
    with pytest.raises(AssertionError, match="reads other elements"):
        exchange._memory("like torch", QUICK)


@only_hosted
def test_facts_of_a_gpu(monkeypatch):
    for module in (facts, libraries):
        monkeypatch.setattr(module, "is_simulated", lambda: False)
    found = dict(facts.facts())
    assert found["compute capability"] == "9.0"
    assert found["CUDA of the driver"] == "13.0"
    assert found["products"] == "by numgrad's own kernels; there is no cuBLAS"
    assert "on the host, as cuSOLVER cannot be loaded: Mod" in found["large matrices"]
    assert "on the host, as cuFFT cannot be loaded: Mod" in found["Fourier"]
    assert "kernels for GPUs before this run" in found["kernel cache"]
    libraries.forget_memory()
    libraries_there, reasons = libraries.others()
    assert len(libraries_there) + len(reasons) == 2


def test_nothing_is_begun_when_the_time_is_over(tmp_path):
    path, lines = tmp_path / "report.json", []
    kept = []
    found = command.make(QUICK, lines.append, ["streams", "overhead"], 0.0, kept.append)
    path.write_text(json.dumps(found))
    assert {check["status"] for check in found["checks"]} == {"skipped"}
    assert not found["figures"]
    assert len(kept) == len(found["checks"]) + 1
    assert found["is right"]


def test_the_report_is_kept_after_each_step_and_a_failure_stops_nothing(monkeypatch):
    def fail(sizes):
        raise ZeroDivisionError("a step")

    kept = []
    broken = [checks.CHECKS[0]._replace(run=fail), *checks.CHECKS[1:3]]
    monkeypatch.setattr(checks, "CHECKS", tuple(broken))
    command.make(QUICK, lambda line: None, [one.name for one in broken], None, kept.append)
    statuses = [[check["status"] for check in report["checks"]] for report in kept]
    assert [len(one) for one in statuses] == [1, 2, 3, 3]
    assert statuses[-1][0] == "FAILED"
    assert statuses[-1][1:] == ["ok", "ok"]
    assert not kept[0]["is right"]
