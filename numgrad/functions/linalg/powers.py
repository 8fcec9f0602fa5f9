"""Polar factors and real powers of matrices, and bases of their spaces."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.linalg.matmul import adjoint
from ...operators.linalg.matrix_functions import expm, logm
from ...operators.linalg.polar import polar as _polar
from ..array.argument_checks import numeric, real_number
from ..array.operands import as_tensor, in_one_dtype
from ..products.products import matmul, matrix_power
from .least_squares import matrix_rank
from .spectral import svd
from .systems import floating_matrices


def polar(a: ArrayLike, side: str = "right") -> tuple[Tensor, Tensor]:
    """Return the polar decomposition ``a = u p``, or ``a = p u``, as `scipy.linalg.polar` does.

    Parameters
    ----------
    a : array_like
        Matrices in the last two axes.
    side : {"right", "left"}
        Where the positive factor stands.

    Returns
    -------
    u : Tensor
        Orthonormal columns, or rows if ``a`` has more columns than rows.
    p : Tensor
        A positive semidefinite factor.

    Raises
    ------
    ValueError
        For another ``side``.
    numpy.linalg.LinAlgError
        For gradients, if ``a`` has not full rank.

    Notes
    -----
    Unlike those of singular vectors, gradients need no singular values that differ: one equation of
    Sylvester with ``p`` gives them.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor([[0.0, -2.0], [2.0, 0.0]], requires_grad=True)
    >>> u, p = ng.linalg.polar(a)
    >>> p.detach().round(6), ng.grad(u[0, 0], a)[0].round(6)
    (tensor([[2., 0.],
            [0., 2.]]), tensor([[0.25, 0.  ],
            [0.  , 0.25]]))
    """
    if not isinstance(side, str) or side not in ("right", "left"):
        raise ValueError(f"polar: side must be 'right' or 'left', got {side!r:.80}")
    x = floating_matrices(numeric(a, "a"), "polar", square=False)
    is_tall = x.shape[-2] >= x.shape[-1]
    u, p = _polar(x if is_tall else adjoint(x), caller="polar")
    if is_tall == (side == "right"):
        return (u, p) if is_tall else (adjoint(u), p)
    other = matmul(matmul(u, p), adjoint(u))
    return (u, other) if is_tall else (adjoint(u), other)


def fractional_matrix_power(A: ArrayLike, t: ArrayLike) -> Tensor:
    """Return real powers of square matrices, as `scipy.linalg.fractional_matrix_power` does.

    Parameters
    ----------
    A : array_like
        Matrices in the last two axes.
    t : array_like
        The exponent, a number; it has a gradient, too.

    Raises
    ------
    ValueError
        If ``t`` is no number.
    numpy.linalg.LinAlgError
        If a matrix is not square, or is real and its logarithm is not; not for whole ``t`` that are
        no tensors, where it is `matrix_power`.

    Notes
    -----
    It is ``expm(t logm(A))``, defined for matrices that have no real eigenvalue up to 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> t = ng.tensor(0.5, requires_grad=True)
    >>> y = ng.linalg.fractional_matrix_power([[4.0, 0.0], [0.0, 9.0]], t)
    >>> y.detach().round(6), round(ng.grad(y[0, 0], t)[0].item(), 6)  # 2 log(4)
    (tensor([[2., 0.],
            [0., 3.]]), 2.772589)
    """
    x = floating_matrices(numeric(A, "A"), "fractional_matrix_power")
    power = as_tensor(numeric(t, "t"))
    if power.ndim or power.dtype.kind not in "iuf":
        raise ValueError(
            f"fractional_matrix_power: t must be a real number, got shape {power.shape}, "
            f"{power.dtype}"
        )
    if not isinstance(t, Tensor) and float(guarded(t)).is_integer():
        return matrix_power(x, int(t))
    x, power = in_one_dtype(x, power)
    caller = "fractional_matrix_power"
    return expm(power * logm(x, caller=caller), caller=caller)


def orth(A: ArrayLike, rcond: Any = None) -> Tensor:
    """Return an orthonormal basis of the columns' space, as `scipy.linalg.orth` does.

    Parameters
    ----------
    A : array_like
        A matrix.
    rcond : float, optional
        Singular values up to this times the largest count as 0.

    Notes
    -----
    They are the first left singular vectors: functions that do not depend on which basis it is, as
    the projector ``q @ q.T``, have their gradient, see `svd`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.orth([[2.0, 0.0], [0.0, 0.0]]).shape
    (2, 1)
    """
    x, rank = _ranked(A, rcond, "orth")
    return svd(x, full_matrices=False)[0][:, :rank]


def null_space(A: ArrayLike, rcond: Any = None) -> Tensor:
    """Return an orthonormal basis of what a matrix maps to 0, as `scipy.linalg.null_space` does.

    Parameters
    ----------
    A : array_like
        A matrix.
    rcond : float, optional
        Singular values up to this times the largest count as 0.

    Notes
    -----
    They are the last right singular vectors, see `orth`.

    Examples
    --------
    >>> import numgrad as ng
    >>> abs(ng.linalg.null_space([[3.0, 4.0]])).round(6)
    tensor([[0.8],
            [0.6]])
    """
    x, rank = _ranked(A, rcond, "null_space")
    return adjoint(svd(x, full_matrices=True)[2][rank:])


def _ranked(A: ArrayLike, rcond: Any, caller: str) -> tuple[Tensor, int]:
    """Return a matrix and its rank, which must be known."""
    x = floating_matrices(numeric(A, "A"), caller, square=False)
    if x.ndim != 2:
        raise ValueError(f"{caller}: A must be one matrix, got shape {x.shape}")
    if not x.size:
        return x, 0
    limit = np.finfo(x.dtype).eps * max(x.shape) if rcond is None else real_number(rcond, "rcond")
    return x, int(matrix_rank(x, rtol=limit))


__all__ = ["fractional_matrix_power", "null_space", "orth", "polar"]
