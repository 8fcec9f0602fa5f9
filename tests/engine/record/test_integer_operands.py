"""Integers and numbers, or arrays of integers, are operands of one plan; a number that is too large
for the dtype takes the general way."""

import itertools
import operator

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.record.operands import descriptor
from numgrad.engine.record.plan import Mixture

NUMBERS = (0, 1, -1, 2, 300, -300, 2**31, 2**63, 2**64, 2**70, True, 1.5, -0.0,
           np.int64(5), np.uint8(200))  # fmt: skip
OPERATIONS = (operator.add, operator.mul, operator.floordiv, operator.mod, operator.truediv,
              operator.ge, operator.and_, operator.pow, np.maximum)  # fmt: skip


def outcome(operation, *args):
    """Return dtype and elements of a result, or the error that there is."""
    try:
        found = operation(*args)
    except Exception as error:
        return type(error)
    return found.dtype, found.tolist()


@pytest.fixture
def the_long_way():
    yield lambda: ng.set_flags(path="reference")
    ng.set_flags(path="default")


@pytest.mark.short_ways
@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8", "?"])
def test_numbers_of_any_size_give_what_they_give_the_long_way(dtype, the_long_way):
    x = ng.tensor(np.array([1, 0, 3], dtype))
    cases = list(itertools.product(OPERATIONS, NUMBERS))
    found = [[outcome(operation, x, n) for _ in range(3)] for operation, n in cases]
    the_long_way()
    for (operation, n), results in zip(cases, found, strict=True):
        expected = outcome(operation, x, n)
        assert repr(results) == repr([expected] * 3), (operation, n)


@pytest.mark.short_ways
@pytest.mark.parametrize("other", [1, 2.5, np.arange(3), np.arange(3, dtype="i4")])
def test_they_have_a_plan(other):
    x = ng.tensor(np.arange(3))
    for _ in range(3):
        x + other
    assert type(registry["add"].kinds.get((x.spec, descriptor(other)))) is Mixture
    np.testing.assert_array_equal((x + other).numpy(), np.arange(3) + other)
