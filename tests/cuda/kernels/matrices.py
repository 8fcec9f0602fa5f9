"""Matrices for tests of products."""

import numpy as np

from numgrad.ir.program import contiguous_strides
from numgrad.targets.cuda.kernels import tiles

RNG = np.random.default_rng(11)
FLOATS = ["float32", "float64", "complex64", "complex128"]


def made(shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)
    if dtype.kind == "f":
        return RNG.standard_normal(shape).astype(dtype)
    return RNG.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)


def spread(array, *shape):
    return np.broadcast_to(array, shape)


def product_of(a, b, out=None):
    """Return what factors and a result of NumPy are, all with the axes of the loop."""
    out = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype) if out is None else out

    def matrix(array, is_turned=False):
        *along, line, step = (stride // array.itemsize for stride in array.strides)
        line, step = (step, line) if is_turned else (line, step)
        return tiles.Matrix(array.ctypes.data, tuple(along), line, step)

    sizes = a.shape[-2], a.shape[-1], b.shape[-1]
    return tiles.Product(a.shape[:-2], *sizes, matrix(a), matrix(b, True), matrix(out))


def some(*shape):
    """Return an array that takes no memory to speak of, with the strides of C order."""
    return np.lib.stride_tricks.as_strided(
        np.zeros(1, "float32"), shape, contiguous_strides(shape, 4)
    )
