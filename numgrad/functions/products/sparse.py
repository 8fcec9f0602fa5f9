"""Products of tensors with the sparse matrices of SciPy."""

import operator
import sys
from collections.abc import Callable
from importlib import import_module
from math import prod
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...operators.linalg import sparse as _sparse
from ...operators.linalg.matmul import transpose
from ...operators.shape.reshape import expand_dims, reshape, squeeze
from ..array.operands import as_tensors
from ..indexing.indexing import take


def is_sparse(x: Any) -> bool:
    """Return whether ``x`` is a sparse array or matrix; there is none where nobody has imported
    ``scipy.sparse``, which takes its time."""
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and issparse(x)


def matmul(a: Any, b: Any, /, *, data: ArrayLike | None = None) -> Tensor:
    """Return the product of a sparse array of SciPy and a tensor, see `ng.sparse.matmul`."""
    if is_sparse(a) == is_sparse(b):
        raise TypeError(
            f"sparse.matmul takes one sparse array and one tensor, got {type(a).__name__} and "
            f"{type(b).__name__}"
        )
    matrix, other = (a, b) if is_sparse(a) else (b, a)
    shape = np.shape(other)
    axis = -2 if matrix is a and len(shape) > 1 else -1
    if not shape or matrix.ndim != 2 or shape[axis] != matrix.shape[1 if matrix is a else 0]:
        shapes = f"{np.shape(a)} and {np.shape(b)}"
        raise ValueError(f"sparse.matmul: factors of shapes {shapes} do not fit")
    stored, numbers = _stored(matrix)
    x, data = as_tensors(other, numbers if data is None else data)
    return stored.multiplied(stored.by_rows(data, numbers.shape), x, matrix is a)


class Stored(NamedTuple):
    """Where the elements of a sparse matrix are, row by row.

    Attributes
    ----------
    columns, start, stop : numpy.ndarray
        As `operators.sparse` has them.
    order : numpy.ndarray or None
        Where the numbers are in the ``data`` of the matrix, unless they are there in this order.
    turned : bool
        Whether these are the rows of the transposed matrix.
    width : int
        The number of columns.
    """

    columns: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    order: np.ndarray | None
    turned: bool
    width: int

    def by_rows(self, data: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return numbers in the order of the rows, from ``data`` of a shape, a batch aside."""
        ncore = len(shape)
        if data.shape[max(data.ndim - ncore, 0) :] != shape:
            raise ValueError(f"sparse.matmul: data of shape {data.shape}, not {shape}, of a matrix")
        if self.order is None:
            return data
        return take(reshape(data, ncore=ncore, shape=(prod(shape),)), self.order, axis=-1)

    def multiplied(self, data: Tensor, x: Tensor, is_left: bool) -> Tensor:
        """Return the product of the matrix, on the left or on the right, with a vector or with
        matrices."""
        if x.ndim == 1:
            x = expand_dims(x, axes=(-1,))
            return squeeze(self.product(data, x, not is_left), axes=(-1,))
        if is_left:
            return self.product(data, x, False)
        return transpose(self.product(data, transpose(x), True))

    def product(self, data: Tensor, x: Tensor, transposed: bool) -> Tensor:
        """Return the product of the matrix, or of its transpose, with the columns of ``x``."""
        places = self.columns, self.start, self.stop
        if transposed == self.turned:
            return _sparse.sparse_product(data, *places, x)
        return _sparse.sparse_transposed(data, *places, _sparse.columns_of(self.width), x)


def _stored(matrix: Any) -> tuple[Stored, np.ndarray]:
    """Return the places of the stored elements of a sparse matrix, and its own numbers."""
    if matrix.format not in ("csr", "csc", "bsr", "coo", "dia"):
        matrix = matrix.tocsr()
    if matrix.format in ("csr", "csc"):
        start, stop, turned = matrix.indptr[:-1], matrix.indptr[1:], matrix.format == "csc"
        width = matrix.shape[0 if turned else 1]
        return Stored(matrix.indices, start, stop, None, turned, width), matrix.data
    numbered = matrix.copy()
    numbered.data = np.arange(1, matrix.data.size + 1).reshape(matrix.data.shape)  # 0 is dropped
    found = numbered.tocoo()
    by_row = np.argsort(found.row, kind="stable")
    indptr = np.append(0, np.cumsum(np.bincount(found.row, minlength=matrix.shape[0])))
    places = found.col[by_row], indptr[:-1], indptr[1:]
    return Stored(*places, found.data[by_row] - 1, False, matrix.shape[1]), matrix.data


# Python's operators -------------------------------------------------------------------------------


def combined(function: Callable[..., Any], a: Any, b: Any) -> Any:
    """Return what ``a @ b``, ``a * b``, ``a / b``, ``a + b`` or ``a - b`` means where one is a
    sparse array of SciPy; ``NotImplemented`` for other operations and other operands.

    Of elements it is what a sparse array of numgrad makes of it; ``*`` with a matrix of the old
    kind is the product of matrices, unless the tensor is a number.
    """
    name = function.__name__
    if is_sparse(a) == is_sparse(b) or name not in ("matmul", *_OF_ELEMENTS):
        return NotImplemented
    matrix, other = (a, b) if is_sparse(a) else (b, a)
    is_old = isinstance(matrix, _old_kind())
    if name == "matmul" or (is_old and name == "multiply" and np.ndim(as_tensors(other)[0])):
        return matmul(a, b)
    if matrix.ndim != 2 or (name == "divide" and matrix is b):
        return NotImplemented
    arrays = import_module("numgrad.sparse.arrays.matrix")  # of a layer above
    own = arrays.matrix_of_scipy(matrix) if is_old else arrays.of_scipy(matrix)
    return _OF_ELEMENTS[name](*((own, other) if matrix is a else (other, own)))


_OF_ELEMENTS = {
    "multiply": operator.mul,
    "divide": operator.truediv,
    "add": operator.add,
    "subtract": operator.sub,
}


def dot(a: Any, b: Any) -> Any:
    """Return the product of a sparse array of SciPy and a tensor as NumPy's ``dot`` has it."""
    is_number = not np.ndim(as_tensors(b if is_sparse(a) else a)[0])
    return combined(np.multiply if is_number else np.matmul, a, b)


def _old_kind() -> type:
    from scipy.sparse import spmatrix

    return spmatrix


def is_for_diagonals(caller: FrameType) -> bool:
    """Return whether SciPy asks how many diagonals of a sparse array there are; it would say that
    a tensor, which is one diagonal, has the wrong number of them."""
    module = caller.f_globals.get("__name__", "")
    return caller.f_code.co_name == "diags_array" and module.startswith("scipy.sparse.")


def is_operator_of_scipy(caller: FrameType) -> bool:
    """Return whether an operator of SciPy's sparse arrays asks for the array of its other operand,
    which it leaves the operation to if that is none."""
    frame: FrameType | None = caller
    while frame is not None and _name_in_scipy(frame) in _METHODS:
        frame = frame.f_back
    if frame is caller or frame is None:
        return _name_in_scipy(caller) in ("_matmul_dispatch", "_divide")
    return _name_in_scipy(frame) in ("__mul__", "__rmul__")


_METHODS = ("multiply", "_multiply_2d_with_broadcasting")
"""Methods of SciPy that ``*`` calls, and that users call: these do not leave it to anybody."""


def _name_in_scipy(frame: FrameType) -> str:
    """Return the name of a running function of ``scipy.sparse``; of others nothing."""
    module = frame.f_globals.get("__name__", "")
    return frame.f_code.co_name if module.startswith("scipy.sparse.") else ""
