"""Names of functions of other libraries, and the names of their counterparts in numgrad.

Most counterparts have the same name in another namespace; whether there is one is looked up when an
error needs it.
"""

from collections.abc import Iterator
from importlib import import_module
from types import FunctionType
from typing import Any

NAMESPACES: dict[str, tuple[str, ...]] = {
    "numpy": ("",),
    "numpy.linalg": ("linalg",),
    "numpy.fft": ("fft",),
    "numpy.polynomial": ("polynomial",),
    "numpy.random": ("random",),
    "numpy.ma": ("",),
    "math": ("", "special"),
    "cmath": ("",),
    "scipy.special": ("special", ""),
    "scipy.linalg": ("linalg",),
    "scipy.stats": ("stats",),
    "scipy.fft": ("fft",),
    "scipy.signal": ("signal", "interop.scipy"),
    "scipy.spatial.distance": ("interop.scipy.distance",),
    "scipy.spatial.transform": ("interop.scipy",),
    "scipy.ndimage": ("interop.scipy.ndimage",),
    "scipy.integrate": ("interop.scipy", ""),
    "scipy.optimize": ("interop.scipy",),
    "scipy.interpolate": ("interop.scipy",),
    "scipy.sparse": ("sparse",),
    "scipy.sparse.linalg": ("interop.scipy",),
}
"""Namespaces of libraries, and the namespaces of numgrad with functions of the same names."""

_ODE = "interop.scipy.solve_ivp(f, (t0, t1), y0)"
_SPSOLVE = "interop.scipy.spsolve(A, b)"

OTHERS: dict[str, str] = {
    "numpy.asarray_chkfinite": "asarray",
    "numpy.require": "asarray",
    "numpy.ma.array": "where(mask, float('nan'), data)",
    "numpy.ma.MaskedArray": "where(mask, float('nan'), data)",
    "builtins.max": "maximum(a, b)",
    "builtins.min": "minimum(a, b)",
    "math.lgamma": "special.gammaln",
    "cmath.phase": "angle",
    "scipy.linalg.cholesky": "linalg.cholesky(a, upper=True)",
    "scipy.linalg.qr": "linalg.qr(a, mode='complete')",
    "scipy.integrate.ode": _ODE,
    "scipy.integrate.RK45": _ODE,
    "scipy.integrate.BDF": _ODE,
    "scipy.integrate.Radau": _ODE,
    "scipy.optimize.approx_fprime": "func.grad(f)(x)",
    "scipy.sparse.csr_matrix": "sparse.csr_array",
    "scipy.sparse.csc_matrix": "sparse.csc_array",
    "scipy.sparse.coo_matrix": "sparse.coo_array",
    "scipy.sparse.bsr_array": "sparse.csr_array",
    "scipy.sparse.bsr_matrix": "sparse.csr_array",
    "scipy.sparse.lil_array": "sparse.csr_array",
    "scipy.sparse.lil_matrix": "sparse.csr_array",
    "scipy.sparse.dok_array": "sparse.csr_array",
    "scipy.sparse.dok_matrix": "sparse.csr_array",
    "scipy.sparse.dia_array": "sparse.diags(diagonals, offsets, shape)",
    "scipy.sparse.dia_matrix": "sparse.diags(diagonals, offsets, shape)",
    "scipy.sparse.spdiags": "sparse.diags(diagonals, offsets, shape)",
    "scipy.sparse.linalg.cg": _SPSOLVE,
    "scipy.sparse.linalg.gmres": _SPSOLVE,
    "scipy.sparse.linalg.bicgstab": _SPSOLVE,
    "scipy.sparse.linalg.minres": _SPSOLVE,
    "scipy.sparse.linalg.svds": "linalg.svd(A, full_matrices=False)",
    "scipy.sparse.linalg.eigs": "linalg.eig(A)",
    "scipy.sparse.linalg.eigsh": "linalg.eigh(A)",
    "scipy.sparse.linalg.spilu": "interop.scipy.splu(A)",
    "scipy.sparse.linalg.expm": "linalg.expm(A.toarray())",
}
"""Functions whose counterpart has another name or other arguments. A counterpart with parentheses
is to be called so, any other with the arguments of the original."""

FOLLOWED = {
    f"interop.scipy.{name}"
    for name in ("quad", "quad_vec", "nquad", "dblquad", "tplquad", "bisect", "brenth", "brentq",
                 "ridder", "root_scalar", "toms748", "minimize_scalar", "golden", "brent",
                 "fminbound")
}
"""Solvers that find the tensors that a function closes over."""

TEXTS: dict[str, str] = {
    "numpy.ndarray": "{ng}.asarray({object}){rest}",
    "pandas": "{object}.to_numpy() for {object}",
    "xarray": "{object}.data",
}
"""Code to write instead of a method of an object of another library on a tensor. ``{rest}`` is the
code after the object."""


HOLDERS: dict[str, str] = {
    "numpy.rec": "a dict of tensors, as records hold none",
    "pandas": "{first} itself, as pandas holds no tensors",
}
"""Code to write instead of calls of a module whose objects hold no tensors."""


def counterpart(name: str) -> str | None:
    """Return the counterpart of a function, as written after ``ng.``.

    Parameters
    ----------
    name : str
        The function's public name, as ``"scipy.stats.norm.logpdf"``.
    """
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        found = OTHERS.get(".".join(parts[:count]))
        if found is not None:
            is_called = count == len(parts) or "(" in found
            return found if is_called else ".".join((found, *parts[count:]))
    return next(_namesakes(parts), None)


def _namesakes(parts: list[str]) -> Iterator[str]:
    """Yield the functions of numgrad with the same name in a corresponding namespace."""
    for count in range(len(parts) - 1, 0, -1):
        for home in NAMESPACES.get(".".join(parts[:count]), ()):
            path = ".".join(filter(None, (home, *parts[count:])))
            if _is_there(path):
                yield path


def _is_there(path: str) -> bool:
    """Return whether numgrad has a function of its own at a path."""
    found: Any = import_module("numgrad")
    is_own = False
    for part in path.partition("(")[0].split("."):
        is_object = is_own and not isinstance(found, (type, FunctionType))
        try:
            getattr(type(found) if is_object else found, part)  # objects may return SciPy's methods
            found = getattr(found, part)
        except AttributeError:
            return False
        # A module of numgrad has the other names of NumPy's and SciPy's modules.
        home = getattr(found, "__module__", None) or type(found).__module__
        is_own = is_own or (not _is_module(found) and str(home).startswith("numgrad"))
    return is_own


def _is_module(found: Any) -> bool:
    return hasattr(found, "__spec__") and hasattr(found, "__name__")
