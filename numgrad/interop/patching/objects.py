"""Objects of SciPy whose methods take tensors, and their counterparts in numgrad."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from .counterparts import counterpart

OF_VECTORS = ("dirichlet", "multinomial", "multivariate_normal", "multivariate_t", "wishart")
OF_DISTRIBUTIONS = (
    "__call__", "freeze", "pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf",
    "isf", "mean", "median", "var", "std", "entropy", "stats",
)  # fmt: skip

_OF_LINES = "_extrapolate", "_kind", "_y", "_y_axis", "_y_extra_shape"
_OUTSIDE = "_fill_value_below", "_fill_value_above"  # of what does not extrapolate
"""What SciPy's ``interp1d`` has, if its counterpart can be made."""

Make = Callable[[Any], Any]
Method = tuple[type, str, Make]


def methods(module: ModuleType) -> Iterator[Method]:
    """Yield classes of a module of SciPy, names of methods there, and functions that return the
    counterpart of an object, None if there is none."""
    kinds = _INTERPOLATORS if module.__name__ == "scipy.interpolate" else {}
    if module.__name__ == "scipy.stats":
        yield from _of_distributions(module)
        kinds = {"gaussian_kde": (_density, ("evaluate", "__call__", "pdf", "logpdf"))}
    if module.__name__ == "scipy.spatial.transform" and is_open(module.Rotation):
        called = ("__pow__", "apply", "approx_equal", "mean")
        kinds = {"Rotation": (_rotation, called), "Slerp": (_slerp, ("__call__",))}
    for kind_name, (made, called) in kinds.items():
        kind = getattr(module, kind_name)
        for name in called:
            owner = next(base for base in kind.__mro__ if name in vars(base))
            yield owner, name, made if owner is kind else _of(kind, made)


def is_open(kind: type) -> bool:
    """Whether methods of a class can be replaced: those of compiled classes cannot."""
    return bool(kind.__flags__ & _HEAP) and not kind.__flags__ & _IMMUTABLE


_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # Py_TPFLAGS_HEAPTYPE and Py_TPFLAGS_IMMUTABLETYPE


def _of_distributions(stats: Any) -> Iterator[Method]:
    several = [type(getattr(stats, name)) for name in OF_VECTORS]
    for kind in (stats.rv_continuous, stats.rv_discrete, stats.rv_continuous.__base__, *several):
        for name in OF_DISTRIBUTIONS:
            if kind is not None and name in vars(kind):
                yield kind, name, distribution


def _of(kind: type, made: Make) -> Make:
    return lambda theirs: made(theirs) if isinstance(theirs, kind) else None


def _own(name: str) -> Any:
    return counterpart("scipy.interpolate", name)


def _polynomial(theirs: Any) -> Any:
    own = _own("PPoly")(theirs.c, theirs.x, theirs.extrapolate)
    own.axis = theirs.axis
    return own


def _spline(theirs: Any) -> Any:
    own = _own("BSpline")(theirs.t, theirs.c, theirs.k, theirs.extrapolate)
    own.axis = theirs.axis
    return own


def _grid(theirs: Any) -> Any:
    given = theirs.method, theirs.bounds_error, theirs.fill_value
    return _own("RegularGridInterpolator")(theirs.grid, theirs.values, *given)


def _line(theirs: Any) -> Any:
    names = _OF_LINES if getattr(theirs, "_extrapolate", False) else (*_OF_LINES, *_OUTSIDE)
    if not all(hasattr(theirs, name) for name in names):
        return None
    kind = theirs._spline.k if theirs._kind == "spline" else theirs._kind
    fill: Any = "extrapolate"
    if not theirs._extrapolate:
        fill = theirs._fill_value_below, theirs._fill_value_above
    y = np.moveaxis(theirs._y.reshape(theirs.x.size, *theirs._y_extra_shape), 0, theirs._y_axis)
    given = theirs._y_axis, False, theirs.bounds_error, fill, True
    return _own("interp1d")(theirs.x, y, kind, *given)


def _through(theirs: Any) -> Any:
    if not hasattr(theirs, "_eval_args"):
        return None
    t, c, k = theirs._eval_args
    own = object.__new__(_own("InterpolatedUnivariateSpline"))
    own._settle(_own("BSpline")(t, c, k), theirs.ext)
    return own


def _surface(theirs: Any) -> Any:
    tx, ty, c = theirs.tck
    return _own("RectBivariateSpline")._known(tx, ty, c, theirs.degrees)


def _radial(theirs: Any) -> Any:
    degree = int(theirs.powers.sum(axis=1).max(initial=-1))
    values = theirs.d.view(theirs.d_dtype).reshape(-1, *theirs.d_shape)
    given = theirs.neighbors, theirs.smoothing, theirs.kernel, theirs.epsilon, degree
    return _own("RBFInterpolator")(theirs.y, values, *given)


def _rotation(theirs: Any) -> Any:
    return counterpart("scipy.spatial.transform", "Rotation").from_quat(theirs.as_quat())


def _slerp(theirs: Any) -> Any:
    """Return the way between the same rotations; SciPy's object has the last one as a step."""
    last = theirs.rotations[-1] * type(theirs.rotations).from_rotvec(theirs.rotvecs[-1])
    rotations = type(last).concatenate([theirs.rotations, last])
    return counterpart("scipy.spatial.transform", "Slerp")(theirs.times, rotations)


def _density(theirs: Any) -> Any:
    kind = counterpart("scipy.stats", "gaussian_kde")
    return kind(theirs.dataset, theirs.factor, theirs.weights)


_INTERPOLATORS: dict[str, tuple[Make, tuple[str, ...]]] = {
    "interp1d": (_line, ("__call__",)),
    "UnivariateSpline": (_through, ("__call__", "integral", "derivatives")),
    "RectBivariateSpline": (_surface, ("__call__", "ev", "integral")),
    "RBFInterpolator": (_radial, ("__call__",)),
    "PPoly": (_polynomial, ("__call__", "integrate")),
    "BSpline": (_spline, ("__call__", "integrate")),
    "RegularGridInterpolator": (_grid, ("__call__",)),
}


def distribution(theirs: Any) -> Any:
    """Return the family of distributions with the same name, None if there is none."""
    of_scipy = sys.modules["scipy.stats"]
    name = getattr(theirs, "name", None) or _named(theirs)
    own = vars(import_module("numgrad.stats")).get(name)
    return own if own is not None and type(getattr(of_scipy, name)) is type(theirs) else None


def _named(theirs: Any) -> str:
    """Return the name of a family of vector distributions, from the name of its class."""
    return type(theirs).__name__.removesuffix("_gen")
