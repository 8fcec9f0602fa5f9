"""Linear algebra under the names of ``numpy.linalg``, ``scipy.linalg`` and the Array API."""

from numpy.linalg import LinAlgError as LinAlgError

from ._tensor import ArrayLike, Tensor
from .functions.array.operands import as_tensor as _as_tensor
from .functions.linalg import traces as _linalg
from .functions.linalg.banded import solve_banded as solve_banded
from .functions.linalg.banded import solveh_banded as solveh_banded
from .functions.linalg.least_squares import cond as cond
from .functions.linalg.least_squares import lstsq as lstsq
from .functions.linalg.least_squares import matrix_rank as matrix_rank
from .functions.linalg.least_squares import pinv as pinv
from .functions.linalg.least_squares import qr as qr
from .functions.linalg.matrix_equations import solve_continuous_are as solve_continuous_are
from .functions.linalg.matrix_equations import solve_discrete_are as solve_discrete_are
from .functions.linalg.matrix_equations import (
    solve_discrete_lyapunov as solve_discrete_lyapunov,
)
from .functions.linalg.matrix_functions import expm as expm
from .functions.linalg.matrix_functions import logm as logm
from .functions.linalg.matrix_functions import (
    solve_continuous_lyapunov as solve_continuous_lyapunov,
)
from .functions.linalg.matrix_functions import solve_sylvester as solve_sylvester
from .functions.linalg.matrix_functions import sqrtm as sqrtm
from .functions.linalg.matrix_functions import tensorinv as tensorinv
from .functions.linalg.matrix_functions import tensorsolve as tensorsolve
from .functions.linalg.norms import matrix_norm as matrix_norm
from .functions.linalg.norms import norm as norm
from .functions.linalg.norms import vector_norm as vector_norm
from .functions.linalg.powers import fractional_matrix_power as fractional_matrix_power
from .functions.linalg.powers import null_space as null_space
from .functions.linalg.powers import orth as orth
from .functions.linalg.powers import polar as polar
from .functions.linalg.special_matrices import block_diag as block_diag
from .functions.linalg.special_matrices import circulant as circulant
from .functions.linalg.special_matrices import hankel as hankel
from .functions.linalg.special_matrices import solve_circulant as solve_circulant
from .functions.linalg.special_matrices import solve_toeplitz as solve_toeplitz
from .functions.linalg.special_matrices import toeplitz as toeplitz
from .functions.linalg.spectral import eig as eig
from .functions.linalg.spectral import eigh as eigh
from .functions.linalg.spectral import eigvals as eigvals
from .functions.linalg.spectral import eigvalsh as eigvalsh
from .functions.linalg.spectral import svd as svd
from .functions.linalg.spectral import svdvals as svdvals
from .functions.linalg.systems import cholesky as cholesky
from .functions.linalg.systems import det as det
from .functions.linalg.systems import inv as inv
from .functions.linalg.systems import slogdet as slogdet
from .functions.linalg.systems import solve as solve
from .functions.linalg.triangular import cho_factor as cho_factor
from .functions.linalg.triangular import cho_solve as cho_solve
from .functions.linalg.triangular import lu as lu
from .functions.linalg.triangular import lu_factor as lu_factor
from .functions.linalg.triangular import lu_solve as lu_solve
from .functions.linalg.triangular import solve_triangular as solve_triangular
from .functions.linalg.tridiagonal import eigh_tridiagonal as eigh_tridiagonal
from .functions.linalg.tridiagonal import eigvalsh_tridiagonal as eigvalsh_tridiagonal
from .functions.products import products as _products
from .functions.products.contraction import tensordot as tensordot
from .functions.products.products import cross as cross
from .functions.products.products import matmul as matmul
from .functions.products.products import matrix_power as matrix_power
from .functions.products.products import multi_dot as multi_dot
from .functions.products.products import vecdot as vecdot
from .functions.shape import diagonals as _diagonals
from .functions.shape.reshaping import matrix_transpose as matrix_transpose
from .names.numpy_names import _names_of


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Tensor:
    """Return a diagonal of the matrices in the last two axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.diagonal([[1.0, 2.0], [3.0, 4.0]], offset=1)
    tensor([2.])
    """
    return _diagonals.diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: object = None) -> Tensor:
    """Return the sum of a diagonal of the matrices in the last two axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.trace([[1.0, 2.0], [3.0, 4.0]])
    tensor(5.)
    """
    return _linalg.trace(x, offset, -2, -1, dtype)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the outer product of two vectors.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.outer([1.0, 2.0], [1.0, 10.0])
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    x1, x2 = _as_tensor(x1), _as_tensor(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"linalg.outer needs two vectors, got shapes {x1.shape} and {x2.shape}")
    return _products.outer(x1, x2)

__all__ = [
    "LinAlgError", "block_diag", "cho_factor", "cho_solve", "cholesky", "circulant", "cond",
    "cross", "det", "diagonal", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh",
    "eigvalsh_tridiagonal", "expm", "fractional_matrix_power", "hankel", "inv", "logm", "lstsq",
    "lu", "lu_factor", "lu_solve", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "multi_dot", "norm", "null_space", "orth", "outer", "pinv", "polar",
    "qr", "slogdet", "solve", "solve_banded", "solve_circulant", "solve_continuous_are",
    "solve_continuous_lyapunov", "solve_discrete_are", "solve_discrete_lyapunov",
    "solve_sylvester", "solve_toeplitz", "solve_triangular", "solveh_banded", "sqrtm", "svd",
    "svdvals", "tensordot", "tensorinv", "tensorsolve", "toeplitz", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip

__getattr__ = _names_of("scipy.linalg", __name__)


def __dir__() -> list[str]:
    return __all__
