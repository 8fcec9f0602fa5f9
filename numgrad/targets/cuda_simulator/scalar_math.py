"""What the names in scalar functions, such as ``math.sin``, mean in the simulator.

They stand for functions of NumPy, which keep dtypes, and return infinities and NaN where Python's
``math`` raises exceptions.
"""

import math
import types as pytypes
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from ..binding import SELECTIONS, Names

_RENAMED = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "degrees": "rad2deg", "pow": "power",
    "radians": "deg2rad",
}  # fmt: skip
_SPECIAL = {"erf": special.erf, "erfc": special.erfc, "gamma": special.gamma}
_SPECIAL["lgamma"] = special.gammaln
_ROUNDINGS = ("ceil", "floor", "trunc")


def _keeping_integers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a rounding function that returns integers unchanged, and calls ``function`` else."""
    return lambda x: x if np.asarray(x).dtype.kind in "biu" else function(x)


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return ``a`` if the condition holds, else ``b``, in the common dtype of both."""
    dtype = np.result_type(a, b)
    return dtype.type(a if condition else b)


def _extremum(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: function(a, b)


def _namespace(name: str, **changed: Any) -> Any:
    """Return a stand-in for the module ``math`` whose functions are NumPy's or SciPy's.

    ``changed`` has functions that are used instead, by name.
    """
    module: Any = pytypes.ModuleType(name)
    for known, value in vars(math).items():
        if known[0] == "_":
            continue
        numpy = getattr(np, _RENAMED.get(known, known), None)
        vars(module)[known] = _SPECIAL.get(known) or (numpy if callable(value) else None) or value
    vars(module).update(changed)
    return module


real = _namespace(
    "simulated_math", **{name: _keeping_integers(getattr(np, name)) for name in _ROUNDINGS}
)
complex_ = _namespace("simulated_complex_math")

_rint = _keeping_integers(np.rint)


def multiplied_and_added(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, rounded once to the dtype of ``c``."""
    if not np.isfinite([a, b, c]).all():
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not exact:
        return a * b + c  # which is a zero with the right sign
    try:
        found = np.float64(float(exact))
    except OverflowError:
        return a * b + c
    is_even = not found.view(np.int64) & 1
    if type(c) is np.float32 and is_even and Fraction(float(found)) != exact:
        # The neighbour with an odd last bit, so that the rounding to float32 is the only one.
        found = np.nextafter(found, np.inf if exact > Fraction(float(found)) else -np.inf)
    return type(c)(found)


_selections = (where, _extremum(np.maximum), _extremum(np.minimum), _rint, np.power, abs)
scalar = Names(real, complex_, where, dict(zip(SELECTIONS, _selections, strict=True)))
"""What each name in a scalar function means; see `targets.binding.Names`."""
