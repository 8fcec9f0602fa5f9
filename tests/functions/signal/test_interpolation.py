"""Piecewise linear interpolation: NumPy's values, and derivatives to points and values."""

import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import check_call, check_gradients

RNG = np.random.default_rng(3)
XP, FP = np.sort(RNG.standard_normal(7)), RNG.standard_normal(7)
X = np.concatenate([2 * RNG.standard_normal(20), XP, [np.nan, np.inf]])
OPTIONS = [{}, {"left": -1.0, "right": 5.0}, {"period": 1.3}, {"period": -2.0, "left": 3.0}]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("fp", [FP, FP + 1j * FP[::-1], np.arange(7), FP.astype("f4")])
def test_equals_numpy(fp, options):
    with np.errstate(invalid="ignore"):
        check_call(lambda np, *args: np.interp(*args, **options), X, XP, fp)
    check_call(lambda np, *args: np.interp(0.3, *args, **options), XP, fp)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_points(count):
    check_call(lambda np, *args: np.interp(*args), X, XP[:count], FP[:count])


def test_infinite_values_and_repeated_points():
    values = np.array([1.0, 2.0, np.inf, 3.0, -np.inf, -np.inf, 0.0])
    check_call(lambda np, *args: np.interp(*args), X, XP, values)
    steps, at = np.array([0.0, 1.0, 1.0, 2.0, 2.0]), np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
    check_call(lambda np, *args: np.interp(*args), at, steps, FP[:5])


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x: np.interp(x, XP, FP[:3]),
        lambda np, x: np.interp(x, XP[None], FP[None]),
        lambda np, x: np.interp(x, XP, FP, period=0),
    ],
)
def test_errors_are_those_of_numpy(call):
    check_call(call, X)


@pytest.mark.parametrize("options", OPTIONS)
def test_derivatives_to_all_arguments(options):
    check_gradients(lambda np, *args: np.interp(*args, **options), X[:12], XP, FP)


def test_derivatives_to_the_period_and_the_ends():
    check_gradients(lambda np, x, p: np.interp(x, XP, FP, period=p), X[:5], np.array(1.3))
    x = np.array([-9.0, 0.0, 9.0])
    check_gradients(lambda np, a, b: np.interp(x, XP, FP, a, b), np.array(2.0), np.array(3.0))


def test_at_a_point_the_slope_is_that_to_the_right():
    x = ng.tensor([0.0, 1.0, 3.0], requires_grad=True)
    slopes = ng.grad(ng.interp(x, [0.0, 1.0, 3.0], [1.0, 5.0, 3.0]).sum(), x)[0]
    np.testing.assert_array_equal(slopes.numpy(), [4.0, -1.0, -1.0])


def test_constants_and_tensors_with_gradients_give_the_same_bits():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = rng.integers(1, 6)
        xp = np.sort(rng.choice([0.0, 1.0, 2.0, 3.0, 3.0, np.inf, -np.inf], n))
        fp = rng.choice([1.0, 2.0, -1.0, np.inf, np.nan, 0.5], n)
        x = rng.choice([-1.0, 0.0, 0.5, 1.0, 2.7, 3.0, 4.0, np.nan, np.inf, -np.inf], 7)
        ends = {} if rng.random() < 0.5 else {"left": rng.random(), "right": np.nan}
        plain = np.asarray(ng.interp(x, xp, fp, **ends))
        tensors = [ng.tensor(a, requires_grad=True) for a in (x, xp, fp)]
        captured = ng.jit(lambda x, xp, fp, ends=ends: ng.interp(x, xp, fp, **ends))
        np.testing.assert_array_equal(ng.interp(*tensors, **ends).detach().numpy(), plain)
        np.testing.assert_array_equal(captured(x, xp, fp), plain)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(plain, np.interp(x, xp, fp, **ends))
