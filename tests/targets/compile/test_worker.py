"""The process in which LLVM finishes fused kernels: limits, Ctrl-C and crashes reach it alone."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower import fallback
from numgrad.engine.lower.executable import Executable
from numgrad.engine.record.apply import runtime
from numgrad.targets.cpu.codegen import scalar_graph
from numgrad.targets.cpu.compile import optimize, worker
from numgrad.targets.cpu.kernels import kernel
from numgrad.targets.cpu.platform import interrupts
from tests.engine.fusion.fuse_tools import program_of

TEXT = """
define double @entry(double %x) {
  %y = call double @cosh(double %x)
  ret double %y
}
declare double @cosh(double)
"""


def job(text=TEXT):
    from numgrad.targets.cpu.platform.target_machine import target_options

    return optimize.Job(text, (), ("entry",), target_options())


@pytest.fixture(autouse=True)
def none_left():
    worker.close()
    yield
    worker.close()


def test_it_makes_what_would_be_made_here():
    found, expected = worker.finish(job()), optimize.finish(job())
    assert found == expected
    assert expected[1:] == (("cosh",), True)
    assert isinstance(worker._current, worker.CompilerProcess)


def test_one_process_does_all_jobs_and_ends():
    worker.finish(job())
    first = worker._current.process
    worker.finish(job())
    assert worker._current.process is first
    worker.close()
    assert first.poll() is not None


def test_what_llvm_refuses_is_an_error_and_the_process_goes_on():
    with pytest.raises(RuntimeError, match="parsing error"):
        worker.finish(job("define nonsense"))
    assert worker.finish(job())[1] == ("cosh",)


def hanging(monkeypatch, tmp_path):
    """Let the process be one that never answers; return the program."""
    program = tmp_path / "hangs.py"
    program.write_text(
        "import marshal, sys, time\n"
        "marshal.dump('ready', sys.stdout.buffer)\n"
        "sys.stdout.buffer.flush()\n"
        "time.sleep(600)\n"
    )
    monkeypatch.setattr(optimize, "__file__", str(program))


def test_a_limit_ends_the_process(monkeypatch, tmp_path):
    hanging(monkeypatch, tmp_path)
    monkeypatch.setattr(worker, "LIMIT", 0.5)
    with pytest.raises(TimeoutError, match="did not finish a kernel within"):
        worker.finish(job())
    assert worker._current.process.poll() is not None
    monkeypatch.undo()
    assert worker.finish(job())[1] == ("cosh",)


def finish_after(timer):
    """Wait for a job once the timer runs: where an interrupt is awaited already."""
    timer.start()
    worker.finish(job())


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_ctrl_c_ends_the_process(monkeypatch, tmp_path):
    hanging(monkeypatch, tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.held(), interrupts.held():
            finish_after(timer)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < worker.LIMIT / 2
    assert worker._current.process.poll() is not None


def test_a_crash_of_llvm_is_an_error(monkeypatch, tmp_path):
    program = tmp_path / "crashes.py"
    program.write_text(
        "import marshal, os, sys\n"
        "marshal.dump('ready', sys.stdout.buffer)\n"
        "sys.stdout.buffer.flush()\n"
        "marshal.load(sys.stdin.buffer)\n"
        "os.abort()\n"
    )
    monkeypatch.setattr(optimize, "__file__", str(program))
    with pytest.raises(RuntimeError, match="LLVM ended its process with the status"):
        worker.finish(job())


@pytest.mark.parametrize("name", ["/usr/sbin/uwsgi", "", "/no/such/python"])
def test_where_no_process_can_be_started_the_work_is_done_here(name, monkeypatch):
    monkeypatch.setattr(sys, "executable", name)
    assert worker.finish(job())[1] == ("cosh",)
    assert not isinstance(worker._current, worker.CompilerProcess)


@pytest.mark.short_ways
def test_a_program_whose_kernel_takes_too_long_runs_on_unfused(monkeypatch, tmp_path):
    real = scalar_graph.ScalarGraph.key.fget
    late = property(lambda graph: "-late" + real(graph)[-50:])
    monkeypatch.setattr(scalar_graph.ScalarGraph, "key", late)
    monkeypatch.setattr(kernel, "_kernels", {mode: {} for mode in kernel._kernels})
    monkeypatch.setattr(fallback, "_warned", set())
    monkeypatch.setattr(worker, "LIMIT", 0.2)
    hanging(monkeypatch, tmp_path)

    def wave(x):
        return ng.sin(x) * 0.75 + x

    program, x = program_of(wave, (11,)), [np.linspace(0, 1, 11)]
    with pytest.warns(RuntimeWarning, match="could not fuse .* LLVM did not finish a kernel"):
        plan = Executable(program, runtime.target, "now")
    np.testing.assert_array_equal(plan(x)[0], Executable(program, runtime.target, "never")(x)[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_forked_child_has_a_process_of_its_own():
    worker.finish(job())
    mine = worker._current.process
    child = os.fork()
    if not child:
        same = worker.finish(job())[1] == ("cosh",)
        other = worker._current.process.pid != mine.pid
        worker.close()
        os._exit(0 if same and other else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert worker.finish(job())[1] == ("cosh",)
    assert worker._current.process is mine


def test_it_ends_with_the_process_that_started_it():
    script = (
        "import numgrad.targets.cpu.compile.worker as h, os, sys\n"
        "h._current = h.CompilerProcess()\n"
        "print(h._current.process.pid, flush=True)\n"
        "sys.stdin.read()\n"
        "os._exit(1)\n"  # nothing is tidied up
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        pid = int(parent.stdout.readline())
        parent.stdin.close()
    for _ in range(600):
        if not os.path.exists(f"/proc/{pid}") or "Z" in status_of(pid):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the process is still there")


def status_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
