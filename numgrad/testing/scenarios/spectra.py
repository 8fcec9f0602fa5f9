"""Functions for scenarios: the derivatives of eigenvalues and singular values, as operators."""

from typing import Any

import numpy as np

import numgrad as ng

from ..._declare import registry
from ...operators.matmul import adjoint


def hermitian(a: Any) -> Any:
    """Return the Hermitian part of any tensor."""
    return (a + adjoint(a)) / 2


def of_eigenvalues(a: Any) -> Any:
    """Return the gradient of eigenvalues, with its own derivative."""
    a, g, none = hermitian(a), np.arange(1.0, a.shape[-1] + 1), np.zeros(a.shape[-1])
    w, v = ng.linalg.eigh(a)
    ga = ng.matmul(v * g, adjoint(v))
    return registry["hermitian_gradient"](a, w, v, g, none, ga)


def of_sizes(a: Any) -> Any:
    """Return the gradient of singular values, with its own derivative."""
    u, s, vh = ng.linalg.svd(a, False)
    g, none, v = np.arange(1.0, s.shape[-1] + 1), np.zeros(s.shape[-1]), adjoint(vh)
    ga = ng.matmul(u * g, vh)
    return registry["gradient_of_sizes"](a, u, s, v, g, none, ga, hermitian=False)


def of_any_eigenvalues(a: Any) -> Any:
    """Return the real part of the gradient of eigenvalues, with its own derivative."""
    w, v = ng.linalg.eig(a)
    g, none = 3 * ng.conj(w * w), np.zeros(a.shape[-1], np.zeros(0, a.dtype).real.dtype)
    ga = ng.matmul(ng.linalg.inv(adjoint(v)), g[..., :, None] * adjoint(v))
    return ng.real(registry["general_gradient"](a, w, v, g, none, ga))


def along(a: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """Return a change of a matrix, and what it is between vectors and others of the same number."""
    change = np.sqrt(np.arange(2.0, 2.0 + a.shape[-2] * a.shape[-1])).reshape(a.shape[-2:]) + a
    return change, ng.sum(ng.conj(u) * ng.matmul(change, v), axis=-2)


def slopes_of_eigenvalues(a: Any) -> Any:
    """Return the slopes of eigenvalues along a change of a matrix, with their own derivative."""
    a = hermitian(a)
    w, v = ng.linalg.eigh(a)
    change, slopes = along(a, v, v)
    return registry["hermitian_slopes"](a, w, v, hermitian(change), ng.real(slopes))


def slopes_of_sizes(a: Any) -> Any:
    """Return the slopes of singular values along a change of a matrix."""
    u, s, vh = ng.linalg.svd(a, False)
    change, slopes = along(a, u, adjoint(vh))
    slopes = ng.real(slopes)
    return registry["slopes_of_sizes"](a, u, s, adjoint(vh), change, slopes, hermitian=False)


def slopes_of_any_eigenvalues(a: Any) -> Any:
    """Return the sum of squared slopes of eigenvalues along a change of a matrix."""
    w, v = ng.linalg.eig(a)
    change, slopes = along(a, adjoint(ng.linalg.inv(v)), v)
    found = registry["general_slopes"](a, w, v, change, slopes)
    return ng.sum(ng.real(found * found), axis=-1)
