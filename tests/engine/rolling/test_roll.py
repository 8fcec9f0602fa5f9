"""Loops of Python in captured functions: rolled, with the bits of the unrolled program."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.display.costs import operations_of
from numgrad.engine.lower import executable
from numgrad.engine.rolling import roll
from tests.sampling import one_in

from .loops import FIRST, P, all_states, lorenz, lorenz_array, several_results
from .random_loops import random_loop
from .rolling_tools import assert_same_bits
from .rolling_tools import rolled as rolled

pytestmark = pytest.mark.short_ways
LOOPS = {"two_loops": 2}
# Products of the same two constants are computed once, so the turns of this gradient differ.
LOOPS_OF_GRADIENTS = {"choices": 1}


@pytest.mark.parametrize("name", FIRST)
def test_loops_have_the_bits_of_their_turns_one_after_the_other(rolled, name):
    rolled.check(FIRST[name], P)
    assert len(rolled.loops) >= LOOPS.get(name, 1)


@pytest.mark.parametrize("name", FIRST)
def test_gradients_of_loops_are_loops(rolled, name):
    rolled.check(ng.func.value_and_grad(FIRST[name]), P)
    assert len(rolled.loops) >= LOOPS_OF_GRADIENTS.get(name, 2)


@pytest.mark.parametrize(
    "name", one_in(2, ["lorenz", "kalman", "two_loops", "three_steps_back"], 1)
)
def test_second_derivatives_and_batches_are_loops(rolled, name):
    gradient = ng.func.grad(FIRST[name])
    rolled.check(ng.func.hessian(FIRST[name]), P)
    assert len(rolled.loops) >= 3
    assert any(loop.pattern.rows for loop in rolled.loops)
    rolled.check(ng.func.vmap(gradient), np.stack([P, 1.01 * P]))
    assert rolled.loops


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 6, 7, 8, 9, 100])
def test_any_number_of_turns(rolled, turns):
    rolled.check(ng.func.value_and_grad(lambda p: lorenz_array(p, turns)), P)
    assert bool(rolled.loops) == (turns > 8)


def test_results_in_the_middle_of_a_loop_are_arrays_of_their_own(rolled):
    rolled.check(several_results, P, loops=1)


@pytest.mark.parametrize("step", [1, -1, 2])
def test_an_index_or_a_slice_that_moves_by_a_constant(rolled, step):
    def f(x, p):
        y, z = p[0], p[:2]
        for t in range(24):
            y = y * 0.9 + x[70 + step * t] * ng.sin(y)
            z = z * 0.8 + x[70 + step * t : 72 + step * t] * p[1]
        return y * z.sum()

    rolled.check(f, np.linspace(-1, 1, 140), P, loops=1)
    rolled.check(ng.func.grad(f, argnums=1), np.linspace(-1, 1, 140), P, loops=2)


def test_a_closed_over_array_is_read_as_it_is_at_each_call(rolled):
    parts = [np.array(0.1 * t) for t in range(24)]
    tensors = [ng.tensor(part) for part in parts]

    def f(p):
        x = p[0]
        for t in range(24):
            x = x * 0.5 + ng.sin(tensors[t] * x) * p[1]
        return x

    calls = [ng.jit(f, fuse=fuse) for fuse in ("never", "now")]
    before = [call(P) for call in calls]
    assert rolled.loops
    for tensor in tensors:
        tensor += 1.0
    after = [call(P) for call in calls]
    assert before[0] == before[1] != after[0] == after[1]


def test_loops_of_other_numbers_of_turns_share_their_kernel(rolled):
    made = []
    for turns in (20, 30):
        rolled.check(lambda p, turns=turns: lorenz(p, turns), P, loops=1)
        made.append(rolled.loops[0].pattern)
    assert made[0].spec.identity == made[1].spec.identity
    assert made[0].core[0] + 10 == made[1].core[0]


def test_what_is_read_after_the_loop_at_its_last_turn_alone_is_no_series(rolled):
    rolled.check(lorenz, P, loops=1)
    assert not rolled.loops[0].pattern.spec.outputs
    rolled.check(all_states, P)
    assert any(loop.pattern.spec.outputs for loop in rolled.loops)


def test_a_profile_counts_the_operations_of_all_turns(rolled):
    rolled.check(FIRST["logistic"], P, loops=1)
    (loop,) = rolled.loops
    assert operations_of(loop, 1) == 6 * loop.pattern.core[0]


def test_gradients_of_eager_loops_are_loops_once_they_are_met_again(rolled):
    before, found = ng.get_flags("fuse"), []
    for fuse in ("never", "now"):
        ng.set_flags(fuse=fuse)
        for _ in range(4):
            p = ng.tensor(P, requires_grad=True)
            y = lorenz_array(p)
            seeds = np.array([1.0, -0.5, 2.0])
            found.append(ng.grad(y, p, seeds, is_grads_batched=True)[0].numpy())
    ng.set_flags(**before)
    for gradient in found:
        assert_same_bits(gradient, found[0])
    assert any(loop.pattern.rows for loop in rolled.loops)


def test_runs_that_are_no_loops_are_left_after_a_few(rolled, monkeypatch):
    looked = []
    monkeypatch.setattr(roll._Rolling, "_is_like_loop", lambda self, run: looked.append(run))

    def f(p):
        x = p[0]
        for n in range(20):
            for _ in range(12):
                for _ in range(1 + n % 5):
                    x = ng.sin(x)
                x = x * 0.5 + 0.1
        return x

    rolled.check(f, P, loops=0)
    assert len({run.first for run in looked}) <= 30


def test_instructions_over_many_numbers_are_no_loops(rolled):
    rolled.check(lorenz_array, np.linspace(1, 2, 3), loops=1)
    rolled.check(ng.func.vmap(lorenz_array), np.ones((20, 3)) * P, loops=0)


def test_single_precision(rolled):
    rolled.check(ng.func.grad(lorenz), P.astype(np.float32), loops=2)


def test_complex_numbers_are_left_alone(rolled):
    def f(p):
        z = p[0] + 0.5j * p[1]
        for _ in range(24):
            z = z * z * 0.5 + p[2]
        return abs(z)

    rolled.check(f, P)


def test_an_index_out_of_bounds_names_its_line_as_before(rolled):
    def f(x, places):
        y = x[0]
        for t in range(24):
            y = y * 0.5 + ng.sin(x[places[t]])  # here
        return y

    places = np.arange(24) % 3
    messages = []
    for fuse in ("never", "now"):
        call = ng.jit(f, fuse=fuse)
        call(P, places)
        with pytest.raises(IndexError) as caught:
            call(P, np.where(places == 2, 7, places))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_program_that_is_not_to_be_fused_is_not_rolled(rolled):
    ng.jit(lorenz, fuse="never")(P)
    assert not rolled.programs


def test_loops_whose_kernels_are_known_run_at_the_first_call(rolled, default_fusing):
    call = ng.jit(lorenz, fuse="now")
    expected = call(P)
    made = []

    class Noted(executable.Executable):
        def run_into(self, arrays, results, bound=None):
            made.append(self.bound.program)
            super().run_into(arrays, results, bound)

    def again(p):
        return lorenz(p, 24)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("numgrad.func.tracing.partition.Executable", Noted)
        assert ng.jit(again)(P) == expected
    assert [i.name[:5] for i in made[0].instructions].count("loop[") == 1


def test_a_loop_that_cannot_be_compiled_is_left_unrolled(rolled, monkeypatch):
    def failing(*args):
        raise RuntimeError("no compiler")

    expected = ng.jit(lorenz, fuse="never")(P)
    monkeypatch.setattr(roll, "rolled", failing)
    monkeypatch.setattr(executable, "rolled", failing)
    with pytest.warns(RuntimeWarning, match="could not roll a program"):
        assert ng.jit(lorenz, fuse="now")(P) == expected


@pytest.mark.parametrize("seed", one_in(6, range(24)))
def test_random_loops(rolled, seed):
    function, x = random_loop(np.random.default_rng(seed))
    rolled.check(function, x)
    rolled.check(ng.func.value_and_grad(function), x)
