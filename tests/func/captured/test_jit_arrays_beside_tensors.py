"""Arrays and numbers of the user beside tensors: operations that are met again are recorded by
plans, with the bits of eager ones, and a replay reads each array anew."""

import numpy as np
import pytest

import numgrad as ng

X = np.sin(np.arange(12.0)).reshape(3, 4)


class Data:
    """Arrays that a program closes over, and that change between its calls."""

    def __init__(self):
        self.like, self.row, self.column = np.cos(X), np.arange(4.0), np.arange(3.0)[:, None]
        self.single, self.mask, self.matrix = np.array(0.7), X > 0, np.arange(20.0).reshape(4, 5)

    def change(self):
        for array in (self.like, self.row, self.column, self.single, self.matrix):
            array *= 1.25
        self.mask[:] = ~self.mask


PROGRAMS = {
    "product": lambda d, x: x * d.like,
    "difference": lambda d, x: d.like - x,
    "row": lambda d, x: x - d.row,
    "quotient": lambda d, x: d.row / (x + 9),
    "column": lambda d, x: x + d.column,
    "array without axes": lambda d, x: x * d.single,
    "number of NumPy": lambda d, x: x * np.float64(0.3),
    "power": lambda d, x: (x * x + 1) ** d.row,
    "choice": lambda d, x: ng.where(d.mask, x, d.like),
    "choice of a number": lambda d, x: ng.where(d.mask, x, 0.5),
    "NumPy's choice": lambda d, x: np.where(d.mask, d.row, x * x),
    "joined": lambda d, x: ng.concatenate([x, d.like]),
    "stacked": lambda d, x: ng.stack([x, d.like]),
    "matrix on the right": lambda d, x: x @ d.matrix,
    "matrix on the left": lambda d, x: d.like.T @ x,
    "dot": lambda d, x: ng.dot(x, d.row),
    "einsum": lambda d, x: ng.einsum("ij,jk->ik", x, d.matrix),
    "sum": lambda d, x: x.sum(axis=0) * d.row,
    "running sum": lambda d, x: ng.cumsum(x * d.like, axis=1),
}
ORDERED = {
    "larger one": lambda d, x: ng.maximum(x, d.like),
    "clipped": lambda d, x: ng.clip(x, -0.5, d.row),
    "compared": lambda d, x: ng.where(x > d.like, x, -x),
    "sorted": lambda d, x: ng.sort(x * d.like),
    "largest": lambda d, x: x.max(axis=1) * d.single,
}
KINDS = ((PROGRAMS, ("f8", "f4", "c16")), (ORDERED, ("f8", "f4")))
CASES = [
    pytest.param(program, dtype, id=f"{name}-{dtype}")
    for programs, dtypes in KINDS for name, program in programs.items() for dtype in dtypes
]  # fmt: skip


def assert_same_bits(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("program", "dtype"), CASES)
def test_arrays_beside_tensors_are_read_anew(program, dtype):
    data, x = Data(), X.astype(dtype)

    def repeated(x):
        for _ in range(4):  # the third time a plan is known
            y = program(data, x)
        return y

    def square(x):
        y = repeated(x)
        return ng.real(y * y).sum()

    captured = ng.jit(repeated, fuse="never")
    eager_slope = ng.func.value_and_grad(square)
    captured_slope = ng.jit(eager_slope, fuse="never")
    for _ in range(3):
        assert_same_bits(captured(x), repeated(ng.tensor(x)).numpy())
        for found, expected in zip(captured_slope(x), eager_slope(x), strict=True):
            assert_same_bits(found, expected)
        data.change()
