"""Sparse systems and products, as functions of the stored elements and of vectors."""

import math
from typing import Any

import numpy as np

from ..._autograd import Function
from ..._errors import ArgTypeError, DtypeError
from ..._tensor import Tensor, tensor
from ...functions.indexing import take
from ...functions.operands import as_tensor
from ...functions.reduction import sum as _sum
from ...functions.reshaping import matrix_transpose
from .factors import System
from .implicit import Solve
from .parameters import Parameters, number


class Stored(System):
    """A square sparse matrix: where its elements are, as `scipy.sparse.csr_array` has them, and
    the numbers that they are now."""

    def __init__(self, data: np.ndarray, indices: Any, indptr: Any, what: str) -> None:
        from scipy.sparse import csr_array

        indices, indptr = np.asarray(number(indices)), np.asarray(number(indptr))
        self.n = indptr.size - 1
        self.array = csr_array((data, indices, indptr), shape=(self.n, self.n))
        self.columns = indices.astype(np.int64)
        self.rows = np.repeat(np.arange(self.n), np.diff(indptr))
        super().__init__(lambda: self.array, what)

    def product(self, rows: np.ndarray, transposed: bool) -> np.ndarray:
        """Return the products with vectors along the last axis."""
        matrix = self.array.T if transposed else self.array
        columns = rows.reshape(math.prod(rows.shape[:-1]), self.n).T
        return np.ascontiguousarray((matrix @ columns).T).reshape(rows.shape)

    def at_elements(self, left: Tensor, right: Tensor, lead: int) -> Tensor:
        """Return ``left[i] * right[j]`` at the stored elements, summed over all axes of vectors but
        the first ``lead`` ones."""
        terms = take(left, self.rows, axis=-1) * take(right, self.columns, axis=-1)
        axes = tuple(range(lead, terms.ndim - 1))
        return _sum(terms, axis=axes) if axes else terms

    def of_matrix(
        self, solved: Tensor, other: Tensor, transposed: bool, point: Any
    ) -> list[Tensor]:
        """Return the cotangent of the stored elements, see `Equation.of_matrix`."""
        left, right = (solved, other) if transposed else (other, solved)
        return [-self.at_elements(left, right, other.ndim - solved.ndim)]


class Product(Function):
    """The product of a sparse matrix, or of its transpose, with vectors along the last axis."""

    takes_batch = True

    @staticmethod
    def forward(ctx: Any, stored: Stored, transposed: bool, v: Tensor, data: Tensor) -> Tensor:
        ctx.stored, ctx.transposed = stored, transposed
        ctx.save_for_backward(v, data)
        return tensor(stored.product(v.numpy(), transposed))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        v, data = ctx.saved_tensors
        left, right = (v, g) if ctx.transposed else (g, v)
        gv = Product.apply(ctx.stored, not ctx.transposed, g, data)
        return None, None, gv, ctx.stored.at_elements(left, right, g.ndim - v.ndim)


def stored(data: Any, indices: Any, indptr: Any, what: str) -> tuple[Stored, Tensor]:
    """Return a sparse matrix, and its elements as a tensor of float64."""
    elements = as_real(data, what)
    return Stored(elements.detach().numpy(), indices, indptr, what), elements


def as_real(x: Any, what: str) -> Tensor:
    x = as_tensor(x)
    if x.dtype.kind == "c":
        raise DtypeError(f"{what} takes real numbers, got {x.dtype}")
    return x if x.dtype == np.float64 else x.astype(np.float64)


def spsolve(data: Any, indices: Any, indptr: Any, b: Any) -> Any:
    """Solve a sparse system, by SciPy's SuperLU.

    Parameters
    ----------
    data : array_like, shape (nnz,)
        The stored elements of a square matrix.
    indices, indptr : array_like of int
        Their columns, and where each row begins, as `scipy.sparse.csr_array` has them.
    b : array_like, shape (n,) or (n, k)
        One or several right hand sides.

    Returns
    -------
    Tensor or numpy.ndarray
        Of the shape of `b`; a tensor if `data` or `b` is one.

    Raises
    ------
    MatrixError
        If the matrix is singular.
    CaptureError
        In a captured function.

    Notes
    -----
    For the cotangent :math:`g` the gradient of `b` is :math:`w = A^{-T} g`, that of an element
    :math:`-w_i x_j`: no other element of the matrix is ever formed. One factorization serves value
    and gradients of any order, and all rows of a batched pass at once.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> data = ng.tensor([2.0, 1.0, 4.0], requires_grad=True)  # [[2, 1], [0, 4]]
    >>> x = ng.interop.scipy.spsolve(data, [0, 1, 1], [0, 2, 3], np.array([3.0, 4.0]))
    >>> x.tolist(), ng.grad(x[0], data)[0].tolist()
    ([1.0, 1.0], [-0.5, -0.5, 0.125])
    """
    parameters = Parameters((data, b), "spsolve")
    matrix, elements = stored(data, indices, indptr, "spsolve")
    rhs = as_real(b, "spsolve")
    if rhs.ndim not in (1, 2) or rhs.shape[0] != matrix.n:
        raise ArgTypeError(
            f"spsolve: a right hand side of shape {rhs.shape} does not fit a matrix of shape "
            f"{(matrix.n, matrix.n)}"
        )
    rows = matrix_transpose(rhs) if rhs.ndim == 2 else rhs
    x = Solve.apply(matrix, False, rows, elements)
    x = matrix_transpose(x) if rhs.ndim == 2 else x
    return x if parameters.has_tensors else x.numpy()
