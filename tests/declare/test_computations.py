"""What a plan calls: bound once, and with the bits of what an operator computes the first time."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.graph.spec import spec_of
from numgrad.engine.record.apply import runtime
from numgrad.operators.linalg.factorization import lu_factor, lu_solve, solve_triangular
from numgrad.operators.shape.index_positions import positions

MATRIX = np.eye(4) * 3.0 + np.linspace(0.0, 1.0, 16).reshape(4, 4)
BOTH = np.linspace(1.0, 2.0, 16).reshape(4, 4)


def bound(operator, arrays, static):
    specs = tuple(spec_of(a.shape, a.dtype) for a in arrays)
    return operator.computation(runtime.target_of(specs), specs, static)


def layouts(array):
    strided = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)[..., ::2]
    strided[...] = array
    return array, np.asfortranarray(array), strided


@pytest.mark.parametrize("order", range(3))
def test_a_kernel_operator_takes_arrays_in_any_order(order):
    target = runtime.target_of(())
    lu, pivots = lu_factor.run(target, [MATRIX], {})
    given = [layouts(a)[order] for a in (MATRIX, lu, pivots, BOTH)]
    for operator, arrays, static in (
        (lu_solve, given, {"adjoint": False}),
        (solve_triangular, [given[0], given[3]], {"lower": True, "adjoint": False}),
    ):
        (expected,) = operator.run(target, arrays, static)
        assert np.array_equal(bound(operator, arrays, static)(*arrays), expected)


def test_a_failure_is_told_as_at_the_first_time():
    singular = ng.tensor(np.zeros((3, 3)))
    for _ in range(4):
        with pytest.raises(np.linalg.LinAlgError, match=r"solve.*singular"):
            ng.linalg.solve(singular, np.ones((3, 1)))


def test_positions_are_checked_each_time():
    static = {"caller": "getitem", "axis": 0, "size": 5, "step": 2}
    for index in (np.array([0, -1, 3]), np.array([[4, 1], [0, -5]])[:, ::-1]):
        compute = bound(positions, [index], static)
        assert np.array_equal(compute(index), (index % 5) * 2)
        with pytest.raises(IndexError, match="5"):
            compute(np.full_like(index, 5))
