"""Which numgrad function answers which NumPy function."""

from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .._tensor import Tensor
from . import (
    agreement,
    applying,
    assembling,
    averages,
    choosing,
    creation,
    cumulative,
    differences,
    dtypes,
    elementwise,
    filtering,
    floats,
    grids,
    histograms,
    indexing,
    interpolation,
    linalg,
    nan_reductions,
    ordering,
    polynomials,
    quantiles,
    ranges,
    reduction,
    searching,
    shape,
    sorting,
    special,
    text,
    vectors,
)

CHAPTERS = (
    agreement, applying, assembling, averages, choosing, creation, cumulative, differences, dtypes,
    elementwise, filtering, floats, grids, histograms, indexing, interpolation, linalg,
    nan_reductions, ordering, polynomials, quantiles, ranges, reduction, searching, shape, sorting,
    special, text, vectors,
)  # fmt: skip


def _of_equal_names(library: Any, chapters: Sequence[ModuleType]) -> dict[Any, Any]:
    """Return what answers each function of a library: the one that has its name here."""
    found = {}
    for chapter in chapters:
        for name, own in vars(chapter).items():
            theirs = getattr(library, name, None)
            if isinstance(own, FunctionType) and callable(theirs) and not isinstance(theirs, type):
                found[theirs] = own
    return found


UFUNCS: dict[Any, Callable[..., Any]] = {
    theirs: own
    for theirs, own in _of_equal_names(np, CHAPTERS).items()
    if isinstance(theirs, np.ufunc)
}

# SciPy's universal functions go by name: importing scipy.special takes long.
SCIPY_UFUNCS: dict[str, Callable[..., Any]] = {
    "erf": special.erf,
    "erfc": special.erfc,
    "expit": special.expit,
    "gammaln": special.gammaln,
    "log_expit": special.log_expit,
    "logit": special.logit,
    "ndtr": special.ndtr,
    "psi": special.digamma,
    "xlogy": special.xlogy,
}


def _shape(a: Tensor) -> tuple[int, ...]:
    return creation.asarray(a).shape


def _ndim(a: Tensor) -> int:
    return len(_shape(a))


def _size(a: Tensor, axis: int | None = None) -> int:
    a = creation.asarray(a)
    return a.size if axis is None else a.shape[axis]


def _copy(a: Tensor) -> Tensor:
    return creation.asarray(a, copy=True)


def _matrix_diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    return linalg.diagonal(x, offset, axis1=-2, axis2=-1)


def _matrix_trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    return linalg.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    theirs: own
    for theirs, own in _of_equal_names(np, CHAPTERS).items()
    if theirs not in UFUNCS and theirs is not np.isdtype  # which takes no array
}
FUNCTIONS |= _of_equal_names(np.linalg, (linalg,))
FUNCTIONS |= {
    np.array: creation.asarray,  # np.array(3, like=t) arrives here too
    np.copy: _copy,
    np.ndim: _ndim,
    np.shape: _shape,
    np.size: _size,
    np.linalg.diagonal: _matrix_diagonal,
    np.linalg.trace: _matrix_trace,
}

CONVERSIONS = frozenset({np.atleast_1d, np.atleast_2d, np.atleast_3d})
"""Functions with which libraries make arrays of NumPy of what they are given."""

RENAMED = {"a_min": "min", "a_max": "max", "M": "n_cols"}
"""Options of NumPy's functions that have another name here."""
