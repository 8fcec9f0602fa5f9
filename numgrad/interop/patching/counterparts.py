"""Functions and classes of SciPy, and their counterparts in numgrad.

Only names are compared until a counterpart is needed: SciPy's modules and numgrad's solvers take
time to import.
"""

from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ... import linalg
from ...sparse.arrays.matrix import SparseMatrix
from .arrival import MODULES as MODULES

SAME_NAMES = ("fft", "linalg", "signal", "special")
"""Modules whose functions numgrad has in a module of the same name."""

SOLVERS = {
    "scipy.integrate": (
        "cumulative_trapezoid", "dblquad", "fixed_quad", "nquad", "odeint", "quad", "quad_vec",
        "romb", "simpson", "solve_ivp", "tplquad", "trapezoid",
    ),
    "scipy.interpolate": (
        "griddata", "interpn", "make_interp_spline", "splev", "splint", "splrep",
    ),
    "scipy.optimize": (
        "bisect", "brent", "brenth", "brentq", "curve_fit", "fixed_point", "fminbound",
        "fsolve", "golden", "least_squares", "leastsq", "minimize", "minimize_scalar",
        "newton", "nnls", "ridder", "root", "root_scalar", "toms748",
    ),
    "scipy.sparse.linalg": ("eigsh", "factorized", "splu", "spsolve"),
}  # fmt: skip
CLASSES = {
    "scipy.interpolate": (
        "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline",
        "InterpolatedUnivariateSpline", "LinearNDInterpolator", "NearestNDInterpolator", "PPoly",
        "PchipInterpolator", "RBFInterpolator", "RectBivariateSpline", "RegularGridInterpolator",
        "UnivariateSpline", "interp1d",
    ),
    "scipy.sparse": (
        "coo_array", "coo_matrix", "csc_array", "csc_matrix", "csr_array", "csr_matrix",
    ),
    "scipy.spatial.transform": ("Slerp",),
    "scipy.stats": ("gaussian_kde",),
}  # fmt: skip
MAKERS = {
    "scipy.spatial.transform": {
        "Rotation": (
            "align_vectors", "concatenate", "from_davenport", "from_euler", "from_matrix",
            "from_mrp", "from_quat", "from_rotvec",
        ),
    },
}  # fmt: skip
"""Functions of classes that make objects."""
IMAGES = (
    "affine_transform", "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter",
    "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace", "laplace",
    "map_coordinates", "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter",
    "minimum_filter1d", "percentile_filter", "prewitt", "rank_filter", "rotate", "shift",
    "sobel", "spline_filter", "spline_filter1d", "uniform_filter", "uniform_filter1d", "zoom",
)  # fmt: skip
DISTANCES = (
    "braycurtis", "canberra", "cdist", "chebyshev", "cityblock", "correlation", "cosine",
    "euclidean", "hamming", "jensenshannon", "mahalanobis", "minkowski", "pdist", "seuclidean",
    "sqeuclidean", "squareform",
)  # fmt: skip
MATRICES = (
    "block_array", "block_diag", "bmat", "diags", "diags_array", "hstack", "kron", "tril", "triu",
    "vstack",
)  # fmt: skip
"""Functions that make sparse arrays."""

READ_CLOSURES = frozenset([
    "dblquad", "fixed_quad", "nquad", "odeint", "quad", "quad_vec", "solve_ivp", "tplquad",
    *SOLVERS["scipy.optimize"],
])  # fmt: skip
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


KNOWN = {
    **SOLVERS,
    "scipy.ndimage": IMAGES,
    "scipy.sparse": MATRICES,
    "scipy.spatial.distance": DISTANCES,
}


def names(module: ModuleType) -> list[str]:
    """Return the names of functions in a module of SciPy that have a counterpart."""
    path = module.__name__
    if path.removeprefix("scipy.") in SAME_NAMES:
        own = import_module(path.replace("scipy", "numgrad", 1))
        found = sorted({*dir(own), *getattr(own, "__all__", ())})
        return [n for n in found if _is_other(getattr(own, n, None), getattr(module, n, None))]
    return [name for name in KNOWN.get(path, ()) if hasattr(module, name)]


def names_and_classes(module: ModuleType) -> list[str]:
    """Return the names of functions and classes in a module of SciPy that have a counterpart."""
    classes = CLASSES.get(module.__name__, ())
    return [*names(module), *(name for name in classes if hasattr(module, name))]


@cache
def counterpart(path: str, name: str) -> Any:
    """Return what numgrad has for a function or a class of a module of SciPy."""
    if path == "scipy.linalg" and name in DIFFERENT:
        return DIFFERENT[name]
    if path == "scipy.sparse" and name.endswith("_matrix"):
        return partial(_matrix, counterpart(path, name.replace("_matrix", "_array")))
    if path.removeprefix("scipy.") in (*SAME_NAMES, "sparse", "stats"):
        return getattr(import_module(path.replace("scipy", "numgrad", 1)), name)
    if name == "trapezoid":
        return import_module("numgrad").trapezoid
    solvers = import_module("numgrad.interop.scipy")
    if "." in name:
        kind, _, name = name.partition(".")
        return getattr(getattr(solvers, kind), name)
    inner = {"scipy.ndimage": "ndimage", "scipy.spatial.distance": "distance"}.get(path)
    return getattr(getattr(solvers, inner) if inner else solvers, name)


def _matrix(own: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a sparse array with the product of SciPy's sparse matrices."""
    made = own(*args, **kwargs)
    return SparseMatrix(made.data, made.structure)


def _is_other(own: Any, theirs: Any) -> bool:
    """Whether ``own`` is a function of numgrad, and ``theirs`` one of SciPy that does not dispatch
    on its arguments."""
    is_own = callable(own) and getattr(own, "__module__", "").startswith("numgrad")
    is_theirs = callable(theirs) and (getattr(theirs, "__module__", "") or "").startswith("scipy")
    return is_own and is_theirs and not isinstance(theirs, (np.ufunc, type))
