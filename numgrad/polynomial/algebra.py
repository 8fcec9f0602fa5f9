"""Sums, products, quotients and roots of series of polynomials of any family.

Coefficients that are 0 at the end are left out, as NumPy does, where they are known: a captured
function keeps them.
"""

import numpy as np

from .._tensor import ArrayLike, Tensor
from ..functions.array.operands import as_tensor, is_known, values_of
from ..functions.linalg.spectral import eigvals
from ..functions.shape.joining import concat, stack
from ..functions.shape.reshaping import atleast_1d
from ..functions.sorting.sorting import sort
from .family import Family
from .series import _floating, _mapped


def coefficients(c: ArrayLike, name: str) -> Tensor:
    """Return the coefficients of one series, without zeros at the end."""
    c = atleast_1d(_floating(c))
    if c.ndim != 1 or not c.size:
        raise ValueError(f"{name}: a series has coefficients along one axis, got shape {c.shape}")
    return _trimmed(c, 0)


def _trimmed(c: Tensor, tol: float) -> Tensor:
    if not is_known(c):
        return c
    (kept,) = np.nonzero(np.abs(values_of(c)) > tol)
    return c[: kept[-1] + 1] if kept.size else c[:1] * 0


def _both(family: Family, name: str, *series: ArrayLike) -> list[Tensor]:
    return [coefficients(c, family.prefix + name) for c in series]


# Sums and products --------------------------------------------------------------------------------


def add(family: Family, c1: ArrayLike, c2: ArrayLike) -> Tensor:
    """Return the coefficients of the sum of two series.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebadd([1.0, 2.0], ng.tensor([1.0, 0.0, 3.0])).tolist()
    [2.0, 2.0, 3.0]
    """
    c1, c2 = _both(family, "add", c1, c2)
    size = max(len(c1), len(c2))
    return _trimmed(_longer(c1, size) + _longer(c2, size), 0)


def _longer(c: Tensor, size: int) -> Tensor:
    """Return a series with zeros behind it."""
    return c if len(c) == size else concat([c, np.zeros(size - len(c), c.dtype)])


def sub(family: Family, c1: ArrayLike, c2: ArrayLike) -> Tensor:
    """Return the coefficients of the difference of two series.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebsub([1.0, 2.0], ng.tensor([1.0, 0.0, 3.0])).tolist()
    [0.0, 2.0, -3.0]
    """
    return add(family, c1, -as_tensor(c2))


def mulx(family: Family, c: ArrayLike) -> Tensor:
    """Return the coefficients of ``x`` times a series.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebmulx(ng.tensor([1.0, 2.0])).shape
    (3,)
    """
    (c,) = _both(family, "mulx", c)
    return _trimmed(_by_numpys(family, "mulx", c), 0)


def _by_numpys(family: Family, name: str, c: Tensor) -> Tensor:
    """Return what a linear function of NumPy's makes of a series."""
    function = family.numpys(name)
    columns = [function(unit) for unit in np.eye(len(c))]
    size = max(map(len, columns))
    matrix = np.stack([np.pad(column, (0, size - len(column))) for column in columns], axis=1)
    return _mapped(matrix, c, 0)


def mul(family: Family, c1: ArrayLike, c2: ArrayLike) -> Tensor:
    """Return the coefficients of the product of two series.

    Notes
    -----
    Bilinear in the coefficients; the products of two polynomials of the family are NumPy's.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.chebyshev.chebmul(c, [3.0]).sum(), c)[0].tolist()
    [3.0, 3.0]
    """
    c1, c2 = _both(family, "mul", c1, c2)
    return _trimmed(family.product(c1, c2), 0)


def pow_(family: Family, c: ArrayLike, pow: int, maxpower: int | None = 16) -> Tensor:
    """Return the coefficients of a power of a series, from 0 to ``maxpower``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebpow(ng.tensor([3.0]), 2).tolist()
    [9.0]
    """
    (c,) = _both(family, "pow", c)
    if pow != int(pow) or pow < 0:
        raise ValueError(f"{family.prefix}pow: Power must be a non-negative integer, got {pow}")
    if maxpower is not None and pow > maxpower:
        raise ValueError(f"{family.prefix}pow: Power is too large: {pow}, more than {maxpower}")
    result = c[:1] * 0 + 1 if pow == 0 else c
    for _ in range(int(pow) - 1):
        result = family.product(result, c)
    return result


pow_.__name__ = "pow"


def div(family: Family, c1: ArrayLike, c2: ArrayLike) -> tuple[Tensor, Tensor]:
    """Return the coefficients of the quotient of two series, and of the rest.

    Raises
    ------
    ZeroDivisionError
        If the divisor is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> quotient, rest = ng.polynomial.chebyshev.chebdiv([3.0, 1.0], ng.tensor([2.0]))
    >>> quotient.tolist(), rest.tolist()
    ([1.5, 0.5], [0.0])
    """
    c1, c2 = _both(family, "div", c1, c2)
    if is_known(c2) and values_of(c2)[-1] == 0:
        raise ZeroDivisionError(f"{family.prefix}div: the divisor is 0")
    found = []
    for degree in range(len(c1) - len(c2), -1, -1):
        unit = np.eye(degree + 1)[degree]
        product = family.product(as_tensor(unit.astype(c2.dtype)), c2)
        found.append(c1[-1] / product[-1])
        c1 = c1[:-1] - found[-1] * product[:-1] if len(c1) > 1 else c1 * 0
    return stack(found[::-1]) if found else c1[:1] * 0, _trimmed(c1, 0)


def trim(family: Family, c: ArrayLike, tol: float = 0) -> Tensor:
    """Return the coefficients without those at the end that are at most ``tol``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebtrim(ng.tensor([1.0, 2.0, 1e-9]), 1e-6).tolist()
    [1.0, 2.0]
    """
    if tol < 0:
        raise ValueError(f"{family.prefix}trim: tol must be non-negative, got {tol}")
    (c,) = _both(family, "trim", c)
    values_of(c)  # which are asked for
    return _trimmed(c, tol)


# Roots --------------------------------------------------------------------------------------------


def line(family: Family, off: ArrayLike, scl: ArrayLike) -> Tensor:
    """Return the coefficients of ``off + scl * x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebline(3.0, ng.tensor(2.0)).shape
    (2,)
    """
    first, second = family.numpys("line")(0.0, 1.0)
    off, scl = _floating(off), _floating(scl)
    return _trimmed(stack([off + first * scl, second * scl]), 0)


def fromroots(family: Family, roots: ArrayLike) -> Tensor:
    """Return the coefficients of the series with the given roots, the product of ``x - root``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebfromroots(ng.tensor([1.0, -1.0])).shape
    (3,)
    """
    factors = [line(family, -root, 1.0) for root in sort(atleast_1d(_floating(roots)))]
    while len(factors) > 1:
        half = len(factors) // 2
        pairs = zip(factors[:half], factors[half : 2 * half], strict=True)
        factors = [family.product(p, q) for p, q in pairs] + factors[2 * half :]
    return factors[0] if factors else as_tensor(np.ones(1))


def companion(family: Family, c: ArrayLike) -> Tensor:
    """Return the matrix whose eigenvalues are the roots of a series.

    Raises
    ------
    ValueError
        For less than two coefficients.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebcompanion(ng.tensor([1.0, 2.0, 3.0])).shape
    (2, 2)
    """
    (c,) = _both(family, "companion", c)
    n = len(c) - 1
    if n < 1:
        raise ValueError(f"{family.prefix}companion: Series must have maximum degree of at least 1")
    plain = family.numpys("companion")(np.eye(n + 1)[n])
    weights = (family.numpys("companion")(np.ones(n + 1)) - plain)[:, -1]
    last = (c[:-1] / c[-1] * weights.astype(c.dtype))[:, None]
    return plain.astype(c.dtype) + last * np.eye(n)[-1].astype(c.dtype)


def roots(family: Family, c: ArrayLike) -> Tensor:
    """Return the roots of a series in ascending order, complex numbers.

    Notes
    -----
    Differentiable where they are simple, as eigenvalues are.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.polynomial.chebyshev.chebfromroots([1.0, 4.0])
    >>> ng.polynomial.chebyshev.chebroots(c).real.round(6)
    tensor([1., 4.])
    """
    (c,) = _both(family, "roots", c)
    if len(c) < 2:
        return as_tensor(np.zeros(0, np.result_type(c.dtype, np.complex64)))
    return sort(eigvals(companion(family, c)[::-1, ::-1]))


# Other families -----------------------------------------------------------------------------------


def to_powers(family: Family, c: ArrayLike) -> Tensor:
    """Return the coefficients of the powers for those of a series.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.cheb2poly(ng.tensor([3.0])).tolist()
    [3.0]
    """
    (c,) = _both(family, "2poly", c)
    return _by_numpys(family, "2poly", c)


to_powers.__name__ = "2poly"


def of_powers(family: Family, pol: ArrayLike) -> Tensor:
    """Return the coefficients of a series for those of powers.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.poly2cheb(ng.tensor([3.0])).tolist()
    [3.0]
    """
    (pol,) = _both(family, "2poly", pol)
    return _by_numpys(family, f"poly2{family.prefix}", pol)


of_powers.__name__ = "poly2"
