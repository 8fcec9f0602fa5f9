"""Linear systems, inverses, determinants and Cholesky factors."""

from typing import NamedTuple, Unpack

import numpy as np

from ..._tensor import ArrayLike, Tensor, placed
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...operators.linalg import determinant as _determinant
from ...operators.linalg import factorization as _factorization
from ...operators.linalg.matmul import adjoint
from ...operators.shape.reshape import expand_dims, squeeze
from ..array.operands import as_tensor, as_tensors
from .scipy_options import Hints, require_hints


class SlogdetResult(NamedTuple):
    """Sign (or direction) of a determinant, and the logarithm of its size."""

    sign: Tensor
    logabsdet: Tensor


def require_square(x: Tensor, name: str) -> None:
    """Raise ``LinAlgError`` unless the last two axes have equal sizes."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError(f"{name} needs square matrices, got shape {x.shape}")


def floating_matrices(x: ArrayLike, name: str, square: bool = True) -> Tensor:
    """Return matrices in a dtype that LAPACK has; raise ``LinAlgError`` for other shapes."""
    x = as_tensor(x)
    if square:
        require_square(x, name)
    elif x.ndim < 2:
        raise np.linalg.LinAlgError(f"{name} needs two axes at least, got shape {x.shape}")
    if x.dtype == np.float16:
        return x.astype(np.float32)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


@composed
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    *,
    assume_a: str | None = None,
    transposed: bool = False,
    **hints: Unpack[Hints],
) -> Tensor:
    """Solve ``a x = b``.

    Parameters
    ----------
    a : array_like
        Square matrices.
    b : array_like
        A vector if it has one axis, else matrices.
    lower : bool
        Which triangle is read of a symmetric matrix, which is assumed.
    assume_a : str, optional
        What `scipy.linalg.solve` calls the structure: "sym", "her", "pos", "diagonal",
        "tridiagonal", "banded", "upper triangular" or "lower triangular"; other elements than
        those of the structure are not read. By default none.
    transposed : bool
        Whether to solve with the transposed matrices.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular or not square, or not positive definite where that is assumed.

    Notes
    -----
    For the cotangent :math:`g` the gradient of `b` is :math:`A^{-H} g`, that of `a` is
    :math:`-(A^{-H} g) x^H`. One factorization serves the value and all gradients.

    Examples
    --------
    >>> import numgrad as ng
    >>> b = ng.tensor([2.0, 4.0], requires_grad=True)
    >>> x = ng.linalg.solve([[2.0, 0.0], [0.0, 8.0]], b)
    >>> ng.grad(x.sum(), b)[0]
    tensor([0.5  , 0.125])
    """
    if hints:
        require_hints(hints, "solve")
    a, b = as_tensors(a, b)
    if assume_a is not None or transposed:
        from .structured import solve_assumed

        return solve_assumed(a, b, assume_a or "general", lower, bool(guarded(transposed)))
    return _solved(floating_matrices(a, "solve"), b, "solve")


def _solved(a: Tensor, b: Tensor, caller: str) -> Tensor:
    """Solve ``a x = b`` for the function ``caller``, which the error about a singular matrix
    names."""
    vector = b.ndim == 1
    b = expand_dims(b, axes=(-1,)) if vector else b
    if b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"solve: a right hand side of shape {b.shape} does not fit matrices of shape {a.shape}"
        )
    dtype = np.result_type(a.dtype, b.dtype)
    a = a if a.dtype == dtype or dtype.kind not in "fc" else a.astype(dtype)
    lu, pivots = _factorization.lu_factor(a)
    x = _factorization.lu_solve(a, lu, pivots, b, adjoint=False, caller=caller)
    return squeeze(x, axes=(-1,)) if vector else x


@composed
def inv(a: ArrayLike, **hints: Unpack[Hints]) -> Tensor:
    """Return the inverses of square matrices.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular or not square.

    Notes
    -----
    For the cotangent :math:`G` the gradient is :math:`-A^{-H} G A^{-H}`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[2.0]], requires_grad=True)
    >>> ng.grad(ng.linalg.inv(x), x)[0]
    tensor([[-0.25]])
    """
    if hints:
        require_hints(hints, "inv")
    return inverse(a, "inv")


def inverse(a: ArrayLike, caller: str) -> Tensor:
    """Return the inverses of square matrices; errors name the function ``caller``."""
    a = floating_matrices(a, caller)
    return _solved(a, placed(np.eye(a.shape[-1], dtype=a.dtype), a.device), caller)


@composed
def det(a: ArrayLike, **hints: Unpack[Hints]) -> Tensor:
    """Return the determinants of square matrices.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not square; for second derivatives also if it is singular and larger than 3
        by 3.

    Notes
    -----
    The gradient is the matrix of cofactors, :math:`\\det(A) A^{-H}` where the inverse exists.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    >>> ng.grad(ng.linalg.det(x), x)[0]
    tensor([[ 4., -2.],
            [-2.,  1.]])
    """
    if hints:
        require_hints(hints, "det")
    a = floating_matrices(a, "det")
    lu, pivots = _factorization.lu_factor(a)
    return _determinant.det(a, lu, pivots)


@composed
def slogdet(a: ArrayLike) -> SlogdetResult:
    """Return signs and logarithms of determinants: 0 and -inf for a singular matrix.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not square; for gradients also if it is singular.

    Notes
    -----
    The gradient of the logarithm is :math:`A^{-H}`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[-2.0, 0.0], [0.0, 4.0]], requires_grad=True)
    >>> sign, logabsdet = ng.linalg.slogdet(x)
    >>> ng.grad(logabsdet, x)[0]
    tensor([[-0.5 ,  0.  ],
            [ 0.  ,  0.25]])
    """
    a = floating_matrices(a, "slogdet")
    lu, pivots = _factorization.lu_factor(a)
    return SlogdetResult(*_determinant.slogdet(a, lu, pivots))


def cholesky(
    a: ArrayLike,
    /,
    *,
    upper: bool = False,
    lower: bool | None = None,
    **hints: Unpack[Hints],
) -> Tensor:
    """Return the factors ``L`` of Hermitian positive definite matrices ``L L^H``.

    Parameters
    ----------
    a : array_like
        Only one triangle is read: the lower, or the upper.
    upper : bool
        Return ``U`` with ``U^H U`` instead.
    lower : bool, optional
        The opposite of ``upper``, as SciPy has it; there the default is the upper factor.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not positive definite or not square.

    Notes
    -----
    The gradient is :math:`L^{-H} P L^{-1}` made Hermitian, where :math:`P` is the lower triangle of
    :math:`L^H G` with half its diagonal (Murray 2016, arXiv:1602.07527).

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    tensor([[2., 0.],
            [1., 2.]])
    """
    if hints:
        require_hints(hints, "cholesky")
    if lower is not None:
        upper = not guarded(lower)
    return cholesky_factor(a, bool(guarded(upper)), "cholesky")


def cholesky_factor(a: ArrayLike, upper: bool, caller: str) -> Tensor:
    """Return a Cholesky factor; errors name the function ``caller``."""
    a = floating_matrices(a, caller)
    if upper:
        return adjoint(_factorization.cholesky(adjoint(a), caller=caller))
    return _factorization.cholesky(a, caller=caller)
