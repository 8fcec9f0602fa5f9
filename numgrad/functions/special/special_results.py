"""Special functions of several results, or with options, that are made of operators of tables."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise.arithmetic import where
from ...operators.special.formulas import TABLE
from ..array.argument_checks import integer, numeric
from ..array.operands import as_tensor, in_one_dtype
from ..elementwise.documentation import of_elements, renamed


def _several(names: str, *args: ArrayLike) -> tuple[Tensor, ...]:
    return tuple(TABLE[name](*args) for name in names.split())


@of_elements(
    "Both solve ``y'' = z * y``.", at=("0.0",), namespace="ng.special",
    value="(tensor(0.35502805), tensor(-0.2588194), tensor(0.61492663), tensor(0.44828836))",
)  # fmt: skip
def airy(z: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return the Airy functions with their derivatives, ``ai, aip, bi, bip``, real or complex."""
    return _several("airy_ai airy_aip airy_bi airy_bip", z)


@of_elements("The derivatives are ``sin(x) / x`` and ``cos(x) / x``.", at=("1.0",),
             value="(tensor(0.94608307), tensor(0.33740392))", namespace="ng.special")  # fmt: skip
def sici(x: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return the sine and the cosine integral, ``si, ci``, real or complex."""
    return _several("sici_si sici_ci", x)


@of_elements("The derivatives are ``sinh(x) / x`` and ``cosh(x) / x``.", at=("1.0",),
             value="(tensor(1.05725088), tensor(0.83786694))", namespace="ng.special")  # fmt: skip
def shichi(x: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return the hyperbolic sine and cosine integral, ``shi, chi``, real or complex."""
    return _several("shichi_shi shichi_chi", x)


@of_elements("The derivatives are ``sin(pi * z**2 / 2)`` and ``cos(pi * z**2 / 2)``.", at=("1.0",),
             value="(tensor(0.43825915), tensor(0.7798934))", namespace="ng.special")  # fmt: skip
def fresnel(z: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return Fresnel's integrals, ``s, c``, real or complex."""
    return _several("fresnel_s fresnel_c", z)


def ellipj(u: ArrayLike, m: ArrayLike, /) -> tuple[Tensor, ...]:
    """Return Jacobi's elliptic functions and the amplitude.

    Parameters
    ----------
    u, m : array_like
        Argument, and parameter from 0 to 1. Broadcast together.

    Returns
    -------
    tuple of Tensor
        ``sn, cn, dn, ph``.

    Notes
    -----
    The derivatives with respect to ``u`` are ``cn * dn``, ``-sn * dn``, ``-m * sn * cn`` and
    ``dn``; those with respect to ``m`` are refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.ellipj(0.5, 0.2)[0].item()
    0.47595...
    """
    return _several("ellipj_sn ellipj_cn ellipj_dn ellipj_ph", u, m)


def _spherical(letter: str, kind: str, **words: str):
    """Return a spherical Bessel function; its operator has the ``letter`` in its name."""
    name = f"spherical_{letter}n"

    def spherical(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> Tensor:
        """Return the {kind}.

        Parameters
        ----------
        n, z : array_like
            Order, integers from 0, and argument, real or complex. Broadcast together.
        derivative : bool
            Whether to return the derivative with respect to ``z`` instead.

        Notes
        -----
        The derivative is ``{formula}``, ``f`` being the
        function itself.

        Examples
        --------
        >>> import numgrad as ng
        >>> ng.special.{name}(1, 1.0).item()
        {value}...
        """
        operator = TABLE[name]
        return operator.partials[1].traced(n, z) if derivative else operator(n, z)

    return renamed(spherical, name, kind=kind, **words)


spherical_jn = _spherical(
    "j", "spherical Bessel function of the first kind", value="0.30116867",
    formula="(n * f(n - 1, z) - (n + 1) * f(n + 1, z)) / (2 * n + 1)",
)
spherical_yn = _spherical(
    "y", "spherical Bessel function of the second kind", value="-1.38177329",
    formula="(n * f(n - 1, z) - (n + 1) * f(n + 1, z)) / (2 * n + 1)",
)
spherical_in = _spherical(
    "i", "modified spherical Bessel function of the first kind", value="0.36787944",
    formula="(n * f(n - 1, z) + (n + 1) * f(n + 1, z)) / (2 * n + 1)",
)
spherical_kn = _spherical(
    "k", "modified spherical Bessel function of the second kind", value="1.15572734",
    formula="-(n * f(n - 1, z) + (n + 1) * f(n + 1, z)) / (2 * n + 1)",
)


def lambertw(z: ArrayLike, k: ArrayLike = 0, tol: float = 1e-8) -> Tensor:
    """Return Lambert's function: ``w`` with ``w * exp(w) == z``; a complex number.

    Parameters
    ----------
    z, k : array_like
        Argument, real or complex, and number of the branch. Broadcast together.
    tol : float
        Not looked at: the result is as precise as numbers are.

    Notes
    -----
    The derivative with respect to ``z`` is ``w / (z * (1 + w))``, infinite at the branch point
    ``-1/e`` of branches -1, 0 and 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.lambertw(1.0).item()
    (0.56714329...+0j)
    """
    return TABLE["lambertw"](z, k)


def comb(N: ArrayLike, k: ArrayLike, *, exact: bool = False, repetition: bool = False) -> Any:
    """Return the number of combinations of ``k`` things out of ``N``, as floats.

    Parameters
    ----------
    N, k : array_like
        Broadcast together. The result is 0 for ``k > N`` and for negative numbers.
    exact : bool
        Whether to return integers of any size, of two numbers: SciPy's, without a derivative.
    repetition : bool
        Whether things may be taken more than once.

    Notes
    -----
    The derivatives are those of `binom`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.comb(10, 3).item()
    120.0
    """
    if exact:
        return import_module("scipy.special").comb(N, k, exact=True, repetition=repetition)
    if repetition:
        return comb(as_tensor(N) + as_tensor(k) - 1, k)
    return _where_sensible(TABLE["binom"], N, k)


def perm(N: ArrayLike, k: ArrayLike, exact: bool = False) -> Any:
    """Return the number of ordered choices of ``k`` things out of ``N``, as floats.

    Parameters
    ----------
    N, k : array_like
        Broadcast together. The result is 0 for ``k > N`` and for negative numbers.
    exact : bool
        Whether to return integers of any size, of two numbers: SciPy's, without a derivative.

    Notes
    -----
    The derivatives are those of `poch`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.perm(10, 3).item()
    720.0
    """
    if exact:
        return import_module("scipy.special").perm(N, k, exact=True)
    return _where_sensible(lambda N, k: TABLE["poch"](N - k + 1, k), N, k)


def _where_sensible(count: Callable[..., Tensor], N: ArrayLike, k: ArrayLike) -> Tensor:
    """Return a count, 0 where there is nothing to count. The formula gets other numbers there, as
    its slope at the given numbers may be NaN, and 0 times NaN is NaN."""
    whole, part = in_one_dtype(N, k)
    is_sensible = (part <= whole) & (part >= 0)
    found = count(where(is_sensible, whole, 1), where(is_sensible, part, 0))
    return where(is_sensible, found, 0.0)


def factorial(n: ArrayLike, exact: bool = False, extend: str = "zero") -> Any:
    """Return factorials, as floats.

    Parameters
    ----------
    n : array_like
    exact : bool
        Whether to return integers of any size: SciPy's, without a derivative.
    extend : {"zero", "complex"}
        Whether the result is 0 for negative numbers, or that of the gamma function.

    Notes
    -----
    It is ``gamma(n + 1)``, and so are its derivatives.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.factorial([3.0, 0.5]).round(6)
    tensor([6.      , 0.886227])
    """
    if integer(exact, "exact"):
        return import_module("scipy.special").factorial(n, exact=True, extend=extend)
    if not isinstance(extend, str) or extend not in ("zero", "complex"):
        raise ValueError(f"factorial: extend must be 'zero' or 'complex', got {extend!r:.40}")
    x = as_tensor(numeric(n, "n"))
    x = x if x.dtype.kind in "fc" else x.astype(np.float64)
    if extend == "complex":
        return TABLE["gamma"](x + 1)
    if x.dtype.kind == "c":
        raise ValueError("factorial: complex numbers need extend='complex'")
    is_there = x >= 0
    return where(is_there, TABLE["gamma"](where(is_there, x, 0) + 1), x * 0)
