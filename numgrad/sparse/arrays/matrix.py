"""What SciPy's sparse matrices of the old kind become beside a tensor: ``*`` is their product."""

from typing import Any

from ...containers import registered_classes
from .array import SparseArray, of_scipy
from .containers import flatten, unflatten_as


class SparseMatrix(SparseArray):
    """A sparse array of numgrad that answers to ``*`` and ``**`` as `scipy.sparse.csr_matrix` does.

    Of a matrix ``A`` of SciPy's old kind and a tensor ``s`` without axes, ``s * A``, ``A / s`` and
    ``A + B`` are such matrices, so that a program which goes on with ``B * x`` has the product of
    matrices that it means.

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
        """Return the product of matrices, or with a number."""
        other = self._operand(other)
        return self @ other if getattr(other, "ndim", 0) else self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        other = self._operand(other)
        return other @ self if getattr(other, "ndim", 0) else self.multiply(other)

    def __pow__(self, n: Any) -> Any:
        """Return the product of the matrix with itself, so many factors."""
        if not isinstance(n, int) or n < 1:
            raise ValueError(f"a power of a sparse matrix has a positive integer as exponent, got "
                             f"{n}; A.power(n) has the powers of the elements")  # fmt: skip
        result: Any = self
        for _ in range(n - 1):
            result = result @ self
        return result


def matrix_of_scipy(matrix: Any) -> SparseMatrix:
    """Return a sparse matrix of SciPy of the old kind; its numbers are constants."""
    found = of_scipy(matrix)
    return SparseMatrix(found.data, found.structure)


registered_classes.register_own(SparseMatrix, flatten, unflatten_as(SparseMatrix))
