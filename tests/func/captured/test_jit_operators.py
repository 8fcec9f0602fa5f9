"""Operators of users in captured functions."""

import math

import numpy as np
import pytest
from numba import njit

import numgrad as ng


@ng.operator("(n)->(n)")
@njit
def root(x, out):
    for i in range(x.size):
        if x[i] < 0.0:
            raise ValueError("negative")
        out[i] = math.sqrt(x[i])


def rooted(x):
    y = 2.0 * x
    return root(y) + 1.0


@pytest.mark.parametrize("fuse", ["never", "now"])
def test_a_kernel_that_raises_in_a_replay_names_the_line_that_called_it(fuse):
    line = rooted.__code__.co_firstlineno + 2
    captured = ng.jit(rooted, fuse=fuse)
    captured(np.ones(3))
    for _ in range(2):
        with pytest.raises(ng.errors.OperatorError, match=rf"operator root.*:{line} in rooted"):
            captured(-np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match=r"singular.*in <lambda>"):
        ng.jit(lambda x: ng.linalg.inv(x))(np.zeros((2, 2)))
