"""Inputs that are repeated along the rows of a loop: a kernel reads them once for each row."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.fusion.assemble import LONG_ROW, LONG_STRIDED_ROW

from .fuse_tools import fused


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def scaled(c, x):
    return c * x + x * x


def repeated(instructions):
    return [getattr(i.pattern.spec, "repeated", ()) for i in instructions]


def test_a_column_beside_long_rows_is_read_once_for_each_row():
    (one,) = repeated(fused(scaled, (40, 1), (40, LONG_ROW)))
    assert one == (True, False)


def test_a_column_beside_short_rows_is_not():
    (one,) = repeated(fused(scaled, (40, 1), (40, LONG_ROW - 1)))
    assert not any(one)


def test_a_single_operation_reads_its_column_so():
    (one, other) = fused(lambda c, x, y: (c * x, ng.sin(y)), (40, 1), (40, 100), (7,))[-2:]
    assert (True, False) in repeated([one, other])


@pytest.mark.parametrize(
    ("size", "expected"), [(LONG_STRIDED_ROW - 1, False), (LONG_STRIDED_ROW, True)]
)
def test_rows_that_need_a_buffer_are_computed_together(size, expected):
    (one,) = repeated(fused(lambda c, x: c * x[:, ::2] + c, (8, 1), (8, 2 * size)))
    assert any(one) == expected


@pytest.mark.parametrize("size", [1, 7, 8, 31, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 513])
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_values_and_bits_for_rows_of_any_length(rng, size, rows):
    arrays = [rng.standard_normal(s) for s in [(rows, 1), (rows, size), (1, size), (size, rows)]]

    def function(c, x, w, z):
        return ng.tanh(c * x - w) * c + z.T, c * w + z[::-1].T * c

    results = [ng.jit(function, fuse=fuse)(*arrays) for fuse in ("never", "now")]
    c, x, w, z = arrays
    expected = np.tanh(c * x - w) * c + z.T, c * w + z[::-1].T * c
    for one, other, right in zip(*results, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(other, right, rtol=1e-13, atol=1e-14)


def test_rows_of_a_batch_and_inputs_of_more_axes(rng):
    x, c = rng.standard_normal((5, 6, 80)), rng.standard_normal((5, 1, 1))
    d, seeds = rng.standard_normal((6, 1)), rng.standard_normal((3, 5, 6, 80))

    def products(x, c, d, seeds):
        x, c = x.detach().requires_grad_(), c.detach().requires_grad_()
        return ng.grad(c * ng.sin(d * x) + d, [x, c], seeds, is_grads_batched=True)

    results = [ng.jit(products, fuse=fuse)(x, c, d, seeds) for fuse in ("never", "now")]
    expected = seeds * c * d * np.cos(d * x), (seeds * np.sin(d * x)).sum((2, 3), keepdims=True)
    for one, other, right in zip(*results, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(other, right, rtol=1e-12, atol=1e-12)


def test_rings_beside_columns_have_the_same_bits():
    def rolled(c, x):
        return ng.roll(x, 1, axis=1) * c - ng.roll(x, -2, axis=1)

    for size in (64, 65, 100, 300):
        fused(rolled, (7, 1), (7, size))
