"""Polynomials as NumPy's older functions have them: vectors of coefficients, the highest first."""

from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ..array.argument_checks import integer
from ..array.operands import as_tensor, as_tensors, is_known, values_of
from ..creation.constants import ones, zeros, zeros_like
from ..creation.memory_order import in_order
from ..linalg.spectral import eigvals
from ..reduction.cumulative import cumprod
from ..shape.joining import concat
from ..shape.rearranging import flip
from ..shape.repeating import broadcast_to
from ..shape.reshaping import atleast_1d
from .filtering import convolve


def polyval(p: ArrayLike, x: ArrayLike) -> Tensor:
    """Return the value of a polynomial at points.

    Parameters
    ----------
    p : array_like
        Coefficients, the highest first.
    x : array_like
        The points, of any shape.

    Raises
    ------
    ArgTypeError
        If ``x`` is a polynomial.

    Notes
    -----
    Computed by Horner's rule; differentiable in the coefficients and the points.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polyval([3.0, 0.0, 1.0], x), x)[0]
    tensor([ 6., 12.])
    """
    if isinstance(x, np.poly1d):
        raise ArgTypeError("polyval: x must be points, not a polynomial")
    p, x = as_tensors(p, x)
    y = zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y


@composed
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """Return the coefficients of the sum of two polynomials, as many as the longer one has.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polyadd(ng.tensor([1.0, 2.0]), [9.0, 5.0, 4.0])
    tensor([9., 6., 6.])
    """
    a1, a2 = _of_one_size(a1, a2)
    return a1 + a2


@composed
def polysub(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """Return the coefficients of the difference of two polynomials.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polysub(ng.tensor([2.0, 10.0, -2.0]), [3.0, 10.0, -4.0])
    tensor([-1.,  0.,  2.])
    """
    a1, a2 = _of_one_size(a1, a2)
    return a1 - a2


def _of_one_size(*polynomials: ArrayLike) -> list[Tensor]:
    """Return coefficients with zeros in front of the fewer ones."""
    vectors = [atleast_1d(p) for p in as_tensors(*polynomials)]
    size = max(len(p) for p in vectors)
    return [
        concat([np.zeros(size - len(p), p.dtype), p]) if len(p) < size else p for p in vectors
    ]


def polymul(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """Return the coefficients of the product of two polynomials: their convolution, without the
    zeros in front; in a captured function with them.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polymul(ng.tensor([1.0, 2.0]), [1.0, -2.0])
    tensor([ 1.,  0., -4.])
    """
    a1, a2 = (atleast_1d(p) for p in as_tensors(a1, a2))
    product = convolve(a1, a2)
    if not (is_known(a1) and is_known(a2)):
        return product
    # Zeros in front are cut from the product: its other coefficients depend on them.
    lead = sum(_leading_zeros(p) for p in (a1, a2))
    return product[min(lead, len(product) - 1) :]


def _leading_zeros(p: Tensor) -> int:
    found = np.flatnonzero(values_of(p))
    return int(found[0]) if found.size else len(p) - 1


def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[Tensor, Tensor]:
    """Return the coefficients of the quotient and of the remainder of two polynomials.

    Parameters
    ----------
    u, v : array_like
        Dividend and divisor.

    Returns
    -------
    tuple of Tensor
        The quotient, and the remainder without the numbers near 0 in front; a captured function
        keeps those where numbers other than 0 may stand, at least one.

    Raises
    ------
    ValueError
        If one has no coefficients.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polydiv(ng.tensor([3.0, 5.0, 2.0]), [2.0, 1.0])
    (tensor([1.5 , 1.75]), tensor([0.25]))
    """
    u, v = (atleast_1d(p) + 0.0 for p in as_tensors(u, v))
    if not (u.size and v.size):
        raise ValueError(f"polydiv needs coefficients, got shapes {u.shape} and {v.shape}")
    r = u.astype(np.result_type(u.dtype, v.dtype)).copy()
    count, scale = len(u) - len(v) + 1, 1.0 / v[0]
    q = zeros(max(count, 1), r.dtype)
    for k in range(count):
        q[k] = scale * r[k]
        r[k : k + len(v)] -= q[k] * v
    if is_known(r):
        far = np.flatnonzero(~np.isclose(values_of(r), 0, rtol=1e-14))
        return q, r[int(far[0]) if far.size else len(r) - 1 :]
    return q, r[min(max(count, 0), len(r) - 1) :]


@composed
def polyder(p: ArrayLike, m: int = 1) -> Tensor:
    """Return the coefficients of the ``m``-th derivative of a polynomial.

    Raises
    ------
    ValueError
        If ``m`` is negative.
    TypeError
        If there is no axis of coefficients.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polyder(ng.tensor([1.0, 1.0, 1.0, 1.0]))
    tensor([3., 2., 1.])
    """
    p = as_tensor(p)
    if not p.ndim:
        raise TypeError("polyder needs a vector of coefficients, got shape ()")
    for _ in range(_order("polyder", m)):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@composed
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Tensor:
    """Return the coefficients of an ``m``-fold integral of a polynomial.

    Parameters
    ----------
    p : array_like
        Coefficients, the highest first.
    m : int
        How often to integrate.
    k : array_like, optional
        The constants of integration, 0 by default.

    Raises
    ------
    ValueError
        If ``m`` is negative, or there are fewer constants.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polyint(ng.tensor([3.0, 2.0, 1.0]), k=5.0)
    tensor([1., 1., 1., 5.])
    """
    p, m = as_tensor(p), _order("polyint", m)
    constants = zeros(m) if k is None else atleast_1d(as_tensor(k))
    if len(constants) == 1 and m > 1:
        constants = broadcast_to(constants, (m,))
    if len(constants) < m:
        raise ValueError(f"polyint: {len(constants)} constants for {m} integrations")
    for n in range(m):
        p = concat([p / np.arange(len(p), 0, -1), constants[n : n + 1]])
    return p


def _order(name: str, m: Any) -> int:
    m = integer(m, "m")
    if m < 0:
        raise ValueError(f"{name}: the order must not be negative, got {m}")
    return m


@composed
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the matrix of powers of a vector, its Vandermonde matrix.

    Parameters
    ----------
    x : array_like
        A vector: the rows are its elements.
    N : int, optional
        How many powers, by default as many as there are elements.
    increasing : bool
        Begin with the power 0, and not with the highest.

    Raises
    ------
    ValueError
        If ``x`` is no vector.

    Notes
    -----
    The powers are products, with the derivative of `cumprod`, also at 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.vander(ng.tensor([1.0, 2.0]), 3)
    tensor([[1., 1., 1.],
            [4., 2., 1.]])
    """
    x = as_tensor(x)
    if x.ndim != 1:
        raise ValueError(f"vander: x must be a vector, got shape {x.shape}")
    x = x.astype(np.promote_types(x.dtype, int), copy=False)
    count = len(x) if N is None else integer(N, "N")
    powers = ones((len(x), min(count, 1)), x.dtype)
    if count > 1:
        factors = broadcast_to(x[:, None], (len(x), count - 1))
        powers = concat([powers, cumprod(factors, 1)], axis=1)
    return in_order(powers if increasing else flip(powers, 1), "C")


@composed
def poly(seq_of_zeros: ArrayLike) -> Tensor:
    """Return the coefficients of the polynomial with the given roots, or the characteristic one of
    a matrix; the first is 1.

    Parameters
    ----------
    seq_of_zeros : array_like
        A vector of roots, or a square matrix.

    Raises
    ------
    ValueError
        For other shapes.

    Notes
    -----
    Differentiable in the roots. They give real coefficients if they are conjugate in pairs; in a
    captured function those of complex roots are complex, of a real matrix they are real.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.poly(ng.tensor([1.0, 2.0]))
    tensor([ 1., -3.,  2.])
    """
    roots = atleast_1d(as_tensor(seq_of_zeros))
    is_real = roots.ndim == 2 and roots.dtype.kind != "c"  # a matrix, of which pairs are conjugate
    if roots.ndim == 2 and roots.shape[0] == roots.shape[1] != 0:
        roots = eigvals(roots)
    if roots.ndim != 1:
        raise ValueError(f"poly: neither roots nor a square matrix: {roots.shape}")
    if not roots.size:
        return as_tensor(1.0)
    if roots.dtype.kind not in "fc":
        roots = roots.astype(np.float64)
    p = ones(1, roots.dtype)
    for root in roots:
        p = concat([p, np.zeros(1, p.dtype)]) - concat([np.zeros(1, p.dtype), p * root])
    if p.dtype.kind == "c" and not is_real and is_known(roots):
        values = values_of(roots)
        is_real = np.array_equal(np.sort(values), np.sort(values.conj()))
    return p.real.copy() if p.dtype.kind == "c" and is_real else p
