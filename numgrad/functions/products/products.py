"""Products of matrices and vectors."""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from ..._declare.operands import Selection
from ..._declare.partial import conjugate
from ..._tensor import ArrayLike, Tensor, placed
from ...engine.record.composition import composed
from ...engine.record.options import Steps
from ...ir.dtypes import FLOATING
from ...operators.elementwise.arithmetic import multiply, subtract
from ...operators.elementwise.cast import cast
from ...operators.linalg import matmul as _matmul
from ...operators.reduction.reductions import sum as sum_
from ...operators.shape.reshape import expand_dims, reshape, squeeze
from ..array.argument_checks import integer, sequence
from ..array.axes import negative_axis
from ..array.operands import as_scalar, as_tensor, as_tensors
from ..array.results import delivered
from ..elementwise.universal import Options, with_options
from . import sparse
from .contraction import applied, plan_stacks, tensordot


def matmul(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the matrix product; leading axes broadcast.

    Parameters
    ----------
    x1, x2 : array_like
        A vector stands for one row on the left, for one column on the right.

    Raises
    ------
    ValueError
        For numbers, or if the sizes do not fit.

    Notes
    -----
    For :math:`C = A B` with cotangent :math:`G` the gradients are :math:`G B^H` and :math:`A^H G`.

    Examples
    --------
    >>> import numgrad as ng
    >>> A = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ng.grad(A @ [1.0, 10.0], A)[0]
    tensor([[ 1., 10.],
            [ 1., 10.]])
    """
    if into or options:
        return with_options(matmul, options, x1, x2, *into)
    return _product.call(x1, x2)


def _product_steps(x1: Any, x2: Any) -> Any:
    """Return what a product of matrices or vectors comes to."""
    if not (isinstance(x1, Tensor) and isinstance(x2, Tensor)):
        return ()
    if x1.ndim == x2.ndim == 2 and np.float16 not in (x1.dtype, x2.dtype):
        return [(_matmul.matmul, {})]
    if x1.ndim + x2.ndim == 3 and x1.ndim and x2.ndim:
        return _with_vector(x1, x2)
    are_stacks = max(x1.ndim, x2.ndim) > 2 and x1.ndim and x2.ndim
    if are_stacks and x1.dtype == x2.dtype and x1.dtype in FLOATING:
        paired = x1.shape[:-2] == x2.shape[:-2]
        return [(_matmul.matmul, {})] if paired else plan_stacks(x1, x2)
    return [(multiply, {}), (sum_, {"axes": (-1,)})] if _are_vectors(x1, x2) else ()


def _with_vector(x1: Tensor, x2: Tensor) -> Any:
    """Return what a product of a matrix and a vector comes to: one with a column, or a row."""
    if x1.dtype != x2.dtype or x1.dtype not in FLOATING:
        return ()
    vector, axes = (0, (-2,)) if x1.ndim == 1 else (1, (-1,))
    factors = (2, 1) if x1.ndim == 1 else (0, 2)
    return [
        (expand_dims, {"axes": axes}, (vector,)),
        (_matmul.matmul, {}, factors),
        (squeeze, {"axes": axes}, (3,)),
    ]


def _are_vectors(x1: Tensor, x2: Tensor) -> bool:
    """Whether the product is the sum of those of the elements: as a product of matrices, each
    addition would wait for the one before."""
    return x1.ndim == x2.ndim == 1 and x1.dtype == x2.dtype and x1.dtype in FLOATING


def _any_product(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    if isinstance(x1, Selection):
        return x1.product(x2)
    x1, x2 = as_tensors(x1, x2)
    if not x1.ndim or not x2.ndim:
        raise ValueError(
            f"matmul: a number is no matrix (shapes {x1.shape} and {x2.shape}); use multiply"
        )
    gone = tuple(axis for axis, x in ((-2, x1), (-1, x2)) if x.ndim == 1)
    a = expand_dims(x1, axes=(-2,)) if x1.ndim == 1 else x1
    b = expand_dims(x2, axes=(-1,)) if x2.ndim == 1 else x2
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"matmul: {a.shape[-1]} columns and {b.shape[-2]} rows do not fit "
            f"(shapes {x1.shape} and {x2.shape})"
        )
    if _are_vectors(x1, x2):
        return sum_(multiply(x1, x2), axes=(-1,))
    if a.shape[:-2] != b.shape[:-2]:
        return applied(plan_stacks(x1, x2), (x1, x2))
    result = _matmul.matmul(a, b)
    return squeeze(result, axes=gone) if gone else result


_product = Steps(_product_steps, _any_product, arrays="read")


def dot(a: ArrayLike, b: ArrayLike, out: Tensor | None = None) -> Tensor:
    """Sum the products over the last axis of ``a`` and the last but one of ``b``; a number
    multiplies.

    Parameters
    ----------
    a, b : array_like
        The last axis of ``a`` goes with the only axis of a vector ``b``.
    out : Tensor, optional
        Where to write the result.

    Notes
    -----
    The gradients are those of `matmul` and `tensordot`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.dot(x, x), x)[0]
    tensor([2., 4.])
    """
    return delivered(_dot(a, b), out, "dot")


def _dot(a: ArrayLike, b: ArrayLike) -> Tensor:
    if sparse.is_sparse(a) or sparse.is_sparse(b):
        return sparse.dot(a, b)
    if {getattr(x, "ndim", 0) for x in (a, b)} <= {1, 2}:
        return _product.call(a, b)
    a, b = as_tensors(a, b)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    return tensordot(a, b, (-1, -2 if b.ndim > 1 else -1))


@composed
def vdot(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return the product of two flattened arrays, the first one conjugated.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.vdot([1j, 2.0], [1j, 1.0])
    tensor(3.+0.j)
    """
    a, b = as_tensors(a, b)
    a, b = (reshape(x, ncore=x.ndim, shape=(x.size,)) for x in (a, b))
    return matmul(conjugate(a), b)


@composed
def inner(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Sum the products over the last axes of both; a number multiplies.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.inner([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    tensor([21., 43.])
    """
    a, b = as_tensors(a, b)
    return as_scalar(tensordot(a, b, (-1, -1))) if a.ndim and b.ndim else multiply(a, b)


@composed
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Tensor:
    """Return the products of vectors along ``axis``, the first one conjugated; other axes
    broadcast.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    tensor([21., 43.])
    """
    x1, x2 = as_tensors(x1, x2)
    axis = negative_axis(axis, min(x1.ndim, x2.ndim))
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: vectors of {x1.shape[axis]} and {x2.shape[axis]} elements")
    products = multiply(conjugate(x1), x2)
    return cast(sum_(products, axes=(axis,)), products.dtype)


@composed
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the products of matrices and vectors; other axes broadcast.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.matvec([[1.0, 2.0], [3.0, 4.0]], [[1.0, 10.0], [0.0, 1.0]])
    tensor([[21., 43.],
            [ 2.,  4.]])
    """
    x1, x2 = as_tensors(x1, x2)
    return squeeze(matmul(x1, expand_dims(x2, axes=(-1,))), axes=(-1,))


@composed
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the products of vectors, which are conjugated, and matrices; other axes broadcast.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.vecmat([1.0, 10.0], [[1.0, 2.0], [3.0, 4.0]])
    tensor([31., 42.])
    """
    x1, x2 = as_tensors(x1, x2)
    return squeeze(matmul(expand_dims(conjugate(x1), axes=(-2,)), x2), axes=(-2,))


@composed
def outer(a: ArrayLike, b: ArrayLike, out: Tensor | None = None) -> Tensor:
    """Return the products of each element of ``a`` with each of ``b``, both flattened; in ``out``
    if it is given.

    Notes
    -----
    For the cotangent :math:`G` the gradients are :math:`G \\bar b` and :math:`G^T \\bar a`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.outer([1.0, 2.0], [1.0, 10.0])
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    a, b = as_tensors(a, b)
    a = reshape(a, ncore=a.ndim, shape=(a.size, 1))
    y = multiply(a, reshape(b, ncore=b.ndim, shape=(1, b.size)))
    return delivered(y, out, "outer")


@composed
def kron(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return the Kronecker product: ``a`` with each element replaced by its product with ``b``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.kron([1.0, 10.0], [1.0, 2.0])
    tensor([ 1.,  2., 10., 20.])
    """
    a, b = as_tensors(a, b)
    ndim = max(a.ndim, b.ndim)
    first, second = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    wide = tuple(size for n in first for size in (n, 1))
    narrow = tuple(size for n in second for size in (1, n))
    a, b = reshape(a, ncore=a.ndim, shape=wide), reshape(b, ncore=b.ndim, shape=narrow)
    shape = tuple(m * n for m, n in zip(first, second, strict=True))
    return reshape(multiply(a, b), ncore=2 * ndim, shape=shape)


@composed
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Tensor:
    """Return the cross products of vectors of three elements along ``axis``.

    Raises
    ------
    ValueError
        If there are not three elements.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    tensor([0., 0., 1.])
    """
    from ..shape.rearranging import roll

    x1, x2 = as_tensors(x1, x2)
    sizes = {x.shape[negative_axis(axis, x.ndim)] for x in (x1, x2)}
    if sizes != {3}:
        raise ValueError(f"cross: vectors of {sorted(sizes)} elements, where three are needed")
    axis = negative_axis(axis, min(x1.ndim, x2.ndim)) if axis >= 0 else axis
    first = multiply(roll(x1, -1, axis), roll(x2, -2, axis))
    return subtract(first, multiply(roll(x1, -2, axis), roll(x2, -1, axis)))


@composed
def multi_dot(arrays: Sequence[ArrayLike]) -> Tensor:
    """Return the product of matrices in the cheapest order; the first and the last may be vectors.

    Raises
    ------
    ValueError
        For fewer than two.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.multi_dot([[1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]], [1.0, 0.0]])
    tensor(7.)
    """
    factors = as_tensors(*sequence(arrays, "arrays"))
    if len(factors) < 2:
        raise ValueError("multi_dot needs at least two matrices")
    for x in (factors[0], factors[-1]):
        if x.ndim not in (1, 2):
            raise ValueError(f"multi_dot: a vector or a matrix is needed, got shape {x.shape}")
    for x in factors[1:-1]:
        if x.ndim != 2:
            raise ValueError(
                f"multi_dot: a matrix is needed between the others, got shape {x.shape}"
            )
    sizes = [factors[0].shape[0] if factors[0].ndim == 2 else 1]
    sizes += [x.shape[0] for x in factors[1:]]
    sizes.append(factors[-1].shape[1] if factors[-1].ndim == 2 else 1)
    split = _best_splits(sizes)

    def product(first: int, last: int) -> Tensor:
        if first == last:
            return factors[first]
        middle = split[first, last]
        return matmul(product(first, middle), product(middle + 1, last))

    return product(0, len(factors) - 1)


def _best_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return where to cut each part of a chain (Cormen et al., section 15.2)."""
    count = len(sizes) - 1
    cost = dict.fromkeys(((n, n) for n in range(count)), 0)
    split = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            cost[first, last], split[first, last] = min(
                (
                    cost[first, cut]
                    + cost[cut + 1, last]
                    + sizes[first] * sizes[cut + 1] * sizes[last + 1],
                    cut,
                )
                for cut in range(first, last)
            )
    return split


@composed
def matrix_power(a: ArrayLike, n: int) -> Tensor:
    """Return the ``n``-th power of square matrices; a negative one is that of the inverse.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    from ..linalg.systems import inverse, require_square

    a, n = as_tensor(a), integer(n, "n")
    require_square(a, "matrix_power")
    if n == 0:
        identity = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
        return placed(identity.copy(), a.device)
    if n < 0:
        a, n = inverse(a, "matrix_power"), -n
    while n % 2 == 0:
        n, a = n // 2, matmul(a, a)
    result = a
    while n := n // 2:
        a = matmul(a, a)
        if n % 2:
            result = matmul(result, a)
    return result
