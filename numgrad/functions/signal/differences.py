"""Differences of neighbours: gradients on a grid, steps of a vector, angles without jumps."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ..array.axes import Axis, normalize_axis_index, normalize_axis_tuple
from ..array.operands import as_tensor, as_tensors
from ..creation.memory_order import laid_like
from ..reduction.cumulative import cumsum, diff
from ..shape.joining import concat
from ..shape.reshaping import moveaxis, ravel
from ..shape.selection import where


@composed
def gradient(f: ArrayLike, *varargs: ArrayLike, axis: Axis = None, edge_order: int = 1) -> Any:
    """Return the slopes of values on a grid along each axis, by differences of second order.

    Parameters
    ----------
    f : array_like
        The values.
    *varargs : number or array_like
        The spacing: nothing for 1, a number for all axes, or for each axis a number or the vector
        of its coordinates.
    axis : int or tuple of int, optional
        Along which axes, by default all.
    edge_order : {1, 2}
        The order at the two ends.

    Returns
    -------
    Tensor or tuple of Tensor
        One for each axis; alone if there is only one.

    Raises
    ------
    ValueError
        If there are too few values, coordinates of another size, or a larger ``edge_order``.
    TypeError
        For another number of spacings.

    Notes
    -----
    Inside the slope is :math:`(h_1^2 f_2 + (h_2^2 - h_1^2) f_1 - h_2^2 f_0) / (h_1 h_2 (h_1 +
    h_2))`; it is differentiable in the values and in the spacing.

    Examples
    --------
    >>> import numgrad as ng
    >>> f = ng.tensor([1.0, 2.0, 4.0, 7.0], requires_grad=True)
    >>> ng.gradient(f).detach()
    tensor([1. , 1.5, 2.5, 3. ])
    >>> ng.grad(ng.gradient(f)[1], f)[0]
    tensor([-0.5,  0. ,  0.5,  0. ])
    """
    f, *spacings = as_tensors(f, *varargs)
    axes = normalize_axis_tuple(range(f.ndim) if axis is None else axis, f.ndim)
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order must be 1 or 2, got {edge_order}")
    f = f.astype(np.float64) if f.dtype.kind in "iu" else f
    steps = _steps(f, spacings, axes)
    found = tuple(_slope(f, a, h, edge_order) for a, h in zip(axes, steps, strict=True))
    return found[0] if len(found) == 1 else found


def _steps(f: Tensor, spacings: Sequence[Tensor], axes: Sequence[int]) -> list[Any]:
    """Return the distance of neighbours for each axis: a number, or one for each pair."""
    if not spacings:
        return [1.0] * len(axes)
    if len(spacings) == 1 and not spacings[0].ndim:
        return [spacings[0]] * len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: {len(spacings)} spacings for {len(axes)} axes")
    for axis, points in zip(axes, spacings, strict=True):
        if points.ndim and points.shape != (f.shape[axis],):
            raise ValueError(
                f"gradient: coordinates of shape {points.shape} for an axis of {f.shape[axis]}"
            )
    wide = [h.astype(np.float64) if h.dtype.kind in "iu" else h for h in spacings]
    return [diff(h) if h.ndim else h for h in wide]


def _slope(f: Tensor, axis: int, h: Any, edge_order: int) -> Tensor:
    if f.shape[axis] <= edge_order:
        raise ValueError(
            f"gradient: axis {axis} of size {f.shape[axis]} is too short; edge_order={edge_order} "
            f"needs {edge_order + 1} elements"
        )
    y = moveaxis(f, axis, -1)
    first, last, before, behind = (h[0], h[-1], h[:-1], h[1:]) if np.ndim(h) else (h,) * 4
    if np.ndim(h):
        middle = _parabola(y[..., :-2], y[..., 1:-1], y[..., 2:], before, behind)
    else:
        middle = (y[..., 2:] - y[..., :-2]) / (2.0 * h)
    if edge_order == 1:
        ends = (y[..., 1] - y[..., 0]) / first, (y[..., -1] - y[..., -2]) / last
    else:
        second, last_but_one = (h[1], h[-2]) if np.ndim(h) else (h, h)
        ends = (
            _at_end(y[..., 0], y[..., 1], y[..., 2], first, second),
            -_at_end(y[..., -1], y[..., -2], y[..., -3], last, last_but_one),
        )
    slopes = concat([ends[0][..., None], middle, ends[1][..., None]], axis=-1)
    dtype = np.float64 if f.dtype.kind == "b" else f.dtype  # of three booleans: none is subtracted
    return laid_like(moveaxis(slopes.astype(dtype, copy=False), -1, axis), f)


def _parabola(f0: Tensor, f1: Tensor, f2: Tensor, h1: Any, h2: Any) -> Tensor:
    """Return the slope in the middle of three values."""
    a, b = -h2 / (h1 * (h1 + h2)), (h2 - h1) / (h1 * h2)
    return a * f0 + b * f1 + h1 / (h2 * (h1 + h2)) * f2


def _at_end(f0: Tensor, f1: Tensor, f2: Tensor, h1: Any, h2: Any) -> Tensor:
    """Return the slope at the first of three values."""
    a, b = -(2.0 * h1 + h2) / (h1 * (h1 + h2)), (h1 + h2) / (h1 * h2)
    return a * f0 + b * f1 - h1 / (h2 * (h1 + h2)) * f2


def ediff1d(
    ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> Tensor:
    """Return the differences of neighbours in C order, between what is put at the two ends.

    Raises
    ------
    TypeError
        If the dtype of ``ary`` does not hold what is put at the ends.

    Notes
    -----
    For :math:`y_i = x_{i+1} - x_i` the gradient is :math:`g^x_i = g_{i-1} - g_i`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ediff1d(ng.tensor([1.0, 4.0, 9.0]), to_end=[0.0])
    tensor([3., 5., 0.])
    """
    x = ravel(as_tensor(ary))
    parts = [x[1:] - x[:-1]]
    for name, part in (("to_begin", to_begin), ("to_end", to_end)):
        if part is None:
            continue
        part = ravel(as_tensor(part))
        if not np.can_cast(part.dtype, x.dtype, "same_kind"):
            raise TypeError(f"ediff1d: {name} of {part.dtype} does not become {x.dtype}")
        parts.insert(len(parts) if name == "to_end" else 0, part.astype(x.dtype, copy=False))
    return concat(parts) if len(parts) > 1 else parts[0]


@composed
def unwrap(
    p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: Any = 2 * np.pi
) -> Tensor:
    """Return angles without jumps: multiples of the period are added along ``axis``.

    Parameters
    ----------
    p : array_like
        The angles.
    discont : float, optional
        The largest step that is no jump, half a period if it is less.
    axis : int
    period : number

    Notes
    -----
    The derivative is 1, that in the period the multiple.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.unwrap(ng.tensor([0.0, 3.0, 5.0]), period=4)
    tensor([ 0., -1.,  1.])
    """
    p, period = as_tensor(p), as_tensor(period) if isinstance(period, Tensor) else period
    axis = normalize_axis_index(axis, p.ndim)
    steps = diff(p.detach(), axis=axis)
    whole = np.result_type(steps.dtype, getattr(period, "dtype", period)).kind in "iu"
    half, rest = (period // 2, period % 2) if whole else (period / 2, 0)
    wrapped = (steps + half) % period - half
    if rest == 0:  # both signs of half a period are possible: that of the step is chosen
        wrapped = where((wrapped == -half) & (steps > 0), half, wrapped)
    jumps = where(abs(steps) < (period / 2 if discont is None else discont), 0, wrapped - steps)
    rest_of = (slice(None),) * axis
    shifted = p[(*rest_of, slice(1, None))] + cumsum(jumps, axis)
    return concat([p[(*rest_of, slice(None, 1))], shifted], axis=axis)
