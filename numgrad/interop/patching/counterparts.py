"""Functions, classes and methods of SciPy, and their counterparts in numgrad.

Only names are compared until a counterpart is needed: SciPy's modules and numgrad's solvers take
time to import.
"""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ... import linalg
from .arrival import MODULES as MODULES

SAME_NAMES = ("fft", "linalg", "signal", "special")
"""Modules whose functions numgrad has in a module of the same name."""

SOLVERS = {
    "scipy.integrate": (
        "cumulative_trapezoid", "odeint", "quad", "simpson", "solve_ivp", "trapezoid",
    ),
    "scipy.interpolate": ("make_interp_spline",),
    "scipy.optimize": (
        "bisect", "brent", "brenth", "brentq", "curve_fit", "fixed_point", "fminbound",
        "fsolve", "golden", "least_squares", "leastsq", "minimize", "minimize_scalar",
        "nnls", "ridder", "root", "root_scalar", "toms748",
    ),
    "scipy.sparse.linalg": ("eigsh", "factorized", "splu", "spsolve"),
    "scipy.spatial.distance": ("cdist", "pdist", "squareform"),
}  # fmt: skip
CLASSES = (
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PPoly",
    "PchipInterpolator", "RegularGridInterpolator",
)  # fmt: skip
IMAGES = (
    "affine_transform", "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter",
    "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace",
    "laplace", "map_coordinates", "prewitt",
    "rotate", "shift", "sobel", "uniform_filter", "uniform_filter1d", "zoom",
)  # fmt: skip
MATRICES = (
    "block_array", "block_diag", "bmat", "diags", "diags_array", "hstack", "kron", "tril", "triu",
    "vstack",
)  # fmt: skip
"""Functions that make sparse arrays."""

READ_CLOSURES = frozenset(["quad", "odeint", "solve_ivp", *SOLVERS["scipy.optimize"]])
"""Functions that call a function of the user, which may close over a tensor: the counterpart
differentiates by it, or says where to pass it."""

QR = {"full": "complete", "economic": "reduced", "r": "r"}


def cholesky(a: Any, lower: bool = False) -> Any:
    """Return the factor that SciPy returns by default, the upper one."""
    return linalg.cholesky(a, lower=True) if lower else linalg.cholesky(a, upper=True)


def qr(a: Any, mode: str = "full") -> Any:
    """Return the factors in SciPy's modes."""
    if mode not in QR:
        raise TypeError(f"scipy.linalg.qr of tensors does not take mode={mode!r}")
    found = linalg.qr(a, QR[mode])
    return (found,) if mode == "r" else tuple(found)


def solve(
    a: Any, b: Any, lower: bool = False, assume_a: Any = None, transposed: bool = False
) -> Any:
    """Return the solution; the method that SciPy would take does not matter."""
    return linalg.solve(a, b, lower, assume_a=assume_a, transposed=transposed)


def lstsq(a: Any, b: Any, cond: Any = None) -> Any:
    """Return the results in SciPy's form: the residual of one right hand side is a number."""
    x, rest, rank, s = linalg.lstsq(a, b, cond=cond)
    return x, rest[0] if x.ndim == 1 and rest.size else rest, rank, s


DIFFERENT = {"cholesky": cholesky, "lstsq": lstsq, "qr": qr, "solve": solve}
"""Functions of linear algebra whose defaults in numgrad are NumPy's."""

UNASKED = frozenset(
    ["overwrite_a", "overwrite_b", "overwrite_x", "overwrite_ab", "check_finite", "workers",
     "lapack_driver", "lwork"]
)  # fmt: skip
"""Parameters of SciPy's that do not change a result."""


def names(module: ModuleType) -> list[str]:
    """Return the names of functions in a module of SciPy that have a counterpart."""
    path = module.__name__
    if path.removeprefix("scipy.") in SAME_NAMES:
        own = import_module(path.replace("scipy", "numgrad", 1))
        found = sorted({*dir(own), *getattr(own, "__all__", ())})
        return [n for n in found if _is_other(getattr(own, n, None), getattr(module, n, None))]
    known = {"scipy.ndimage": IMAGES, "scipy.sparse": MATRICES, **SOLVERS}.get(path, ())
    return [name for name in known if hasattr(module, name)]


def names_and_classes(module: ModuleType) -> list[str]:
    """Return the names of functions and classes in a module of SciPy that have a counterpart."""
    classes = CLASSES if module.__name__ == "scipy.interpolate" else ()
    return [*names(module), *(name for name in classes if hasattr(module, name))]


@cache
def counterpart(path: str, name: str) -> Any:
    """Return what numgrad has for a function or a class of a module of SciPy."""
    if path == "scipy.linalg" and name in DIFFERENT:
        return DIFFERENT[name]
    if path.removeprefix("scipy.") in SAME_NAMES or path == "scipy.sparse":
        return getattr(import_module(path.replace("scipy", "numgrad", 1)), name)
    if name == "trapezoid":
        return import_module("numgrad").trapezoid
    solvers = import_module("numgrad.interop.scipy")
    return getattr(solvers.ndimage if path == "scipy.ndimage" else solvers, name)


def _is_other(own: Any, theirs: Any) -> bool:
    """Whether ``own`` is a function of numgrad, and ``theirs`` one of SciPy that does not dispatch
    on its arguments."""
    is_own = callable(own) and getattr(own, "__module__", "").startswith("numgrad")
    is_theirs = callable(theirs) and (getattr(theirs, "__module__", "") or "").startswith("scipy")
    return is_own and is_theirs and not isinstance(theirs, (np.ufunc, type))


OF_VECTORS = ("dirichlet", "multinomial", "multivariate_normal", "wishart")
OF_DISTRIBUTIONS = (
    "__call__", "freeze", "pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf",
    "isf", "mean", "median", "var", "std", "entropy", "stats",
)  # fmt: skip


Method = tuple[type, str, Callable[[Any], Any]]


def methods(module: ModuleType) -> Iterator[Method]:
    """Yield classes of a module of SciPy, names of methods there, and functions that return the
    counterpart of an object, None if there is none."""
    if module.__name__ == "scipy.stats":
        yield from _of_distributions(module)
    elif module.__name__ == "scipy.interpolate":
        yield from _of_splines(module)


def _of_distributions(stats: Any) -> Iterator[Method]:
    several = [type(getattr(stats, name)) for name in OF_VECTORS]
    for kind in (stats.rv_continuous, stats.rv_discrete, stats.rv_continuous.__base__, *several):
        for name in OF_DISTRIBUTIONS:
            if kind is not None and name in vars(kind):
                yield kind, name, distribution


def _of_splines(interpolate: Any) -> Iterator[Method]:
    for kind, made in ((interpolate.PPoly, _polynomial), (interpolate.BSpline, _spline)):
        owner = next(base for base in kind.__mro__ if "__call__" in vars(base))
        yield owner, "__call__", made if owner is kind else _of(kind, made)
        yield kind, "integrate", made
    yield interpolate.RegularGridInterpolator, "__call__", _grid


def _of(kind: type, made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda theirs: made(theirs) if isinstance(theirs, kind) else None


def _polynomial(theirs: Any) -> Any:
    own = counterpart("scipy.interpolate", "PPoly")(theirs.c, theirs.x, theirs.extrapolate)
    own.axis = theirs.axis
    return own


def _spline(theirs: Any) -> Any:
    kind = counterpart("scipy.interpolate", "BSpline")
    own = kind(theirs.t, theirs.c, theirs.k, theirs.extrapolate)
    own.axis = theirs.axis
    return own


def _grid(theirs: Any) -> Any:
    kind = counterpart("scipy.interpolate", "RegularGridInterpolator")
    return kind(theirs.grid, theirs.values, theirs.method, theirs.bounds_error, theirs.fill_value)


def distribution(theirs: Any) -> Any:
    """Return the family of distributions with the same name, None if there is none."""
    of_scipy = sys.modules["scipy.stats"]
    name = getattr(theirs, "name", None) or _named(theirs)
    own = vars(import_module("numgrad.stats")).get(name)
    return own if own is not None and type(getattr(of_scipy, name)) is type(theirs) else None


def _named(theirs: Any) -> str:
    """Return the name of a family of vector distributions, from the name of its class."""
    return type(theirs).__name__.removesuffix("_gen")
