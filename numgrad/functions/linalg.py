"""Linear algebra: products, contractions, systems and norms; one file for each kind."""

from .._tensor import ArrayLike, Tensor
from .banded import solve_banded as solve_banded
from .banded import solveh_banded as solveh_banded
from .contraction import einsum as einsum
from .contraction import tensordot as tensordot
from .diagonals import diagonal as diagonal
from .least_squares import cond as cond
from .least_squares import lstsq as lstsq
from .least_squares import matrix_rank as matrix_rank
from .least_squares import pinv as pinv
from .least_squares import qr as qr
from .matrix_functions import expm as expm
from .matrix_functions import logm as logm
from .matrix_functions import solve_continuous_lyapunov as solve_continuous_lyapunov
from .matrix_functions import solve_sylvester as solve_sylvester
from .matrix_functions import sqrtm as sqrtm
from .matrix_functions import tensorinv as tensorinv
from .matrix_functions import tensorsolve as tensorsolve
from .norms import matrix_norm as matrix_norm
from .norms import norm as norm
from .norms import vector_norm as vector_norm
from .products import cross as cross
from .products import dot as dot
from .products import inner as inner
from .products import kron as kron
from .products import matmul as matmul
from .products import matrix_power as matrix_power
from .products import matvec as matvec
from .products import multi_dot as multi_dot
from .products import outer as outer
from .products import vdot as vdot
from .products import vecdot as vecdot
from .products import vecmat as vecmat
from .reduction import sum as _sum
from .reshaping import matrix_transpose as matrix_transpose
from .special_matrices import block_diag as block_diag
from .special_matrices import circulant as circulant
from .special_matrices import hankel as hankel
from .special_matrices import solve_circulant as solve_circulant
from .special_matrices import solve_toeplitz as solve_toeplitz
from .special_matrices import toeplitz as toeplitz
from .spectral import eig as eig
from .spectral import eigh as eigh
from .spectral import eigvals as eigvals
from .spectral import eigvalsh as eigvalsh
from .spectral import svd as svd
from .spectral import svdvals as svdvals
from .systems import cholesky as cholesky
from .systems import det as det
from .systems import inv as inv
from .systems import slogdet as slogdet
from .systems import solve as solve
from .triangles import cho_factor as cho_factor
from .triangles import cho_solve as cho_solve
from .triangles import lu as lu
from .triangles import lu_factor as lu_factor
from .triangles import lu_solve as lu_solve
from .triangles import solve_triangular as solve_triangular
from .tridiagonal import eigh_tridiagonal as eigh_tridiagonal
from .tridiagonal import eigvalsh_tridiagonal as eigvalsh_tridiagonal


def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: object = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the sum of a diagonal of two axes.

    Parameters
    ----------
    a : array_like
    offset : int
        Positive above the main diagonal, negative below.
    axis1, axis2 : int
        Rows and columns.
    dtype : dtype, optional
        Of the elements before they are summed.
    out : Tensor, optional
        Where to write the result.

    Notes
    -----
    The gradient is the cotangent on the diagonal, and zero elsewhere.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ng.grad(ng.trace(x), x)[0]
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)
