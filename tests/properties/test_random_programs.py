"""Random programs have the derivatives that differences give; faults that are planted are found."""

import math
import re
import runpy
from dataclasses import replace

import numpy as np
import pytest

import numgrad as ng
from numgrad.testing.fuzzing import drawing, judging, operators, running, tapes
from numgrad.testing.fuzzing.drawing import draw_program
from numgrad.testing.fuzzing.judging import Verdict, judge
from numgrad.testing.fuzzing.programs import Program
from numgrad.testing.fuzzing.shrinking import shrink
from tests.sampling import exhaustive, one_in

FEW = 60  # programs within which every planted fault is found


def check(seeds, **options):
    tally = running.check(seeds, **options)
    assert not tally.reports, "\n\n".join(tally.reports)
    return tally.kinds


@pytest.mark.parametrize("first", one_in(16, range(0, 160, 10)))
def test_programs_are_right(first):
    kinds = check(range(first, first + 10), fuse="none")
    assert kinds["right"] >= 7


@pytest.mark.parametrize("first", one_in(6, range(0, 12, 2)))
def test_fused_programs_are_right(first):
    check(range(first, first + 2), fuse="all")


@pytest.mark.parametrize(
    ("call", "has_equal_bits"),
    [
        ("ng.func.hessian(f)(0.5)", False),
        ("ng.func.grad(f, argnums=(0, 1))(x0, -0.5)", True),
        ("ng.func.jvp(f, (0.5, -1.0), (0.5 * 0.5 + 0.25, 1.0))", False),
        ("ng.func.jvp(f, (x0, -1.0), (x0, 1.0))", True),
    ],
)
def test_bits_of_derivatives_at_numbers_are_numpys(call, has_equal_bits):
    text = f"def main(x0):\n    def f(y):\n        return np.sin(y)\n    return np.sin({call})"
    program = Program(0, {"x0": "np.array([0.5])"}, text, "main(x0)")
    assert program.has_equal_bits() is has_equal_bits


def test_a_seed_names_a_program():
    for seed in range(20):
        assert draw_program(seed) == draw_program(seed)
    assert draw_program(1).text() != draw_program(2).text()
    assert draw_program(1, fuse=True).text() != draw_program(1).text()


@exhaustive
def test_programs_use_all_that_there_is():
    texts = "\n".join([draw_program(seed).text() for seed in range(200)])
    transforms = ("grad", "value_and_grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "hvp",
                  "linearize", "vmap")  # fmt: skip
    for name in transforms:
        assert f"ng.func.{name}(" in texts
    for name in ("hooked_gradients", "doubled_gradients", "backward_gradients", "rows",
                 "leaf_gradients", "softplus"):  # fmt: skip
        assert f" {name}(" in texts or f"({name}(" in texts
    for part in ("has_aux=True", "ng.cond(", "ng.jit(", "np.float32(", "1j", "np.bool_", "[::-1]",
                 "asfortranarray", "+= ", "[...]", "for i in range", "np.zeros((0",
                 "mapped(", "derived("):  # fmt: skip
        assert part in texts, part
    calls = {re.match("[a-z.]*", w.text.splitlines()[-1])[0] for w in drawing.WORDS.values()}
    calls = {call for call in calls if call.startswith("np.")}
    assert len([call for call in calls if call not in texts]) < len(calls) / 6


def test_the_text_of_a_program_runs_alone(tmp_path):
    program = draw_program(5)
    file = tmp_path / "program.py"
    file.write_text(program.text())
    found = runpy.run_path(str(file))["found"]
    for a, b in zip(judging.leaves(found), judging.leaves(program.run()), strict=True):
        np.testing.assert_array_equal(a, b)


DECIDED = {
    "comparison": "v3 = x0 * (1.0 < v2)",
    "order": "v3 = np.array([x0, 2.0 * x0])[np.argsort(np.stack([v2, v1 * 1.0]))[0]]",
    "branch": "v3 = x0 if v1 < v2 else 3.0 * x0",
    "floor": "v3 = x0 * np.floor(v2)",
}


@pytest.mark.parametrize("decided", DECIDED.values(), ids=DECIDED)
def test_what_equal_numbers_decide_is_not_judged(decided):
    lines = [
        "def main(x0):",
        "    v1 = x0 / x0",
        "    v2 = ng.func.grad(lambda y: y * 1.0)(x0)",
        f"    {decided}",
        "    return np.sin(v3)",
    ]
    program = Program(1, {"a0": "np.float64(0.7)"}, "\n".join(lines), "main(a0)", captures=False)
    assert judge(program).kind == "unknown"


# Faults that are planted --------------------------------------------------------------------------


def first_fault(seeds=range(FEW)):
    """Return the first program that fails, and how."""
    for seed in seeds:
        program = draw_program(seed)
        verdict = judge(program)
        if verdict.failed:
            return program, verdict
    pytest.fail(f"no fault was found in {len(seeds)} programs")


def seeds_with(word, among=250):
    """Return the seeds of programs in whose text something is, a regular expression."""
    return [s for s in range(among) if re.search(word, draw_program(s).text())][:FEW]


def detached(result):
    if isinstance(result, tuple):
        return tuple(map(detached, result))
    return result.detach() if isinstance(result, ng.Tensor) else result


@exhaustive
@pytest.mark.parametrize("factor", [1.0001, -1.0])
def test_a_wrong_partial_derivative_is_found(monkeypatch, factor):
    @ng.elementwise
    def softplus(x, beta):
        return math.log1p(math.exp(beta * x)) / beta

    @softplus.partial("x")
    def softplus_dx(x, beta):
        return factor / (1.0 + math.exp(-beta * x))

    @softplus.partial("beta")
    def softplus_dbeta(x, beta, y):
        return (x / (1.0 + math.exp(-beta * x)) - y) / beta

    monkeypatch.setattr(operators, "softplus", softplus)
    _, verdict = first_fault(seeds_with(r"softplus\("))
    assert verdict.kind == "wrong"


@exhaustive
@pytest.mark.parametrize("name", ["grad", "vjp", "jvp"])
def test_a_transform_that_loses_the_outer_derivative_is_found(monkeypatch, name):
    right = getattr(ng.func, name)

    def lost(function, *args, **options):
        result = right(function, *args, **options)
        if name == "vjp":
            return (result[0], lambda seed: detached(result[1](seed)), *result[2:])
        return detached(result) if name == "jvp" else lambda *xs: detached(result(*xs))

    monkeypatch.setattr(ng.func, name, lost)
    _, verdict = first_fault(seeds_with(rf"ng.func.{name}\("))
    assert verdict.kind == "wrong"


@exhaustive
def test_an_auxiliary_value_without_its_graph_is_found(monkeypatch):
    right = ng.func.value_and_grad

    def lost(function, argnums=0, has_aux=False):
        def both(*args):
            value, slopes = right(function, argnums, has_aux)(*args)
            return ((value[0], detached(value[1])) if has_aux else value), slopes

        return both

    monkeypatch.setattr(ng.func, "value_and_grad", lost)
    first_fault(seeds_with(r"value_and_grad\(.*has_aux", among=600))


def test_a_lost_write_is_found(monkeypatch):
    right = ng.Tensor.__setitem__

    def lost(self, key, value):
        if not isinstance(key, (list, np.ndarray)):
            right(self, key, value)

    monkeypatch.setattr(ng.Tensor, "__setitem__", lost)
    first_fault(seeds_with(r"\[\[[\d, ]+\]\] = ", among=40))


@exhaustive
def test_memory_of_others_that_is_not_kept_is_found(monkeypatch):
    monkeypatch.setattr("numgrad._tensor.NUMBERS", object)  # nothing belongs to anybody else
    _, verdict = first_fault(seeds_with(r"= (mapped|derived)\(", among=600))
    assert verdict.kind == "wrong"


@exhaustive
def test_a_captured_function_with_other_bits_is_found(monkeypatch):
    right = ng.jit

    def rounded(function, **options):
        jitted = right(function, **options)

        def one(result):
            return result * (1 + 2**-52) if isinstance(result, np.ndarray) else result

        def call(*args):
            result = jitted(*args)
            return tuple(map(one, result)) if isinstance(result, tuple) else one(result)

        return call

    monkeypatch.setattr(ng, "jit", rounded)
    program, verdict = first_fault()
    assert (verdict.kind, verdict.way) == ("differs", "captured")
    assert "ng.jit(" in replace(program, way=verdict.way).text()


@exhaustive
def test_a_batched_pass_that_takes_one_row_for_all_is_found(monkeypatch):
    right = tapes.grad

    def first_row(output, variables, seeds=None, **options):
        if seeds is not None:
            seeds = ng.stack([seeds[0]] * len(seeds))
        return right(output, variables, seeds, **options)

    monkeypatch.setattr(tapes, "grad", first_row)
    first_fault(seeds_with(r" rows\("))


@exhaustive
def test_a_map_that_takes_one_sample_for_all_is_found(monkeypatch):
    right = ng.func.vmap

    def first_sample(function, in_axes, **options):
        def of(x, axis):
            return x if axis is None else np.repeat(np.take(x, [0], axis), x.shape[axis], axis)

        mapped = right(function, in_axes, **options)
        return lambda *args: mapped(*[of(x, axis) for x, axis in zip(args, in_axes, strict=True)])

    monkeypatch.setattr(ng.func, "vmap", first_sample)
    _, verdict = first_fault(seeds_with(r"ng.func.vmap\("))
    assert verdict.kind == "wrong"


@exhaustive
def test_threads_that_disturb_one_another_are_found(monkeypatch):
    names = []
    right = ng.func.grad

    def shared(*args, **options):
        names.append(0)
        slope = right(*args, **options)
        return lambda *xs: slope(*xs) if len(names) % 3 else detached(slope(*xs))

    monkeypatch.setattr(ng.func, "grad", shared)
    first_fault()


# Texts that are reported --------------------------------------------------------------------------


@exhaustive
def test_what_fails_becomes_a_short_text(monkeypatch):
    right = ng.func.hvp
    monkeypatch.setattr(ng.func, "hvp", lambda *args: detached(right(*args)))
    program, verdict = first_fault(range(300))
    short, again = shrink(program, verdict)
    assert again.kind == verdict.kind
    assert len(short.text()) < 600
    assert "hvp" in short.text()


def test_a_report_says_all_that_is_needed(monkeypatch):
    monkeypatch.setattr(ng.func, "vjp", None)
    program, verdict = first_fault(seeds_with(r"ng.func.vjp\(", among=10))
    text = running.report(program, verdict, "none", 0.0, judge)
    for word in (f"program {program.seed}: raised", "numgrad ", "NumPy ", "Numba ", "TypeError"):
        assert word in text
    with pytest.raises(TypeError):
        exec(text, {})


# What is not known is no fault --------------------------------------------------------------------


def judged(main, observed, **operands):
    return judge(Program(1, operands, f"def main(x):\n    return {main}\n", observed))


@pytest.mark.parametrize(
    ("main", "point", "words"),
    [
        ("np.sum(np.absolute(x))", "np.array([0.0, 1.0])", "from the left"),
        ("np.max(x)", "np.array([1.0, 1.0])", "from the left"),
        ("np.sum(np.sort(x) * np.array([1.0, 3.0]))", "np.array([1.0, 1.0])", "from the left"),
        ("np.sum(np.exp(np.exp(x)))", "np.array([800.0])", "not finite"),
        ("np.sum(np.tanh(1e7 * x) ** 2)", "np.array([1e-7])", ""),
        ("np.sum((x + 1e15) - x)", "np.array([0.1])", ""),
    ],
)
def test_what_differences_do_not_know_is_said(main, point, words):
    verdict = judged(main, "ng.func.grad(main)(a0)", a0=point)
    assert verdict.kind == "unknown", verdict
    assert words in verdict.words


def test_ill_conditioned_sums_are_judged_by_what_rounding_costs():
    main = "np.sum(np.sin(x) * 1e6 - np.sin(x) * 999999.0)"
    assert judged(main, "ng.func.grad(main)(a0)", a0="np.array([0.3, 0.7])").kind == "right"


def test_shortened_programs_are_programs():
    main = "def main(*x):\n    return np.sum(np.stack([*x]), *(0,))\n"
    observed = "gradients('tensor', lambda *x: main(*x), a0)"
    operands = {"a0": "ng.tensor([1.0, 2.0], requires_grad=True)"}
    tried = []

    def judged(program):
        compile(program.text(), "program", "exec")
        tried.append(program)
        return Verdict("right")

    shrink(Program(0, operands, main, observed), Verdict("wrong"), judged=judged)
    assert any("lambda *x: x" in program.observed for program in tried)
