"""``display.profile``: what programs spend their time on.

A program that is fused meanwhile is another one of the profile. On a busy machine runs take so long
that any could be, so most functions are never fused here.
"""

import itertools
import json
import math
import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad.display import Profile
from numgrad.display.costs import bytes_of, operations_of
from numgrad.engine.lower.executable import watch
from numgrad.ir.program import contiguous_strides, layout_of
from numgrad.targets.cpu.machine import profiler

F64 = np.dtype(np.float64)


@pytest.fixture
def flags():
    before = ng.get_flags()
    yield ng.set_flags
    ng.set_flags(**before)


def wave(x):
    return ng.sin(x) * ng.exp(-x) + x * x


def gradients(rows=200, columns=50, passes=1):
    x = ng.tensor(np.linspace(0.1, 2.0, columns), requires_grad=True)
    y = wave(x)
    seeds = np.random.default_rng(0).standard_normal((rows, columns))
    return [
        ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)[0].numpy()
        for _ in range(passes)
    ]


def test_a_pass_is_measured_instruction_by_instruction(flags):
    flags(fuse="never", tile=16)
    expected = gradients()[0]
    with ng.display.profile() as profile:
        (found,) = gradients()
    np.testing.assert_array_equal(found, expected)
    (program,) = profile.programs
    assert (program.runs, program.batch, program.fused) == (1, 200, False)
    assert len(profile.rows) == len(program.names) > 3
    assert "multiply" in {row.name for row in profile.rows}
    tiles = math.ceil(200 / 16)
    body = [r for r, i in zip(program.rows(), program.instructions, strict=True) if i.rows]
    assert {row.calls for row in body} == {tiles}
    assert all(row.seconds > 0 for row in profile.rows)
    assert sum(row.seconds for row in profile.rows) < program.seconds * program.threads
    assert program.seconds < profile.seconds
    assert 0 < program.busy < 1


def test_runs_add_up(flags):
    flags(fuse="never")
    with ng.display.profile() as profile:
        gradients(passes=4)
    runs = [program.runs for program in profile.programs]
    assert sum(runs) == 4
    for program in profile.programs:
        assert all(row.calls % program.runs == 0 for row in program.rows())
        assert len(program.spans) == program.runs


def test_entries_do_not_go_past_a_profile_and_come_back():
    f = ng.jit(lambda x: x * x + 1.0, fuse="never")
    x = np.arange(4.0)
    f(x), f(x)
    with ng.display.profile() as profile:
        for _ in range(3):
            np.testing.assert_array_equal(f(x), x * x + 1.0)
    assert [program.runs for program in profile.programs] == [3]
    np.testing.assert_array_equal(f(x), x * x + 1.0)
    with ng.display.profile() as again:
        pass
    assert again.programs == []
    assert [program.runs for program in profile.programs] == [3]


@pytest.mark.short_ways
def test_fused_programs_say_so():
    f = ng.jit(wave, fuse="now")
    with ng.display.profile() as profile:
        f(np.linspace(0.0, 1.0, 100))
    (program,) = profile.programs
    assert program.fused
    assert any(name.startswith("fused[") for name in program.names)
    assert " fused " in profile.table("program")


def test_threads_are_told_apart(flags):
    flags(tile=8, fuse="never")
    with ng.display.profile() as profile:
        gradients(rows=4096)
    (program,) = profile.programs
    events = program.events()
    assert len(program.events()) == program.calls.sum()
    assert len(events) == int(program.calls.sum())
    assert {event.thread for event in events} <= set(range(program.threads))
    began, ended = program.spans[0]
    slack = 1e-3
    for event in events:
        assert began - slack < event.began <= event.ended < ended + slack
    for thread in range(program.threads):
        mine = sorted((e.began, e.ended) for e in events if e.thread == thread)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(mine))


def test_the_log_is_bounded_and_the_sums_are_not(flags, monkeypatch):
    monkeypatch.setattr(profiler, "_EVENTS", 5)
    flags(tile=1, fuse="never")
    with ng.display.profile() as profile:
        gradients(rows=64)
    (program,) = profile.programs
    assert len(program.events()) < program.calls.sum()
    assert len(program.events()) == 5 * program.threads
    body = [r for r, i in zip(program.rows(), program.instructions, strict=True) if i.rows]
    assert {row.calls for row in body} == {64}


def test_times_are_those_of_the_clock(flags):
    """Half of the work takes about half of the time that the whole run takes."""
    flags(fuse="never")
    a = np.random.default_rng(0).standard_normal((400, 400))
    f = ng.jit(lambda a: ng.matmul(a, a), fuse="never")
    f(a)
    with ng.display.profile() as profile:
        for _ in range(5):
            f(a)
    (program,) = profile.programs
    (row,) = [row for row in profile.rows if row.name == "matmul"]
    assert 0.5 < row.seconds / program.seconds < 1.01
    assert row.operations == 5 * 2 * 400**3
    assert row.nbytes == 5 * 3 * 400 * 400 * 8


def test_an_error_in_a_measured_program_is_the_same_error():
    def fragile(x):
        if x < 0:
            raise ValueError("negative")
        return x

    operator = ng.elementwise(fragile)
    f = ng.jit(lambda x: operator(x) * 2.0, fuse="never")
    with pytest.raises(ng.errors.OperatorError) as plain:
        f(np.array([1.0, -1.0]))
    with ng.display.profile() as profile, pytest.raises(ng.errors.OperatorError) as measured:
        f(np.array([1.0, -1.0]))
    assert str(measured.value) == str(plain.value)
    assert watch.current is None
    assert profile.programs[0].runs == 1


def test_profiles_nest_and_the_inner_one_measures():
    f = ng.jit(wave, fuse="never")
    with ng.display.profile() as outer:
        f(np.ones(3))
        with ng.display.profile() as inner:
            f(np.ones(3))
        f(np.ones(3))
    assert [p.runs for p in outer.programs] == [2]
    assert [p.runs for p in inner.programs] == [1]


def test_other_threads_are_measured_too():
    f = ng.jit(wave, fuse="never")
    f(np.ones(3))
    with ng.display.profile() as profile:
        threads = [threading.Thread(target=f, args=(np.ones(3),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [p.runs for p in profile.programs] == [4]


def test_report_and_tables():
    with ng.display.profile() as profile:
        gradients()
    text = str(profile)
    assert text.startswith(tuple("0123456789"))
    for word in ("1 program;", "kernels compiled", "operator", "share", "GFLOP/s", "multiply"):
        assert word in text
    shares = [float(line.split("%")[0].split()[-1]) for line in profile.table().splitlines()[1:]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=1)
    with pytest.raises(ValueError, match="operator, instruction or program"):
        profile.table("kernel")
    assert str(Profile()).startswith("0 ns, of which 0 ns in 0 programs; 0 kernels compiled")


def test_chrome_trace(tmp_path, flags):
    flags(fuse="never", tile=32)
    path = tmp_path / "trace.json"
    with ng.display.profile() as profile:
        gradients()
    profile.chrome_trace(path)
    events = json.loads(path.read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    runs = [event for event in spans if event["tid"] == 0]
    assert [event["name"] for event in runs] == ["program 0"]
    assert len(spans) - len(runs) == sum(row.calls for row in profile.rows)
    assert all(event["ts"] >= -1000 and event["dur"] >= 0 for event in spans)
    assert {"programs", "thread 0"} <= {e["args"]["name"] for e in events if e["ph"] == "M"}


def test_memory_over_instructions(flags):
    flags(fuse="never", tile=16)
    with ng.display.profile() as profile:
        gradients()
    (program,) = profile.programs
    live = program.live_bytes()
    assert len(live) == len(program.names)
    assert program.result_bytes == 200 * 50 * 8
    assert program.result_bytes <= live.min()
    assert live.max() <= program.peak_bytes
    assert live.max() > program.result_bytes


def test_memory_plot(tmp_path):
    pytest.importorskip("matplotlib")
    with ng.display.profile() as profile:
        gradients()
    path = tmp_path / "memory.png"
    profile.memory_plot(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="no program ran"):
        Profile().memory_plot(path)


class Fake:
    """An instruction as the estimates see it."""

    def __init__(self, spec, layouts, loop, core=()):
        self.pattern = self
        self.spec, self.layouts, self.loop, self.core = spec, layouts, loop, core
        self.rows = any(layout.rows for layout in layouts)


def layout(shape, rows=False, strides=None):
    return layout_of(shape, strides or contiguous_strides(shape, 8), F64, rows)


def test_estimates_of_operations_and_bytes():
    def twice(x):
        return x + x

    def function(x, y):
        return math.exp(-x) * twice(y) + x**2

    from numgrad.ir.kernel_spec import ElementwiseSpec, FusedSpec, LibrarySpec

    one = ElementwiseSpec("one", function, (F64, F64), (F64,))
    layouts = (layout((3, 4), rows=True), layout((3, 4), strides=(0, 8)), layout((3, 4), rows=True))
    instruction = Fake(one, layouts, (3, 4))
    assert operations_of(instruction, 10) == 6 * 12 * 10
    assert bytes_of(instruction, 10) == 8 * (2 * 12 * 10 + 4)
    two = FusedSpec("two", ((one, (0, 1)), (one, (0, 2))), (F64, F64), (F64,), (3,), (False,) * 2)
    assert operations_of(Fake(two, layouts, (3, 4)), 1) == 2 * 6 * 12
    product = LibrarySpec("matmul", F64)
    once = tuple(layout(shape) for shape in ((2, 3), (3, 4), (2, 4)))
    assert operations_of(Fake(product, once, (5,), (2, 3, 4)), 10) == 5 * 2 * 2 * 3 * 4
    product = LibrarySpec("matmul", np.dtype(complex))
    assert operations_of(Fake(product, once, (), (2, 3, 4)), 1) == 4 * 2 * 2 * 3 * 4


def test_the_clock_of_arm_processors_is_one_instruction():
    """They have no `clock_gettime` on Windows; what is compiled for them is looked at here."""
    from llvmlite import binding as llvm
    from llvmlite import ir

    from numgrad.targets.cpu.machine import clock

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(ir.IntType(64), []), "now")
    builder = ir.IRBuilder(function.append_basic_block())
    _, codegen = clock._read_virtual_counter._defn(None)
    builder.ret(codegen(None, builder, None, ()))
    parsed = llvm.parse_assembly(str(module))
    for triple in ("aarch64-unknown-linux-gnu", "arm64-apple-darwin", "aarch64-pc-windows-msvc"):
        machine = llvm.Target.from_triple(triple).create_target_machine()
        assert "cntvct_el0" in machine.emit_assembly(parsed).lower()
