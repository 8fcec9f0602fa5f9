"""Random kernels against dual numbers."""

from itertools import product

import pytest

from numgrad._adjoint import Options
from numgrad.testing.fuzzing.kernels.judging import judge, options_of, run, text_of
from numgrad.testing.fuzzing.kernels.writing import KernelWriter
from tests.sampling import exhaustive, one_in


def test_random_kernels_are_right_or_refused():
    verdicts = run(0, 15)
    assert verdicts["wrong"] == []
    assert len(verdicts["right"]) > 11


@exhaustive
def test_many_random_kernels_are_right_or_refused():
    assert run(15, 425)["wrong"] == []


NAMES = "common", "cut", "compare", "slice", "reorder", "split", "small", "roots"


@pytest.mark.parametrize(
    ("name", "seed"), one_in(2, [pytest.param(*case) for case in product(NAMES, range(5))])
)
def test_each_optimisation_can_be_off(name, seed):
    verdict, details = judge(KernelWriter(seed).text, seed, Options(**{name: False}))
    assert verdict in ("right", "refused"), details


def test_random_kernels_are_right_with_snapshots():
    for seed in range(500, 510):
        verdict, details = judge(KernelWriter(seed).text, seed, Options(snapshots=True))
        assert verdict in ("right", "refused"), details


@pytest.mark.parametrize("first", one_in(4, range(900, 940, 10)))
def test_random_kernels_of_float32_are_right_to_its_rounding(first):
    for seed in range(first, first + 10):
        verdict, details = judge(text_of(seed), seed, options_of(seed), kind="single")
        assert verdict != "wrong", details


@pytest.mark.parametrize("seed", one_in(3, [220003, 220011, 841008], 1))
def test_numbers_of_one_branch_compile(seed):
    verdict, details = judge(KernelWriter(seed).text, seed, options_of(seed), "compiled")
    assert verdict == "right", details


def test_a_loop_that_reverses_nothing_is_left_out():
    """The kernel of this seed has a loop without a line in the reverse sweep."""
    seed = 61_003_002
    verdict, details = judge(text_of(seed), seed, Options())
    assert verdict == "right", details
