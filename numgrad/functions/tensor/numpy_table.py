"""Which numgrad function answers which NumPy function."""

import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ..array import array_info, dtypes, text
from ..creation import constants, from_data, ranges
from ..elementwise import (
    arithmetic,
    bits,
    comparison,
    complex_parts,
    exponential,
    floats,
    hyperbolic,
    powers,
    rounding,
    trigonometric,
)
from ..indexing import assignment, indexing
from ..linalg import least_squares, matrix_functions, norms, spectral, systems, traces
from ..products import contraction, cross, products
from ..reduction import (
    agreement,
    averages,
    cumulative,
    histograms,
    nan_reductions,
    quantiles,
    reduction,
    statistics,
)
from ..shape import (
    apply_along,
    blocks,
    diagonals,
    grids,
    joining,
    padding,
    rearranging,
    repeating,
    reshaping,
    select,
    selection,
)
from ..signal import differences, filtering, interpolation, polynomial_fits, polynomials
from ..sorting import ordering, searching, sets, sorting
from . import files

CHAPTERS = (
    agreement, apply_along, blocks, averages, bits, select, comparison, complex_parts,
    constants, contraction, from_data, cumulative, diagonals, differences, dtypes, arithmetic,
    exponential, array_info, files, filtering, floats, grids, histograms, hyperbolic, indexing,
    interpolation, joining, traces, nan_reductions, ordering, padding, assignment, polynomial_fits,
    polynomials, powers, products, quantiles, ranges, rearranging, reduction, repeating, reshaping,
    rounding, searching, selection, sets, sorting, statistics, text, trigonometric, cross,
)  # fmt: skip
LINALG = (
    contraction, least_squares, matrix_functions, norms, products, reshaping, spectral, systems,
)  # fmt: skip


PACKAGE = "numgrad.functions."  # functions of operators may have the same names


def _of_equal_names(library: Any, chapters: Sequence[ModuleType]) -> dict[Any, Any]:
    """Return what answers each function of a library: the one that has its name here."""
    found = {}
    for chapter in chapters:
        for name, own in vars(chapter).items():
            theirs = getattr(library, name, None)
            is_own = isinstance(own, FunctionType) and own.__module__.startswith(PACKAGE)
            if is_own and callable(theirs) and not isinstance(theirs, type):
                found[theirs] = own
    return found


_OF_NUMPY = _of_equal_names(np, CHAPTERS)
UFUNCS: dict[Any, Callable[..., Any]] = {
    theirs: own for theirs, own in _OF_NUMPY.items() if isinstance(theirs, np.ufunc)
}
_CLIP: Any = getattr(sys.modules.get("numpy._core.umath"), "clip", None)
METHODS: dict[Any, Callable[..., Any]] = {_CLIP: _OF_NUMPY[np.clip]}
"""Universal functions that NumPy's arrays call in their methods, and nobody by name."""


def scipy_function(name: str) -> Callable[..., Any] | None:
    """Return what answers a universal function of ``scipy.special``, by its name: importing that
    takes long, and so does making all of them."""
    from ..special import special

    found = vars(special).get(_SCIPY_NAMES.get(name, name))
    return found if isinstance(found, FunctionType) else None


_SCIPY_NAMES = {"_lambertw": "lambertw", "_riemann_zeta": "zeta", "_zeta": "zeta"}


def _matrix_diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    return diagonals.diagonal(x, offset, axis1=-2, axis2=-1)


def _matrix_trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    return traces.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)


def _windows(x: Tensor, window_shape: Any, axis: Any = None) -> Tensor:
    """Return a copy of what NumPy has a view of, whose elements are those of several windows."""
    places = np.arange(x.size).reshape(x.shape)
    return indexing.take(x, np.lib.stride_tricks.sliding_window_view(places, window_shape, axis))


NO_PROTOCOL = {*UFUNCS, np.isdtype}
"""What numgrad is asked for in another way, or not at all as it takes no array."""


@cache
def functions() -> dict[Any, Callable[..., Any]]:
    """Return what answers functions that are not universal ones, of other modules of NumPy too,
    which it imports when they are used."""
    from ..signal import fourier

    return {
        **{theirs: own for theirs, own in _OF_NUMPY.items() if theirs not in NO_PROTOCOL},
        **_of_equal_names(np.linalg, LINALG),
        **_of_equal_names(np.fft, (fourier,)),
        np.linalg.diagonal: _matrix_diagonal,
        np.linalg.trace: _matrix_trace,
        np.lib.stride_tricks.sliding_window_view: _windows,
    }


CONVERSIONS = frozenset({np.atleast_1d, np.atleast_2d, np.atleast_3d})
"""Functions with which libraries make arrays of NumPy of what they are given."""

RENAMED = {"a_min": "min", "a_max": "max"}
"""Options of NumPy's functions that have another name here."""
