"""Elementwise operators that are declared by formulas, a row of a table for each.

A formula is Python: arithmetic, comparisons, ``math``, ``where``, and any operator of these tables.
The same text is compiled, traced for the next derivative, and shown to users. The value is that of
SciPy's function of the name unless a formula for it is given.
"""

import importlib
import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from ..._declare import Elementwise
from ..._declare.foreign import ForeignFunction
from ..._errors import DeclarationError
from ..elementwise.arithmetic import sign, where
from ..elementwise.exponential import log1p
from ..elementwise.powers import lower_power

Value = str | Callable[..., Any] | ForeignFunction
"""A formula, or what computes it."""


def whole(n):
    """What SciPy cuts an order or a count to that is to be an integer."""
    n = n.real  # it has been promoted together with a complex argument
    return where(n < 0, n + -n % 1, n - n % 1)


NAMES: dict[str, Any] = {
    "__name__": __name__,
    "math": math,
    "where": where,
    "sign": sign,
    "whole": whole,
    "log1p": log1p,
    "lower_power": lower_power,
    "SQRT_PI": math.sqrt(math.pi),
    "SQRT_2PI": math.sqrt(2 * math.pi),
    "SQRT_HALF": math.sqrt(0.5),
    "LN10": math.log(10),
    "DEGREE": math.pi / 180,
}
"""What names in formulas stand for."""

TABLE: dict[str, "Tabled"] = {}
"""The operators that are declared here, by name."""

_SHORT = frozenset(np.dtype(name) for name in ("float16", "bool", "i1", "u1", "i2", "u2"))


class Tabled(Elementwise):
    """An operator that a row of a table declares; arguments are promoted as SciPy promotes them.

    Attributes
    ----------
    about : str
        What it computes.
    domain : str
        For which arguments.
    tried : tuple of pairs
        Where it is tried, from where to where for each argument.
    scipy : str
        SciPy's universal function of which it is a result; empty for none.
    gives_complex : bool
        Whether its result is complex whatever the arguments are.
    once : tuple of str
        The parameters in which there is a first derivative only.
    of : str
        What users know of which it is the slope; empty for what they call themselves.
    formulas : dict
        What is shown of each partial derivative.
    """

    of = ""

    def __init__(
        self, name: str, value: Callable[..., Any], about: str, domain: str, scipy: str,
        tried: Sequence[tuple[float, float]], gives_complex: bool, once: str, **options: Any
    ) -> None:  # fmt: skip
        super().__init__(value, name, register=True, **options)
        self.about, self.domain, self.tried = about, domain, tuple(tried)
        self.scipy, self.gives_complex, self.once = scipy, gives_complex, tuple(once.split())
        self.formulas: dict[str, str] = {}

    def __call__(self, *args: Any) -> Any:
        """Apply the operator and record it; to complex numbers where the result is complex."""
        return super().__call__(*(self._promote(args) if self.gives_complex else args))

    def dtype_of(self, kinds: Sequence[Any]) -> np.dtype:
        """Return the dtype in which SciPy computes; numbers of Python have none of their own."""
        dtype = np.result_type(*kinds)
        dtype = super().dtype_of([self._asked(kinds) if dtype in _SHORT else dtype])
        return np.result_type(dtype, np.complex64) if self.gives_complex else dtype

    def _asked(self, kinds: Sequence[Any]) -> np.dtype:
        """Ask SciPy what half precision, truth values and short integers become."""
        function = self.scipy and getattr(importlib.import_module("scipy.special"), self.scipy)
        if not isinstance(function, np.ufunc):
            return np.dtype(np.float32)
        numbers = (int, float)  # a bool or np.float64 is one too, but has a dtype of its own
        given = [type(k) if type(k) in numbers else np.result_type(k) for k in kinds]
        return function.resolve_dtypes((*given, *[None] * function.nout))[-1]

    def _gives_half(self, args: Sequence[Any]) -> bool:
        return False

    def _missing_partial(self, parameter: str, where: str) -> str:
        if self.of:
            return f"{self.of}{where}: of this the first derivative is known only, not the second"
        return (
            f"{self.name}{where}: the derivative with respect to {parameter} is not known in "
            f"closed form; give {parameter} without a gradient, such as {parameter}.detach()"
        )


def declare(
    name: str,
    parameters: str,
    about: str,
    *,
    value: Value | None = None,
    complex: Value | None = None,
    domain: str = "",
    scipy: str | None = None,
    fixed: str = "",
    once: str = "",
    tried: Sequence[tuple[float, float]],
    gives_complex: bool = False,
    of: str = "",
    **partials: Value | tuple[str, Value],
) -> Tabled:
    """Declare an operator.

    Parameters
    ----------
    name : str
        SciPy's, where it has the function.
    parameters : str
        Their names; ``y`` stands for the value.
    about : str
        What it computes.
    value, complex : str, callable or ForeignFunction, optional
        The value for real and for complex arguments: SciPy's for real ones and refused for complex
        ones unless given. A text of the kinds of arguments such as ``"dz"`` is SciPy's as well.
    fixed : str
        The parameters for which no derivative is known.
    once : str
        Those for which no second derivative is known.
    domain, scipy, tried, gives_complex, of
        See `Tabled`; where one is tried stands for all arguments.
    **partials : str or tuple
        The partial derivative with respect to ``x`` as ``dx``, or what is shown of it and what
        computes it.
    """
    names = parameters.split()
    if isinstance(value, str) and not value.strip("dn"):
        value = ForeignFunction(name, value)
    if isinstance(complex, str) and not complex.strip("dzn"):
        complex = ForeignFunction(name, complex, "z")
    if {f"d{x}" for x in names} - {f"d{x}" for x in fixed.split()} != {*partials}:
        raise DeclarationError(f"{name}: a parameter has no derivative and is not fixed, or both")
    operator = Tabled(
        name,
        _scalar(name, names, value or ForeignFunction(name, "d" * len(names))),
        about,
        domain,
        name if scipy is None else scipy,
        tuple(tried) * len(names) if len(tried) == 1 else tried,
        gives_complex,
        once,
        complex=complex is not None and _scalar(name, names, complex),
    )
    operator.of = of
    NAMES[name] = TABLE[name] = operator
    kinds = value.kinds if isinstance(value, ForeignFunction) else ""
    cut = [x for x, kind in zip(names, kinds, strict=False) if kind == "n"]
    for key, formula in partials.items():
        shown, computed = formula if isinstance(formula, tuple) else (formula, formula)
        operator.formulas[key[1:]] = str(shown)
        if cut and isinstance(computed, str):
            computed = re.sub(rf"\b({'|'.join(cut)})\b", r"whole(\1)", computed)
        operator.partial(key[1:])(_partial(f"{name}_{key}", names, computed))
    return operator


def _scalar(name: str, names: list[str], value: Value) -> Callable[..., Any]:
    """Return the scalar function of a formula, or of a function of SciPy."""
    if isinstance(value, ForeignFunction):
        # Where one argument is complex, real ones have been promoted as well.
        real = ".real" if "z" in value.kinds else ""
        pairs = zip(names, value.kinds, strict=True)
        given = ", ".join(x if kind == "z" else x + real for x, kind in pairs)
        return _function(name, names, f"foreign({given})", {"foreign": value})
    return _function(name, names, value, NAMES) if isinstance(value, str) else value


def _partial(name: str, names: list[str], formula: Value) -> Any:
    """Return the function of a partial derivative; it takes what the formula reads."""
    if not isinstance(formula, str):
        return formula
    read = set(re.findall(r"\w+", formula))
    return _function(name, [x for x in (*names, "y") if x in read], formula, NAMES)


def _function(name: str, parameters: list[str], formula: str, scope: dict[str, Any]) -> Any:
    scope.setdefault("__name__", __name__)
    function = eval(_compiled(f"lambda {', '.join(parameters)}: {formula}"), scope)
    function.__name__ = function.__qualname__ = name
    return function


@cache
def _compiled(source: str) -> CodeType:
    return compile(source, __file__, "eval")
