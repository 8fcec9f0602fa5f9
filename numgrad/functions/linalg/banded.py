"""Systems with banded matrices."""


import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.linalg.banded import adjoint_band, banded_solution
from ...operators.shape.indexing import index
from ...operators.shape.joining import concat
from ...operators.shape.reshape import expand_dims, squeeze
from ..array.argument_checks import integers, pair
from ..array.operands import as_tensors


def solve_banded(
    l_and_u: tuple[int, int],
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """Solve ``a x = b`` with matrices that have few diagonals, a tridiagonal one for example.

    Parameters
    ----------
    l_and_u : pair of int
        How many diagonals there are below and above the main one.
    ab : array_like
        Element ``(i, j)`` of the matrix is ``ab[..., u + i - j, j]``.
    b : array_like
        A vector if it has one axis, else matrices.
    overwrite_ab, overwrite_b, check_finite
        For SciPy's sake: nothing is overwritten or checked.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular.
    ValueError
        If the shapes do not fit.

    Notes
    -----
    The gradients are those of `solve`, that of the matrix on its diagonals. Time and memory are
    those of the elimination, in proportion to the size.

    Examples
    --------
    >>> import numgrad as ng
    >>> b = ng.tensor([1.0, 0.0, 0.0], requires_grad=True)
    >>> ab = [[0.0, -1.0, -1.0], [2.0, 2.0, 2.0], [-1.0, -1.0, 0.0]]
    >>> ng.linalg.solve_banded((1, 1), ab, b)
    tensor([0.75, 0.5 , 0.25], grad_fn=<squeeze>)
    """
    below, above = pair(integers(l_and_u, "l_and_u"), "l_and_u", "the numbers of diagonals")
    ab, b = _fitting(ab, b, "solve_banded")
    if below < 0 or above < 0 or ab.shape[-2] != below + above + 1:
        raise ValueError(
            f"solve_banded: {(below, above)} diagonals below and above are not those of {ab.shape}"
        )
    return _solved(ab, below, b, "solve_banded")


def solveh_banded(
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """Solve ``a x = b`` with Hermitian matrices, of which half the diagonals are given.

    Parameters
    ----------
    ab : array_like
        The main diagonal and those above it, which come first; for ``lower`` and those below it.
    b : array_like
        A vector if it has one axis, else matrices.
    lower : bool
        Which half is given.
    overwrite_ab, overwrite_b, check_finite
        For SciPy's sake: nothing is overwritten or checked.

    Notes
    -----
    It is `solve_banded` with both halves, so a matrix need not be positive definite. The gradient
    of a diagonal is the sum of those of its two places.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.solveh_banded([[0.0, -1.0, -1.0], [2.0, 2.0, 2.0]], [1.0, 0.0, 0.0])
    tensor([0.75, 0.5 , 0.25])
    """
    ab, b = _fitting(ab, b, "solveh_banded")
    width = ab.shape[-2] - 1
    if guarded(lower):
        other = index(adjoint_band(ab, width), key=((0, width, None), (None,)))
        return _solved(concat(other, ab, axis=-2), width, b, "solveh_banded")
    other = index(adjoint_band(ab, 0), key=((1, None, None), (None,)))
    return _solved(concat(ab, other, axis=-2), width, b, "solveh_banded")


def _fitting(ab: ArrayLike, b: ArrayLike, caller: str) -> list[Tensor]:
    ab, b = as_tensors(ab, b)
    rows = b.shape[-1 if b.ndim == 1 else -2] if b.ndim else None
    if ab.ndim < 2 or rows != ab.shape[-1]:
        raise ValueError(f"{caller}: shapes {ab.shape} and {b.shape} do not fit")
    dtype = np.result_type(ab.dtype, b.dtype)
    dtype = np.float64 if dtype.kind not in "fc" else np.float32 if dtype == np.float16 else dtype
    return [ab.astype(dtype, copy=False), b.astype(dtype, copy=False)]


def _solved(ab: Tensor, below: int, b: Tensor, caller: str) -> Tensor:
    if b.ndim > 1:
        return banded_solution(ab, below, b, caller)
    return squeeze(banded_solution(ab, below, expand_dims(b, axes=(-1,)), caller), axes=(-1,))
