"""Functions, classes and methods of SciPy, and their counterparts in numgrad."""

from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from .... import fft, linalg, signal, sparse, special
from ....functions.reduction.cumulative import trapezoid

Pair = tuple[ModuleType, str, Any]

SOLVERS = {
    "scipy.integrate": (
        "cumulative_trapezoid", "dblquad", "fixed_quad", "nquad", "odeint", "quad", "quad_vec",
        "romb", "simpson", "solve_ivp", "tplquad",
    ),
    "scipy.interpolate": (
        "griddata", "interpn", "make_interp_spline", "splev", "splint", "splrep",
    ),
    "scipy.optimize": (
        "bisect", "brent", "brenth", "brentq", "curve_fit", "fixed_point", "fminbound",
        "fsolve", "golden", "least_squares", "leastsq", "minimize", "minimize_scalar",
        "nnls", "ridder", "root", "root_scalar", "toms748",
    ),
    "scipy.sparse.linalg": ("eigsh", "factorized", "splu", "spsolve"),
}  # fmt: skip
CLASSES = (
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline",
    "InterpolatedUnivariateSpline", "LinearNDInterpolator", "NearestNDInterpolator", "PPoly",
    "PchipInterpolator", "RBFInterpolator", "RectBivariateSpline", "RegularGridInterpolator",
    "UnivariateSpline", "interp1d",
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


def functions() -> Iterator[Pair]:
    """Yield modules of SciPy, names of functions there, and their counterparts."""
    for own in (special, linalg, fft, signal):
        theirs = import_module(own.__name__.replace("numgrad", "scipy"))
        for name in sorted({*dir(own), *getattr(own, "__all__", ())}):
            if _is_other(getattr(own, name, None), getattr(theirs, name, None)):
                is_different = own is linalg and name in DIFFERENT
                yield theirs, name, DIFFERENT[name] if is_different else getattr(own, name)
    from ... import scipy as solvers

    for module, names in SOLVERS.items():
        for name in names:
            yield import_module(module), name, getattr(solvers, name)
    for name in solvers.ndimage.__all__:
        yield import_module("scipy.ndimage"), name, getattr(solvers.ndimage, name)
    for name in solvers.distance.__all__:
        yield import_module("scipy.spatial.distance"), name, getattr(solvers.distance, name)
    yield import_module("scipy.integrate"), "trapezoid", trapezoid
    for name in MATRICES:
        yield import_module("scipy.sparse"), name, getattr(sparse, name)


def _is_other(own: Any, theirs: Any) -> bool:
    """Whether ``own`` is a function of numgrad, and ``theirs`` one of SciPy that does not dispatch
    on its arguments."""
    is_own = callable(own) and getattr(own, "__module__", "").startswith("numgrad")
    is_theirs = callable(theirs) and (getattr(theirs, "__module__", "") or "").startswith("scipy")
    return is_own and is_theirs and not isinstance(theirs, (np.ufunc, type))


def classes() -> Iterator[Pair]:
    """Yield modules of SciPy, names of classes there, and their counterparts."""
    from .... import stats
    from ... import scipy as solvers

    for name in CLASSES:
        yield import_module("scipy.interpolate"), name, getattr(solvers, name)
    yield import_module("scipy.stats"), "gaussian_kde", stats.gaussian_kde


OF_VECTORS = ("dirichlet", "multinomial", "multivariate_normal", "wishart")
OF_DISTRIBUTIONS = (
    "__call__", "freeze", "pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf",
    "isf", "mean", "median", "var", "std", "entropy", "stats",
)  # fmt: skip


def methods() -> Iterator[tuple[type, str, Callable[[Any], Any]]]:
    """Yield classes of SciPy, names of methods there, and functions that return the counterpart of
    an object, None if there is none."""
    from scipy import interpolate, stats

    from .... import stats as own_stats
    from ... import scipy as solvers

    several = [type(getattr(stats, name)) for name in OF_VECTORS]
    for kind in (stats.rv_continuous, stats.rv_discrete, stats.rv_continuous.__base__, *several):
        for name in OF_DISTRIBUTIONS:
            if kind is not None and name in vars(kind):
                yield kind, name, distribution

    def polynomial(theirs: Any) -> Any:
        own = solvers.PPoly(theirs.c, theirs.x, theirs.extrapolate)
        own.axis = theirs.axis
        return own

    def spline(theirs: Any) -> Any:
        own = solvers.BSpline(theirs.t, theirs.c, theirs.k, theirs.extrapolate)
        own.axis = theirs.axis
        return own

    def grid(theirs: Any) -> Any:
        given = theirs.method, theirs.bounds_error, theirs.fill_value
        return solvers.RegularGridInterpolator(theirs.grid, theirs.values, *given)

    def line(theirs: Any) -> Any:
        kind = theirs._spline.k if theirs._kind == "spline" else theirs._kind
        fill: Any = "extrapolate"
        if not theirs._extrapolate:
            fill = theirs._fill_value_below, theirs._fill_value_above
        y = np.moveaxis(theirs._y.reshape(theirs.x.size, *theirs._y_extra_shape), 0, theirs._y_axis)
        return solvers.interp1d(
            theirs.x, y, kind, theirs._y_axis, False, theirs.bounds_error, fill, True
        )

    def through(theirs: Any) -> Any:
        t, c, k = theirs._eval_args
        own = object.__new__(solvers.InterpolatedUnivariateSpline)
        own._settle(solvers.BSpline(t, c, k), theirs.ext)
        return own

    def surface(theirs: Any) -> Any:
        tx, ty, c = theirs.tck
        return solvers.RectBivariateSpline._known(tx, ty, c, theirs.degrees)

    def density(theirs: Any) -> Any:
        return own_stats.gaussian_kde(theirs.dataset, theirs.factor, theirs.weights)

    def radial(theirs: Any) -> Any:
        degree = int(theirs.powers.sum(axis=1).max(initial=-1))
        values = theirs.d.view(theirs.d_dtype).reshape(-1, *theirs.d_shape)
        given = theirs.neighbors, theirs.smoothing, theirs.kernel, theirs.epsilon, degree
        return solvers.RBFInterpolator(theirs.y, values, *given)

    for kind, made, called in (
        (interpolate.interp1d, line, ("__call__",)),
        (interpolate.UnivariateSpline, through, ("__call__", "integral", "derivatives")),
        (interpolate.RectBivariateSpline, surface, ("__call__", "ev", "integral")),
        (interpolate.RBFInterpolator, radial, ("__call__",)),
        (stats.gaussian_kde, density, ("evaluate", "__call__", "pdf", "logpdf")),
    ):
        for name in called:
            owner = next(base for base in kind.__mro__ if name in vars(base))
            yield owner, name, made if owner is kind else _of(kind, made)
    for kind, made in ((interpolate.PPoly, polynomial), (interpolate.BSpline, spline)):
        owner = next(base for base in kind.__mro__ if "__call__" in vars(base))
        yield owner, "__call__", made if owner is kind else _of(kind, made)
        yield kind, "integrate", made
    yield interpolate.RegularGridInterpolator, "__call__", grid


def _of(kind: type, made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda theirs: made(theirs) if isinstance(theirs, kind) else None


def distribution(theirs: Any) -> Any:
    """Return the family of distributions with the same name, None if there is none."""
    from scipy import stats as of_scipy

    from .... import stats

    name = getattr(theirs, "name", None) or _named(theirs)
    own = vars(stats).get(name)
    return own if own is not None and type(getattr(of_scipy, name)) is type(theirs) else None


def _named(theirs: Any) -> str:
    """Return the name of a family of vector distributions, from the name of its class."""
    return type(theirs).__name__.removesuffix("_gen")
