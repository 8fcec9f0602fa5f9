"""Cache keys of kernels, computed without importing Numba."""

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numgrad._settings import settings
from numgrad.ir.kernel_spec import core_dimensions

from ...binding import SELECTIONS, Names, bind
from .compiler import make_key

# Other objects stand for the functions of `scalar_math` here: importing these would import Numba,
# and their source is in the digest of this package, a part of every key.
_STAND_INS = Names(math, cmath, "where", {name: f"selection {name}" for name in SELECTIONS})


def elementwise(spec: Any) -> str:
    """Return the key of the scalar function of an `ElementwiseSpec`."""
    function = bind(spec.function, _STAND_INS, is_complex=is_complex(spec.in_dtypes))
    return make_key(function, (), ("elementwise", *_dtypes(spec), settings.math))


def loop(spec: Any) -> str:
    """Return the key of the kernel of a `LoopSpec`.

    Without core dimensions the key is that of the scalar function of which the kernel is made.
    """
    options = sorted(user_options(spec).items())
    cores = core_dimensions(spec.signature)
    trailing = tuple(None if item is None else (item.value,) for item in spec.trailing)
    kind = "strided loop" if spec.strided else "loop"
    kind = kind if not spec.block else f"blocks of {spec.block}"
    parts = (kind, *_dtypes(spec), repr(cores), spec.scalars, options, trailing, spec.checked)
    return make_key(plain(spec.function), (), parts)


def plain(function: Any) -> Any:
    """Return the Python function that a dispatcher compiles; a plain function as it is."""
    return getattr(function, "py_func", function)


def user_options(spec: Any) -> dict[str, Any]:
    """Return the options of a user's dispatcher that change what its code computes.

    ``boundscheck`` is among the options if the spec is ``checked``.
    """
    declared = declared_options(spec.function)
    options = {name: declared[name] for name in _OF_KERNELS if name in declared}
    if local_types := getattr(spec.function, "locals", None):
        options["locals"] = dict(local_types)
    return {**options, "boundscheck": True} if spec.checked else options


_OF_KERNELS = ("fastmath", "boundscheck", "error_model")
_OF_CALLEES = (*_OF_KERNELS, "inline", "forceinline", "no_rewrites", "_nrt")


def declared_options(function: Any) -> dict[str, Any]:
    """Return the options of a dispatcher that its private copies for kernels keep.

    Options such as ``parallel`` are left out: the rows of a kernel are spread over threads.
    """
    given = getattr(function, "targetoptions", {})
    return {name: given[name] for name in _OF_CALLEES if given.get(name) is not None}


def is_complex(dtypes: Sequence[np.dtype]) -> bool:
    """Whether one of the dtypes is complex."""
    return any(dtype.kind == "c" for dtype in dtypes)


def _dtypes(spec: Any) -> tuple[str, ...]:
    return tuple(dtype.str for dtype in (*spec.in_dtypes, *spec.out_dtypes))
