"""How a program comes to be fused: in steps, none longer than the program has run."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import KernelError
from numgrad.engine.fusion import policy
from numgrad.engine.fusion.policy import Fusion, forecast, fusion_of
from numgrad.engine.lower.executable import Executable
from numgrad.engine.record.apply import runtime
from numgrad.targets.null import NullTarget

from .fuse_tools import program_of

pytestmark = [pytest.mark.short_ways, pytest.mark.usefixtures("default_fusing")]


class Slow(NullTarget):
    """A target that knows a kernel once it has been asked for it."""

    def is_ready(self, spec):
        return spec.name in [kernel.name for kernel in self.kernels]


def stretches(x):
    """Two kernels, as the second reads a sum of the first."""
    y = ng.sin(x) * x
    z = y / y.sum()
    return ng.cos(z) * z


def fused_names(program):
    return [i.name for i in program.instructions if i.name.startswith("fused")]


def test_kernels_are_compiled_one_at_a_time():
    target, program = Slow(), program_of(stretches, (100,))
    steps = fusion_of(program, target, "auto")
    assert steps.advance() is None
    waits, counts = [steps.patience], [len(target.kernels)]
    while (made := steps.advance()) is None:
        waits.append(steps.patience)
        counts.append(len(target.kernels))
    assert counts == list(range(len(fused_names(made))))
    assert len(counts) == 2
    assert waits[0] < waits[1]


def test_a_program_whose_kernels_are_known_is_fused_in_one_step():
    program = program_of(stretches, (100,))
    made = fusion_of(program, NullTarget(), "auto").advance()
    assert len(fused_names(made)) == 2


def test_finding_out_what_is_fused_compiles_nothing(monkeypatch):
    target = Slow()
    program = program_of(stretches, (100,))
    monkeypatch.setattr(type(runtime.target), "kernel", None)  # not even of the usual target
    fusion_of(program, target, "auto").advance()
    assert target.kernels == []


@pytest.mark.parametrize("mode", ["auto", "now", "never"])
def test_what_is_never_fused(mode, monkeypatch):
    single = program_of(ng.sin, (10,))
    assert fusion_of(single, NullTarget(), mode) is None
    program = program_of(stretches, (10,))
    assert (fusion_of(program, NullTarget(), mode) is None) == (mode == "never")
    monkeypatch.setattr(policy, "MOST_INSTRUCTIONS", 3)
    assert (fusion_of(program, NullTarget(), mode) is None) == (mode != "now")


def test_a_plan_is_fused_when_it_has_run_long_enough(monkeypatch):
    for name in ("_INSTRUCTION", "_KERNEL", "_STEP"):
        monkeypatch.setattr(policy, name, 1e-12)
    program = program_of(lambda x: ng.sin(x) * x + 1.0, (10,))
    monkeypatch.setattr(policy, "_ELEMENT", 0.0)
    plan = Executable(program, runtime.target, "auto")
    assert plan.bound.program is program
    (first,) = plan([np.ones(10)])
    (second,) = plan([np.ones(10)])  # the kernel is known now, if it was not on disk
    assert plan.fusion is None
    assert len(plan.bound.program.instructions) == 1
    (third,) = plan([np.ones(10)])
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)


def test_a_plan_waits_longer_for_a_kernel_that_is_compiled(monkeypatch):
    monkeypatch.setattr(type(runtime.target), "is_ready", lambda target, spec: False)
    plan = Executable(program_of(stretches, (10,)), runtime.target, "auto")
    plan.seconds = plan.fusion.patience
    plan([np.ones(10)])
    assert plan.fusion.patience > 0.03 > plan.seconds
    assert plan.bound.program is plan.program


@pytest.mark.parametrize("count", [10, 1_000_000])
def test_a_program_of_many_elements_is_fused_before_it_runs(count):
    program = program_of(stretches, (count,))
    Executable(program, runtime.target, "now")  # so that the kernels are known
    plan = Executable(program, runtime.target, "auto")
    assert (plan.fusion is None) == (plan.bound.program is not program) == (count > 10)


def test_the_forecast_counts_rows():
    x = ng.tensor(np.linspace(0.0, 1.0, 50), requires_grad=True)
    y = ng.sin(x) * x
    few, many = (np.ones((rows, 50)) for rows in (2, 20))
    forecasts = []
    real = policy.forecast
    for seeds in (few, many):
        with pytest.MonkeyPatch.context() as patch:
            forecast_of = lambda p: forecasts.append(real(p)) or 0  # noqa: E731
            patch.setattr("numgrad.engine.lower.executable.forecast", forecast_of)
            for _ in range(2):
                ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)
    assert forecasts[0] < forecasts[-1] < 12 * forecasts[0]
    assert forecast(program_of(ng.sin, (10,))) == pytest.approx(10 * policy._ELEMENT)


def test_an_error_names_the_kernel():
    class Broken(NullTarget):
        def kernel(self, spec):
            raise ValueError("no room")

    program = program_of(lambda x: ng.sin(x) * x, (10,))
    with pytest.raises(KernelError, match=r"fused\[2: sin multiply\]: ValueError: no room"):
        Fusion(program, Broken(), 2).finish()


@pytest.mark.short_ways
def test_a_program_that_is_fused_while_it_gets_an_entry_gets_another(monkeypatch):
    plan, x = Executable(program_of(stretches, (10,)), runtime.target, "auto"), np.ones(10)
    plan.fusion.patience = np.inf  # not earlier
    make, made = Executable._short_entry, []

    def meanwhile(self, schedule):
        entry = make(self, schedule)
        if not made:
            self.fuse()  # as another thread may
        made.append(self.bound)
        return entry

    monkeypatch.setattr(Executable, "_short_entry", meanwhile)
    expected = plan([x])
    for _ in range(300):
        np.testing.assert_array_equal(plan([x]), expected)
    assert len(made) == 2
    assert plan._entry[0] is plan.bound


def test_loops_are_compiled_first_and_run_before_the_rest_is_fused():
    class Rolling(Slow):
        rolls = True

        def addresses(self, arrays):
            return [0] * len(arrays)

    def repeated(x):
        for _ in range(100):
            x = ng.sin(x) * 0.5 + ng.cos(x) * x
        return x

    program = program_of(repeated, ())
    steps = fusion_of(program, Rolling(), "auto")
    assert steps.present is program
    assert steps.spared > 0
    waits = [steps.patience]
    assert steps.advance() is None
    assert [i.name[:4] for i in steps.present.instructions].count("loop") == 1
    waits.append(steps.patience)
    fused = steps.finish()
    assert waits[0] > 0.1
    assert waits[1] > waits[0]
    assert len(fused.instructions) < len(steps.present.instructions) < len(program.instructions)


def test_instructions_of_loops_do_not_count_among_those_that_are_too_many(monkeypatch):
    class Rolling(NullTarget):
        rolls = True

        def addresses(self, arrays):
            return [0] * len(arrays)

    def repeated(x):
        for _ in range(300):
            x = ng.sin(x) * 0.5 + ng.cos(x) * x
        return x

    monkeypatch.setattr(policy, "MOST_INSTRUCTIONS", 1000)
    program = program_of(repeated, ())
    assert fusion_of(program, NullTarget(), "auto") is None
    assert fusion_of(program, Rolling(), "auto") is not None


def test_of_a_program_that_is_too_long_beside_its_loops_only_the_loops_are_compiled(monkeypatch):
    class Rolling(Slow):
        rolls = True

        def addresses(self, arrays):
            return [0] * len(arrays)

    def repeated(x):
        for n in range(60):
            x = (ng.sin(x), ng.cos(x), ng.exp(x))[n * n % 7 % 3] * (1 + n)
        for _ in range(100):
            x = ng.sin(x) * 0.5 + ng.cos(x) * x
        return x

    monkeypatch.setattr(policy, "MOST_INSTRUCTIONS", 50)
    program = program_of(repeated, ())
    made = fusion_of(program, Rolling(), "auto").advance()
    assert [i.name[:4] for i in made.instructions].count("loop") == 1
    assert not fused_names(made)
    assert fused_names(fusion_of(program, Rolling(), "now").finish())
