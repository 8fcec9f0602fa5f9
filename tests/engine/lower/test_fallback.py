"""What only makes programs faster may fail, wherever it does: programs go on as they are."""

import re
import warnings

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower import fallback
from numgrad.engine.lower.executable import Executable
from numgrad.engine.record.apply import runtime
from numgrad.targets.cpu.codegen import scalar_graph
from numgrad.targets.cpu.compile import disk_cache
from numgrad.targets.cpu.kernels import kernel, scalar_kernel
from numgrad.targets.cpu.platform import object_loader
from numgrad.targets.cpu.schedule.bound_program import BoundProgram

from ..fusion.fuse_tools import program_of

N = 1 << 16


def steep(x):
    for _ in range(9):
        x = ng.tanh(x) * 0.625 + x
    return x - ng.rint(x * 0.375)


def fails(*args, **options):
    raise RuntimeError("not today\nsecond line")


def bound_unfused(made, program, target):
    _bind(made, program, target)
    if any(i.name.startswith("fused") for i in program.instructions):
        fails()


_bind = BoundProgram.__init__
PLACES = {
    "code generation": (scalar_graph.ScalarGraph, "emit", fails),
    "linking": (scalar_kernel, "_entries", fails),
    "compilation": (scalar_kernel.worker, "finish", fails),
    "the cache": (disk_cache, "read", fails),
    "loading": (object_loader, "load", fails),
    "binding": (BoundProgram, "__init__", bound_unfused),
}


@pytest.fixture
def unknown_kernels(monkeypatch):
    """No fused kernel is known, in memory or on disk, and no warning was given."""
    monkeypatch.setattr(fallback, "_warned", set())
    monkeypatch.setattr(kernel, "_kernels", {mode: {} for mode in kernel._kernels})
    real, salt = scalar_graph.ScalarGraph.key.fget, str(id(monkeypatch))

    def key(graph):
        return real(graph) if len(graph.steps) == 1 else f"{real(graph)}{salt}"[-60:]

    monkeypatch.setattr(scalar_graph.ScalarGraph, "key", property(key))


@pytest.mark.short_ways
@pytest.mark.usefixtures("unknown_kernels", "default_fusing")
@pytest.mark.parametrize("mode", ["now", "auto"])
@pytest.mark.parametrize("place", PLACES)
def test_where_fusing_fails_a_program_goes_on_with_one_warning(place, mode, monkeypatch):
    program, x = program_of(steep, (37,)), [np.linspace(-2, 2, 37)]
    expected = Executable(program, runtime.target, "never")(x)[0]
    plan = Executable(program, runtime.target, "auto")
    make = plan.fuse if mode == "auto" else lambda: Executable(program, runtime.target, "now")
    monkeypatch.setattr(*PLACES[place])
    with pytest.warns(RuntimeWarning, match=r"could not fuse a program .* not today\. Pro"):
        plan = make() or plan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(plan(x)[0], expected)
        Executable(program, runtime.target, "now")  # what fails in the same way is said once
    assert plan.fusion is None


@pytest.mark.short_ways
@pytest.mark.usefixtures("unknown_kernels", "default_fusing")
def test_a_captured_function_outlives_a_kernel_that_cannot_be_fused(monkeypatch):
    captured, x = ng.jit(steep, fuse="auto"), np.linspace(-2, 2, N)
    expected = ng.jit(steep, fuse="never")(x)
    monkeypatch.setattr(scalar_kernel.worker, "finish", fails)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2000):  # until the runs have taken as long as compiling
            np.testing.assert_array_equal(captured(x), expected)
            if caught:
                break
    assert re.search(r"\(\d+ instructions\): KernelError: fused\[\d+: ", str(caught[0].message))
    np.testing.assert_array_equal(captured(x), expected)
