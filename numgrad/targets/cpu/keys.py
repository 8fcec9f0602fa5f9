"""Keys of kernels: what they are compiled from, read without importing what would compile them."""

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numgrad._settings import settings
from numgrad._specs import core_dimensions

from ..binding import SELECTIONS, Names, bind
from .compiler import make_key

# What `scalar_math` means by these names is in the digest of this package, so their names will do.
_STAND_INS = Names(math, cmath, "where", {name: f"selection {name}" for name in SELECTIONS})


def elementwise(spec: Any) -> str:
    """Key of the scalar function of an `ElementwiseSpec`."""
    function = bind(spec.function, _STAND_INS, is_complex=is_complex(spec.in_dtypes))
    return make_key(function, (), ("elementwise", *_dtypes(spec), settings.math))


def loop(spec: Any) -> str:
    """Key of the kernel of a `LoopSpec`; without core dimensions, of its scalar function."""
    options = sorted(user_options(spec).items())
    cores = core_dimensions(spec.signature)
    trailing = tuple(None if item is None else (item.value,) for item in spec.trailing)
    kind = "loop" if not spec.block else f"blocks of {spec.block}"
    parts = (kind, *_dtypes(spec), repr(cores), spec.scalars, options, trailing, spec.checked)
    return make_key(plain(spec.function), (), parts)


def plain(function: Any) -> Any:
    """Return the function that a dispatcher compiles, or the function itself."""
    return getattr(function, "py_func", function)


def user_options(spec: Any) -> dict[str, Any]:
    """The options of a user's dispatcher that change what its code means, not how it is called."""
    given = getattr(spec.function, "targetoptions", {})
    options = {name: given[name] for name in ("fastmath", "boundscheck") if name in given}
    return {**options, "boundscheck": True} if spec.checked else options


def is_complex(dtypes: Sequence[np.dtype]) -> bool:
    """Whether a kernel is one of complex numbers."""
    return any(dtype.kind == "c" for dtype in dtypes)


def _dtypes(spec: Any) -> tuple[str, ...]:
    return tuple(dtype.str for dtype in (*spec.in_dtypes, *spec.out_dtypes))
