"""Functions of NumPy whose code is long: each is compiled once, for all adjoints that call it.

Numba compiles `np.linalg.solve` anew for each set of options of its callers, in each process.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def argsort(x: Any) -> Any:
    """Return the places of elements in ascending order."""
    return np.argsort(x)


def argsort_mergesort(x: Any) -> Any:
    """Return the places of elements in ascending order, equal ones in the order of the array."""
    return np.argsort(x, kind="mergesort")


def argpartition(x: Any, kth: Any) -> Any:
    """Return the places of elements in the order of a partition."""
    return np.argpartition(x, kth)


def eigh(a: Any) -> Any:
    """Return eigenvalues and eigenvectors."""
    return np.linalg.eigh(a)


def inv(a: Any) -> Any:
    """Return the inverse."""
    return np.linalg.inv(a)


def lstsq(a: Any, b: Any) -> Any:
    """Return what least squares give."""
    return np.linalg.lstsq(a, b)


def pinv(a: Any) -> Any:
    """Return the pseudoinverse."""
    return np.linalg.pinv(a)


def qr(a: Any) -> Any:
    """Return the factors of QR."""
    return np.linalg.qr(a)


def solve(a: Any, b: Any) -> Any:
    """Return the solution of a system."""
    return np.linalg.solve(a, b)


def svd(a: Any, full_matrices: Any) -> Any:
    """Return the singular value decomposition."""
    return np.linalg.svd(a, full_matrices)


APART: dict[str, Callable[..., Any]] = {
    "np.argsort": argsort, "np.argsort mergesort": argsort_mergesort,
    "np.argpartition": argpartition, "np.linalg.eigh": eigh, "np.linalg.inv": inv,
    "np.linalg.lstsq": lstsq, "np.linalg.pinv": pinv, "np.linalg.qr": qr, "np.linalg.solve": solve,
    "np.linalg.svd": svd,
}  # fmt: skip


@functools.cache
def compiled_apart(name: str, kept: Callable[[Any], Any]) -> Any:
    """Return the compiled function for a function of NumPy.

    Parameters
    ----------
    name : str
        A key of ``APART``.
    kept : callable
        Gives a dispatcher a cache.
    """
    from numba import njit

    options = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made = njit(APART[name], **options)
    return kept(made) if hasattr(made, "py_func") else made
