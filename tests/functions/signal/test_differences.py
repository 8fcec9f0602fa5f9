"""Gradients on grids, differences, integrals by the trapezoidal rule, angles without jumps."""

import numpy as np
import pytest

from ..numpy_calls import cases, check_call, check_gradients

RNG = np.random.default_rng(4)
F = RNG.standard_normal((4, 5))
ROWS, COLUMNS = np.sort(RNG.standard_normal(4)), np.sort(RNG.standard_normal(5))
DTYPES = [F, F.astype("f4"), (9 * F).astype(int), F + 2j * F[::-1]]

GRADIENTS = {
    "unit": lambda np, f: np.gradient(f),
    "number": lambda np, f: np.gradient(f, 0.3),
    "numbers": lambda np, f: np.gradient(f, 0.3, 2),
    "coordinates": lambda np, f: np.gradient(f, ROWS, COLUMNS),
    "order": lambda np, f: np.gradient(f, ROWS, COLUMNS, edge_order=2),
    "uniform-order": lambda np, f: np.gradient(f, 0.5, edge_order=2),
    "axis": lambda np, f: np.gradient(f, COLUMNS, axis=1),
    "axes": lambda np, f: np.gradient(f, 2.0, ROWS, axis=(-1, 0)),
    "integers": lambda np, f: np.gradient(f, np.arange(4), 1),
    "no-axis": lambda np, f: np.gradient(f, axis=()),
    "too-many": lambda np, f: np.gradient(f, 1, 2, 3),
    "wrong-size": lambda np, f: np.gradient(f, COLUMNS, ROWS),
    "matrix": lambda np, f: np.gradient(f, F, ROWS),
    "too-short": lambda np, f: np.gradient(f[:1]),
    "high-order": lambda np, f: np.gradient(f, edge_order=3),
    "bad-axis": lambda np, f: np.gradient(f, axis=2),
}  # fmt: skip


@cases(GRADIENTS)
@pytest.mark.parametrize("f", DTYPES, ids=lambda f: f.dtype.name)
def test_gradient_equals_numpy(call, f):
    check_call(call, f)


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_of_gradient(order):
    check_gradients(lambda np, f, h: np.gradient(f, h, axis=1, edge_order=order), F, np.array(0.3))
    check_gradients(lambda np, f, x: np.gradient(f, x, axis=0, edge_order=order), F, ROWS)


OTHERS = {
    "ediff1d": lambda np, x: np.ediff1d(x),
    "ediff1d-ends": lambda np, x: np.ediff1d(x, x[0], x[:, :1]),
    "diff": lambda np, x: np.diff(x),
    "diff-0": lambda np, x: np.diff(x, 0),
    "diff-2": lambda np, x: np.diff(x, 2, 0),
    "diff-many": lambda np, x: np.diff(x, 9, 0),
    "diff-ends": lambda np, x: np.diff(x, 1, 1, x[:, :2], 0),
    "diff-prepend": lambda np, x: np.diff(x, axis=0, prepend=0),
    "diff-append": lambda np, x: np.diff(x, n=2, append=x[:, -1:]),
    "diff-negative": lambda np, x: np.diff(x, -1),
    "trapezoid": lambda np, x: np.trapezoid(x),
    "trapezoid-dx": lambda np, x: np.trapezoid(x, dx=0.5, axis=0),
    "trapezoid-x": lambda np, x: np.trapezoid(x, COLUMNS),
    "trapezoid-axis": lambda np, x: np.trapezoid(x, ROWS, axis=0),
    "trapezoid-points": lambda np, x: np.trapezoid(x, np.cumsum(abs(F), 1), axis=-1),
}  # fmt: skip


@cases(OTHERS)
@pytest.mark.parametrize("x", DTYPES[:1] + DTYPES[2:], ids=lambda x: x.dtype.name)
def test_differences_and_integrals_equal_numpy(call, x):
    check_call(call, x)


@pytest.mark.parametrize("name", ["ediff1d-ends", "diff-ends", "trapezoid-x", "trapezoid-points"])
def test_derivatives_of_differences_and_integrals(name):
    check_gradients(OTHERS[name], F)


def test_what_the_dtype_does_not_hold_is_refused_at_the_ends():
    check_call(lambda np, x: np.ediff1d(x, to_end=[0.5]), np.arange(3))


ANGLES = {
    "plain": lambda np, p: np.unwrap(p),
    "period": lambda np, p: np.unwrap(p, period=4),
    "odd": lambda np, p: np.unwrap(p, axis=0, period=5),
    "discont": lambda np, p: np.unwrap(p, 4.0),
    "all": lambda np, p: np.unwrap(p, discont=1.0, axis=0, period=5.0),
}  # fmt: skip


@cases(ANGLES)
@pytest.mark.parametrize("p", [9 * F, (9 * F).astype(int), np.arange(0, 20, 2)[None] % 4])
def test_unwrap_equals_numpy(call, p):
    check_call(call, p)


def test_derivatives_of_unwrap():
    check_gradients(ANGLES["all"], 9 * F)
    check_gradients(lambda np, q: np.unwrap(9 * F, period=q), np.array(4.1))


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_of_booleans_are_numbers(order):
    rows = np.array([0.0, 1.0, 5.0])
    f = np.array([[True, False, True], [False, False, True]])
    check_call(lambda np, f: np.gradient(f, rows, axis=-1, edge_order=order), f)
