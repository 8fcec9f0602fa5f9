"""Triangular systems, and systems with factors that are known: Cholesky's and those of `lu`."""

from typing import Any, NamedTuple, Unpack

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.elementwise.arithmetic import where
from ...operators.linalg import elimination as _elimination
from ...operators.linalg import factorization as _factorization
from ...operators.linalg.matmul import matmul
from ...operators.shape.reshape import expand_dims, squeeze
from ..array.argument_checks import pair, unwanted
from ..array.operands import as_tensors
from ..elementwise.complex_parts import conj
from ..reduction.reduction import argmax
from ..shape.diagonals import tril
from .scipy_options import Hints, require_hints
from .systems import cholesky_factor, floating_matrices


class LUResult(NamedTuple):
    """A permutation, a lower triangle with ones on the diagonal, and an upper triangle."""

    P: Tensor
    L: Tensor
    U: Tensor


_OPERATIONS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """Solve ``a x = b`` with triangular matrices.

    Parameters
    ----------
    a : array_like
        Square matrices, of which one triangle is read.
    b : array_like
        A vector if it has one axis, else matrices.
    trans : {0, 1, 2, "N", "T", "C"}
        Whether to solve with ``a`` as it is, transposed, or transposed and conjugated.
    lower : bool
        Which triangle is read.
    unit_diagonal : bool
        Whether the diagonal counts as ones and is not read.
    overwrite_b, check_finite
        For SciPy's sake: nothing is overwritten or checked.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a number on the diagonal is 0, or a matrix is not square.

    Notes
    -----
    The gradients are those of `solve`; that of ``a`` is a triangle too.

    Examples
    --------
    >>> import numgrad as ng
    >>> b = ng.tensor([2.0, 4.0], requires_grad=True)
    >>> x = ng.linalg.solve_triangular([[2.0, 0.0], [4.0, 8.0]], b, lower=True)
    >>> ng.grad(x.sum(), b)[0]
    tensor([0.25 , 0.125])
    """
    if trans not in _OPERATIONS:
        raise ValueError(f"solve_triangular: trans={trans!r} is none of 0, 1, 2, 'N', 'T' and 'C'")
    a, b = as_tensors(a, b)
    operation = _OPERATIONS[trans]
    if operation == 1 and a.dtype.kind == "c":  # the adjoint of the conjugate
        a = conj(a)
    lower, unit = bool(guarded(lower)), bool(guarded(unit_diagonal))
    return _solved(a, b, "solve_triangular", lower, operation > 0, unit)


def _solved(
    a: ArrayLike, b: ArrayLike, caller: str, lower: bool, transposed: bool, unit: bool = False
) -> Tensor:
    a, b = as_tensors(a, b)
    a, vector = floating_matrices(a, caller), b.ndim == 1
    b = expand_dims(b, axes=(-1,)) if vector else b
    if b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"{caller}: shapes {a.shape} and {b.shape} do not fit")
    if unit:
        n = a.shape[-1]
        a = where(np.eye(n, dtype=bool), np.ones((), a.dtype), a)
    x = _factorization.solve_triangular(a, b, lower=lower, adjoint=transposed, caller=caller)
    return squeeze(x, axes=(-1,)) if vector else x


def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """Return a Cholesky factor, and whether it is the lower one, for `cho_solve`.

    The other triangle holds zeros. Parameters as in `cholesky` and `solve_triangular`.

    Examples
    --------
    >>> import numgrad as ng
    >>> factor = ng.linalg.cho_factor([[4.0, 2.0], [2.0, 5.0]])
    >>> ng.linalg.cho_solve(factor, [8.0, 4.0])
    tensor([2., 0.])
    """
    lower = bool(guarded(lower))
    return cholesky_factor(a, not lower, "cho_factor"), lower


def cho_solve(
    c_and_lower: tuple[ArrayLike, bool],
    b: ArrayLike,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """Solve ``a x = b``, given the Cholesky factor of ``a`` and whether it is the lower one.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.cho_solve(([[2.0, 0.0], [1.0, 2.0]], True), [8.0, 4.0])
    tensor([2., 0.])
    """
    c, lower = pair(c_and_lower, "c_and_lower", "the factor and whether it is the lower one")
    if not isinstance(c_and_lower, (tuple, list)):
        raise ValueError(unwanted("c_and_lower", "a pair, the factor and a boolean", c_and_lower))
    lower = bool(guarded(lower))
    first = _solved(c, b, "cho_solve", lower, not lower)
    return _solved(c, first, "cho_solve", lower, lower)


def lu(
    a: ArrayLike, permute_l: bool = False, *, p_indices: bool = False, **hints: Unpack[Hints]
) -> Any:
    """Return the factors of ``a = P @ L @ U``.

    Parameters
    ----------
    a : array_like
        Matrices of any shape in the last two axes.
    permute_l : bool
        Whether to return ``P @ L`` and ``U``.
    p_indices : bool
        Whether ``P`` is a vector of places, so that ``a = L[P] @ U``.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Raises
    ------
    numpy.linalg.LinAlgError
        For gradients, if the first rows or columns are linearly dependent.

    Notes
    -----
    ``P``, by which rows are exchanged, is constant. For a square matrix the gradient is
    :math:`P L^{-H} (\\mathrm{tril}(L^H G_L, -1) + \\mathrm{triu}(G_U U^H)) U^{-H}`.

    Examples
    --------
    >>> import numgrad as ng
    >>> P, L, U = ng.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> U
    tensor([[4., 4.],
            [0., 1.]])
    """
    if hints:
        require_hints(hints, "lu")
    result = LUResult(*_elimination.lu(floating_matrices(a, "lu", square=False), caller="lu"))
    if guarded(permute_l):
        return matmul(result.P, result.L), result.U
    return result._replace(P=argmax(result.P, axis=-1)) if guarded(p_indices) else result


def lu_factor(
    a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, Tensor]:
    """Return both triangles of `lu` as one square matrix, and pivots, for `lu_solve`.

    Examples
    --------
    >>> import numgrad as ng
    >>> factors = ng.linalg.lu_factor([[1.0, 2.0], [4.0, 4.0]])
    >>> ng.linalg.lu_solve(factors, [3.0, 8.0])
    tensor([1., 1.])
    """
    a = floating_matrices(a, "lu_factor")
    _, pivots = _factorization.lu_factor(a.detach())
    _, lower, upper = _elimination.lu(a, caller="lu_factor")
    return tril(lower, -1) + upper, pivots - 1


def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """Solve ``a x = b``, given what `lu_factor` has returned for ``a``.

    Parameters
    ----------
    lu_and_piv : pair of array_like
    b : array_like
        A vector if it has one axis, else matrices.
    trans : {0, 1, 2}
        Whether to solve with ``a`` as it is, transposed, or transposed and conjugated.
    overwrite_b, check_finite
        For SciPy's sake: nothing is overwritten or checked.

    Raises
    ------
    ValueError
        If there is no pair, or for another ``trans``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.lu_solve(([[2.0, 1.0], [0.5, 4.0]], [0, 1]), [3.0, 5.5])
    tensor([1., 1.])
    """
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans={trans!r} is none of 0, 1 and 2")
    if not isinstance(lu_and_piv, (tuple, list)) or len(lu_and_piv) != 2:
        got = type(lu_and_piv).__name__
        raise ValueError(f"lu_solve needs the pair that lu_factor returns first, got {got}")
    factors, b = as_tensors(lu_and_piv[0], b)
    factors = conj(factors) if trans == 1 else factors
    b, vector = (expand_dims(b, axes=(-1,)), True) if b.ndim == 1 else (b, False)
    steps = [(True, True), (False, False)]  # whether it is lower, and its diagonal ones
    x = b if trans else _elimination.exchange_rows(lu_and_piv[1], b, back=False)
    for lower, unit in reversed(steps) if trans else steps:
        x = _solved(factors, x, "lu_solve", lower, trans > 0, unit)
    x = _elimination.exchange_rows(lu_and_piv[1], x, back=True) if trans else x
    return squeeze(x, axes=(-1,)) if vector else x
