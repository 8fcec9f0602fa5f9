"""Convolutions and correlations in all modes, sizes and dtypes."""

import numpy as np
import pytest

from ..numpy_calls import check_call, check_gradients

RNG = np.random.default_rng(5)
MODES = ("full", "same", "valid")


def numbers(size, dtype):
    values = 3 * RNG.standard_normal(size)
    return (values + 1j * values[::-1] if dtype[0] == "c" else values).astype(dtype)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "u1", "?"])
def test_equals_numpy(name, dtype):
    for n, m in ((1, 1), (5, 2), (2, 5), (4, 4), (6, 3), (3, 6)):
        for mode in MODES:
            call = lambda np, a, v, mode=mode: getattr(np, name)(a, v, mode)  # noqa: E731
            check_call(call, numbers(n, dtype), numbers(m, dtype))


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_mixed_dtypes_defaults_and_errors(name):
    a, v = numbers(5, "f4"), numbers(3, "i4")
    check_call(lambda np, a, v: getattr(np, name)(a, v), a, v)
    check_call(lambda np, a: getattr(np, name)(a, 2.0), a)
    for bad in (np.zeros(0), np.zeros((2, 2))):
        check_call(lambda np, a, v: getattr(np, name)(a, v), a, bad)
    check_call(lambda np, a: getattr(np, name)(a, a, "some"), a)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sizes", [(5, 2), (2, 5), (1, 1)])
def test_derivatives(name, mode, sizes):
    a, v = numbers(sizes[0], "c16"), numbers(sizes[1], "f8")
    check_gradients(lambda np, a, v: getattr(np, name)(a, v, mode), a, v)


def test_long_sequences_pass_in_blocks():
    a, v = numbers(5000, "f8"), numbers(700, "f8")
    check_call(lambda np, a, v: np.convolve(a, v) / 1e3, a, v)
