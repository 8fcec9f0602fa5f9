"""Operators that scan an axis, for arrays without elements and axes of one element."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.operators.reduction.scan import Scan

SCANS = sorted(name for name, operator in registry.items() if isinstance(operator, Scan))
TWO = ("recurrence", "recurrence_reversed", "restarting_sum", "restarting_sum_reversed")
SHAPES = [(0,), (0, 3), (3, 0), (1, 0, 4), (0, 4, 5), (4, 0, 5), (4, 5, 0), (1, 4)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", SCANS)
def test_empty_arrays_and_short_axes(name, shape, dtype):
    operator, count = registry[name], 2 if name in TWO else 1
    arrays = [np.full(shape, 2, dtype) for _ in range(count)]
    for axis in range(-len(shape), 0):

        def scan(*given, axis=axis):
            return operator(*given, axis=axis)

        for run in (scan, ng.jit(scan, fuse="now")):
            found = run(*map(ng.tensor, arrays))
            assert (found.shape, found.dtype) == (shape, dtype)
        for gradient in ng.func.grad(lambda *a: scan(*a).sum(), tuple(range(count)))(*arrays):
            assert gradient.shape == shape
        batch = [np.stack([array] * 2) for array in arrays]
        assert ng.func.vmap(scan)(*batch).shape == (2, *shape)
