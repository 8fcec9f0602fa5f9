"""Linear algebra: products, contractions, systems and norms; one file for each kind."""

from .._tensor import ArrayLike, Tensor
from .contraction import einsum as einsum
from .contraction import tensordot as tensordot
from .diagonals import diagonal as diagonal
from .norms import matrix_norm as matrix_norm
from .norms import norm as norm
from .norms import vector_norm as vector_norm
from .products import cross as cross
from .products import dot as dot
from .products import inner as inner
from .products import kron as kron
from .products import matmul as matmul
from .products import matrix_power as matrix_power
from .products import multi_dot as multi_dot
from .products import outer as outer
from .products import vdot as vdot
from .products import vecdot as vecdot
from .reduction import sum as _sum
from .reshaping import matrix_transpose as matrix_transpose
from .systems import cholesky as cholesky
from .systems import det as det
from .systems import inv as inv
from .systems import slogdet as slogdet
from .systems import solve as solve


def trace(
    x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: object = None
) -> Tensor:
    """Return the sum of a diagonal of two axes.

    Parameters
    ----------
    x : array_like
    offset : int
        Positive above the main diagonal, negative below.
    axis1, axis2 : int
        Rows and columns.
    dtype : dtype, optional
        Of the elements before they are summed.

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
    return _sum(diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype)
