"""Linear algebra under the names of ``numpy.linalg``, ``scipy.linalg`` and the Array API."""

from numpy.linalg import LinAlgError as LinAlgError

from ._numpy_names import _names_of
from ._tensor import ArrayLike, Tensor
from .functions import diagonals as _diagonals
from .functions import linalg as _linalg
from .functions import products as _products
from .functions.banded import solve_banded as solve_banded
from .functions.banded import solveh_banded as solveh_banded
from .functions.contraction import tensordot as tensordot
from .functions.least_squares import cond as cond
from .functions.least_squares import lstsq as lstsq
from .functions.least_squares import matrix_rank as matrix_rank
from .functions.least_squares import pinv as pinv
from .functions.least_squares import qr as qr
from .functions.lyapunov import solve_discrete_lyapunov as solve_discrete_lyapunov
from .functions.matrix_functions import expm as expm
from .functions.matrix_functions import logm as logm
from .functions.matrix_functions import solve_continuous_lyapunov as solve_continuous_lyapunov
from .functions.matrix_functions import solve_sylvester as solve_sylvester
from .functions.matrix_functions import sqrtm as sqrtm
from .functions.matrix_functions import tensorinv as tensorinv
from .functions.matrix_functions import tensorsolve as tensorsolve
from .functions.norms import matrix_norm as matrix_norm
from .functions.norms import norm as norm
from .functions.norms import vector_norm as vector_norm
from .functions.operands import as_tensor as _as_tensor
from .functions.products import cross as cross
from .functions.products import matmul as matmul
from .functions.products import matrix_power as matrix_power
from .functions.products import multi_dot as multi_dot
from .functions.products import vecdot as vecdot
from .functions.reshaping import matrix_transpose as matrix_transpose
from .functions.special_matrices import block_diag as block_diag
from .functions.special_matrices import circulant as circulant
from .functions.special_matrices import hankel as hankel
from .functions.special_matrices import solve_circulant as solve_circulant
from .functions.special_matrices import solve_toeplitz as solve_toeplitz
from .functions.special_matrices import toeplitz as toeplitz
from .functions.spectral import eig as eig
from .functions.spectral import eigh as eigh
from .functions.spectral import eigvals as eigvals
from .functions.spectral import eigvalsh as eigvalsh
from .functions.spectral import svd as svd
from .functions.spectral import svdvals as svdvals
from .functions.systems import cholesky as cholesky
from .functions.systems import det as det
from .functions.systems import inv as inv
from .functions.systems import slogdet as slogdet
from .functions.systems import solve as solve
from .functions.triangles import cho_factor as cho_factor
from .functions.triangles import cho_solve as cho_solve
from .functions.triangles import lu as lu
from .functions.triangles import lu_factor as lu_factor
from .functions.triangles import lu_solve as lu_solve
from .functions.triangles import solve_triangular as solve_triangular
from .functions.tridiagonal import eigh_tridiagonal as eigh_tridiagonal
from .functions.tridiagonal import eigvalsh_tridiagonal as eigvalsh_tridiagonal


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
    "eigvalsh_tridiagonal", "expm", "hankel", "inv", "logm", "lstsq", "lu", "lu_factor",
    "lu_solve", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "solve_banded",
    "solve_circulant", "solve_continuous_lyapunov", "solve_discrete_lyapunov", "solve_sylvester",
    "solve_toeplitz", "solve_triangular", "solveh_banded", "sqrtm", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "toeplitz", "trace", "vecdot", "vector_norm",
]  # fmt: skip

__getattr__ = _names_of("scipy.linalg", __name__)


def __dir__() -> list[str]:
    return __all__
