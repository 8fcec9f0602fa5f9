"""Products of sparse matrices with tensors, as a function."""

from typing import Any

from ..._tensor import ArrayLike, Tensor
from ...functions.array.operands import as_tensor
from ...functions.products import sparse
from .array import SparseArray


def matmul(a: Any, b: Any, /, *, data: ArrayLike | None = None) -> Tensor | SparseArray:
    """Return the product of a sparse array and a tensor, on either side: ``a @ b``.

    Parameters
    ----------
    a, b : sparse array and array_like, or the other way round
        A `SparseArray`, or one of SciPy's. The tensor is a vector, or has matrices in its last two
        axes. Of two sparse arrays, one of which is a `SparseArray`, the product is sparse.
    data : array_like, optional
        Numbers to take in place of those that the sparse array stores: in the shape of its
        ``data``, with the axes of a batch in front. For a format other than csr, csc, bsr, coo and
        dia, they replace the numbers of ``.tocsr()``.

    Raises
    ------
    TypeError
        Unless exactly one of `a` and `b` is sparse, or one is a `SparseArray`.
    ValueError
        If the sizes do not fit.

    Notes
    -----
    For :math:`C = A B` with cotangent :math:`G` the gradient of :math:`B` is :math:`A^H G`, and
    that of a stored element :math:`\\sum_k G_{ik} \\bar B_{jk}`. Gradients of elements that are not
    stored are never computed. Arrays in the formats csr and csc are read as they are; those of
    other formats are converted first.

    Examples
    --------
    >>> import numgrad as ng
    >>> from scipy.sparse import csr_array
    >>> S = csr_array([[1.0, 0.0], [2.0, 3.0]])
    >>> x, data = (ng.tensor(v, requires_grad=True) for v in ([1.0, 10.0], S.data))
    >>> ng.grad(ng.sparse.matmul(S, x, data=data).sum(), [x, data])
    (tensor([3., 3.]), tensor([ 1.,  1., 10.]))
    """
    own = a if isinstance(a, SparseArray) else b
    if not isinstance(own, SparseArray):
        return sparse.matmul(a, b, data=data)
    if data is None:
        return a @ b
    other = b if own is a else a
    if isinstance(other, SparseArray) or sparse.is_sparse(other):
        raise TypeError("sparse.matmul: data= is for the product with a tensor; write "
                        "A.with_data(data) @ B")  # fmt: skip
    return own.product_with(as_tensor(data), other, own is a)
