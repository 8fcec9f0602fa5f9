"""Norms of vectors and matrices."""

from functools import partial
from typing import Any, Unpack

import numpy as np

from ..._declare.operands import Selection
from ..._declare.partial import conjugate
from ..._tensor import ArrayLike, Tensor
from ...engine.capture.capture import refuse
from ...engine.record.composition import composed
from ...engine.record.options import Steps
from ...ir.dtypes import FLOATING
from ...operators.elementwise.arithmetic import absolute, multiply, subtract
from ...operators.elementwise.comparison import less_equal, logical_or, not_equal
from ...operators.elementwise.complex_parts import real
from ...operators.elementwise.kinks import creased
from ...operators.elementwise.powers import kinked_power, power, root_of_sum, square
from ...operators.reduction.reductions import max as max_
from ...operators.reduction.reductions import min as min_
from ...operators.reduction.reductions import sum as sum_
from ...operators.shape.indexing import index
from ...operators.shape.reshape import expand_dims, permute_dims, squeeze
from ..array.axes import Axis, kept, negative_axes, own_array
from ..array.operands import as_scalar, as_tensor
from ..array.results import present
from .scipy_options import Hints, require_hints
from .spectral import singular_values


def _floating(x: ArrayLike) -> Tensor:
    x = as_tensor(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def norm(
    x: ArrayLike,
    ord: Any = None,
    axis: Axis = None,
    keepdims: bool = False,
    **hints: Unpack[Hints],
) -> Tensor:
    """Return a norm of vectors or matrices.

    Parameters
    ----------
    x : array_like
        One vector or matrix unless ``axis`` is given.
    ord : {None, number, inf, -inf, "fro", "nuc"}
        Of a vector: the power ``p`` (2 by default), the largest or smallest size, or 0 for the
        number of elements that are not 0. Of a matrix: "fro" (the default), the largest or smallest
        sum of sizes in a column (1, -1) or row (inf, -inf), the largest, smallest or sum of the
        singular values (2, -2, "nuc").
    axis : int or pair of int, optional
        One axis is that of vectors, two are those of matrices. By default all axes: as a vector if
        ``ord`` is None.
    keepdims : bool
        Whether the axes stay, with size 1.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Raises
    ------
    ValueError
        For an ``ord`` or a number of axes for which no norm is defined.
    numpy.linalg.LinAlgError
        If no singular values are found.

    Notes
    -----
    The gradient of the 2-norm of vectors is :math:`x / \\|x\\|`, and 0 at 0, where second
    derivatives do not exist and are NaN. That of norms by singular values is that of `svdvals`,
    where equal largest or smallest ones share.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([3.0, 4.0], requires_grad=True)
    >>> ng.grad(ng.linalg.norm(x), x)[0]
    tensor([0.6, 0.8])
    """
    if hints:
        require_hints(hints, "norm")
    if isinstance(x, Selection):
        return x.reduced(partial(_norm_where, ord), axis, keepdims)
    return own_array(as_scalar(_norms.call(x, ord, axis, keepdims)), keepdims)


@composed
def _norm(x: ArrayLike, ord: Any, axis: Axis, keepdims: bool) -> Tensor:
    x = _floating(x)
    if axis is None and ord is None:
        return _vector_norm(x, 2, negative_axes(None, x.ndim), keepdims)
    axes = negative_axes(axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes, keepdims)
    if len(axes) == 2:
        order = axes if axis is None else tuple(a % x.ndim - x.ndim for a in axis)  # type: ignore[union-attr]
        return _matrix_norm(x, "fro" if ord is None else ord, order, keepdims)
    raise ValueError(f"norm: ord={ord!r} is for one or two axes, not {len(axes)}")


def _norm_where(ord: Any, x: Tensor, axis: Axis, keepdims: bool, where: Any = True) -> Tensor:
    """Return norms of those elements that count, as vectors."""
    p = 2 if ord is None else ord
    if not isinstance(p, (int, float)) or not p > 0:
        refuse(f"norm: ord={ord!r} is not for the elements that a mask selects, as p > 0 is")
    x = x if where is True else present(x, where, 0, "norm")
    return _vector_norm(_floating(x), p, negative_axes(axis, x.ndim), keepdims)


def _norm_steps(x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """Return what the root of the sum of squares comes to."""
    if ord is not None or type(x) is not Tensor or x.dtype not in FLOATING or x.dtype.kind != "f":
        return ()
    axes = negative_axes(axis, x.ndim)
    steps = [(square, {}), (sum_, {"axes": axes}), (root_of_sum, {})]
    return [*steps, (expand_dims, {"axes": axes})] if kept(keepdims) and axes else steps


_norms = Steps(_norm_steps, _norm)


@composed
def vector_norm(
    x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """Return the norm of vectors that take up any axes; parameters as in `norm`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.vector_norm([[3.0, 4.0], [0.0, 0.0]], axis=1)
    tensor([5., 0.])
    """
    x = _floating(x)
    return as_scalar(_vector_norm(x, ord, negative_axes(axis, x.ndim), keepdims))


@composed
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Return the norm of matrices in the last two axes; parameters as in `norm`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.matrix_norm([[3.0, 4.0], [0.0, 0.0]], ord=1)
    tensor(4.)
    """
    x = _floating(x)
    if x.ndim < 2:
        raise np.exceptions.AxisError(f"matrix_norm needs two axes at least, got shape {x.shape}")
    return as_scalar(_matrix_norm(x, ord, (-2, -1), keepdims))


def _vector_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if isinstance(ord, Tensor):
        ord = float(ord)  # whose error says what to write where the number is known only later
    if not isinstance(ord, (int, float, np.number)):
        raise ValueError(f"norm: ord={ord!r} is no norm of vectors")
    if ord == np.inf:
        result = _largest(absolute(x), axes)
    elif ord == -np.inf:
        result = min_(absolute(x), axes=axes)
    elif ord == 0:
        result = sum_(not_equal(x, 0).astype(real(x).dtype, copy=False), axes=axes)
    elif ord == 1:
        result = sum_(absolute(x), axes=axes)
    elif ord == 2:
        squares = square(x) if x.dtype.kind == "f" else real(multiply(x, conjugate(x)))
        result = root_of_sum(sum_(squares, axes=axes))
    else:
        powers = (power if ord > 1 else kinked_power)(absolute(x), float(ord))
        result = (kinked_power if ord > 0 else power)(sum_(powers, axes=axes), 1 / float(ord))
    return expand_dims(result, axes=axes) if kept(keepdims) and axes else result


def _largest(sizes: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the largest sizes, 0 of none."""
    return (max_ if all(sizes.shape[axis] for axis in axes) else sum_)(sizes, axes=axes)


def _matrix_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    rows, columns = axes
    if rows == columns:
        raise ValueError("norm: duplicate axes given")
    if ord in ("fro", "f"):
        return _vector_norm(x, 2, tuple(sorted(axes)), keepdims)
    if (isinstance(ord, str) and ord != "nuc") or ord not in ("nuc", 1, -1, 2, -2, np.inf, -np.inf):
        raise ValueError(f"norm: ord={ord!r} is no norm of matrices")
    if ord in ("nuc", 2, -2):
        others = [axis for axis in range(-x.ndim, 0) if axis not in axes]
        sizes = singular_values(permute_dims(x, axes=(*others, *axes)), "norm")
        result = _of_sizes(sizes, ord, max(x.shape[rows], x.shape[columns]))
        return expand_dims(result, axes=tuple(sorted(axes))) if kept(keepdims) else result
    summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = sum_(absolute(x), axes=(summed,))
    sums = expand_dims(sums, axes=(summed,))
    result = _largest(sums, (compared,)) if ord > 0 else min_(sums, axes=(compared,))
    result = expand_dims(result, axes=(compared,))
    return result if kept(keepdims) else squeeze(result, axes=tuple(sorted(axes)))


def _of_sizes(sizes: Tensor, ord: Any, most: int) -> Tensor:
    """Return a norm of singular values, which are sorted. It has creases where they are 0, and the
    largest and the smallest where another is as large, up to rounding."""
    if not sizes.shape[-1]:  # of none the smallest is refused, in NumPy's words
        return (min_ if ord == -2 else sum_)(sizes, axes=(-1,))
    largest = expand_dims(index(sizes, key=(0,)), axes=(-1,))
    limit = multiply(largest, most * np.finfo(sizes.dtype).eps)
    if ord == "nuc":
        return sum_(creased(less_equal(sizes, limit), sizes), axes=(-1,))
    result = (max_ if ord == 2 else min_)(sizes, axes=(-1,))
    return creased(_is_creased(sizes, squeeze(limit, axes=(-1,)), ord == 2), result)


def _is_creased(sizes: Tensor, limit: Tensor, is_largest: bool) -> Any:
    place, beside = (0, 1) if is_largest else (-1, -2)
    end = index(sizes, key=(place,))
    vanishes = less_equal(end, limit)
    if sizes.shape[-1] == 1:
        return vanishes
    distance = absolute(subtract(index(sizes, key=(beside,)), end))
    return logical_or(vanishes, less_equal(distance, limit))


def extreme_sizes(sizes: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Return the norms 2 and -2 of singular values: the largest and the smallest one, whose slopes
    equal ones share."""
    return _of_sizes(sizes, 2, most), _of_sizes(sizes, -2, most)
