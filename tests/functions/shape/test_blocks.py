"""Blocks, insertions, deletions, splits; choices by conditions; the cross product."""

import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import cases, check_call, check_gradients

RNG = np.random.default_rng(11)
A, B, V = RNG.standard_normal((3, 4)), RNG.standard_normal((3, 2)), RNG.standard_normal(5)
D = RNG.standard_normal((4, 2, 6))

CALLS = {
    "block": lambda np, a, b: np.block([[a, b], [np.ones((1, 4)), np.zeros((1, 2))]]),
    "block-row": lambda np, a, b: np.block([a, b]),
    "block-number": lambda np, a, b: np.block(a[0, 0]),
    "block-numbers": lambda np, a, b: np.block([[1, 2], [3, a[0, 0]]]),
    "block-deep": lambda np, a, b: np.block([[[a]], [[a]]]),
    "block-depths": lambda np, a, b: np.block([a, [b]]),
    "block-empty": lambda np, a, b: np.block([[a], []]),
    "block-misfit": lambda np, a, b: np.block([[a, b], [b, b]]),
    "append": lambda np, a, b: np.append(a, b),
    "append-axis": lambda np, a, b: np.append(a, b, -1),
    "append-misfit": lambda np, a, b: np.append(a, b, 0),
    "resize": lambda np, a, b: np.resize(a, (2, 3)),
    "resize-more": lambda np, a, b: np.resize(a, (5, 5)),
    "resize-number": lambda np, a, b: np.resize(a, 3),
    "resize-none": lambda np, a, b: np.resize(a[:0], (2, 2)),
    "resize-negative": lambda np, a, b: np.resize(a, (-1, 2)),
    "trim": lambda np, a, b: np.trim_zeros(np.append(0.0, a[0])),
    "diagflat": lambda np, a, b: np.diagflat(a, 1),
    "hsplit": lambda np, a, b: np.hsplit(a, 2),
    "hsplit-vector": lambda np, a, b: np.hsplit(a[0], [1]),
    "hsplit-number": lambda np, a, b: np.hsplit(a[0, 0], 1),
    "vsplit": lambda np, a, b: np.vsplit(a, [1, 2]),
    "vsplit-vector": lambda np, a, b: np.vsplit(a[0], 2),
    "vsplit-uneven": lambda np, a, b: np.vsplit(a, 2),
    "dsplit": lambda np, a, b: np.dsplit(a[None], 2),
    "dsplit-matrix": lambda np, a, b: np.dsplit(a, 2),
}  # fmt: skip


@cases(CALLS)
@pytest.mark.parametrize("dtype", ["f8", "i4", "c8"])
def test_equals_numpy(call, dtype):
    check_call(call, (9 * A).astype(dtype), (9 * B).astype(dtype))


def test_a_tuple_is_no_list_of_blocks():
    check_call(lambda np, a: np.block([(a, a)]), A, overridden=False)


PLACES = [
    0, -1, 9, [1], [0, 2], [2, 0, 2], slice(0, 3, 2), slice(None, None, -1), slice(2, 1), [], [9],
    np.array([True, False, True]), [-1, -3], np.array(1),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("axis", [None, 0, -1, 2])
def test_insert_and_delete_equal_numpy(place, axis):
    for x in (A, V, (9 * A).astype(int), np.zeros((0, 3))):
        check_call(lambda np, x: np.delete(x, place, axis), x)
        for values in (7.0, [7.0, 8.0], [[1.0], [2.0]], np.arange(4.0), [5, 6, 7]):
            check_call(lambda np, x, v=values: np.insert(x, place, v, axis), x)


@pytest.mark.parametrize("trim", ["fb", "f", "b", "B", "x"])
def test_trim_zeros_equals_numpy(trim):
    z, plane = np.array([0, 0, 1, 0, 2, 0.0]), np.zeros((4, 5))
    plane[1, 2], plane[2, 3] = 1, 2
    for x in (z, 0 * z, plane, z[:0], V):
        for axis in (None, 0, -1):
            check_call(lambda np, x, n=axis: np.trim_zeros(x, trim, n), x)


def test_rollaxis_equals_numpy():
    for axis in range(-4, 4):
        for start in range(-5, 6):
            check_call(lambda np, d, n=axis, s=start: np.rollaxis(d, n, s), D)


SELECTIONS = {
    "two": lambda np, x: np.select([x < 0, x > 0.5], [x, x * 2]),
    "numbers": lambda np, x: np.select([x < 0], [1], 2),
    "default": lambda np, x: np.select([x < 0], [1], x[:, :1]),
    "broadcast": lambda np, x: np.select([x[0] < 0], [x], 3),
    "constants": lambda np, x: np.select([np.array(True), np.array(False)], [x, 2], 3),
    "misfit": lambda np, x: np.select([x < 0], [x, x]),
    "none": lambda np, x: np.select([], []),
    "numbers-as-conditions": lambda np, x: np.select([x], [x]),
    "pieces": lambda np, x: np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * 2]),
    "constant-pieces": lambda np, x: np.piecewise(x, [x < 0, x > 0.5], [-1, 1, 7]),
    "sums": lambda np, x: np.piecewise(x, [x < 0], [lambda x: x.sum(), lambda x: x.max()]),
    "empty-piece": lambda np, x: np.piecewise(x, [x < -99], [lambda x: 1 / 0, 3]),
    "arguments": lambda np, x: np.piecewise(x, [x < 0], [lambda x, k, b: k * x + b], 2, b=1),
    "vector": lambda np, x: np.piecewise(x[0], x[0] < 0, [1, 2]),
    "many": lambda np, x: np.piecewise(x, [x < 0], [1, 2, 3]),
    "element": lambda np, x: np.piecewise(x[0, 0], True, [lambda x: x * 2]),
}  # fmt: skip


@cases(SELECTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_choices_equal_numpy(call, dtype):
    check_call(call, (9 * A).astype(dtype))


TAKES_VECTORS_OF_TWO = tuple(map(int, np.__version__.split(".")[:2])) < (2, 5)
"""Whether `numpy.cross` does, as `ng.cross` does with any NumPy."""


@pytest.mark.parametrize("axes", [{}, {"axis": 0}, {"axisa": 0, "axisc": 0}, {"axisb": 5}])
def test_cross_equals_numpy(axes):
    for a, b in (((3, 3), (3, 3)), ((3, 2, 3), (3,))):
        x, y = RNG.standard_normal(a), RNG.standard_normal(b)
        check_call(lambda np, x, y: np.cross(x, y, **axes), x, y)
    for a, b in (((3, 3), (3, 2)), ((2, 2), (2, 2))) if TAKES_VECTORS_OF_TWO else ():
        x, y = RNG.standard_normal(a), RNG.standard_normal(b)
        check_call(lambda np, x, y: np.cross(x, y, **axes), x, y)
    check_call(lambda np, x: np.cross(x, x), A)


DERIVATIVES = {
    "block": CALLS["block"],
    "insert": lambda np, a, b: np.insert(a, [1, 0], b, 1),
    "delete": lambda np, a, b: np.delete(a * b[:, :1], [0, 2], 1),
    "resize": lambda np, a, b: np.resize(a * b[0, 0], (5, 5)),
    "select": lambda np, a, b: np.select([a < 0, a > 0.5], [a**2, 3 * a], b[:, :1]),
    "cross": lambda np, a, b: np.cross(a[:, :3], b.T[:1]),
}  # fmt: skip


@cases(DERIVATIVES)
def test_derivatives(call):
    check_gradients(call, A, B)


def test_derivatives_of_pieces_do_not_look_elsewhere():
    x = ng.tensor([-1.0, 4.0, 0.0], requires_grad=True)
    y = ng.piecewise(x, [x > 0], [ng.sqrt, lambda x: 3 * x])
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), [3.0, 0.25, 3.0])
