"""What SciPy's matrices, such as ``csr_matrix``, become beside a tensor: ``*`` is their product."""

from typing import Any

from ...containers import registered_classes
from .array import SparseArray, of_scipy
from .containers import flatten, unflatten_as


class SparseMatrix(SparseArray):
    """A sparse array of numgrad whose ``*`` and ``**`` mean what they do for SciPy's `csr_matrix`.

    Operations of a `scipy.sparse.csr_matrix` ``A`` with a tensor ``s`` without axes, such as
    ``s * A`` and ``A / s``, return such an array, and so do sums with it. So if a program goes on
    with ``B * x``, the result is the product of matrices that is meant there.

    Examples
    --------
    >>> import numgrad as ng
    >>> from scipy import sparse
    >>> s = ng.tensor(2.0, requires_grad=True)
    >>> B = sparse.eye(2) - s * sparse.csr_matrix([[0.0, 1.0], [0.0, 0.0]])
    >>> (B * [1.0, 10.0]).tolist()
    [-19.0, 10.0]
    >>> type(B).__name__
    'SparseMatrix'
    """

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        """Return the product with a matrix or a vector, or the elementwise one with a number."""
        other = self._operand(other)
        return self @ other if getattr(other, "ndim", 0) else self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        other = self._operand(other)
        return other @ self if getattr(other, "ndim", 0) else self.multiply(other)

    def __pow__(self, n: Any) -> Any:
        """Return the product of ``n`` factors, each of them this matrix."""
        if not isinstance(n, int) or n < 1:
            raise ValueError(f"a power of a sparse matrix has a positive integer as exponent, got "
                             f"{n}; A.power(n) has the powers of the elements")  # fmt: skip
        result: Any = self
        for _ in range(n - 1):
            result = result @ self
        return result


def matrix_of_scipy(matrix: Any) -> SparseMatrix:
    """Return a `csr_matrix` or the like as a `SparseMatrix`, whose numbers are constants."""
    found = of_scipy(matrix)
    return SparseMatrix(found.data, found.structure)


registered_classes.register_own(SparseMatrix, flatten, unflatten_as(SparseMatrix))
