"""Factorizations and the systems that they solve.

The LU factorization of a matrix is computed once, for all operators that use it and for their
derivatives. The factorization has no derivative of its own: an operator that reads it also takes
the matrix, and is differentiated with respect to the matrix. So in a batched pass the factorization
is computed once, and not for each row.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._declare import KernelOperator, constant
from ..._declare.operands import as_values
from ..._errors import MatrixError
from ...ir.kernel_spec import LibrarySpec
from ..elementwise.arithmetic import add, multiply, negative
from .matmul import MANY, SMALL, adjoint, matmul, matrices


class NamesCaller(KernelOperator):
    """An operator on matrices whose errors name the function that the user called.

    That is the static parameter ``caller``; without it errors name the operator. ``reason`` says
    what is wrong with the matrix.
    """

    reason = ""

    def error(self, where: str, caller: str = "") -> Exception:
        return MatrixError(f"{caller or self.name}: {self.reason}{where}")

    def failure(
        self, target: Any, spec: Any, inputs: Sequence[np.ndarray], status: int, static: Any
    ) -> Exception:
        return self.error("", static.get("caller", ""))

    def reports(self, spec: Any, static: dict[str, Any]) -> dict[str, Any]:
        return {"error": partial(self.error, caller=static.get("caller", ""))}


class Factorization(NamesCaller):
    """An operator on matrices whose kernel is a routine of LAPACK.

    Parameters
    ----------
    signature : str
        The signature of the operator.
    name : str
        The name of the operator, and of the target's kernel around the routine.
    unread : int
        How many of the first inputs the kernel does not get: only the derivative needs these.
    reason : str
        What is wrong with a matrix for which the kernel fails.
    """

    def __init__(
        self, signature: str, name: str, unread: int = 0, reason: str = "", **options: Any
    ):
        may_raise = bool(reason)
        super().__init__(
            _no_function, signature, name=name, may_raise=may_raise, uses_blas=True, **options
        )
        self.unread = unread
        self.reason = reason

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Return the operands, the matrices among them in one floating dtype.

        Pivots, which are vectors, stay integers.
        """
        values = as_values(args)
        are_matrices = [rank == 2 for rank in self.ncore]
        matrices = [v for v, is_matrix in zip(values, are_matrices, strict=False) if is_matrix]
        dtype = np.result_type(*[v.dtype for v in matrices])
        if dtype.kind in "biu":
            dtype = np.dtype(np.float64)
        dtype = np.dtype(np.float32) if dtype == np.float16 else dtype
        return self.align(
            [
                v if v.dtype == dtype or not is_matrix else v.astype(dtype)
                for v, is_matrix in zip(values, are_matrices, strict=False)
            ]
        )

    def kernel(
        self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]
    ) -> tuple[Any, Sequence[np.ndarray]]:
        options = {name: value for name, value in static.items() if name != "caller"}
        return LibrarySpec(self.name, dtypes[-1], **options), ()

    def operands(self, contiguous: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
        """Return the operands that the kernel reads, all but the last made contiguous."""
        *first, last = inputs[self.unread :]
        return [*[contiguous(x) for x in first], last]

    def for_operands(self, spec: LibrarySpec, operands: Sequence[Any]) -> LibrarySpec:
        """Return the spec of a kernel for their sizes where there are many small matrices."""
        matrix, last = operands[0], operands[-1]
        n, k = matrix.shape[-1], last.shape[-1]
        is_small = 0 < n * n * max(n, k) <= SMALL and k > 0
        if not is_small or spec.dtype.kind != "f" or matrices(matrix) < MANY:
            return spec
        return replace(spec, core=(n, k) if len(operands) > 1 else (n,))


def _no_function(*args: Any) -> None:
    """Stand for the core function of an operator that has none, as its kernel is a library's."""


# LU ---------------------------------------------------------------------------------------------

lu_factor = Factorization(
    "(n,n)->(n,n),(n)", "lu_factor", results=(None, np.int32), differentiable=False
)
lu_solve = Factorization(
    "(n,n),(n,n),(n),(n,k)->(n,k)", "lu_solve", unread=1, reason="singular matrix"
)


lu_solve.reads(lambda needs: (True, True, True, False, needs[0]))


@lu_solve.pullback
def lu_solve_pullback(context, g):
    a, lu, pivots = (context.input(n) for n in range(3))
    transposed = context.static["adjoint"]
    gb = lu_solve(a, lu, pivots, g, **(context.static | {"adjoint": not transposed}))
    ga = _to_matrix(gb, context.output(), transposed) if context.wanted[0] else None
    return ga, None, None, gb


def _to_matrix(gb: Any, x: Any, transposed: bool) -> Any:
    """Return the cotangent of ``A`` in ``A x = b``, from the cotangent ``gb`` of ``b``.

    If ``transposed``, the system is ``A^H x = b``.
    """
    return negative(matmul(x, adjoint(gb)) if transposed else matmul(gb, adjoint(x)))


# Triangles
# ------------------------------------------------------------------------------------------------

solve_triangular = Factorization("(n,n),(n,k)->(n,k)", "solve_triangular", reason="singular matrix")


solve_triangular.reads(lambda needs: (True, False, needs[0]))


@solve_triangular.pullback
def solve_triangular_pullback(context, g):
    a, lower, transposed = context.input(0), context.static["lower"], context.static["adjoint"]
    gb = solve_triangular(a, g, lower=lower, adjoint=not transposed)
    if not context.wanted[0]:
        return None, gb
    ga = _to_matrix(gb, context.output(), transposed)
    ones = np.ones(a.shape[-2:], a.dtype)
    return multiply(ga, constant(np.tril(ones) if lower else np.triu(ones))), gb


# Cholesky
# -------------------------------------------------------------------------------------------------

cholesky = Factorization("(n,n)->(n,n)", "cholesky", reason="the matrix is not positive definite")


cholesky.reads(lambda needs: (False, True))


@cholesky.pullback
def cholesky_pullback(context, g):
    """Return the Hermitian part of ``L^-H P L^-1``.

    ``P`` is the lower triangle of ``L^H g`` with half of its diagonal.
    """
    factor = context.output()
    half = np.tril(np.ones(factor.shape[-2:])) - 0.5 * np.eye(factor.shape[-1])
    product = multiply(matmul(adjoint(factor), g), constant(half.astype(factor.dtype)))
    right = solve_triangular(factor, adjoint(product), lower=True, adjoint=True)
    result = solve_triangular(factor, adjoint(right), lower=True, adjoint=True)
    return multiply(add(result, adjoint(result)), constant(np.array(0.5, factor.dtype)))
