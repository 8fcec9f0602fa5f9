"""Linear algebra under the names of ``numpy.linalg``, ``scipy.linalg`` and the Array API."""

from numpy.linalg import LinAlgError as LinAlgError

from ._numpy_names import _names_of
from ._tensor import ArrayLike, Tensor
from .functions import linalg as _linalg
from .functions.linalg import block_diag as block_diag
from .functions.linalg import cho_factor as cho_factor
from .functions.linalg import cho_solve as cho_solve
from .functions.linalg import cholesky as cholesky
from .functions.linalg import circulant as circulant
from .functions.linalg import cond as cond
from .functions.linalg import cross as cross
from .functions.linalg import det as det
from .functions.linalg import eig as eig
from .functions.linalg import eigh as eigh
from .functions.linalg import eigh_tridiagonal as eigh_tridiagonal
from .functions.linalg import eigvals as eigvals
from .functions.linalg import eigvalsh as eigvalsh
from .functions.linalg import eigvalsh_tridiagonal as eigvalsh_tridiagonal
from .functions.linalg import expm as expm
from .functions.linalg import hankel as hankel
from .functions.linalg import inv as inv
from .functions.linalg import logm as logm
from .functions.linalg import lstsq as lstsq
from .functions.linalg import lu as lu
from .functions.linalg import lu_factor as lu_factor
from .functions.linalg import lu_solve as lu_solve
from .functions.linalg import matmul as matmul
from .functions.linalg import matrix_norm as matrix_norm
from .functions.linalg import matrix_power as matrix_power
from .functions.linalg import matrix_rank as matrix_rank
from .functions.linalg import matrix_transpose as matrix_transpose
from .functions.linalg import multi_dot as multi_dot
from .functions.linalg import norm as norm
from .functions.linalg import pinv as pinv
from .functions.linalg import qr as qr
from .functions.linalg import slogdet as slogdet
from .functions.linalg import solve as solve
from .functions.linalg import solve_banded as solve_banded
from .functions.linalg import solve_circulant as solve_circulant
from .functions.linalg import solve_continuous_lyapunov as solve_continuous_lyapunov
from .functions.linalg import solve_sylvester as solve_sylvester
from .functions.linalg import solve_toeplitz as solve_toeplitz
from .functions.linalg import solve_triangular as solve_triangular
from .functions.linalg import solveh_banded as solveh_banded
from .functions.linalg import sqrtm as sqrtm
from .functions.linalg import svd as svd
from .functions.linalg import svdvals as svdvals
from .functions.linalg import tensordot as tensordot
from .functions.linalg import tensorinv as tensorinv
from .functions.linalg import tensorsolve as tensorsolve
from .functions.linalg import toeplitz as toeplitz
from .functions.linalg import vecdot as vecdot
from .functions.linalg import vector_norm as vector_norm
from .functions.operands import as_tensor as _as_tensor


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Tensor:
    """Return a diagonal of the matrices in the last two axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.diagonal([[1.0, 2.0], [3.0, 4.0]], offset=1)
    tensor([2.])
    """
    return _linalg.diagonal(x, offset, -2, -1)


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
    return _linalg.outer(x1, x2)


__getattr__ = _names_of("scipy.linalg", __name__)
