"""Sums and extrema of a few elements: fused with what they add up, with the bits of their kernels.
"""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.fusion.assemble import fuse
from numgrad.engine.fusion.short_sums import MOST_ROWS, MOST_SLICES
from numgrad.engine.fusion.tables import LONG_COLUMN

from .fuse_tools import fused, program_of

REDUCTIONS = {"sum": np.sum, "max": np.max, "min": np.min}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def captured(function, *arrays):
    """Return the results of a captured function, one with nothing fused and one with everything."""
    return [np.asarray(ng.jit(function, fuse=fuse)(*arrays)) for fuse in ("never", "now")]


def test_a_mean_of_stacked_slices_is_one_kernel():
    def average(x):
        return ng.sin(ng.mean(ng.stack([x[n : n + 200] for n in range(5)]), axis=0))

    instructions = fused(average, (204,))
    assert [i.name for i in instructions if i.pattern.work >= 200] == [instructions[-1].name]
    assert "sum" not in [i.name for i in instructions]


@pytest.mark.parametrize(
    ("axis", "other", "reads_tables", "most"),
    [
        (0, 100, False, MOST_ROWS),
        (0, 100, True, MOST_ROWS),
        (1, 100, True, MOST_SLICES),
        (1, LONG_COLUMN, False, MOST_SLICES),
        (1, LONG_COLUMN, True, MOST_ROWS),
    ],
)
def test_long_reductions_stay_kernels_of_their_own(axis, other, reads_tables, most):
    for size, stays in ((most, False), (most + 1, True)):
        shape = (size, other) if axis == 0 else (other, size)
        program = program_of(lambda x: ng.sin(x * x).sum(axis=axis) + 1.0, shape)
        names = [i.name for i in fuse(program, reads_tables=reads_tables).instructions]
        assert ("sum" in names) == stays


def test_lengths_of_vectors_are_one_kernel():
    names = [i.name for i in fused(lambda x: ng.sqrt((x * x).sum(axis=-1)), (100, 3))]
    assert len(names) == 1


@pytest.mark.parametrize("size", [2, 3, 5, MOST_SLICES, MOST_SLICES + 1, MOST_ROWS])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_values_and_bits_along_any_axis(rng, name, axis, size):
    shape = [9, 10, 11]
    shape[axis] = size
    x = rng.standard_normal(shape)

    def reduced(x):
        return getattr(ng, name)(x * x - 1.0, axis=axis)

    one, other = captured(reduced, x)
    np.testing.assert_array_equal(one, other)
    right = REDUCTIONS[name](x * x - 1.0, axis=axis)
    np.testing.assert_allclose(other, right, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.int64], ids=str)
def test_every_dtype(rng, dtype):
    x = rng.integers(-9, 9, (80, 4)).astype(dtype) / (3 if np.dtype(dtype).kind != "i" else 1)
    x = x.astype(dtype)
    one, other = captured(lambda x: ng.sum(x + x, axis=1), x)
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(other, (x + x).sum(1), rtol=1e-6)


def test_special_values_of_sums_and_extrema():
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    x = np.array([[a, b, c] for a in special for b in special for c in special])
    for name, reduction in REDUCTIONS.items():
        one, other = captured(lambda x, name=name: getattr(ng, name)(x * 1.0, axis=1), x)
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(other, reduction(x, axis=1))


def test_operands_of_any_strides(rng):
    x = rng.standard_normal((12, 400))
    views = [x[::3, ::2], x[::-3, ::-1], x[:4].T, np.broadcast_to(x[0], (5, 400))]
    for view in views:
        axis = int(np.argmin(view.shape))
        one, other = captured(lambda x, axis=axis: x.sum(axis=axis) * 2.0, view)
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(other, view.sum(axis=axis) * 2.0, rtol=1e-13)


def test_gradients_and_rows_of_a_batch(rng):
    x, seeds = rng.standard_normal((90, 3)), rng.standard_normal((6, 90))

    def products(x, seeds):
        leaf = x.detach().requires_grad_()
        y = ng.sqrt((leaf * leaf).sum(axis=1)) * leaf.max(axis=1)
        return ng.grad(y, [leaf], seeds, is_grads_batched=True)[0]

    one, other = captured(products, x, seeds)
    np.testing.assert_array_equal(one, other)
    r, top = np.sqrt((x * x).sum(1)), x.max(1)
    slopes = (x / r[:, None]) * top[:, None] + r[:, None] * (x == top[:, None])
    np.testing.assert_allclose(other, seeds[:, :, None] * slopes, rtol=1e-12)
    for row, seed in zip(other, seeds, strict=True):
        np.testing.assert_array_equal(row, captured(products, x, seed[None])[1][0])
