"""Repeating elements: broadcasting without a copy, and copies."""

from typing import Any

import numpy as np

from ..._declare import registry
from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...engine.record.options import Steps
from ...ir.broadcasting import broadcast_shapes
from ...operators.shape import reshape as _shape
from ..array.argument_checks import WordsOfNumpy
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor, as_tensors, whole
from ..creation.memory_order import in_order
from ..indexing.indexing import take
from .reshaping import Axis, ravel, reshape


def broadcast_to(array: ArrayLike, shape: Any) -> Tensor:
    """Repeat ``array`` along new leading axes and along axes of size 1, without a copy.

    Parameters
    ----------
    array : array_like
    shape : int or sequence of int

    Raises
    ------
    ValueError
        If ``array`` cannot be broadcast to ``shape``.

    Notes
    -----
    The gradient of ``array`` is the sum over the repetitions. The result cannot be written in
    place.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.broadcast_to(ng.tensor([1.0, 2.0]), (2, 2))
    tensor([[1., 2.],
            [1., 2.]])
    """
    return _repeated.call(as_tensor(array), shape)


@Steps
def _repeated(x: Tensor, shape: Any) -> list[tuple[Any, dict[str, Any]]]:
    sizes = (whole(shape),) if np.ndim(shape) == 0 else tuple(whole(n) for n in shape)
    lead = len(sizes) - x.ndim
    fits = zip(x.shape, sizes[max(lead, 0) :], strict=False)
    if lead < 0 or any(n not in (1, size) for n, size in fits) or any(n < 0 for n in sizes):
        raise ValueError(f"a tensor of shape {x.shape} cannot be broadcast to shape {sizes}")
    if x.shape == sizes:
        return []
    steps = [(_shape.broadcast, {"sizes": sizes})]
    new_axes = tuple(range(-len(sizes), -x.ndim))
    return [(_shape.expand_dims, {"axes": new_axes}), *steps] if new_axes else steps


def broadcast_arrays(*xs: ArrayLike) -> tuple[Tensor, ...]:
    """Broadcast all arguments to one shape; see `broadcast_to`.

    Examples
    --------
    >>> import numgrad as ng
    >>> [x.shape for x in ng.broadcast_arrays([1.0, 2.0], [[3.0], [4.0], [5.0]])]
    [(3, 2), (3, 2)]
    """
    tensors = as_tensors(*xs)
    shape = broadcast_shapes(*(x.shape for x in tensors))
    return tuple(_shape.broadcast_to(x, shape) for x in tensors)


def meshgrid(
    *xs: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Tensor, ...]:
    """Return coordinate grids of coordinate vectors.

    Parameters
    ----------
    *xs : array_like
        Vectors or scalars.
    copy : bool
        False returns views, which cannot be written.
    sparse : bool
        Leave the repeated axes at size 1.
    indexing : {"xy", "ij"}
        "xy" swaps the first two axes.

    Notes
    -----
    The gradient of each vector is the sum over the grid's other axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.meshgrid([1.0, 2.0], [3.0, 4.0], indexing="ij")[0]
    tensor([[1., 1.],
            [2., 2.]])
    """
    return _meshgrid(xs, copy, sparse, indexing)


@composed
def _meshgrid(
    xs: tuple[ArrayLike, ...], copy: bool, sparse: bool, indexing: str
) -> tuple[Tensor, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid: indexing must be "xy" or "ij", got {indexing!r}')
    ndim = len(xs)
    places = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        places[:2] = 1, 0
    sizes = [(1,) * place + (-1,) + (1,) * (ndim - place - 1) for place in places]
    grids = tuple(reshape(x, size) for x, size in zip(xs, sizes, strict=True))
    if not guarded(sparse):
        grids = broadcast_arrays(*grids)
    return tuple(registry["copy"](grid) for grid in grids) if guarded(copy) else grids


def tile(A: ArrayLike, reps: Axis) -> Tensor:
    """Repeat ``A`` as a whole ``reps`` times along each axis.

    Parameters
    ----------
    A : array_like
    reps : int or sequence of int
        Counted from the last axis; new axes are put in front when there are more than ``A`` has.

    Notes
    -----
    The gradient of ``A`` is the sum over the repetitions.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.tile(ng.tensor([1.0, 2.0]), 2)
    tensor([1., 2., 1., 2.])
    """
    return in_order(_tiled.call(as_tensor(A), reps), "C")


@Steps
def _tiled(x: Tensor, reps: Axis) -> list[tuple[Any, dict[str, Any]]]:
    counts = [whole(reps)] if np.ndim(reps) == 0 else [whole(n) for n in reps]  # type: ignore[arg-type, union-attr]
    counts = [1] * (x.ndim - len(counts)) + counts
    sizes = (1,) * (len(counts) - x.ndim) + x.shape
    apart = tuple(n for size in sizes for n in (1, size))
    wide = tuple(n for pair in zip(counts, sizes, strict=True) for n in pair)
    if min(counts, default=0) < 0:
        raise ValueError(f"tile: reps cannot be negative, got {reps!r}")
    result = tuple(c * size for c, size in zip(counts, sizes, strict=True))
    return [
        (_shape.reshape, {"ncore": x.ndim, "shape": apart}),
        (_shape.broadcast, {"sizes": wide}),
        (registry["copy"], {}),
        (_shape.reshape, {"ncore": len(wide), "shape": result}),
    ]


@Steps
def _each_repeated(x: Tensor, count: int, axis: int | None) -> list[tuple[Any, dict[str, Any]]]:
    shape = (x.size,) if axis is None else x.shape
    axis = 0 if axis is None else normalize_axis_index(axis, x.ndim)
    first, rest = shape[: axis + 1], shape[axis + 1 :]
    wide = (*first, count, *rest)
    return [
        (_shape.reshape, {"ncore": x.ndim, "shape": (*first, 1, *rest)}),
        (_shape.broadcast, {"sizes": wide}),
        (registry["copy"], {}),
        (_shape.reshape, {"ncore": len(wide), "shape": (*first[:-1], first[-1] * count, *rest)}),
    ]


def repeat(a: ArrayLike, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element along an axis.

    Parameters
    ----------
    a : array_like
    repeats : int or array_like of int
        How often; one number for all, or one for each element along ``axis``.
    axis : int, optional
        By default ``a`` is flattened first.

    Notes
    -----
    The gradient of each element is the sum over its repetitions.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.repeat(ng.tensor([1.0, 2.0]), 2)
    tensor([1., 1., 2., 2.])
    """
    a = as_tensor(a)
    if type(repeats) is int and repeats >= 0:
        return in_order(_each_repeated.call(a, repeats, axis), "C")
    if axis is None:
        a, axis = ravel(a), 0
    axis = normalize_axis_index(axis, a.ndim)
    counts = repeats._on_host() if isinstance(repeats, Tensor) else np.asarray(guarded(repeats))
    if counts.size == 1:
        counts = np.full(a.shape[axis], counts)
    with WordsOfNumpy():
        places = np.repeat(np.arange(a.shape[axis]), counts)
    return take(a, places, axis)
