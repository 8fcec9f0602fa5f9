"""Linear algebra: the trace; products, contractions, systems and norms have files of their own."""

from typing import Any

from ..._tensor import ArrayLike, Tensor
from ...engine.record.options import Steps
from ...operators.reduction.reductions import sum as sum_along
from ..reduction.reduction import sum as _sum
from ..shape.diagonals import diagonal, diagonal_steps


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
    if type(a) is Tensor and dtype is None and out is None:
        return _traced.call(a, offset, axis1, axis2)
    return _sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


@Steps
def _traced(x: Tensor, offset: int, axis1: int, axis2: int) -> list[tuple[Any, dict[str, Any]]]:
    return [*diagonal_steps(x, offset, axis1, axis2), (sum_along, {"axes": (-1,)})]
