"""The QR factorization, least squares, pseudo-inverses, ranks and condition numbers."""

from typing import Any, NamedTuple, Unpack

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...ir.broadcasting import broadcast_shapes
from ...operators.elementwise.arithmetic import divide, multiply, subtract, where
from ...operators.elementwise.comparison import (
    equal,
    greater,
    isnan,
    logical_and,
    logical_not,
    not_equal,
)
from ...operators.elementwise.complex_parts import real
from ...operators.linalg import factorization as _factorization
from ...operators.linalg import least_squares as _least_squares
from ...operators.linalg.matmul import matmul
from ...operators.reduction.reductions import sum as sum_
from ...operators.shape.indexing import diagonal, index
from ...operators.shape.reshape import expand_dims, squeeze
from ..array.argument_checks import NO_VALUE
from ..array.operands import as_scalar, as_tensor, as_tensors
from ..elementwise.complex_parts import conj
from ..reduction.reduction import any as any_
from ..reduction.reduction import count_nonzero
from .norms import extreme_sizes, matrix_norm
from .scipy_options import Hints, require_hints
from .spectral import singular_values
from .systems import floating_matrices, inverse


class QRResult(NamedTuple):
    """Orthonormal columns, and an upper triangle."""

    Q: Tensor
    R: Tensor


@composed
def qr(a: ArrayLike, mode: str = "reduced", **hints: Unpack[Hints]) -> Any:
    """Return the factors of ``a = Q @ R``.

    Parameters
    ----------
    a : array_like
        Matrices in the last two axes.
    mode : {"reduced", "complete", "r"}
        ``Q`` with as many columns as the smaller size of ``a``, a square ``Q``, or ``R`` alone.
        SciPy's names of the first two are "economic" and "full".
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Returns
    -------
    tuple of Tensor
        ``Q, R``:
        Or ``R``.

    Raises
    ------
    ValueError
        For another mode; "raw" has no factors that a derivative could be given for.
    numpy.linalg.LinAlgError
        For gradients, if the first columns are linearly dependent.

    Notes
    -----
    With :math:`W` the upper triangle of :math:`G_R R^H - Q^H G_Q`, its diagonal halved, the
    gradient is :math:`(G_Q + Q (W + W^H)) R^{-H}`; there is one for wide matrices and a square
    ``Q`` as well (Walter and Lehmann 2013; Roberts and Roberts 2020).

    Examples
    --------
    >>> import numgrad as ng
    >>> Q, R = ng.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> abs(R)
    tensor([[5. , 2.2],
            [0. , 0.4]])
    """
    if hints:
        require_hints(hints, "qr")
    mode = {"economic": "reduced", "full": "complete"}.get(mode, mode)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode {mode!r} is none of 'reduced', 'complete' and 'r'")
    a = floating_matrices(a, "qr", square=False)
    result = QRResult(*_least_squares.qr(a, mode="reduced" if mode == "r" else mode))
    return result.R if mode == "r" else result


@composed
def pinv(
    a: ArrayLike,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = NO_VALUE,
    **hints: Unpack[Hints],
) -> Tensor:
    """Return pseudo-inverses.

    Parameters
    ----------
    a : array_like
        Matrices in the last two axes.
    rcond, rtol : float or array_like, optional
        Singular values up to so many times the largest count as 0: 1e-15 by default, for
        ``rtol=None`` the larger size times the precision.
    hermitian : bool
        Whether the matrices are Hermitian; only the lower triangle is read then.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Raises
    ------
    ValueError
        If both tolerances are given, or one of a shape that does not broadcast to the matrices.

    Notes
    -----
    The gradient holds where the rank does not change:
    :math:`-P^H G P^H + (I - A P) G^H P P^H + P^H P G^H (I - P A)` (Golub and Pereyra 1973).

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[2.0], [0.0]], requires_grad=True)
    >>> ng.grad(ng.linalg.pinv(x)[0, 0], x)[0]
    tensor([[-0.25],
            [ 0.  ]])
    """
    if hints:
        require_hints(hints, "pinv")
    hermitian = bool(guarded(hermitian))
    a = floating_matrices(a, "pinv", square=hermitian)
    if rcond is not None and rtol is not NO_VALUE:
        raise ValueError("pinv: rtol and rcond cannot both be given")
    if rcond is None:
        rcond = 1e-15 if rtol is NO_VALUE else rtol
    tolerance, loop = _tolerance(rcond, a), a.shape[:-2]
    if broadcast_shapes(tolerance.shape, loop) != loop:
        shown = f"got shape {tolerance.shape} for matrices in shape {loop}"
        raise ValueError(f"pinv needs a tolerance for all or for each matrix, {shown}")
    return _least_squares.pinv(a, tolerance, hermitian=hermitian, caller="pinv")[0]


def _tolerance(rtol: Any, a: Tensor) -> Tensor:
    """Return a tolerance, by default that of rounding in all of a matrix."""
    if rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(a.dtype).eps
    return as_tensor(rtol).detach().astype(np.finfo(a.dtype).dtype, copy=False)


def lstsq(
    a: ArrayLike,
    b: ArrayLike,
    rcond: float | None = None,
    *,
    cond: float | None = None,
    **hints: Unpack[Hints],
) -> tuple[Any, ...]:
    """Return the shortest solution ``x`` that makes the norm of ``b - a @ x`` least.

    Parameters
    ----------
    a : array_like
        A matrix of any shape and rank.
    b : array_like
        A vector, or a matrix for several right hand sides.
    rcond, cond : float, optional
        Singular values up to so many times the largest count as 0; by default the larger size of
        ``a`` times the precision. The second is SciPy's name.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Returns
    -------
    tuple of Tensor
        ``x, residuals, rank, s``:
        The solution, the sums of the squares of what is left (empty if there are no more equations
        than unknowns, or the rank is less than their number), the rank and the singular values.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the shapes do not fit, or no singular values are found.

    Notes
    -----
    The derivatives are those of `pinv` times ``b``, where the rank does not change. In a captured
    function and on a device residuals are not left out because of the rank, which is not known.

    Examples
    --------
    >>> import numgrad as ng
    >>> a, b = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], ng.tensor([1.0, 2.0, 6.0], requires_grad=True)
    >>> x, residuals, rank, s = ng.linalg.lstsq(a, b)
    >>> ng.grad(x[1], b)[0]
    tensor([-5.00000000e-01, ...,  5.00000000e-01])
    """
    if hints:
        require_hints(hints, "lstsq")
    a, b = as_tensors(a, b)
    x, rank, s = shortest(a, b, rcond if cond is None else cond)
    residuals = _residuals(a, b, x)
    m, n = a.shape
    if m <= n or (isinstance(rank.array, np.ndarray) and np.all(rank.array < n)):
        residuals = index(residuals, key=((0, 0, None),))
    return x, residuals, as_scalar(rank), s


@composed
def shortest(a: Tensor, b: Tensor, rcond: float | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return the solution of `lstsq`, the rank and the singular values."""
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise np.linalg.LinAlgError(f"lstsq: shapes {a.shape} and {b.shape} do not fit")
    a = floating_matrices(a, "lstsq", square=False)
    vector = b.ndim == 1
    b = expand_dims(b, axes=(-1,)) if vector else b
    options = {"inverse": a.requires_grad or b.requires_grad, "caller": "lstsq"}
    x, rank, s, _ = _least_squares.lstsq(a, b, _tolerance(rcond, a), **options)
    return squeeze(x, axes=(-1,)) if vector else x, rank, s


@composed
def _residuals(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """Return the sums of the squares of what is left of each right hand side."""
    a = floating_matrices(a, "lstsq", square=False)
    b, x = (expand_dims(v, axes=(-1,)) if v.ndim == 1 else v for v in (b, x))
    rest = subtract(b, matmul(a, x))
    return sum_(real(multiply(rest, conj(rest))), axes=(-2,))


def matrix_rank(
    A: ArrayLike, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> Tensor:
    """Return the ranks of matrices: integers, which have no gradient.

    Parameters
    ----------
    A : array_like
        Matrices in the last two axes; a vector has rank 1 unless it is 0.
    tol, rtol : float or array_like, optional
        Singular values above count: absolute, or relative to the largest.
    hermitian : bool
        Whether the matrices are Hermitian.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    tensor(1)
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: tol and rtol cannot both be given")
    A = as_tensor(A).detach()
    if A.ndim < 2:
        return as_scalar(any_(not_equal(A, 0)).astype(np.int64))
    A = floating_matrices(A, "matrix_rank", square=False)
    s = singular_values(A, "matrix_rank", bool(guarded(hermitian)))
    if tol is None:
        largest = index(s, key=((0, 1, None),))
        tol = multiply(largest, expand_dims(_tolerance(rtol, A), axes=(-1,)))
    else:
        tol = expand_dims(as_tensor(tol).detach(), axes=(-1,))
    return count_nonzero(greater(s, tol), axis=-1)


@composed
def cond(x: ArrayLike, p: Any = None) -> Tensor:
    """Return condition numbers: the norm of a matrix times that of its inverse.

    Parameters
    ----------
    x : array_like
        Matrices in the last two axes, square ones unless ``p`` is None, 2 or -2.
    p : {None, 1, -1, 2, -2, inf, -inf, "fro", "nuc"}
        The norm; None is 2.

    Raises
    ------
    numpy.linalg.LinAlgError
        For a matrix without elements.

    Notes
    -----
    The derivatives are those of `svdvals`, or of `norm` and `inv`. A singular matrix has the
    condition number infinity, one with a NaN has NaN, as in NumPy 2.5.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.cond([[2.0, 0.0], [0.0, 8.0]])
    tensor(4.)
    """
    by_values = p is None or p in (2, -2)
    x = floating_matrices(x, "cond", square=not by_values)
    if 0 in x.shape[-2:]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    has_nan = any_(isnan(x), axis=(-2, -1))
    if by_values:
        known = _without(has_nan, x)  # LAPACK finds no singular values of NaN
        ends = extreme_sizes(singular_values(known, "cond"), max(x.shape[-2:]))
        result = divide(*(ends[::-1] if p == -2 else ends))
        result = where(has_nan, np.array(np.nan, result.dtype), result)
    else:
        singular = _is_singular(x)
        inverted = inverse(_without(singular, x), "cond")
        result = multiply(matrix_norm(x, ord=p), matrix_norm(inverted, ord=p))
        result = where(singular, np.array(np.inf, result.dtype), result)
    unknown = logical_and(isnan(result), logical_not(has_nan))
    return as_scalar(where(unknown, np.array(np.inf, result.dtype), result))


def _without(marked: Any, x: Tensor) -> Any:
    """Return matrices with the identity in the place of each one that is marked."""
    at = expand_dims(marked, axes=(-2, -1))
    return where(at, np.eye(*x.shape[-2:], dtype=x.dtype), x)


def _is_singular(x: Tensor) -> Any:
    """Return whether a pivot of the elimination is 0."""
    lu, _ = _factorization.lu_factor(x)
    return any_(equal(diagonal(lu, axes=(-2, -1), offset=0), 0), axis=-1)
