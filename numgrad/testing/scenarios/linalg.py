"""Scenarios of matrix products, factorizations, systems, determinants and norms."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

import numgrad as ng

from ..._declare import registry
from ...operators.factorization import solve_triangular
from ...operators.matmul import adjoint
from .scenario import ALL, REAL, Point, Scenario, numbers
from .spectra import (
    hermitian,
    of_any_eigenvalues,
    of_eigenvalues,
    of_sizes,
    slopes_of_any_eigenvalues,
    slopes_of_eigenvalues,
    slopes_of_sizes,
)

A23, A34 = numbers((2, 3)), numbers((3, 4), phase=0.2)
SQUARE, SIX = numbers((3, 3)) + 3 * np.eye(3), numbers((5, 5)) + 5 * np.eye(5)
STACK = numbers((2, 3, 3)) + 3 * np.eye(3)
RIGHT = numbers((3, 2), phase=0.4)
TRIANGLE = np.tril(SQUARE)


def algebra(name: str, function: Callable[..., Any], *points: Point, **options: Any) -> Scenario:
    """Return a scenario whose bits depend on BLAS or LAPACK."""
    settings: dict[str, Any] = {
        "operators": (name,),
        "dtypes": ALL,
        "exact": False,
        "half": False,
        "broadcast": False,
        "tolerance": 256,
        **options,
    }
    return Scenario(name=name, function=function, points=points, **settings)


def definite(a: Any) -> Any:
    """Return a positive definite matrix made of any tensor."""
    return ng.matmul(a, adjoint(a)) + 2 * np.eye(a.shape[-1], dtype=a.dtype)


def definite_array(a: np.ndarray) -> np.ndarray:
    """Return what `definite` does, of an array."""
    return a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(a.shape[-1], dtype=a.dtype)


def triangular(a: Any, b: Any) -> Any:
    """Solve a lower triangular system."""
    return solve_triangular(a, b, lower=True, adjoint=False)


PRODUCTS = (
    algebra(
        "matmul",
        ng.matmul,
        (A23, A34),
        (numbers((2, 2, 3)), A34),
        (numbers((0, 3)), A34),
        reference=np.matmul,
        broadcast=True,
    ),
    algebra(
        "matmul-real",
        ng.matmul,
        (A23, A34),
        (numbers((3, 2, 3)), numbers((3, 3, 4))),
        (numbers((5, 20)), numbers((20, 19), phase=0.1)),
        operators=(),
        dtypes=REAL,
        oracle=False,
        exact=True,  # products of real matrices are no library's
        reference=np.matmul,
    ),
    algebra(
        "matmul-vector",
        ng.matmul,
        (A23, numbers(3)),
        (numbers(3), numbers(3, phase=0.1)),
        operators=(),
        reference=np.matmul,
    ),
    algebra(
        "matmul-outer",
        ng.matmul,
        (numbers((2, 1)), numbers((1, 3))),
        operators=(),
        reference=np.matmul,
    ),
    algebra("dot", ng.dot, (numbers((2, 2, 3)), A34), operators=(), reference=np.dot, oracle=False),
    algebra(
        "vecdot", ng.vecdot, (A23, numbers((2, 3), phase=0.5)), operators=(), reference=np.vecdot
    ),
    algebra("outer", ng.outer, (numbers(2), numbers(3)), operators=(), reference=np.outer),
    algebra("kron", ng.kron, (A23, numbers((2, 2))), operators=(), reference=np.kron),
    algebra(
        "cross",
        ng.cross,
        (A23, numbers((2, 3), phase=0.5)),
        operators=(),
        reference=np.cross,
        oracle=False,
    ),
    algebra(
        "tensordot",
        lambda a, b: ng.tensordot(a, b, 1),
        (numbers((2, 2, 3)), A34),
        operators=(),
        reference=lambda a, b: np.tensordot(a, b, 1),
    ),
    algebra(
        "einsum",
        lambda a, b: ng.einsum("bij,jk->ibk", a, b),
        (numbers((2, 2, 3)), A34),
        operators=(),
        reference=lambda a, b: np.einsum("bij,jk->ibk", a, b),
    ),
    algebra("trace", ng.trace, (SQUARE,), operators=(), reference=np.trace),
)

SYSTEMS = (
    algebra(
        "solve",
        ng.linalg.solve,
        (SQUARE, RIGHT),
        (STACK, RIGHT),
        (SQUARE, numbers(3)),
        operators=("lu_factor", "lu_solve"),
        reference=np.linalg.solve,
    ),
    algebra("inv", ng.linalg.inv, (SQUARE,), (STACK,), operators=(), reference=np.linalg.inv),
    algebra(
        "solve_triangular",
        triangular,
        (TRIANGLE, RIGHT),
        reference=lambda a, b: np.linalg.solve(np.tril(a), b),
    ),
    algebra(
        "cholesky",
        lambda a: ng.linalg.cholesky(definite(a)),
        (SQUARE,),
        (STACK,),
        reference=lambda a: np.linalg.cholesky(definite_array(a)),
        broadcast=True,
    ),
)


def cofactors(a: np.ndarray) -> np.ndarray:
    """Return the derivative of the determinant of a regular matrix."""
    return np.linalg.det(a)[..., None, None] * np.linalg.inv(a).mT


SINGULAR = (np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),)
RANK_ONE = (np.outer(numbers(3), numbers(3, phase=0.3)),)

DETERMINANTS = (
    algebra(
        "det",
        ng.linalg.det,
        (SQUARE,),
        (STACK,),
        (SIX,),
        (np.array([[2.0]]),),
        (np.array([[1.0, 3.0], [2.0, 1.0]]),),
        operators=("det", "cofactor", "mixed_cofactor"),
        reference=np.linalg.det,
        special=(SINGULAR, RANK_ONE),
    ),
    algebra(
        "slogdet",
        lambda a: tuple(ng.linalg.slogdet(a)),
        (SQUARE,),
        (STACK,),
        reference=lambda a: tuple(np.linalg.slogdet(a)),
    ),
    algebra(
        "cofactor",
        registry["cofactor"],
        (SQUARE,),
        (np.array([[1.0, 3.0], [2.0, 1.0]]),),
        oracle=False,
        exact=True,
        broadcast=True,
        reference=cofactors,
    ),
    algebra(
        "mixed_cofactor",
        registry["mixed_cofactor"],
        (SQUARE, numbers((3, 3), phase=0.7)),
        oracle=False,
        exact=True,
        broadcast=True,
        reference=lambda a, b: cofactors(a + b) - cofactors(a) - cofactors(b),
    ),
)

NORMS = (
    algebra(
        "norm",
        ng.linalg.norm,
        (A23,),
        (numbers(3),),
        operators=(),
        reference=np.linalg.norm,
        special=((np.zeros(3),), (np.array([3.0, 4.0]),)),
    ),
    algebra(
        "norm-1",
        lambda x: ng.linalg.norm(x, 1),
        (numbers(3),),
        operators=(),
        dtypes=REAL,
        reference=lambda x: np.linalg.norm(x, 1),
    ),
    algebra(
        "norm-3",
        lambda x: ng.linalg.vector_norm(x, ord=3),
        (numbers(3),),
        operators=(),
        dtypes=REAL,
        reference=lambda x: np.linalg.vector_norm(x, ord=3),
    ),
)


# Factorizations of which signs, phases or bases are free: functions that do not depend on them ----


def spaces(a: Any) -> Any:
    """Return a function of the eigenvalues and the projector on two eigenvectors."""
    w, v = ng.linalg.eigh(hermitian(a))
    return ng.sin(w), ng.matmul(v[..., :2], adjoint(v[..., :2]))


def nearest(a: Any, full_matrices: bool) -> Any:
    """Return a function of the singular values, the matrix of rank 2, and what no vector spans."""
    u, s, vh = ng.linalg.svd(a, full_matrices)
    u2, v2, rest = u[..., :2], vh[..., :2, :], adjoint(vh)[..., :, 2:]
    return ng.sin(s), ng.matmul(u2 * s[..., None, :2], v2), ng.matmul(rest, adjoint(rest))


def exponential(a: Any) -> Any:
    """Return the exponential function of a matrix that has all its eigenvectors."""
    w, v = ng.linalg.eig(a)
    return ng.matmul(v * ng.exp(w)[..., None, :], ng.linalg.inv(v))


def complement(a: Any) -> Any:
    """Return the triangle and the projector on what the columns do not span."""
    q, r = ng.linalg.qr(a, "complete")
    rest = q[..., :, a.shape[-1] :]
    return r, ng.matmul(rest, adjoint(rest))


def as_in_scipy(a: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the factors of elimination; the permutation is real here."""
    p, *triangles = scipy.linalg.lu(a)
    return np.real(p).astype(np.finfo(a.dtype).dtype), *triangles


def complex_expm(a: np.ndarray) -> np.ndarray:
    return scipy.linalg.expm(a).astype(np.result_type(a, np.complex64))


WIDE, TALL = numbers((2, 4), phase=0.1), numbers((4, 3), phase=0.6)
LONG = numbers((4, 3), phase=0.7)  # no two candidates for a pivot are equal
BAND = numbers((2, 4, 5), phase=0.3) + np.array([[0.0], [6.0], [0.0], [0.0]])


def free(name: str, function: Callable[..., Any], *points: Point, **options: Any) -> Scenario:
    """Return a scenario that no other library has stored numbers of."""
    return algebra(name, function, *points, **{"oracle": False, "tolerance": 4096, **options})


FACTORIZATIONS = (
    free("eigh", spaces, (SQUARE,), (STACK,)),
    free(
        "eigvalsh",
        lambda a: ng.linalg.eigvalsh(hermitian(a), "U"),
        (SQUARE,),
        (STACK,),
        reference=lambda a: np.linalg.eigvalsh((a + a.mT.conj()) / 2),
    ),
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
    free(
        "solve_banded",
        lambda ab, b: ng.linalg.solve_banded((2, 1), ab, b),
        (BAND, numbers((5, 2))),
        (BAND[0], numbers(5)),
        operators=("solve_banded",),
    ),
)  # fmt: skip

SCENARIOS = (
    *PRODUCTS, *SYSTEMS, *DETERMINANTS, *NORMS, *FACTORIZATIONS, *LEAST_SQUARES, *MATRIX_FUNCTIONS,
)  # fmt: skip
