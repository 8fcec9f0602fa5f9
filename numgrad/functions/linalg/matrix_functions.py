"""Functions of square matrices, and equations of matrices and tensors."""

from collections.abc import Sequence
from math import prod

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...operators.linalg import matrix_functions as _functions
from ...operators.linalg.matmul import adjoint
from ...operators.shape.reshape import reshape
from ..array.axes import normalize_axis_tuple
from ..array.operands import as_tensor, as_tensors, whole
from ..shape.reshaping import moveaxis
from .systems import floating_matrices, inverse, solve


def expm(A: ArrayLike) -> Tensor:
    """Return the exponential functions of square matrices.

    Parameters
    ----------
    A : array_like
        Matrices in the last two axes.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not square.

    Notes
    -----
    The gradient is the derivative at :math:`A^H` in the direction of the cotangent :math:`G`: the
    upper right block of :math:`\\exp [[A^H, G], [0, A^H]]`. It is defined everywhere.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[0.0, 0.0], [0.0, 0.0]], requires_grad=True)
    >>> ng.grad(ng.linalg.expm(x)[0, 1], x)[0]
    tensor([[0., 1.],
            [0., 0.]])
    """
    return _functions.expm(floating_matrices(A, "expm"), caller="expm")


def logm(A: ArrayLike) -> Tensor:
    """Return the principal logarithms of square matrices; the derivatives are as those of `expm`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not square, or is real and its logarithm is not.

    Notes
    -----
    It is defined for matrices that have no real eigenvalue up to 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.logm([[1.0, 1.0], [0.0, 1.0]])
    tensor([[0., 1.],
            [0., 0.]])
    """
    return _functions.logm(floating_matrices(A, "logm"), caller="logm")


def sqrtm(A: ArrayLike) -> Tensor:
    """Return the principal square roots of square matrices.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not square, or is real and its root is not; for gradients also if the root is
        singular.

    Notes
    -----
    The gradient is the solution :math:`Y` of :math:`S^H Y + Y S^H = G` for the root :math:`S`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])
    tensor([[2., 0.],
            [0., 3.]])
    """
    return _functions.sqrtm(floating_matrices(A, "sqrtm"), caller="sqrtm")


def solve_sylvester(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> Tensor:
    """Solve ``a x + x b = q``.

    Parameters
    ----------
    a, b : array_like
        Square matrices.
    q : array_like
        Matrices with the rows of ``a`` and the columns of ``b``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If an eigenvalue of ``a`` is the negative of one of ``b``, or they are not square.

    Notes
    -----
    The gradient of ``q`` is the solution for :math:`A^H`, :math:`B^H` and the cotangent; with this
    :math:`g_q` those of ``a`` and ``b`` are :math:`-g_q X^H` and :math:`-X^H g_q`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.solve_sylvester([[1.0]], [[2.0]], [[6.0]])
    tensor([[2.]])
    """
    a, b, q = as_tensors(a, b, q)
    return _sylvester(a, b, q, "solve_sylvester")


def _sylvester(a: Tensor, b: Tensor, q: Tensor, caller: str) -> Tensor:
    a, b = (floating_matrices(x, caller) for x in (a, b))
    if q.shape[-2:] != (a.shape[-1], b.shape[-1]):
        raise ValueError(f"{caller}: shapes {a.shape}, {b.shape} and {q.shape} do not fit")
    return _functions.solve_sylvester(a, b, q, caller=caller)


def solve_continuous_lyapunov(a: ArrayLike, q: ArrayLike) -> Tensor:
    """Solve ``a x + x a^H = q``; see `solve_sylvester`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.solve_continuous_lyapunov([[-1.0]], [[-4.0]])
    tensor([[2.]])
    """
    a, q = as_tensors(a, q)
    return _sylvester(a, adjoint(a), q, "solve_continuous_lyapunov")


# Tensors as matrices ------------------------------------------------------------------------------


@composed
def tensorinv(a: ArrayLike, ind: int = 2) -> Tensor:
    """Return the inverse of a tensor as a map from its last axes to the first ``ind``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is singular, or the sizes of both groups of axes have different products.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.tensorinv(2.0 * ng.eye(4).reshape(2, 2, 4), ind=2).shape
    (4, 2, 2)
    """
    a, ind = as_tensor(a), whole(ind)
    if ind <= 0:
        raise ValueError(f"tensorinv: ind must be positive, got {ind}")
    shape = (*a.shape[ind:], *a.shape[:ind])
    matrix = _as_matrix(a, prod(a.shape[:ind]), prod(a.shape[ind:]), "tensorinv")
    return reshape(inverse(matrix, "tensorinv"), ncore=2, shape=shape)


def _as_matrix(a: Tensor, rows: int, columns: int, caller: str) -> Tensor:
    if rows != columns:
        raise np.linalg.LinAlgError(f"{caller}: {a.shape} makes {rows} rows and {columns} columns")
    return reshape(a, ncore=a.ndim, shape=(rows, columns))


@composed
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Tensor:
    """Solve ``tensordot(a, x, x.ndim) = b``.

    Parameters
    ----------
    a : array_like
        The axes of ``b`` come first, those of ``x`` behind them.
    b : array_like
    axes : sequence of int, optional
        Axes of ``a`` to move to the end before.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is singular, or the sizes do not fit.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.tensorsolve(2.0 * ng.eye(4).reshape(2, 2, 4), [[2.0, 4.0], [6.0, 8.0]])
    tensor([1., 2., 3., 4.])
    """
    a, b = as_tensors(a, b)
    if axes is not None:
        moved = normalize_axis_tuple(axes, a.ndim)
        a = moveaxis(a, moved, tuple(range(a.ndim - len(moved), a.ndim)))
    shape = a.shape[b.ndim :]
    matrix = _as_matrix(a, b.size, prod(shape), "tensorsolve")
    return solve(matrix, reshape(b, ncore=b.ndim, shape=(b.size,))).reshape(shape)
