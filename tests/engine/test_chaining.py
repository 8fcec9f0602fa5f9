"""Which instructions become one: runs over the same elements, none of which writes over another."""

import math

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine import chaining
from numgrad.engine.lower import lower
from numgrad.engine.record import deferring, runtime
from numgrad.engine.schedule import schedule, segments
from numgrad.targets.null import NullTarget

N = 1 << 16
pytestmark = pytest.mark.short_ways


@pytest.fixture(autouse=True)
def chains_pay(monkeypatch):
    """What may be chained is, however little it saves."""
    monkeypatch.setattr(chaining, "RUNS", math.inf)


def program(function, *arrays, target=None):
    """Lower what a function computes from arrays."""
    with ng.no_grad(), deferring(True):
        results = function(*[ng.tensor(a) for a in arrays])
        return lower(list(results), target or runtime.target)


def names(function, *arrays, target=None):
    """Return the names of the instructions as they are scheduled."""
    target = target or NullTarget()
    plan = schedule(program(function, *arrays, target=target), target)
    return [i.name for segment in plan.segments for i in segment.instructions]


def test_a_stretch_over_elements_becomes_one_instruction():
    x = np.ones(N)
    assert names(lambda x: [ng.sin(x) * x + x], x) == ["chain[3: sin multiply add]"]


def test_few_elements_are_left_alone():
    x = np.ones(100)
    assert names(lambda x: [ng.sin(x) * x + x], x) == ["sin", "multiply", "add"]


def test_what_has_no_form_ends_a_run():
    def function(x):
        y = ng.sin(x) * x
        z = ng.where(y > 0.0, y, x)
        return [ng.cos(z) + z]

    found = names(function, np.ones(N))
    assert found[0] == "chain[2: sin multiply]"
    assert found[-1] == "chain[2: cos add]"


def test_dtypes_are_chained_apart():
    found = names(lambda x, y: [-(x * x), -(y * y)], np.ones(N), np.ones(N, np.float32))
    assert sorted(found) == ["chain[2: multiply negative]"] * 2


def test_a_chain_stores_what_others_need_and_nothing_else():
    x = np.ones(N)

    def function(x):
        y = x * x
        z = ng.sin(y) + y
        return [y, z * 2.0]

    (segment,) = schedule(program(function, x), runtime.target).segments
    (instruction,) = segment.instructions
    pattern = instruction.pattern
    assert pattern.spec.outputs == (2, 5)  # after the inputs: x and the number
    assert pattern.spec.scalars == (False, True)


def test_a_run_too_large_for_one_chain_is_cut():
    def function(x):
        for _ in range(20):
            x = x * x
        return [x]

    target = NullTarget(longest_chain=8)
    assert names(function, np.ones(N), target=target) == ["chain[5: multiply]"] * 4


def test_shifted_elements_of_a_result_are_not_read_in_its_run():
    x = np.ones((300, 300))

    def function(x):
        y = x * x
        return [y[1:] + y[:-1]]

    assert names(function, x) == ["multiply", "add"]


@pytest.mark.usefixtures("default_fusing")
def test_rows_of_a_batch_are_chained_where_their_loop_is_long():
    def of(n):
        x = ng.tensor(np.ones(n), requires_grad=True)
        seeds = np.ones(((1 << 17) // n, n))
        y = ng.sin(x) * x
        with ng.display.profile() as profile:
            ng.grad(y, x, seeds, is_grads_batched=True)
        return [name.split("[")[0] for name in sorted({row.name for row in profile.rows})]

    assert "chain" in of(512)
    assert "chain" not in of(chaining.SHORTEST_LOOP // 2)


@pytest.mark.parametrize("n", [N, N + 1, 100_003])
def test_bits_are_those_of_the_instructions_one_by_one(n, monkeypatch):
    x = np.random.default_rng(n).normal(size=n)

    def function(x):
        y = ng.exp(-x * x) / (1.5 + ng.cos(x))
        return ng.func.grad(lambda x: (ng.log(y * y + 2.0) * x - ng.sqrt(1.0 + x * x)).sum())(x), y

    chained = ng.jit(function)(x)
    monkeypatch.setattr(chaining.Chaining, "_key", lambda *_: None)
    plain = ng.jit(lambda x: function(x))(x)
    for one, other in zip(chained, plain, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_every_instruction_of_a_program_is_in_some_run():
    x = np.ones(N)
    made = program(lambda x: [ng.sin(x), ng.cos(x) * x], x)
    (segment,) = segments(made)
    chained = chaining.Chaining(made, NullTarget()).chained(segment.instructions, 1, N)
    assert [len(i.pattern.spec.steps) for i in chained] == [3]


def test_a_chain_is_made_if_it_soon_pays(monkeypatch):
    monkeypatch.setattr(chaining, "RUNS", 4)

    def function(x):
        for _ in range(30):
            x = x * 1.5 + x
        return [x]

    assert len(names(function, np.ones(N))) == 60
    target = NullTarget(longest_chain=60)
    assert len(names(function, np.ones(20 * N), target=target)) == 1
