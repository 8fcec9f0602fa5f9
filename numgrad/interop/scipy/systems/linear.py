"""Sparse systems, as functions of the stored elements and of vectors."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...._errors import ArgTypeError, DtypeError
from ...._tensor import Tensor
from ....engine.record.apply import mode
from ....functions.array.operands import as_tensor
from ....functions.shape.reshaping import matrix_transpose, reshape
from ....operators.linalg.sparse import product_at_stored
from ..implicit.factors import Sparse, System
from ..implicit.implicit import Solve
from ..implicit.parameters import Parameters, number
from ..implicit.solver_operator import Form, in_programs, refuse, shape_of


class Stored(System):
    """A square sparse matrix: copies of its index arrays, as in `scipy.sparse.csr_array`, and of
    its present numbers."""

    def __init__(self, data: np.ndarray, indices: Any, indptr: Any, what: str) -> None:
        from scipy.sparse import csr_array

        indices, indptr = np.array(number(indices)), np.array(number(indptr))
        self.n = indptr.size - 1
        self.array = csr_array((data, indices, indptr), shape=(self.n, self.n))
        self.places = indices.astype(np.int64), indptr[:-1], indptr[1:]
        super().__init__(lambda: self.array, what)

    def of_matrix(
        self, solved: Tensor, other: Tensor, transposed: bool, point: Any
    ) -> list[Tensor]:
        """Return the cotangent of the stored elements, see `Equation.of_matrix`."""
        left, right = (solved, other) if transposed else (other, solved)
        left, right = (_columns(x, solved.ndim - 1) for x in (left, right))
        return [-product_at_stored(*self.places, left, right)]


def _columns(x: Tensor, count: int) -> Tensor:
    """Return vectors along the last axis as columns; ``count`` axes in front of it count vectors.
    """
    lead, n = x.shape[: x.ndim - 1 - count], x.shape[-1]
    return matrix_transpose(reshape(x, (*lead, math.prod(x.shape[len(lead) : -1]), n)))


def stored(data: Any, indices: Any, indptr: Any, what: str) -> tuple[Stored, Tensor]:
    """Return a sparse matrix, and its elements as a tensor of float64."""
    elements = as_real(data, what)
    return Stored(elements.detach().numpy(copy=True), indices, indptr, what), elements


def as_real(x: Any, what: str) -> Tensor:
    x = as_tensor(x)
    if x.dtype.kind == "c":
        raise DtypeError(f"{what} takes real numbers, got {x.dtype}")
    return x if x.dtype == np.float64 else x.astype(np.float64)


def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True) -> Any:
    """Solve a sparse system, by SciPy's SuperLU.

    Parameters
    ----------
    A : SparseArray, sparse matrix of SciPy, or tuple ``(data, indices, indptr)``
        A square matrix, such as `ng.sparse.csr`, `coo` and `diags` make; or its stored elements,
        their columns, and where each row begins, of which `scipy.sparse.csr_array` makes one: then
        `data` may be a tensor.
    b : array_like, shape (n,) or (n, k)
        One or several right hand sides; a sparse matrix is taken as a dense one.
    permc_spec, use_umfpack
        For SciPy's sake: how columns are ordered is SuperLU's choice.

    Returns
    -------
    Tensor or numpy.ndarray
        Of the shape of `b`; a tensor if `b` or what `A` holds is one.

    Raises
    ------
    MatrixError
        If the matrix is singular.
    CaptureError
        In a captured or mapped function, for tensors of other dtypes than float64, and for what is
        known only when the solver has run.

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
    >>> x = ng.interop.scipy.spsolve((data, [0, 1, 1], [0, 2, 3]), np.array([3.0, 4.0]))
    >>> x.tolist(), ng.grad(x[0], data)[0].tolist()
    ([1.0, 1.0], [-0.5, -0.5, 0.125])
    """
    data, indices, indptr = by_rows(A, "spsolve", "ng.linalg.solve")
    return _spsolve(data, indices, indptr, b.toarray() if hasattr(b, "toarray") else b)


FORM = Form(lambda x: [x], lambda given: [shape_of(given["b"])], lambda given, x: x)


@in_programs(FORM, "spsolve")
def _spsolve(data: Any, indices: Any, indptr: Any, b: Any, transposed: bool = False) -> Any:
    """Return the solution for stored elements."""
    parameters = Parameters((data, b), "spsolve")
    matrix, elements = stored(data, indices, indptr, "spsolve")
    x = _solution(matrix, b, transposed, "spsolve", elements)
    return x if parameters.has_tensors else x.numpy()


class _Given(Sparse):
    """The factors that a user's call of SciPy's SuperLU has found."""

    def __init__(self, lu: Any) -> None:
        self.lu = lu


class _Factorised(System):
    """A constant matrix whose factors are known."""

    def __init__(self, lu: Any, what: str) -> None:
        self.n = lu.shape[0]
        super().__init__(lambda: None, what)
        self._factors = _Given(lu)


def solved(lu: Any, rhs: Any, trans: str, what: str) -> Tensor:
    """Return the solution for right hand sides that are tensors, by SciPy's factors."""
    matrix = _Factorised(lu, what)
    return _by_factors(matrix, as_real(rhs, what), _is_transposed(trans, what), what)


def _is_transposed(trans: str, what: str) -> bool:
    """Whether the system of the transpose is asked for."""
    if trans not in ("N", "T", "H"):
        raise ArgTypeError(f"{what}: trans is 'N', 'T' or 'H', got {trans!r}")
    return trans != "N"


def _solution(matrix: Any, b: Any, transposed: bool, what: str, *elements: Tensor) -> Tensor:
    """Return the solution for one or several right hand sides."""
    rhs = as_real(b, what)
    if rhs.ndim not in (1, 2) or rhs.shape[0] != matrix.n:
        raise ArgTypeError(
            f"{what}: a right hand side of shape {rhs.shape} does not fit a matrix of shape "
            f"{(matrix.n, matrix.n)}"
        )
    rows = matrix_transpose(rhs) if rhs.ndim == 2 else rhs
    x = Solve.apply(matrix, transposed, rows, *elements)
    return matrix_transpose(x) if rhs.ndim == 2 else x


_by_factors = in_programs(FORM, "splu")(_solution)
"""The solution by factors that are known before a captured function runs."""


class Factorized:
    """A sparse matrix with the factors that `splu` has found.

    Attributes
    ----------
    shape : tuple of int
    nnz : int
        How many numbers the factors have.
    """

    def __init__(self, A: Any, what: str) -> None:
        self._given = data, indices, indptr = by_rows(A, what, "ng.linalg.solve")
        self._what, self._has_tensor = what, isinstance(data, Tensor)
        self.shape = (len(indptr) - 1,) * 2
        # The numbers of a matrix that a captured function makes are known when it runs.
        self._is_known = mode.capture is None or not self._has_tensor
        if self._is_known:
            self._matrix, self._elements = stored(data, indices, indptr, what)
            self._matrix.require_factors()

    @property
    def nnz(self) -> int:
        """Return how many numbers the factors have."""
        if not self._is_known:
            refuse(self._what, {"nnz": True})
        return self._matrix.require_factors().lu.nnz

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """Solve a system with the matrix, or with its transpose for ``trans="T"`` or ``"H"``.

        Parameters
        ----------
        rhs : array_like, shape (n,) or (n, k)
        trans : str, optional
        """
        transposed = _is_transposed(trans, self._what)
        if not self._is_known:
            return _spsolve(*self._given, rhs, transposed)
        given = as_real(rhs, self._what), transposed, self._what, self._elements
        found = _by_factors(self._matrix, *given)
        is_tensor = self._has_tensor or mode.capture is not None
        is_tensor = is_tensor or Parameters((rhs,), self._what).has_tensors
        return found if is_tensor else found.numpy()


def splu(
    A: Any, permc_spec: str | None = None, diag_pivot_thresh: float | None = None,
    relax: int | None = None, panel_size: int | None = None, options: Any = None,
) -> Factorized:  # fmt: skip
    """Factorise a sparse matrix once, for many right hand sides.

    Parameters
    ----------
    A : SparseArray, sparse matrix of SciPy, or tuple ``(data, indices, indptr)``
        As `spsolve` takes it.
    permc_spec, diag_pivot_thresh, relax, panel_size, options
        For SciPy's sake: how the matrix is factorised is SuperLU's choice.

    Returns
    -------
    Factorized
        Its method ``solve(rhs, trans="N")`` solves systems, with gradients to the right hand side
        and to the stored numbers, as `spsolve` has them. It has no factors to look at: these are
        SciPy's, of ``A.to_scipy()``. If a captured or mapped function has made the numbers of the
        matrix, each system is factorised for itself, when the function runs.

    Raises
    ------
    MatrixError
        If the matrix is singular.
    CaptureError
        In a captured or mapped function, for tensors of other dtypes than float64.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> k = ng.tensor([2.0, 4.0], requires_grad=True)
    >>> lu = ng.interop.scipy.splu(ng.sparse.diags(k))
    >>> x = lu.solve(lu.solve(np.array([4.0, 16.0])))
    >>> x.tolist(), ng.grad(x.sum(), k)[0].tolist()
    ([1.0, 1.0], [-1.0, -0.5])
    """
    return Factorized(A, "splu")


def factorized(A: Any) -> Callable[[Any], Any]:
    """Return the function that solves systems with a sparse matrix, see `splu`.

    Parameters
    ----------
    A : SparseArray, sparse matrix of SciPy, or tuple ``(data, indices, indptr)``
        As `spsolve` takes it.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> solve = ng.interop.scipy.factorized(ng.sparse.diags([[2.0, 4.0]], [0]))
    >>> solve(np.array([2.0, 4.0])).tolist()
    [1.0, 1.0]
    """
    return Factorized(A, "factorized").solve


def by_rows(A: Any, what: str, dense: str) -> tuple[Any, Any, Any]:
    """Return the stored elements of a matrix, their columns, and the start of each row."""
    if isinstance(A, tuple):
        if len(A) == 3:
            return A
        raise ArgTypeError(f"{what}: a tuple is (data, indices, indptr), got {len(A)} items")
    if not hasattr(A, "tocsr"):
        raise ArgTypeError(
            f"{what}: A must be a sparse array of ng.sparse, a sparse matrix of SciPy's or a tuple "
            f"(data, indices, indptr), got {type(A).__name__}; a dense matrix is for {dense}"
        )
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ArgTypeError(f"{what}: A must be square, got shape {A.shape}")
    A = A.tocsr()
    return A.data, A.indices, A.indptr
