"""Loops of the reverse sweep that are split where they add to neighbours."""

import numpy as np
import pytest

from numgrad._adjoint import Options, derive, type_of

from .kernels import CASES, arguments
from .test_kernels import called


@pytest.mark.parametrize("name", ["heat", "wavelet", "cubic_spline"])
def test_split_loops_add_the_same(name):
    for size in (4, 11, 40):
        args = arguments(name, size)
        types = [type_of(a) for a in args]
        split = derive(CASES[name][0], types)
        whole = derive(CASES[name][0], types, options=Options(split=False))
        assert split.source.count("for ") > whole.source.count("for ")
        found, expected = called(split, args), called(whole, args)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
        for n, shadow in found[0].items():
            np.testing.assert_allclose(shadow, expected[0][n], rtol=1e-12, atol=1e-15)


def test_sum_beside_neighbours_is_added_by_halves():
    derived = derive(CASES["heat"][0], [type_of(a) for a in arguments("heat")])
    assert "left // 2" in derived.source


@pytest.mark.parametrize("name", ["gray_scott", "lstm", "kalman", "cholesky"])
def test_the_source_is_the_same_each_time(name):
    """Else the next process would not find what is compiled, which is kept by the source."""
    args = [type_of(a) for a in arguments(name)]
    assert len({derive(CASES[name][0], args).source for _ in range(8)}) == 1


def test_rows_that_are_no_neighbours_do_not_split_a_loop():
    args = [type_of(a) for a in arguments("gray_scott")]
    kernel = CASES["gray_scott"][0]
    whole = derive(kernel, args, options=Options(split=False))
    assert derive(kernel, args).source == whole.source
