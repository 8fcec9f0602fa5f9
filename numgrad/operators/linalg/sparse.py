"""Products with matrices of which only some elements are stored, row by row.

Such a matrix is four arrays: the stored numbers ``data``, their ``columns``, and where each row
begins and ends among them, ``start`` and ``stop``. The gradient of a product by its dense factor is
a product with the transposed matrix. The gradient by ``data`` has the elements of a product of
dense matrices at the places of stored elements.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._declare import KernelOperator, constant
from ..._declare.operands import as_values
from ..._declare.partial import conjugate


class Sparse(KernelOperator):
    """An operator on numbers of one dtype, which may be integers, and on index arrays.

    Parameters
    ----------
    function : callable
    signature : str
    numbers : tuple of int
        The positions of the inputs that are numbers; the others are index arrays.
    """

    def __init__(self, function: Any, signature: str, numbers: tuple[int, ...]) -> None:
        super().__init__(function, signature)
        self.numbers = numbers

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        values = as_values(args)
        dtype = np.result_type(*[values[n].dtype for n in self.numbers])
        dtype = np.dtype(np.float32) if dtype == np.float16 else dtype
        for n in self.numbers:
            values[n] = values[n] if values[n].dtype == dtype else values[n].astype(dtype)
        return self.align(values)

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        return [dtypes[self.numbers[0]]]


def _declare(signature: str, *numbers: int) -> Any:
    return lambda function: Sparse(function, signature, numbers)


# Indices are made unsigned, as Numba checks signed ones for negative numbers.


@_declare("(e),(e),(m),(m),(n,k)->(m,k)", 0, 4)
def sparse_product(data, columns, start, stop, x, out):
    """Compute the product of a sparse matrix with the columns of ``x``."""
    for i in range(out.shape[0]):
        first, end = np.uint64(start[i]), np.uint64(stop[i])
        if out.shape[1] == 1:
            total = data.dtype.type(0)
            for p in range(first, end):
                total += data[p] * x[np.uint64(columns[p]), 0]
            out[i, 0] = total
            continue
        for j in range(out.shape[1]):
            out[i, j] = 0
        for p in range(first, end):
            a, row = data[p], np.uint64(columns[p])
            for j in range(out.shape[1]):
                out[i, j] += a * x[row, j]


@_declare("(e),(e),(m),(m),(n),(m,k)->(n,k)", 0, 5)
def sparse_transposed(data, columns, start, stop, size, x, out):
    """Compute the product of a transposed sparse matrix with the columns of ``x``.

    Only the length of ``size`` counts: the number of columns of the sparse matrix.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
    for i in range(x.shape[0]):
        first, end = np.uint64(start[i]), np.uint64(stop[i])
        if out.shape[1] == 1:
            value = x[i, 0]
            for p in range(first, end):
                out[np.uint64(columns[p]), 0] += data[p] * value
            continue
        for p in range(first, end):
            a, row = data[p], np.uint64(columns[p])
            for j in range(out.shape[1]):
                out[row, j] += a * x[i, j]


@_declare("(e),(m),(m),(m,k),(n,k)->(e)", 3, 4)
def product_at_stored(columns, start, stop, x1, x2, out):
    """Compute those elements of ``x1 x2'`` that are at the places of stored elements."""
    for p in range(out.shape[0]):
        out[p] = 0
    for i in range(x1.shape[0]):
        for p in range(np.uint64(start[i]), np.uint64(stop[i])):
            row, total = np.uint64(columns[p]), x1.dtype.type(0)
            for j in range(x1.shape[1]):
                total += x1[i, j] * x2[row, j]
            out[p] = total


def columns_of(size: int) -> np.ndarray:
    """Return the argument ``size`` of `sparse_transposed` for a matrix with so many columns."""
    return np.zeros(size, np.int8)


# Derivatives --------------------------------------------------------------------------------------


def _transposed(data: Any, places: Sequence[Any], x: Any, spec: Any) -> Any:
    """Return the product of a transposed sparse matrix with ``x``.

    ``spec`` is the spec of the result, whose rows are the columns of the matrix.
    """
    return sparse_transposed(data, *places, constant(columns_of(spec.shape[-2])), x)


sparse_product.reads(lambda needs: (needs[4], True, True, True, needs[0], False))


@sparse_product.pullback
def sparse_product_pullback(context, g):
    places, gdata, gx = [context.input(n) for n in (1, 2, 3)], None, None
    if context.wanted[0]:
        gdata = product_at_stored(*places, g, conjugate(context.input(4)))
    if context.wanted[4]:
        gx = _transposed(conjugate(context.input(0)), places, g, context.input_specs[4])
    return gdata, None, None, None, gx


sparse_transposed.reads(lambda needs: (needs[5], True, True, True, False, needs[0], False))


@sparse_transposed.pullback
def sparse_transposed_pullback(context, g):
    places, gdata, gx = [context.input(n) for n in (1, 2, 3)], None, None
    if context.wanted[0]:
        gdata = product_at_stored(*places, conjugate(context.input(5)), g)
    if context.wanted[5]:
        gx = sparse_product(conjugate(context.input(0)), *places, g)
    return gdata, None, None, None, None, gx


product_at_stored.reads(lambda needs: (True, True, True, needs[4], needs[3], False))


@product_at_stored.pullback
def product_at_stored_pullback(context, g):
    places, g1, g2 = [context.input(n) for n in range(3)], None, None
    if context.wanted[3]:
        g1 = sparse_product(g, *places, conjugate(context.input(4)))
    if context.wanted[4]:
        g2 = _transposed(g, places, conjugate(context.input(3)), context.input_specs[4])
    return None, None, None, g1, g2
