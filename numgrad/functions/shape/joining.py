"""Joining tensors, and splitting them into views."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...engine.record.options import Steps
from ...operators.elementwise.cast import cast
from ...operators.shape import indexing as _indexing
from ...operators.shape import joining as _joining
from ..array.argument_checks import integer, sequence
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor, as_tensors, truncated, whole
from ..array.results import delivered
from .reshaping import atleast_1d, atleast_2d, atleast_3d, expand_dims, ravel


def _same_dtype(xs: Any, name: str) -> list[Tensor]:
    """Return the arguments as tensors of the dtype that NumPy promotes them to."""
    tensors = as_tensors(*sequence(xs, "xs"))
    if not tensors:
        raise ValueError(f"{name}: at least one tensor is needed")
    dtype = np.result_type(*(x.dtype for x in tensors))
    return [cast(x, dtype) for x in tensors]


def concat(
    xs: Sequence[ArrayLike],
    axis: int | None = 0,
    out: Tensor | None = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Tensor:
    """Join tensors along an axis that they have.

    Parameters
    ----------
    xs : sequence of array_like
        Of equal shape but for the size along ``axis``; dtypes are promoted.
    axis : int, optional
        ``None`` flattens all of them first.
    out : Tensor, optional
        Where the result is written.
    dtype : dtype, optional
        Of the result; ``casting`` says which conversions it may need.

    Raises
    ------
    ValueError
        If the shapes do not match.

    Notes
    -----
    Each argument's gradient is its piece of the result's.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.concat([ng.tensor([1.0, 2.0]), [3.0]])
    tensor([1., 2., 3.])
    """
    y = _joined.call(xs if dtype is None else _converted(xs, dtype, casting, "concat"), axis)
    return y if out is None else delivered(y, out, "concat")


def _converted(xs: Any, dtype: Any, casting: Any, name: str) -> list[Tensor]:
    tensors = as_tensors(*sequence(xs, "xs"))
    for x in tensors:
        if not np.can_cast(x.dtype, dtype, casting):
            raise TypeError(f"{name}: {x.dtype} cannot become {np.dtype(dtype)} by {casting!r}")
    return [x.astype(dtype, copy=False) for x in tensors]


def _concat(xs: Any, axis: int | None) -> Tensor:
    tensors = _same_dtype(xs, "concat")
    if axis is None:
        tensors, axis = [ravel(x) for x in tensors], 0
    ((joined, static),) = _concat_steps(tensors, integer(axis, "axis"))
    return joined(*tensors, **static)


def _concat_steps(tensors: Sequence[Tensor], axis: int | None) -> Any:
    if type(axis) is not int or not _are_alike(tensors):
        return ()
    ndim = tensors[0].ndim
    if not ndim:
        raise ValueError("concat: 0-d tensors cannot be joined along an axis; use stack")
    axis = normalize_axis_index(axis, ndim) - ndim
    shapes = [x.shape for x in tensors]
    if len({(*s[:axis], len(s), *s[len(s) + axis + 1 :]) for s in shapes}) > 1:
        raise ValueError(
            f"concat: shapes {', '.join(map(str, shapes))} must agree but for axis {axis + ndim}"
        )
    return [(_joining.concat, {"axis": axis})]


_joined = Steps(_concat_steps, _concat, arrays="items")
concatenate = concat


def stack(
    arrays: Sequence[ArrayLike],
    axis: int = 0,
    out: Tensor | None = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Tensor:
    """Join tensors of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Dtypes are promoted.
    axis : int
        Where the new axis is in the result.
    out, dtype, casting
        As in `concat`.

    Raises
    ------
    ValueError
        If the shapes differ.

    Notes
    -----
    Each argument's gradient is its slice of the result's.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.stack([ng.tensor([1.0, 2.0]), [3.0, 4.0]], axis=1)
    tensor([[1., 3.],
            [2., 4.]])
    """
    if dtype is not None:
        arrays = _converted(arrays, dtype, casting, "stack")
    y = _stacked.call(arrays, axis)
    return y if out is None else delivered(y, out, "stack")


def _stack(xs: Any, axis: int) -> Tensor:
    tensors = _same_dtype(xs, "stack")
    ((stacked, static),) = _stack_steps(tensors, integer(axis, "axis"))
    return stacked(*tensors, **static)


def _stack_steps(tensors: Sequence[Tensor], axis: int) -> Any:
    if type(axis) is not int or not _are_alike(tensors):
        return ()
    shapes = {x.shape for x in tensors}
    if len(shapes) > 1:
        raise ValueError(
            f"stack: all tensors must have one shape, got {', '.join(map(str, shapes))}"
        )
    ndim = tensors[0].ndim + 1
    return [(_joining.stack, {"axis": normalize_axis_index(axis, ndim) - ndim})]


_stacked = Steps(_stack_steps, _stack, arrays="items")


def _are_alike(tensors: Any) -> bool:
    """Whether ``tensors`` is a sequence of tensors of one dtype, and not a tensor with rows."""
    if isinstance(tensors, Tensor):
        return False
    return all(isinstance(x, Tensor) and x.dtype == tensors[0].dtype for x in tensors)


def vstack(
    tup: Sequence[ArrayLike], *, dtype: Any = None, casting: Any = "same_kind"
) -> Tensor:
    """Join tensors as rows, along the first of two axes at least; see `concat`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.vstack([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    rows = [atleast_2d(x) for x in as_tensors(*sequence(tup, "tup"))]
    return concat(rows, axis=0, dtype=dtype, casting=casting)


def hstack(
    tup: Sequence[ArrayLike], *, dtype: Any = None, casting: Any = "same_kind"
) -> Tensor:
    """Join tensors along the second axis, vectors along the only one; see `concat`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.hstack([[1.0, 2.0], [3.0]])
    tensor([1., 2., 3.])
    """
    tensors = [atleast_1d(x) for x in as_tensors(*sequence(tup, "tup"))]
    axis = 0 if tensors and tensors[0].ndim == 1 else 1
    return concat(tensors, axis=axis, dtype=dtype, casting=casting)


def dstack(tup: Sequence[ArrayLike]) -> Tensor:
    """Join tensors along the third axis; see `concat`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.dstack([[1.0, 2.0], [3.0, 4.0]]).shape
    (1, 2, 2)
    """
    return concat([atleast_3d(x) for x in as_tensors(*sequence(tup, "tup"))], axis=2)


def column_stack(tup: Sequence[ArrayLike]) -> Tensor:
    """Join vectors, and matrices, as columns; see `concat`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.column_stack([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 3.],
            [2., 4.]])
    """
    tensors = as_tensors(*sequence(tup, "tup"))
    columns = [expand_dims(atleast_1d(x), 1) if x.ndim < 2 else x for x in tensors]
    return concat(columns, axis=1)


# Splitting ----------------------------------------------------------------------------------------


def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Split into views along an axis.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        The number of equal parts, or the positions to cut at.
    axis : int

    Raises
    ------
    ValueError
        If there is no such number of equal parts.

    Notes
    -----
    The gradient of ``ary`` is zero but where a part has one.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.split(ng.tensor([1.0, 2.0, 3.0]), [1])
    [tensor([1.]), tensor([2., 3.])]
    """
    return list(_equal_parts(ary, indices_or_sections, axis))


@composed
def _equal_parts(ary: ArrayLike, indices_or_sections: Any, axis: int) -> tuple[Tensor, ...]:
    ary = as_tensor(ary)
    size = ary.shape[normalize_axis_index(axis, ary.ndim)]
    guarded(indices_or_sections)
    if np.ndim(indices_or_sections) == 0 and size % truncated(indices_or_sections):
        raise ValueError(
            f"split: {size} elements do not make {indices_or_sections} equal parts; use array_split"
        )
    return _cut(ary, indices_or_sections, axis)


def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Split into views along an axis; the first parts are longer by one where they cannot be equal.

    Parameters as in `split`, whose gradients are these.

    Examples
    --------
    >>> import numgrad as ng
    >>> [part.shape for part in ng.array_split(ng.tensor([1.0, 2.0, 3.0]), 2)]
    [(2,), (1,)]
    """
    return list(_parts(ary, indices_or_sections, axis))


def _cut(ary: ArrayLike, indices_or_sections: Any, axis: int) -> tuple[Tensor, ...]:
    """Return the parts of a tensor; see `array_split`."""
    ary = as_tensor(ary)
    axis = normalize_axis_index(axis, ary.ndim)
    size = ary.shape[axis]
    guarded(indices_or_sections)
    if np.ndim(indices_or_sections):
        bounds = [0, *(whole(n) for n in indices_or_sections), size]
    else:
        sections = truncated(indices_or_sections)
        if sections <= 0:
            raise ValueError(f"the number of parts must be positive, got {sections}")
        each, longer = divmod(size, sections)
        bounds = [n * each + min(n, longer) for n in range(sections + 1)]
    after = ((None,),) * (ary.ndim - axis - 1)
    slices = [slice(a, b).indices(size) for a, b in itertools.pairwise(bounds)]
    keys = [((a, max(a, b), 1), *after) for a, b, _ in slices]
    return tuple([_indexing.index(ary, key=key) for key in keys])


_parts = composed(_cut)


@composed
def unstack(x: ArrayLike, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the slices along an axis, without it, as views.

    Parameters
    ----------
    x : array_like
    axis : int

    Notes
    -----
    The gradient of ``x`` is zero but where a slice has one.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.unstack(ng.tensor([[1.0, 2.0], [3.0, 4.0]]))
    (tensor([1., 2.]), tensor([3., 4.]))
    """
    x = as_tensor(x)
    axis = normalize_axis_index(axis, x.ndim)
    after = ((None,),) * (x.ndim - axis - 1)
    part = _indexing.index if x.ndim > 1 else _indexing.element  # which is no view, as in NumPy
    return tuple(part(x, key=(n, *after)) for n in range(x.shape[axis]))
