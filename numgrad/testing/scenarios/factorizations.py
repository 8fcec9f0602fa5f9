"""Scenarios of factorizations and functions of matrices.

Signs, phases or bases of factors are arbitrary, so the functions here do not depend on them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

import numgrad as ng

from ..._declare import registry
from ...operators.linalg.matmul import adjoint
from .linalg import A23, RIGHT, SQUARE, STACK, algebra, definite_array
from .scenario import Point, Scenario, numbers

WIDE, TALL = numbers((2, 4), phase=0.1), numbers((4, 3), phase=0.6)
LONG = numbers((4, 3), phase=0.7)  # no two candidates for a pivot are equal
BAND = numbers((2, 4, 5), phase=0.3) + np.array([[0.0], [6.0], [0.0], [0.0]])


def hermitian(a: Any) -> Any:
    """Return the Hermitian part of square matrices of any kind."""
    return (a + adjoint(a)) / 2


def spaces(a: Any) -> Any:
    """Return the sines of a Hermitian matrix's eigenvalues, and the projector on two eigenvectors.
    """
    w, v = ng.linalg.eigh(hermitian(a))
    return ng.sin(w), ng.matmul(v[..., :2], adjoint(v[..., :2]))


def nearest(a: Any, full_matrices: bool) -> Any:
    """Return the sines of singular values, the nearest matrix of rank 2, and a projector.

    The projector is that on the complement of the row space.
    """
    u, s, vh = ng.linalg.svd(a, full_matrices)
    u2, v2, rest = u[..., :2], vh[..., :2, :], adjoint(vh)[..., :, 2:]
    return ng.sin(s), ng.matmul(u2 * s[..., None, :2], v2), ng.matmul(rest, adjoint(rest))


def spaces_of_reduced(a: Any) -> Any:
    """Return what `spaces` does, by the operator `hermitian_vectors`."""
    a = hermitian(a)
    reduced = registry["hermitian_reduced"](a, lower=True)
    w, v = registry["hermitian_vectors"](a, reduced, lower=True)
    return ng.sin(w), ng.matmul(v[..., :2], adjoint(v[..., :2]))


def of_eigenvalues(a: Any) -> Any:
    """Return the gradient of a function of eigenvalues, by the operator `hermitian_gradient`."""
    a, g, none = hermitian(a), np.arange(1.0, a.shape[-1] + 1), np.zeros(a.shape[-1])
    w, v = ng.linalg.eigh(a)
    ga = ng.matmul(v * g, adjoint(v))
    return registry["hermitian_gradient"](a, w, v, g, none, ga)


def of_sizes(a: Any) -> Any:
    """Return the gradient of a function of singular values, by the operator `gradient_of_sizes`."""
    u, s, vh = ng.linalg.svd(a, False)
    g, none, v = np.arange(1.0, s.shape[-1] + 1), np.zeros(s.shape[-1]), adjoint(vh)
    ga = ng.matmul(u * g, vh)
    return registry["gradient_of_sizes"](a, u, s, v, g, none, ga, hermitian=False)


def of_any_eigenvalues(a: Any) -> Any:
    """Return the real part of a gradient of eigenvalues, by the operator `general_gradient`."""
    w, v = ng.linalg.eig(a)
    g, none = 3 * ng.conj(w * w), np.zeros(a.shape[-1], np.zeros(0, a.dtype).real.dtype)
    ga = ng.matmul(ng.linalg.inv(adjoint(v)), g[..., :, None] * adjoint(v))
    return ng.real(registry["general_gradient"](a, w, v, g, none, ga))


def along(a: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """Return a change of a matrix, and how much it changes the values of some pairs of vectors.

    For each column of ``u`` and the same one of ``v`` that is the number ``u' change v``.
    """
    change = np.sqrt(np.arange(2.0, 2.0 + a.shape[-2] * a.shape[-1])).reshape(a.shape[-2:]) + a
    return change, ng.sum(ng.conj(u) * ng.matmul(change, v), axis=-2)


def slopes_of_eigenvalues(a: Any) -> Any:
    """Return slopes of eigenvalues along a change of a matrix, by the operator `hermitian_slopes`.
    """
    a = hermitian(a)
    w, v = ng.linalg.eigh(a)
    change, slopes = along(a, v, v)
    return registry["hermitian_slopes"](a, w, v, hermitian(change), ng.real(slopes))


def slopes_of_sizes(a: Any) -> Any:
    """Return slopes of singular values along a change of a matrix, by `slopes_of_sizes`."""
    u, s, vh = ng.linalg.svd(a, False)
    change, slopes = along(a, u, adjoint(vh))
    slopes = ng.real(slopes)
    return registry["slopes_of_sizes"](a, u, s, adjoint(vh), change, slopes, hermitian=False)


def slopes_of_any_eigenvalues(a: Any) -> Any:
    """Return the sum of squared slopes of eigenvalues along a change, by `general_slopes`."""
    w, v = ng.linalg.eig(a)
    change, slopes = along(a, adjoint(ng.linalg.inv(v)), v)
    found = registry["general_slopes"](a, w, v, change, slopes)
    return ng.sum(ng.real(found * found), axis=-1)


def exponential(a: Any) -> Any:
    """Return the exponential function of a matrix that has all its eigenvectors."""
    w, v = ng.linalg.eig(a)
    return ng.matmul(v * ng.exp(w)[..., None, :], ng.linalg.inv(v))


def complement(a: Any) -> Any:
    """Return the triangular factor of QR, and the projector on the complement of the columns."""
    q, r = ng.linalg.qr(a, "complete")
    rest = q[..., :, a.shape[-1] :]
    return r, ng.matmul(rest, adjoint(rest))


def as_in_scipy(a: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return SciPy's factors of an LU factorization, with the permutation as a real matrix."""
    p, *triangles = scipy.linalg.lu(a)
    return np.real(p).astype(np.finfo(a.dtype).dtype), *triangles


def riccati(solve: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that solves a Riccati equation, for matrices of any kind.

    Matrices that the equation needs Hermitian are made so first.
    """
    return lambda a, b, q, r: solve(a, b, hermitian(q), hermitian(r))


def complex_expm(a: np.ndarray) -> np.ndarray:
    return scipy.linalg.expm(a).astype(np.result_type(a, np.complex64))


def free(name: str, function: Callable[..., Any], *points: Point, **options: Any) -> Scenario:
    """Return a scenario whose gradients are not compared with numbers of another library."""
    return algebra(name, function, *points, **{"oracle": False, "tolerance": 4096, **options})


FACTORIZATIONS = (
    free("eigh", spaces, (SQUARE,), (STACK,)),
    free(
        "eigvalsh",
        lambda a: ng.linalg.eigvalsh(hermitian(a), "U"),
        (SQUARE,),
        (STACK,),
        reference=lambda a: np.linalg.eigvalsh((a + a.mT.conj()) / 2),
        operators=("hermitian_reduced", "eigvalsh"),
    ),
    free("hermitian_vectors", spaces_of_reduced, (SQUARE,), (STACK,)),
    free("hermitian_gradient", of_eigenvalues, (SQUARE,), (STACK,)),
    free("svd", lambda a: nearest(a, False), (TALL,), (WIDE,)),
    free("gradient_of_sizes", of_sizes, (TALL,), (WIDE,)),
    free("general_gradient", of_any_eigenvalues, (SQUARE,), (STACK,)),
    free("hermitian_slopes", slopes_of_eigenvalues, (SQUARE,), (STACK,)),
    free("slopes_of_sizes", slopes_of_sizes, (TALL,), (WIDE,)),
    free("general_slopes", slopes_of_any_eigenvalues, (SQUARE,), (STACK,)),
    free("svd-full", lambda a: nearest(a, True), (TALL,), (WIDE,), operators=()),
    free(
        "svdvals",
        ng.linalg.svdvals,
        (A23,),
        (STACK,),
        operators=("svd",),
        reference=lambda a: np.linalg.svd(a, compute_uv=False),
    ),
    free(
        "svdvals-alone",
        partial(registry["svdvals"], hermitian=False, caller="svdvals"),
        (A23,),
        (STACK,),
        operators=("svdvals",),
        reference=lambda a: np.linalg.svd(a, compute_uv=False),
    ),
    free("eig", exponential, (SQUARE,), (STACK,), reference=complex_expm),
    free(
        "qr",
        ng.linalg.qr,
        (TALL,),
        (WIDE,),
        (STACK,),
        reference=lambda a: tuple(np.linalg.qr(a)),
    ),
    free("qr-complete", complement, (TALL,), (WIDE,), operators=()),
    free("lu", ng.linalg.lu, (SQUARE,), (LONG,), (WIDE,), reference=as_in_scipy),
    free(
        "exchange_rows",
        lambda b: registry["exchange_rows"](np.array([2, 2, 2]), b, back=False),
        (RIGHT,),
        reference=lambda b: b[[2, 0, 1]],
        broadcast=True,
    ),
)

LEAST_SQUARES = (
    free("pinv", ng.linalg.pinv, (TALL,), (WIDE,), (STACK,), reference=np.linalg.pinv),
    free(
        "lstsq",
        lambda a, b: ng.linalg.lstsq(a, b)[0],
        (TALL, numbers((4, 2))),
        (WIDE, numbers(2)),
        reference=lambda a, b: np.linalg.lstsq(a, b)[0],
    ),
    free("cond", ng.linalg.cond, (TALL,), operators=(), reference=np.linalg.cond),
    free(
        "norm-nuc",
        lambda a: ng.linalg.norm(a, "nuc"),
        (TALL,),
        operators=(),
        reference=lambda a: np.linalg.norm(a, "nuc"),
    ),
)

MATRIX_FUNCTIONS = (
    free(
        "expm", ng.linalg.expm, (SQUARE / 4,), (STACK / 4,),
        operators=("expm", "expm_derivative"), reference=scipy.linalg.expm,
    ),
    free("logm", ng.linalg.logm, (definite_array(SQUARE),), operators=("logm", "logm_derivative")),
    free("sqrtm", ng.linalg.sqrtm, (definite_array(SQUARE),)),
    free(
        "solve_sylvester",
        ng.linalg.solve_sylvester,
        (definite_array(SQUARE), definite_array(numbers((2, 2))), RIGHT),
    ),
    free("polar", ng.linalg.polar, (SQUARE,), (TALL,)),
    free(
        "solve_continuous_are",
        riccati(ng.linalg.solve_continuous_are),
        (SQUARE / 4, definite_array(SQUARE)[:, 1:] / 4, np.eye(3), np.eye(2)),
    ),
    free(
        "solve_discrete_are",
        riccati(ng.linalg.solve_discrete_are),
        (SQUARE / 4, definite_array(SQUARE)[:, 1:] / 4, np.eye(3), np.eye(2)),
    ),
    free(
        "solve_banded",
        lambda ab, b: ng.linalg.solve_banded((2, 1), ab, b),
        (BAND, numbers((5, 2))),
        (BAND[0], numbers(5)),
        operators=("solve_banded",),
    ),
)  # fmt: skip

SCENARIOS = (*FACTORIZATIONS, *LEAST_SQUARES, *MATRIX_FUNCTIONS)
