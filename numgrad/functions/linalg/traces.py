"""Linear algebra: the trace; products, contractions, systems and norms have files of their own."""

from ..._tensor import ArrayLike, Tensor
from ..reduction.reduction import sum as _sum
from ..shape.diagonals import diagonal


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
