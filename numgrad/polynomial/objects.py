"""Polynomials as objects, NumPy's classes with the functions of tensors."""

import sys
from copy import copy
from typing import Any

import numpy as np
from numpy.polynomial.polyutils import getdomain, mapparms

from .._tensor import ArrayLike, Tensor
from ..functions.array.operands import as_tensor, is_known, values_of
from ..functions.creation.from_data import asarray

_POLYNOMIALS: Any = np.polynomial.Polynomial.__base__  # the class of all of NumPy's
_USED = (
    "val", "der", "int", "fit", "add", "sub", "mul", "div", "pow", "line", "roots", "fromroots",
    "trim",
)  # fmt: skip


class Series:
    """What the classes have instead of NumPy's: coefficients and points may be tensors."""

    domain: Any
    window: Any
    symbol: Any
    _val: Any
    _trim: Any
    _roots: Any
    _fromroots: Any
    _fit: Any

    def __init_subclass__(cls) -> None:
        """Let a class compute with the functions of the module that defines it."""
        functions = vars(sys.modules[cls.__module__])
        for name in _USED:
            function = functions[functions["_family"].prefix + name]
            setattr(cls, f"_{name}", staticmethod(function))

    def __init__(self, coef: Any, *args: Any, **kwargs: Any) -> None:
        tensors = isinstance(coef, Tensor) or any(isinstance(c, Tensor) for c in coef)
        coefficients = asarray(coef) if tensors else coef
        given = np.zeros(len(coef)) if tensors else coef
        super().__init__(given, *args, **kwargs)  # type: ignore[call-arg]
        if tensors:
            self.coef: Any = coefficients

    def __call__(self, arg: ArrayLike) -> Any:
        """Return the value at points, or this polynomial of another one."""
        arg = arg if isinstance(arg, _POLYNOMIALS) else asarray(arg)
        return self._val(_mapped(arg, self.domain, self.window), self.coef)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Tensor) and not other.ndim:
            return self._like(asarray(self.coef) / other)
        return super().__truediv__(other)  # type: ignore[misc]

    def trim(self, tol: float = 0) -> Any:
        """Return the polynomial without coefficients at the end that are at most ``tol``."""
        return self._like(self._trim(self.coef, tol))

    def roots(self) -> Tensor:
        """Return the roots, complex numbers; differentiable where they are simple."""
        return _mapped(self._roots(self.coef), self.window, self.domain)

    @classmethod
    def fromroots(
        cls, roots: ArrayLike, domain: Any = (), window: Any = None, symbol: str = "x"
    ) -> Any:
        """Return the polynomial with the given roots; parameters are NumPy's."""
        roots = as_tensor(roots)
        domain = getdomain(values_of(roots)) if domain is None else _given(domain, cls.domain)
        window = cls.window if window is None else window
        coef = cls._fromroots(_mapped(roots, domain, window))
        return cls(coef / mapparms(domain, window)[1] ** len(roots), domain, window, symbol)

    @classmethod
    def fit(
        cls, x: ArrayLike, y: ArrayLike, deg: Any, domain: Any = None, rcond: Any = None,
        full: bool = False, w: Any = None, window: Any = None, symbol: str = "x",
    ) -> Any:  # fmt: skip
        """Return the polynomial that fits points best; parameters are NumPy's. A domain that is
        taken from the points counts as constant, which no value of the polynomial depends on."""
        x = as_tensor(x)
        if domain is None:
            domain = getdomain(values_of(x))
            domain = domain + [-1, 1] if domain[0] == domain[1] else domain
        domain, window = _given(domain, cls.domain), cls.window if window is None else window
        found = cls._fit(_mapped(x, domain, window), y, deg, rcond, full, w)
        coef, *status = found if full else (found,)
        fitted = cls(coef, domain, window, symbol)
        return (fitted, *status) if full else fitted

    def _shown(self) -> Any:
        """Return what is printed: with numbers, where they are known, in place of tensors."""
        shown = copy(self)
        shown.coef = values_of(self.coef) if is_known(as_tensor(self.coef)) else self.coef
        return super(Series, shown)

    def __repr__(self) -> str:
        return self._shown().__repr__()

    def __str__(self) -> str:
        return self._shown().__str__()

    def __format__(self, fmt_str: str) -> str:
        return self._shown().__format__(fmt_str)

    def _like(self, coef: Tensor) -> Any:
        return type(self)(coef, self.domain, self.window, self.symbol)


def _given(domain: Any, default: np.ndarray) -> Any:
    return domain if len(domain) else default


def _mapped(x: Any, old: Any, new: Any) -> Any:
    """Return points of one interval at the same places of another one."""
    offset, scale = mapparms(old, new)
    return offset + scale * x
