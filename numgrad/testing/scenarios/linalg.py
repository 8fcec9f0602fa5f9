"""Scenarios of matrix products, systems, determinants and norms."""

from collections.abc import Callable
from typing import Any

import numpy as np

import numgrad as ng

from ..._declare import registry
from ...operators.linalg.factorization import solve_triangular
from ...operators.linalg.matmul import adjoint
from .scenario import ALL, REAL, Point, Scenario, numbers

A23, A34 = numbers((2, 3)), numbers((3, 4), phase=0.2)
SQUARE, SIX = numbers((3, 3)) + 3 * np.eye(3), numbers((5, 5)) + 5 * np.eye(5)
STACK = numbers((2, 3, 3)) + 3 * np.eye(3)
RIGHT = numbers((3, 2), phase=0.4)
TRIANGLE = np.tril(SQUARE)


def algebra(name: str, function: Callable[..., Any], *points: Point, **options: Any) -> Scenario:
    """Return the scenario of a function whose bits depend on BLAS or LAPACK."""
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
    """Return a positive definite matrix, made from a square matrix of any kind."""
    return ng.matmul(a, adjoint(a)) + 2 * np.eye(a.shape[-1], dtype=a.dtype)


def definite_array(a: np.ndarray) -> np.ndarray:
    """Return the result of `definite`, computed by NumPy."""
    return a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(a.shape[-1], dtype=a.dtype)


def triangular(a: Any, b: Any) -> Any:
    """Return the solution of a lower triangular system."""
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
        exact=True,  # products of real matrices do not use BLAS
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

SCENARIOS = (*PRODUCTS, *SYSTEMS, *DETERMINANTS, *NORMS)
