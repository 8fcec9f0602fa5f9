"""Special functions under the names of ``scipy.special``.

Written by `docs/stubs.py`."""

import collections.abc
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy

from numgrad._tensor import ArrayLike, Tensor

def airy(z: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return the Airy functions with their derivatives, ``ai, aip, bi, bip``, real or complex.

    Parameters
    ----------
    z : array_like
        Any shape.

    Notes
    -----
    Both solve ``y'' = z * y``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.airy(ng.tensor(0.0))
    (tensor(0.35502805), tensor(-0.2588194), tensor(0.61492663), tensor(0.44828836))
    """

def bdtr(
    k: ArrayLike, n: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the distribution function of the binomial distribution.

    Parameters
    ----------
    k, n, p : array_like
        Broadcast together. Defined for ``0 <= k <= n, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``-beta_density(math.floor(k) + 1, n - math.floor(k), p)``.

    That with respect to ``k`` and ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.bdtr(2, 5, 0.123).item()
    0.984655...
    """

def bdtrc(
    k: ArrayLike, n: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the survival function of the binomial distribution.

    Parameters
    ----------
    k, n, p : array_like
        Broadcast together. Defined for ``0 <= k <= n, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``beta_density(math.floor(k) + 1, n - math.floor(k), p)``.

    That with respect to ``k`` and ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.bdtrc(2, 5, 0.123).item()
    0.015344...
    """

def bdtri(
    k: ArrayLike, n: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `bdtr` in the probability of success.

    Parameters
    ----------
    k, n, p : array_like
        Broadcast together. Defined for ``0 <= k <= n, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``-1 / beta_density(math.floor(k) + 1, n - math.floor(k), y)``.

    That with respect to ``k`` and ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.bdtri(2, 5, 0.3).item()
    0.610181...
    """

def beta(
    a: ArrayLike, b: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the beta function.

    Parameters
    ----------
    a, b : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``y * (digamma(a) - digamma(a + b))``.

    The derivative with respect to ``b`` is ``y * (digamma(b) - digamma(a + b))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.beta(1.5, 1.5).item()
    0.392699...
    """

def betainc(
    a: ArrayLike, b: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the regularized incomplete beta function.

    Parameters
    ----------
    a, b, x : array_like
        Broadcast together. Defined for ``a > 0, b > 0, 0 <= x <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``betainc_a(a, b, x)``.

    The derivative with respect to ``b`` is ``betainc_b(a, b, x)``.

    The derivative with respect to ``x`` is ``beta_density(a, b, x)``.

    The second one with respect to ``a`` is refused.

    The second one with respect to ``b`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.betainc(1.2, 1.2, 0.3).item()
    0.279147...
    """

def betaincc(
    a: ArrayLike, b: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the complement of `betainc`.

    Parameters
    ----------
    a, b, x : array_like
        Broadcast together. Defined for ``a > 0, b > 0, 0 <= x <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``-betainc_a(a, b, x)``.

    The derivative with respect to ``b`` is ``-betainc_b(a, b, x)``.

    The derivative with respect to ``x`` is ``-beta_density(a, b, x)``.

    The second one with respect to ``a`` is refused.

    The second one with respect to ``b`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.betaincc(1.2, 1.2, 0.3).item()
    0.720852...
    """

def betainccinv(
    a: ArrayLike, b: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `betaincc` in ``x``.

    Parameters
    ----------
    a, b, p : array_like
        Broadcast together. Defined for ``a > 0, b > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``beta_slope(a, b, y, 1 - y)``.

    The derivative with respect to ``b`` is ``-beta_slope(b, a, 1 - y, y)``.

    The derivative with respect to ``p`` is ``-1 / beta_density(a, b, y)``.

    The second one with respect to ``a`` is refused.

    The second one with respect to ``b`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.betainccinv(1.2, 1.2, 0.3).item()
    0.680730...
    """

def betaincinv(
    a: ArrayLike, b: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `betainc` in ``x``.

    Parameters
    ----------
    a, b, p : array_like
        Broadcast together. Defined for ``a > 0, b > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``beta_slope(a, b, y, 1 - y)``.

    The derivative with respect to ``b`` is ``-beta_slope(b, a, 1 - y, y)``.

    The derivative with respect to ``p`` is ``1 / beta_density(a, b, y)``.

    The second one with respect to ``a`` is refused.

    The second one with respect to ``b`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.betaincinv(1.2, 1.2, 0.3).item()
    0.319269...
    """

def betaln(
    a: ArrayLike, b: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithm of the absolute value of the beta function.

    Parameters
    ----------
    a, b : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``digamma(a) - digamma(a + b)``.

    The derivative with respect to ``b`` is ``digamma(b) - digamma(a + b)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.betaln(1.5, 1.5).item()
    -0.934711...
    """

def binom(
    n: ArrayLike, k: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the binomial coefficient of real numbers.

    Parameters
    ----------
    n, k : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``n`` is ``y * (digamma(n + 1) - digamma(n - k + 1))``.

    The derivative with respect to ``k`` is ``y * (digamma(n - k + 1) - digamma(k + 1))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.binom(3.9, 0.9).item()
    3.581500...
    """

def boxcox(
    x: ArrayLike, lmbda: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Box-Cox transform ``(x**lmbda - 1) / lmbda``, ``log(x)`` at 0.

    Parameters
    ----------
    x, lmbda : array_like
        Broadcast together. Defined for ``x > 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``x ** (lmbda - 1)``.

    The derivative with respect to ``lmbda`` is ``(x**lmbda * log(x) - boxcox(x, lmbda)) / lmbda``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.boxcox(0.8, -0.1).item()
    -0.225651...
    """

def boxcox1p(
    x: ArrayLike, lmbda: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `boxcox` of ``1 + x``.

    Parameters
    ----------
    x, lmbda : array_like
        Broadcast together. Defined for ``x > -1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``(1 + x) ** (lmbda - 1)``.

    The derivative with respect to ``lmbda`` is ``((1 + x)**lmbda * log1p(x) - boxcox1p(x, lmbda)) / lmbda``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.boxcox1p(0.8, -0.1).item()
    0.570845...
    """
from numgrad.functions.tensor.described import cbrt as cbrt

def chdtr(
    v: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the distribution function of the chi square distribution.

    Parameters
    ----------
    v, x : array_like
        Broadcast together. Defined for ``v > 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``v`` is ``0.5 * gammainc_a(0.5 * v, 0.5 * x)``.

    The derivative with respect to ``x`` is ``0.5 * gamma_density(0.5 * v, 0.5 * x)``.

    The second one with respect to ``v`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.chdtr(1.5, 1.5).item()
    0.651592...
    """

def chdtrc(
    v: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the survival function of the chi square distribution.

    Parameters
    ----------
    v, x : array_like
        Broadcast together. Defined for ``v > 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``v`` is ``-0.5 * gammainc_a(0.5 * v, 0.5 * x)``.

    The derivative with respect to ``x`` is ``-0.5 * gamma_density(0.5 * v, 0.5 * x)``.

    The second one with respect to ``v`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.chdtrc(1.5, 1.5).item()
    0.348407...
    """

def chdtri(
    v: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `chdtrc` in ``x``.

    Parameters
    ----------
    v, p : array_like
        Broadcast together. Defined for ``v > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``-2 / gamma_density(0.5 * v, 0.5 * y)``.

    The derivative with respect to ``v`` is ``gamma_slope(0.5 * v, 0.5 * y)``.

    The second one with respect to ``v`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.chdtri(1.5, 0.3).item()
    1.753790...
    """
from numgrad.functions.special.special_results import comb as comb

def cosdg(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the cosine of an angle in degrees.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-DEGREE * sindg(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.cosdg(-32.0).item()
    0.848048...
    """

def cosm1(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``cos(x) - 1``, precise near 0.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-math.sin(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.cosm1(-0.8).item()
    -0.303293...
    """

def cotdg(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the cotangent of an angle in degrees.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-DEGREE * (1 + y * y)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.cotdg(31.0).item()
    1.664279...
    """

def dawsn(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Dawson's integral.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``1 - 2 * x * dawsn(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.dawsn(-0.8).item()
    -0.532101...
    """

def digamma(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithmic derivative of the gamma function.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``all but 0, -1, -2, ...``.

    Notes
    -----
    The derivative with respect to ``x`` is ``polygamma(1.0, x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.digamma(1.7).item()
    0.208547...
    """

def ellipe(
    m: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the complete elliptic integral of the second kind.

    Parameters
    ----------
    m : array_like
        Any shape. Defined for ``m < 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``m`` is ``(ellipe(m) - ellipk(m)) / (2 * m)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ellipe(-0.4).item()
    1.717714...
    """

def ellipeinc(
    phi: ArrayLike, m: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the incomplete elliptic integral of the second kind.

    Parameters
    ----------
    phi, m : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``phi`` is ``math.sqrt(1 - m * math.sin(phi) * math.sin(phi))``.

    The derivative with respect to ``m`` is ``(ellipeinc(phi, m) - ellipkinc(phi, m)) / (2 * m)``.

    The second one with respect to ``m`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ellipeinc(-0.6, -0.4).item()
    -0.613147...
    """
from numgrad.functions.special.special_results import ellipj as ellipj

def ellipk(
    m: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the complete elliptic integral of the first kind.

    Parameters
    ----------
    m : array_like
        Any shape. Defined for ``m < 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``m`` is ``(ellipe(m) / (1 - m) - ellipk(m)) / (2 * m)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ellipk(-0.4).item()
    1.441518...
    """

def ellipkinc(
    phi: ArrayLike, m: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the incomplete elliptic integral of the first kind.

    Parameters
    ----------
    phi, m : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``phi`` is ``1 / math.sqrt(1 - m * math.sin(phi) * math.sin(phi))``.

    The derivative with respect to ``m`` is ``(ellipeinc(phi, m) / (1 - m) - ellipkinc(phi, m)) / (2 * m) - sin(2 * phi) / (4 * (1 - m) * sqrt(1 - m * sin(phi)**2))``.

    The second one with respect to ``m`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ellipkinc(-0.6, -0.4).item()
    -0.587332...
    """

def ellipkm1(
    p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the complete elliptic integral of the first kind of ``1 - p``.

    Parameters
    ----------
    p : array_like
        Any shape. Defined for ``p > 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``-(ellipe(1 - p) / p - ellipk(1 - p)) / (2 * (1 - p))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ellipkm1(0.4).item()
    1.949567...
    """

def entr(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``-x * log(x)``, 0 at 0 and minus infinity below.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-1 - math.log(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.entr(0.7).item()
    0.249672...
    """

def erf(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the error function.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative with respect to ``x`` is ``TWO_OVER_SQRT_PI * math.exp(-x * x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.erf(-0.8).item()
    -0.742100...
    """

def erfc(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``1 - erf(x)``, precise for large ``x``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative with respect to ``x`` is ``-TWO_OVER_SQRT_PI * math.exp(-x * x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.erfc(-0.8).item()
    1.742100...
    """

def erfcinv(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `erfc`.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``0 <= x <= 2``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-HALF_SQRT_PI * math.exp(y * y)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.erfcinv(0.6).item()
    0.370807...
    """

def erfcx(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `erfc` times ``exp(x**2)``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``2 * x * erfcx(x) - 2 / sqrt(pi)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.erfcx(-0.8).item()
    3.303861...
    """

def erfi(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the imaginary error function ``-1j * erf(1j * x)``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative with respect to ``x`` is ``TWO_OVER_SQRT_PI * math.exp(x * x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.erfi(-0.8).item()
    -1.138670...
    """

def erfinv(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `erf`.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``-1 <= x <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``HALF_SQRT_PI * math.exp(y * y)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.erfinv(-0.4).item()
    -0.370807...
    """

def eval_chebyt(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Chebyshev polynomial of the first kind of degree ``n``.

    Parameters
    ----------
    n, x : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``x`` is ``n * eval_chebyu(n - 1, x)``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_chebyt(3, -0.4).item()
    0.944
    """

def eval_chebyu(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Chebyshev polynomial of the second kind of degree ``n``.

    Parameters
    ----------
    n, x : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``x`` is ``2 * eval_gegenbauer(n - 1, 2.0, x)``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_chebyu(3, -0.4).item()
    1.088
    """

def eval_gegenbauer(
    n: ArrayLike, a: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Gegenbauer polynomial of degree ``n``.

    Parameters
    ----------
    n, a, x : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``x`` is ``2 * a * eval_gegenbauer(n - 1, a + 1, x)``.

    That with respect to ``n`` and ``a`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_gegenbauer(3, 0.9, -0.4).item()
    0.944831...
    """

def eval_genlaguerre(
    n: ArrayLike, a: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the generalized Laguerre polynomial of degree ``n``.

    Parameters
    ----------
    n, a, x : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``x`` is ``-eval_genlaguerre(n - 1, a + 1, x)``.

    That with respect to ``n`` and ``a`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_genlaguerre(3, 0.9, -0.4).item()
    6.166166...
    """

def eval_hermite(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Hermite polynomial of physicists of degree ``n``.

    Parameters
    ----------
    n, x : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``2 * n * eval_hermite(n - 1, x)``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_hermite(3, -0.4).item()
    4.288000...
    """

def eval_hermitenorm(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Hermite polynomial of statisticians of degree ``n``.

    Parameters
    ----------
    n, x : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``n * eval_hermitenorm(n - 1, x)``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_hermitenorm(3, -0.4).item()
    1.136000...
    """

def eval_jacobi(
    n: ArrayLike, a: ArrayLike, b: ArrayLike, x: ArrayLike, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> Tensor:
    """Return the Jacobi polynomial of degree ``n``.

    Parameters
    ----------
    n, a, b, x : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.5 * (n + a + b + 1) * eval_jacobi(n - 1, a + 1, b + 1, x)``.

    That with respect to ``n`` and ``a`` and ``b`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_jacobi(3, 0.9, 0.9, -0.4).item()
    0.720824...
    """

def eval_laguerre(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Laguerre polynomial of degree ``n``.

    Parameters
    ----------
    n, x : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``x`` is ``-eval_genlaguerre(n - 1, 1.0, x)``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_laguerre(3, -0.4).item()
    2.450666...
    """

def eval_legendre(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Legendre polynomial of degree ``n``.

    Parameters
    ----------
    n, x : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.5 * (n + 1) * eval_jacobi(n - 1, 1.0, 1.0, x)``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.eval_legendre(3, -0.37).item()
    0.42836...
    """

def exp1(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the exponential integral E1.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x > 0 or complex``.

    Notes
    -----
    The derivative with respect to ``x`` is ``-math.exp(-x) / x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.exp1(1.4).item()
    0.116219...
    """
from numgrad.functions.tensor.described import exp2 as exp2

def exp10(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``10**x``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``LN10 * y``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.exp10(-0.8).item()
    0.158489...
    """

def expi(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the exponential integral Ei.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative with respect to ``x`` is ``math.exp(x) / x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.expi(1.4).item()
    3.007207...
    """

def expit(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logistic function ``1 / (1 + exp(-x))``.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``expit(x) * expit(-x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.expit(x), x)[0]
    tensor([0.24613408, 0.23500371])
    """
from numgrad.functions.tensor.described import expm1 as expm1

def expn(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the exponential integral of order ``n``.

    Parameters
    ----------
    n, x : array_like
        Broadcast together. Defined for ``n >= 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-expn(n - 1, x)``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.expn(2, 1.4).item()
    0.083889...
    """

def exprel(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``expm1(x) / x``, 1 at 0.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.5 * hyp1f1(2.0, 3.0, x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.exprel(-0.8).item()
    0.688338...
    """
from numgrad.functions.special.special_results import factorial as factorial

def fdtr(
    dfn: ArrayLike, dfd: ArrayLike, x: ArrayLike, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> Tensor:
    """Return the distribution function of the F distribution.

    Parameters
    ----------
    dfn, dfd, x : array_like
        Broadcast together. Defined for ``dfn > 0, dfd > 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``dfn`` is ``fdtr_dfn(dfn, dfd, x)``.

    The derivative with respect to ``dfd`` is ``fdtr_dfd(dfn, dfd, x)``.

    The derivative with respect to ``x`` is ``f_density(dfn, dfd, x)``.

    The second one with respect to ``dfn`` is refused.

    The second one with respect to ``dfd`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.fdtr(1.5, 1.5, 1.5).item()
    0.583745...
    """

def fdtrc(
    dfn: ArrayLike, dfd: ArrayLike, x: ArrayLike, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> Tensor:
    """Return the survival function of the F distribution.

    Parameters
    ----------
    dfn, dfd, x : array_like
        Broadcast together. Defined for ``dfn > 0, dfd > 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``dfn`` is ``-fdtr_dfn(dfn, dfd, x)``.

    The derivative with respect to ``dfd`` is ``-fdtr_dfd(dfn, dfd, x)``.

    The derivative with respect to ``x`` is ``-f_density(dfn, dfd, x)``.

    The second one with respect to ``dfn`` is refused.

    The second one with respect to ``dfd`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.fdtrc(1.5, 1.5, 1.5).item()
    0.416254...
    """

def fdtri(
    dfn: ArrayLike, dfd: ArrayLike, p: ArrayLike, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> Tensor:
    """Return the inverse of `fdtr` in ``x``.

    Parameters
    ----------
    dfn, dfd, p : array_like
        Broadcast together. Defined for ``dfn > 0, dfd > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``dfn`` is ``f_slope_dfn(dfn, dfd, y)``.

    The derivative with respect to ``dfd`` is ``f_slope_dfd(dfn, dfd, y)``.

    The derivative with respect to ``p`` is ``1 / f_density(dfn, dfd, y)``.

    The second one with respect to ``dfn`` is refused.

    The second one with respect to ``dfd`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.fdtri(1.5, 1.5, 0.3).item()
    0.360728...
    """

def fresnel(z: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return Fresnel's integrals, ``s, c``, real or complex.

    Parameters
    ----------
    z : array_like
        Any shape.

    Notes
    -----
    The derivatives are ``sin(pi * z**2 / 2)`` and ``cos(pi * z**2 / 2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.fresnel(ng.tensor(1.0))
    (tensor(0.43825915), tensor(0.7798934))
    """

def gamma(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the gamma function.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``all but 0, -1, -2, ...``.

    Notes
    -----
    The derivative with respect to ``x`` is ``y * digamma(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gamma(1.7).item()
    0.908638...
    """

def gammainc(
    a: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the regularized lower incomplete gamma function.

    Parameters
    ----------
    a, x : array_like
        Broadcast together. Defined for ``a > 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``gamma_density(a, x)``.

    The derivative with respect to ``a`` is ``gammainc_a(a, x)``.

    The second one with respect to ``a`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gammainc(1.6, 1.6).item()
    0.604978...
    """

def gammaincc(
    a: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the regularized upper incomplete gamma function.

    Parameters
    ----------
    a, x : array_like
        Broadcast together. Defined for ``a > 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-gamma_density(a, x)``.

    The derivative with respect to ``a`` is ``-gammainc_a(a, x)``.

    The second one with respect to ``a`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gammaincc(1.6, 1.6).item()
    0.395021...
    """

def gammainccinv(
    a: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `gammaincc` in ``x``.

    Parameters
    ----------
    a, p : array_like
        Broadcast together. Defined for ``a > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``-1 / gamma_density(a, y)``.

    The derivative with respect to ``a`` is ``gamma_slope(a, y)``.

    The second one with respect to ``a`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gammainccinv(1.6, 0.3).item()
    1.955190...
    """

def gammaincinv(
    a: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `gammainc` in ``x``.

    Parameters
    ----------
    a, p : array_like
        Broadcast together. Defined for ``a > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``1 / gamma_density(a, y)``.

    The derivative with respect to ``a`` is ``gamma_slope(a, y)``.

    The second one with respect to ``a`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gammaincinv(1.6, 0.3).item()
    0.787108...
    """

def gammaln(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithm of the absolute value of the gamma function.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``digamma(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gammaln(1.7).item()
    -0.095807...
    """

def gammasgn(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the sign of the gamma function.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.0``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gammasgn(1.7).item()
    1.0
    """

def gdtr(
    a: ArrayLike, b: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the distribution function of the gamma distribution of rate ``a`` and shape ``b``.

    Parameters
    ----------
    a, b, x : array_like
        Broadcast together. Defined for ``a > 0, b > 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``x * gamma_density(b, a * x)``.

    The derivative with respect to ``b`` is ``gammainc_a(b, a * x)``.

    The derivative with respect to ``x`` is ``a * gamma_density(b, a * x)``.

    The second one with respect to ``b`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gdtr(1.5, 1.5, 1.5).item()
    0.787709...
    """

def gdtrc(
    a: ArrayLike, b: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the survival function of the gamma distribution.

    Parameters
    ----------
    a, b, x : array_like
        Broadcast together. Defined for ``a > 0, b > 0, x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``-x * gamma_density(b, a * x)``.

    The derivative with respect to ``b`` is ``-gammainc_a(b, a * x)``.

    The derivative with respect to ``x`` is ``-a * gamma_density(b, a * x)``.

    The second one with respect to ``b`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gdtrc(1.5, 1.5, 1.5).item()
    0.212290...
    """

def gdtria(
    p: ArrayLike, b: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `gdtr` in ``a``.

    Parameters
    ----------
    p, b, x : array_like
        Broadcast together. Defined for ``0 <= p <= 1, b > 0, x > 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``1 / (x * gamma_density(b, x * y))``.

    The derivative with respect to ``b`` is ``gamma_slope(b, x * y) / x``.

    The derivative with respect to ``x`` is ``-y / x``.

    The second one with respect to ``b`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gdtria(0.3, 1.5, 1.5).item()
    0.474550...
    """

def gdtrix(
    a: ArrayLike, b: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `gdtr` in ``x``.

    Parameters
    ----------
    a, b, p : array_like
        Broadcast together. Defined for ``a > 0, b > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``a`` is ``-y / a``.

    The derivative with respect to ``b`` is ``gamma_slope(b, a * y) / a``.

    The derivative with respect to ``p`` is ``1 / (a * gamma_density(b, a * y))``.

    The second one with respect to ``b`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gdtrix(1.5, 1.5, 0.3).item()
    0.474550...
    """

def hankel1(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Hankel function of the first kind, ``jv + 1j * yv``.

    Parameters
    ----------
    v, z : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``z`` is ``0.5 * (hankel1(v - 1, z) - hankel1(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.hankel1(0.7, 1.8).item()
    (0.603160...-0.014873...j)
    """

def hankel2(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Hankel function of the second kind, ``jv - 1j * yv``.

    Parameters
    ----------
    v, z : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``z`` is ``0.5 * (hankel2(v - 1, z) - hankel2(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.hankel2(0.7, 1.8).item()
    (0.603160...+0.014873...j)
    """

def huber(
    delta: ArrayLike, r: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Huber's loss: ``r**2 / 2`` for ``abs(r) <= delta``, linear beyond.

    Parameters
    ----------
    delta, r : array_like
        Broadcast together. Defined for ``delta >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``delta`` is ``where(abs(r) <= delta, 0.0, abs(r) - delta)``.

    The derivative with respect to ``r`` is ``where(abs(r) <= delta, r, delta * sign(r))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.huber(0.7, -1.2).item()
    0.595
    """

def hyp0f1(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the confluent hypergeometric limit function 0F1.

    Parameters
    ----------
    v, z : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``z`` is ``hyp0f1(v + 1, z) / v``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.hyp0f1(0.9, -0.8).item()
    0.281892...
    """

def hyp1f1(
    a: ArrayLike, b: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the confluent hypergeometric function 1F1.

    Parameters
    ----------
    a, b, x : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``x`` is ``a / b * hyp1f1(a + 1, b + 1, x)``.

    That with respect to ``a`` and ``b`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.hyp1f1(0.9, 0.9, -0.8).item()
    0.449328...
    """

def hyp2f1(
    a: ArrayLike, b: ArrayLike, c: ArrayLike, z: ArrayLike, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> Tensor:
    """Return the Gauss's hypergeometric function 2F1.

    Parameters
    ----------
    a, b, c, z : array_like
        Broadcast together. Defined for ``z < 1 or complex``.

    Notes
    -----
    The derivative with respect to ``z`` is ``a * b / c * hyp2f1(a + 1, b + 1, c + 1, z)``.

    That with respect to ``a`` and ``b`` and ``c`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.hyp2f1(0.9, 0.9, 0.9, -0.4).item()
    0.738728...
    """

def hyperu(
    a: ArrayLike, b: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the confluent hypergeometric function U.

    Parameters
    ----------
    a, b, x : array_like
        Broadcast together. Defined for ``x > 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-a * hyperu(a + 1, b + 1, x)``.

    That with respect to ``a`` and ``b`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.hyperu(0.9, 0.9, 1.2).item()
    0.557844...
    """

def i0(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the modified Bessel function of the first kind, order 0.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``i1(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.i0(1.7).item()
    1.863964...
    """

def i0e(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `i0` times ``exp(-abs(x))``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``i1e(x) - sign(x) * i0e(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.i0e(1.7).item()
    0.340515...
    """

def i1(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the modified Bessel function of the first kind, order 1.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.5 * (i0(x) + iv(2.0, x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.i1(1.7).item()
    1.196346...
    """

def i1e(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `i1` times ``exp(-abs(x))``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``(i0e(x) + ive(2.0, x)) / 2 - sign(x) * i1e(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.i1e(1.7).item()
    0.218552...
    """

def inv_boxcox(
    x: ArrayLike, lmbda: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `boxcox` in its first argument.

    Parameters
    ----------
    x, lmbda : array_like
        Broadcast together. Defined for ``lmbda * x > -1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``y / (1 + lmbda * x)``.

    The derivative with respect to ``lmbda`` is ``y * (x / (1 + lmbda * x) - log1p(lmbda * x) / lmbda) / lmbda``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.inv_boxcox(-0.0, -0.0).item()
    1.0
    """

def inv_boxcox1p(
    x: ArrayLike, lmbda: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `boxcox1p` in its first argument.

    Parameters
    ----------
    x, lmbda : array_like
        Broadcast together. Defined for ``lmbda * x > -1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``(1 + y) / (1 + lmbda * x)``.

    The derivative with respect to ``lmbda`` is ``(1 + y) * (x / (1 + lmbda * x) - log1p(lmbda * x) / lmbda) / lmbda``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.inv_boxcox1p(-0.0, -0.0).item()
    -0.0
    """

def iv(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the modified Bessel function of the first kind, real order.

    Parameters
    ----------
    v, z : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``z`` is ``0.5 * (iv(v - 1, z) + iv(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.iv(0.7, 1.8).item()
    1.588028...
    """

def ive(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `iv` times ``exp(-abs(z.real))``.

    Parameters
    ----------
    v, z : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``z`` is ``(ive(v - 1, z) + ive(v + 1, z)) / 2 - sign(z) * ive(v, z)``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ive(0.7, 1.8).item()
    0.262499...
    """

def j0(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Bessel function of the first kind, order 0.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-j1(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.j0(1.7).item()
    0.397984...
    """

def j1(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Bessel function of the first kind, order 1.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.5 * (j0(x) - jv(2.0, x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.j1(1.7).item()
    0.577765...
    """

def jn(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Bessel function of the first kind, real order.

    Parameters
    ----------
    v, z : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``z`` is ``0.5 * (jv(v - 1, z) - jv(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.jv(0.7, 1.8).item()
    0.603160...
    """

def jv(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Bessel function of the first kind, real order.

    Parameters
    ----------
    v, z : array_like
        Broadcast together.

    Notes
    -----
    The derivative with respect to ``z`` is ``0.5 * (jv(v - 1, z) - jv(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.jv(0.7, 1.8).item()
    0.603160...
    """

def jve(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `jv` times ``exp(-abs(z.imag))``.

    Parameters
    ----------
    v, z : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``z`` is ``0.5 * (jve(v - 1, z) - jve(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.jve(0.7, 1.8).item()
    0.603160...
    """

def k0(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the modified Bessel function of the second kind, order 0.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-k1(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.k0(1.7).item()
    0.165496...
    """

def k0e(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `k0` times ``exp(x)``.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``k0e(x) - k1e(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.k0e(1.7).item()
    0.905918...
    """

def k1(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the modified Bessel function of the second kind, order 1.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-0.5 * (k0(x) + kv(2.0, x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.k1(1.7).item()
    0.209362...
    """

def k1e(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `k1` times ``exp(x)``.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``k1e(x) - (k0e(x) + kve(2.0, x)) / 2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.k1e(1.7).item()
    1.146039...
    """

def kl_div(
    x1: ArrayLike, x2: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 * log(x1 / x2) - x1 + x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together. Defined for ``x1 >= 0, x2 >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x1`` is ``math.log(x1 / x2)``.

    The derivative with respect to ``x2`` is ``1 - x1 / x2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.kl_div(0.7, 0.8).item()
    0.006528...
    """

def kn(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the modified Bessel function of the second kind, integer order.

    Parameters
    ----------
    n, x : array_like
        Broadcast together. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-0.5 * (kv(n - 1, x) + kv(n + 1, x))``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.kn(2, 1.8).item()
    0.348845...
    """

def kolmogorov(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the limit of Kolmogorov's distribution, its survival function.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-8 * x * sum((-1)**(k - 1) * k**2 * exp(-2 * k**2 * x**2))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.kolmogorov(0.7).item()
    0.711235...
    """

def kv(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the modified Bessel function of the second kind, real order.

    Parameters
    ----------
    v, z : array_like
        Broadcast together. Defined for ``z >= 0 or complex``.

    Notes
    -----
    The derivative with respect to ``z`` is ``-0.5 * (kv(v - 1, z) + kv(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.kv(0.7, 1.8).item()
    0.162979...
    """

def kve(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `kv` times ``exp(z)``.

    Parameters
    ----------
    v, z : array_like
        Broadcast together. Defined for ``z >= 0 or complex``.

    Notes
    -----
    The derivative with respect to ``z`` is ``kve(v, z) - (kve(v - 1, z) + kve(v + 1, z)) / 2``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.kve(0.7, 1.8).item()
    0.985970...
    """
from numgrad.functions.special.special_results import lambertw as lambertw

def lgamma(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithm of the absolute value of the gamma function.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``digamma(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.gammaln(1.7).item()
    -0.095807...
    """
from numgrad.functions.tensor.described import log1p as log1p

def log_expit(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``log(expit(x))`` without underflow.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is ``expit(-x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.log_expit(x), x)[0]
    tensor([0.4378235 , 0.37754067])
    """

def log_ndtr(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithm of `ndtr`.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``exp(-x**2 / 2) / (sqrt(2 * pi) * ndtr(x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.log_ndtr(-0.8).item()
    -1.551851...
    """
from numgrad.functions.elementwise.softmax import log_softmax as log_softmax

def loggamma(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithm of the gamma function.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x > 0 or complex``.

    Notes
    -----
    The derivative with respect to ``x`` is ``digamma(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.loggamma(1.7).item()
    -0.095807...
    """

def logit(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``log(x / (1 - x))``, the inverse of `expit`.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``0 <= x <= 1 or complex``.

    Notes
    -----
    The derivative with respect to ``x`` is ``1 / (x * (1 - x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.logit(0.3).item()
    -0.847297...
    """
from numgrad.functions.elementwise.softmax import logsumexp as logsumexp

def lpmv(
    m: ArrayLike, v: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the associated Legendre function of integer order and real degree.

    Parameters
    ----------
    m, v, x : array_like
        Broadcast together. Defined for ``-1 < x < 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``((v + m) * lpmv(m, v - 1, x) - v * x * y) / (1 - x * x)``.

    That with respect to ``m`` and ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.lpmv(1, 1.9, -0.4).item()
    0.908767...
    """

def modstruve(
    v: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the modified Struve function.

    Parameters
    ----------
    v, x : array_like
        Broadcast together. Defined for ``x > 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.5 * (modstruve(v - 1, x) + modstruve(v + 1, x)) + (0.5 - where(v < -1.5, math.floor(v + 1.5), 0 * v) % 2) * math.exp(xlogy(v, 0.5 * x) - gammaln(v + 1.5)) / SQRT_PI``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.modstruve(0.7, 1.8).item()
    1.088821...
    """
from numgrad.functions.special.special import multigammaln as multigammaln

def nbdtr(
    k: ArrayLike, n: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the distribution function of the negative binomial distribution.

    Parameters
    ----------
    k, n, p : array_like
        Broadcast together. Defined for ``k >= 0, n > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``beta_density(n, math.floor(k) + 1, p)``.

    That with respect to ``k`` and ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.nbdtr(2, 5, 0.3).item()
    0.028795...
    """

def nbdtrc(
    k: ArrayLike, n: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the survival function of the negative binomial distribution.

    Parameters
    ----------
    k, n, p : array_like
        Broadcast together. Defined for ``k >= 0, n > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``-beta_density(n, math.floor(k) + 1, p)``.

    That with respect to ``k`` and ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.nbdtrc(2, 5, 0.123).item()
    0.999523...
    """

def nbdtri(
    k: ArrayLike, n: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `nbdtr` in the probability of success.

    Parameters
    ----------
    k, n, p : array_like
        Broadcast together. Defined for ``k >= 0, n > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``1 / beta_density(n, math.floor(k) + 1, y)``.

    That with respect to ``k`` and ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.nbdtri(2, 5, 0.3).item()
    0.541445...
    """

def ndtr(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the distribution function of the standard normal distribution.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative with respect to ``x`` is ``math.exp(-0.5 * x * x) / SQRT_2PI``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ndtr(-0.8).item()
    0.211855...
    """

def ndtri(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `ndtr`.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``0 <= x <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``SQRT_2PI * math.exp(0.5 * y * y)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ndtri(0.3).item()
    -0.524400...
    """

def ndtri_exp(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``ndtri(exp(x))``.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x <= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``ndtr(y) * sqrt(2 * pi) * exp(y**2 / 2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ndtri_exp(-2.8).item()
    -1.548009...
    """

def owens_t(
    h: ArrayLike, a: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Owen's T function.

    Parameters
    ----------
    h, a : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``h`` is ``-0.5 * math.exp(-0.5 * h * h) / SQRT_2PI * erf(SQRT_HALF * a * h)``.

    The derivative with respect to ``a`` is ``exp(-h**2 * (1 + a**2) / 2) / (2 * pi * (1 + a**2))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.owens_t(-0.8, -0.8).item()
    -0.073604...
    """

def pdtr(
    k: ArrayLike, m: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the distribution function of the Poisson distribution of mean ``m``.

    Parameters
    ----------
    k, m : array_like
        Broadcast together. Defined for ``k >= 0, m >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``m`` is ``-gamma_density(math.floor(k) + 1, m)``.

    That with respect to ``k`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.pdtr(2, 1.5).item()
    0.808846...
    """

def pdtrc(
    k: ArrayLike, m: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the survival function of the Poisson distribution.

    Parameters
    ----------
    k, m : array_like
        Broadcast together. Defined for ``k >= 0, m >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``m`` is ``gamma_density(math.floor(k) + 1, m)``.

    That with respect to ``k`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.pdtrc(2, 1.5).item()
    0.191153...
    """

def pdtri(
    k: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `pdtr` in ``m``.

    Parameters
    ----------
    k, p : array_like
        Broadcast together. Defined for ``k >= 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``p`` is ``-1 / gamma_density(math.floor(k) + 1, y)``.

    That with respect to ``k`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.pdtri(2, 0.3).item()
    3.615567...
    """
from numgrad.functions.special.special_results import perm as perm

def poch(
    z: ArrayLike, m: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the rising factorial ``gamma(z + m) / gamma(z)``.

    Parameters
    ----------
    z, m : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``z`` is ``y * (digamma(z + m) - digamma(z))``.

    The derivative with respect to ``m`` is ``y * digamma(z + m)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.poch(1.5, 1.5).item()
    2.256758...
    """
from numgrad.functions.special.special import polygamma as polygamma

def pseudo_huber(
    delta: ArrayLike, r: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``.

    Parameters
    ----------
    delta, r : array_like
        Broadcast together. Defined for ``delta >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``r`` is ``delta * r / hypot(delta, r)``.

    The derivative with respect to ``delta`` is ``(hypot(delta, r) - delta)**2 / hypot(delta, r)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.pseudo_huber(0.7, -1.2).item()
    0.482471...
    """

def psi(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithmic derivative of the gamma function.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``all but 0, -1, -2, ...``.

    Notes
    -----
    The derivative with respect to ``x`` is ``polygamma(1.0, x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.digamma(1.7).item()
    0.208547...
    """

def radian(
    d: ArrayLike, m: ArrayLike, s: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the angle in radians from degrees, minutes and seconds.

    Parameters
    ----------
    d, m, s : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``d`` is ``DEGREE``.

    The derivative with respect to ``m`` is ``DEGREE / 60``.

    The derivative with respect to ``s`` is ``DEGREE / 3600``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.radian(15.7, 15.7, 15.7).item()
    0.278659...
    """

def rel_entr(
    x1: ArrayLike, x2: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 * log(x1 / x2)``, 0 where ``x1`` is 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together. Defined for ``x1 >= 0, x2 >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x1`` is ``1 + math.log(x1 / x2)``.

    The derivative with respect to ``x2`` is ``-x1 / x2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.rel_entr(0.7, 0.8).item()
    -0.093471...
    """

def rgamma(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the reciprocal of the gamma function.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-digamma(x) / gamma(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.rgamma(-0.1).item()
    -0.093577...
    """

def shichi(x: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return the hyperbolic sine and cosine integral, ``shi, chi``, real or complex.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivatives are ``sinh(x) / x`` and ``cosh(x) / x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.shichi(ng.tensor(1.0))
    (tensor(1.05725088), tensor(0.83786694))
    """

def sici(x: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return the sine and the cosine integral, ``si, ci``, real or complex.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivatives are ``sin(x) / x`` and ``cos(x) / x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.sici(ng.tensor(1.0))
    (tensor(0.94608307), tensor(0.33740392))
    """

def sigmoid(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logistic function ``1 / (1 + exp(-x))``.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``expit(x) * expit(-x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.expit(x), x)[0]
    tensor([0.24613408, 0.23500371])
    """
from numgrad.functions.elementwise.floats import sinc as sinc

def sindg(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the sine of an angle in degrees.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``DEGREE * cosdg(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.sindg(-32.0).item()
    -0.529919...
    """
from numgrad.functions.elementwise.softmax import softmax as softmax
from numgrad.functions.special.special import softplus as softplus

def spence(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Spence's function, the integral of ``log(t) / (1 - t)`` from 1.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0 or complex``.

    Notes
    -----
    The derivative with respect to ``x`` is ``log(x) / (1 - x), -1 at 1``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.spence(0.4).item()
    0.727586...
    """

def spherical_in(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> Tensor:
    """Return the modified spherical Bessel function of the first kind.

    Parameters
    ----------
    n, z : array_like
        Order, integers from 0, and argument, real or complex. Broadcast together.
    derivative : bool
        Whether to return the derivative with respect to ``z`` instead.

    Notes
    -----
    The derivative is ``(n * f(n - 1, z) + (n + 1) * f(n + 1, z)) / (2 * n + 1)``, ``f`` being the
    function itself.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.spherical_in(1, 1.0).item()
    0.36787944...
    """

def spherical_jn(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> Tensor:
    """Return the spherical Bessel function of the first kind.

    Parameters
    ----------
    n, z : array_like
        Order, integers from 0, and argument, real or complex. Broadcast together.
    derivative : bool
        Whether to return the derivative with respect to ``z`` instead.

    Notes
    -----
    The derivative is ``(n * f(n - 1, z) - (n + 1) * f(n + 1, z)) / (2 * n + 1)``, ``f`` being the
    function itself.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.spherical_jn(1, 1.0).item()
    0.30116867...
    """

def spherical_kn(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> Tensor:
    """Return the modified spherical Bessel function of the second kind.

    Parameters
    ----------
    n, z : array_like
        Order, integers from 0, and argument, real or complex. Broadcast together.
    derivative : bool
        Whether to return the derivative with respect to ``z`` instead.

    Notes
    -----
    The derivative is ``-(n * f(n - 1, z) + (n + 1) * f(n + 1, z)) / (2 * n + 1)``, ``f`` being the
    function itself.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.spherical_kn(1, 1.0).item()
    1.15572734...
    """

def spherical_yn(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> Tensor:
    """Return the spherical Bessel function of the second kind.

    Parameters
    ----------
    n, z : array_like
        Order, integers from 0, and argument, real or complex. Broadcast together.
    derivative : bool
        Whether to return the derivative with respect to ``z`` instead.

    Notes
    -----
    The derivative is ``(n * f(n - 1, z) - (n + 1) * f(n + 1, z)) / (2 * n + 1)``, ``f`` being the
    function itself.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.spherical_yn(1, 1.0).item()
    -1.38177329...
    """

def stdtr(
    df: ArrayLike, t: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the distribution function of Student's t distribution.

    Parameters
    ----------
    df, t : array_like
        Broadcast together. Defined for ``df > 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``df`` is ``stdtr_df(df, t)``.

    The derivative with respect to ``t`` is ``student_density(df, t)``.

    The second one with respect to ``df`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.stdtr(1.8, -1.2).item()
    0.182194...
    """

def stdtrit(
    df: ArrayLike, p: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse of `stdtr` in ``t``.

    Parameters
    ----------
    df, p : array_like
        Broadcast together. Defined for ``df > 0, 0 <= p <= 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``df`` is ``student_slope(df, y)``.

    The derivative with respect to ``p`` is ``1 / student_density(df, y)``.

    The second one with respect to ``df`` is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.stdtrit(1.8, 0.3).item()
    -0.628544...
    """

def struve(
    v: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Struve function.

    Parameters
    ----------
    v, x : array_like
        Broadcast together. Defined for ``x > 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.5 * (struve(v - 1, x) - struve(v + 1, x)) + (0.5 - where(v < -1.5, math.floor(v + 1.5), 0 * v) % 2) * math.exp(xlogy(v, 0.5 * x) - gammaln(v + 1.5)) / SQRT_PI``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.struve(0.7, 1.8).item()
    0.666169...
    """

def tandg(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the tangent of an angle in degrees.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``DEGREE * (1 + y * y)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.tandg(-32.0).item()
    -0.624869...
    """

def voigt_profile(
    x: ArrayLike, sigma: ArrayLike, gamma: ArrayLike, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> Tensor:
    """Return the Voigt profile, a normal distribution of standard deviation ``sigma`` convolved with a Cauchy distribution of width ``gamma``.

    Parameters
    ----------
    x, sigma, gamma : array_like
        Broadcast together. Defined for ``sigma > 0, gamma > 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``with z = (x + 1j * gamma) / (sqrt(2) * sigma), w' = 2j / sqrt(pi) - 2 * z * wofz(z): real(w') / (2 * sqrt(pi) * sigma**2)``.

    The derivative with respect to ``gamma`` is ``-imag(w') / (2 * sqrt(pi) * sigma**2)``.

    The derivative with respect to ``sigma`` is ``real(w'') / (2 * sqrt(2 * pi) * sigma**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.voigt_profile(-0.8, 0.9, 0.8).item()
    0.201951...
    """

def wofz(
    z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Faddeeva function ``exp(-z**2) * erfc(-1j * z)``.

    Parameters
    ----------
    z : array_like
        Any shape.

    Notes
    -----
    The derivative with respect to ``z`` is ``2j / sqrt(pi) - 2 * z * wofz(z)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.wofz(-0.8).item()
    (0.527292...-0.600412...j)
    """

def wrightomega(
    z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Wright's omega function, ``w + log(w) == z``.

    Parameters
    ----------
    z : array_like
        Any shape.

    Notes
    -----
    The derivative with respect to ``z`` is ``y / (1 + y)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.wrightomega(-0.5).item()
    0.404673...
    """

def xlog1py(
    x1: ArrayLike, x2: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 * log1p(x2)``, and 0 where ``x1`` is 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together. Defined for ``x2 > -1 or complex``.

    Notes
    -----
    The derivative with respect to ``x1`` is ``log1p(x2)``.

    The derivative with respect to ``x2`` is ``x1 / (1 + x2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.xlog1py(0.2, 0.2).item()
    0.036464...
    """

def xlogy(
    x1: ArrayLike, x2: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 * log(x2)``, and 0 where ``x1`` is 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together. Defined for ``x2 > 0 or complex``.

    Notes
    -----
    The derivative with respect to ``x1`` is ``math.log(x2)``.

    The derivative with respect to ``x2`` is ``x1 / x2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.xlogy(0.7, 0.7).item()
    -0.249672...
    """

def y0(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Bessel function of the second kind, order 0.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``-y1(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.y0(1.7).item()
    0.452027...
    """

def y1(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Bessel function of the second kind, order 1.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``where(x == 0, math.inf, 0.5 * (y0(x) - yv(2.0, x)))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.y1(1.7).item()
    -0.284726...
    """

def yn(
    n: ArrayLike, x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Bessel function of the second kind, integer order.

    Parameters
    ----------
    n, x : array_like
        Broadcast together. Defined for ``x >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``x`` is ``0.5 * (yn(n - 1, x) - yn(n + 1, x))``.

    That with respect to ``n`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.yn(2, 1.8).item()
    -0.725948...
    """

def yv(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Bessel function of the second kind, real order.

    Parameters
    ----------
    v, z : array_like
        Broadcast together. Defined for ``z >= 0 or complex``.

    Notes
    -----
    The derivative with respect to ``z`` is ``0.5 * (yv(v - 1, z) - yv(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.yv(0.7, 1.8).item()
    -0.014873...
    """

def yve(
    v: ArrayLike, z: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return `yv` times ``exp(-abs(z.imag))``.

    Parameters
    ----------
    v, z : array_like
        Broadcast together. Defined for ``z >= 0``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``z`` is ``0.5 * (yve(v - 1, z) - yve(v + 1, z))``.

    That with respect to ``v`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.yve(0.7, 1.8).item()
    -0.014873...
    """
from numgrad.functions.special.special import zeta as zeta

def zetac(
    x: ArrayLike, /, *, out: Any = None, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the Riemann zeta function minus 1.

    Parameters
    ----------
    x : array_like
        Any shape. Defined for ``all but 1``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    That with respect to ``x`` is not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.zetac(2.5).item()
    0.341487...
    """

def __getattr__(name: str) -> Any: ...  # NumPy's and SciPy's own
