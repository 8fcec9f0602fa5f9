"""Fused kernels: the bits of their steps one after the other, in every layout."""

import math

import numpy as np
import pytest

from numgrad.targets.cpu.codegen.elementwise import BLOCK
from numgrad.targets.cpu.kernels import scalar_kernel
from numgrad.targets.cpu.kernels.kernel import kernel

from ..fused_tools import (
    Draw,
    assert_same_bits,
    cast,
    fused_spec,
    less,
    make,
    multiply,
    one_after_the_other,
    polynomial,
)
from ..kernel_tools import C128, F32, F64, call, call_rows, spec_of

SIZES = (0, 1, 5, BLOCK - 1, BLOCK, BLOCK + 1, 1000)

LAYOUTS = {
    "contiguous": lambda a, n: a[:n],
    "strided": lambda a, n: a[::2][:n],
    "reversed": lambda a, n: a[n - 1 :: -1] if n else a[:0],
    "broadcast": lambda a, n: np.broadcast_to(a[:1], n),
}


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_have_the_bits_of_their_steps(seed):
    draw = Draw(seed)
    spec, rng = draw.spec(), draw.rng
    fused_kernel = kernel(spec)
    for n in SIZES:
        layouts = rng.choice(list(LAYOUTS), len(spec.in_dtypes))
        if n % 2:
            layouts[:] = "contiguous"
        inputs = [
            LAYOUTS[name](make(rng, dtype, 2 * n + 1), 1 if one else n)
            for name, dtype, one in zip(layouts, spec.in_dtypes, spec.scalars, strict=True)
        ]
        if n == 0:
            inputs = [make(rng, dtype, 1) for dtype in spec.in_dtypes]
        outputs = [
            np.zeros(3 * n + 1, dtype)[:: 1 + k * (n % 4 == 0)][:n]
            for k, dtype in enumerate(spec.out_dtypes)
        ]
        arrays = [*inputs, *outputs]
        assert call(fused_kernel, arrays, n, [a.strides[0] for a in arrays]) == 0
        cut = [x if one else x[:n] for x, one in zip(inputs, spec.scalars, strict=True)]
        for result, expected in zip(outputs, one_after_the_other(spec, cut, n), strict=True):
            assert_same_bits(result, expected)


def following(x):
    return x + 1


@pytest.mark.parametrize("other", [F64, C128], ids=str)  # what is complex is linked, not widened
def test_integers_wrap_around_as_they_do_in_the_steps(other):
    integer, truth = np.dtype(np.int64), np.dtype(bool)
    steps = [
        (spec_of(following, integer, integer), (0,)),
        (spec_of(less, integer, integer, truth), (0, 2)),
        (spec_of(multiply, integer, integer, integer), (0, 0)),
        (spec_of(less, integer, integer, truth), (4, 0)),
        (spec_of(multiply, other, other, other), (1, 1)),
    ]
    spec = fused_spec(steps, (integer, other), (3, 5, 6))
    x = np.array([5, 2**63 - 1, -(2**63), 3037000500, 2**32 + 1, -7])
    outputs = [np.zeros(6, bool), np.zeros(6, bool), np.zeros(6, other)]
    steps = [8, other.itemsize, 1, 1, other.itemsize]
    assert call(kernel(spec), [x, np.ones(6, other), *outputs], 6, steps) == 0
    np.testing.assert_array_equal(outputs[0], x < x + 1)
    np.testing.assert_array_equal(outputs[1], x * x < x)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 95, 300])
def test_long_kernels_have_the_bits_of_their_steps(n):
    draw = Draw(99)
    spec = draw.spec(nsteps=60)
    assert len(spec.steps) >= 2 * (len(spec.in_dtypes) + len(spec.outputs)) >= scalar_kernel._LONG
    inputs = [make(draw.rng, dtype, n) for dtype in spec.in_dtypes]
    outputs = [np.zeros(n, dtype) for dtype in spec.out_dtypes]
    arrays = [*inputs, *outputs]
    assert call(kernel(spec), arrays, n, [a.strides[0] for a in arrays]) == 0
    for result, expected in zip(outputs, one_after_the_other(spec, inputs, n), strict=True):
        assert_same_bits(result, expected)


# Layouts


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("step", [1, 3, -2])
@pytest.mark.parametrize("dtype", [F32, C128], ids=str)
def test_outputs_may_be_inputs(step, dtype, rng):
    n = BLOCK + 9
    x, y = (make(rng, dtype, 3 * n)[::step][:n] for _ in range(2))
    c = make(rng, dtype, 1)
    first = x * y + c
    second = first * x
    arrays = [x, y, c, y, x]
    steps = [x.strides[0], y.strides[0], 0, y.strides[0], x.strides[0]]
    assert call(kernel(polynomial(dtype)), arrays, n, steps) == 0
    np.testing.assert_allclose(x, second, rtol=1e-5)
    np.testing.assert_allclose(y, first, rtol=1e-5)


@pytest.mark.parametrize("scalar_step", [0, 8, -800])
def test_step_of_a_scalar_input_is_not_looked_at(scalar_step, rng):
    x, y, c = rng.random(300), rng.random(300), rng.random(1)
    out = np.empty((2, 300))
    steps = [8, 8, scalar_step, 8, 8]
    assert call(kernel(polynomial(F64)), [x, y, c, *out], 300, steps) == 0
    np.testing.assert_array_equal(out, [x * y + c, (x * y + c) * x])


@pytest.mark.parametrize("n", [0, 1, 7, 32, 33, BLOCK // 2, BLOCK // 2 + 1, BLOCK + 3])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("numbers", [True, False], ids=["a number each", "one number"])
@pytest.mark.parametrize("rows", [5, 77])
def test_rows_are_calls_in_a_row(n, stride, numbers, rows, rng):
    """Short rows that share their numbers are computed together."""
    k = kernel(polynomial(F64))
    width = 2 * n + 3
    x, y = rng.random((rows, width)), rng.random((1, width))
    c, out = rng.random(rows), np.zeros((2, rows, width))
    if not numbers:
        c[:] = c[0]
    arrays = [x, y, c, *out]
    row_steps = [8 * width, 0, 8 * numbers, 8 * width, 8 * width]
    status, moved = call_rows(k, arrays, n, rows, [8 * stride, 8, 0, 8, 8 * stride], row_steps)
    assert status == 0
    assert moved == ([(rows - 1) * step for step in row_steps] if n else [0] * 5)
    factor = x[:, : n * stride : stride]
    first = factor * y[:, :n] + c[:, None]
    np.testing.assert_array_equal(out[0][:, :n], first)
    np.testing.assert_array_equal(out[1][:, : n * stride : stride], first * factor)
    assert not out[0][:, n:].any()
    assert not out[1][:, n * stride :].any()
    assert call_rows(k, arrays, n, 0, [8] * 5, row_steps) == (0, [0] * 5)


@pytest.mark.parametrize("n", [1, 7, 32, 300])
def test_an_element_that_raises_is_reported_by_its_index_over_all_rows(n):
    def checked(x):
        if x < 0:
            raise ValueError("negative")
        return math.sqrt(x)

    steps = [(spec_of(checked, F64, F64), (0,)), (spec_of(cast, F64, F32), (1,))]
    k = kernel(fused_spec(steps, (F64,), (2,)))
    rows, last = 90, n - 1
    x, out = np.ones((rows, n)), np.zeros((rows, n), F32)
    assert call_rows(k, [x, out], n, rows, [8, 4], [8 * n, 4 * n])[0] == 0
    np.testing.assert_array_equal(out, 1)
    x[70, last], x[71, 0] = -1, -1
    assert call_rows(k, [x, out], n, rows, [8, 4], [8 * n, 4 * n])[0] == 1 + 70 * n + last
    assert call(k, [x[70], out], n, [8, 4]) == n


def test_status_of_an_earlier_failure_is_kept():
    def refused(x):
        if x > 0:
            raise ValueError("positive")
        return x

    k = kernel(fused_spec([(spec_of(refused, F64, F64), (0,))], (F64,), (1,)))
    assert call(k, [np.array([0.0, 1.0, 1.0]), np.zeros(3)], 3, [8, 8]) == 2
