"""Grids of coordinates and indices, ranges on logarithmic scales, and pieces written as slices."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.capture import escapes
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...operators.elementwise import numpy_functions as _borrowed
from ..array.argument_checks import WordsOfNumpy, least_axes, sequence
from ..array.operands import (
    arrays_of,
    as_scalar,
    as_tensor,
    as_tensors,
    in_one_dtype,
    is_known,
    values_of,
    whole,
)
from ..creation.from_data import carries_graph, fresh
from ..creation.ranges import arange, linspace
from ..elementwise.arithmetic import abs as _abs
from ..elementwise.arithmetic import sign
from ..elementwise.exponential import log10
from ..elementwise.floats import i0
from ..elementwise.powers import pow as _pow
from ..sorting.searching import nonzero
from .joining import concat, stack
from .repeating import broadcast_arrays, meshgrid
from .reshaping import moveaxis, reshape

# What NumPy makes of sizes, positions and truth values --------------------------------------------


def tensors_of(items: Any) -> Any:
    """Replace the arrays in tuples and lists by tensors."""
    if isinstance(items, (tuple, list)):
        return type(items)(map(tensors_of, items))
    return fresh(np.asarray(items)) if isinstance(items, (np.ndarray, np.generic)) else items


def plain(name: str, says: str, example: str, result: str) -> Callable[..., Any]:
    """Return a function of NumPy's that takes tensors too and gives tensors, which have no
    derivative."""
    function = getattr(np, name)

    @functools.wraps(function, assigned=("__name__", "__qualname__"), updated=())
    def call(*args: Any, **options: Any) -> Any:
        for value in (*args, *options.values()):
            if isinstance(value, Tensor):
                escapes.refuse_escape(value, f"ng.{name}", "It has no derivative.")
        given = {key: arrays_of(guarded(value)) for key, value in options.items()}
        with WordsOfNumpy(name):
            return tensors_of(function(*[arrays_of(guarded(a)) for a in args], **given))

    call.__doc__ = f"""Return {says}; as `numpy.{name}`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> {example}
    {result}
    """
    return call


tri = plain(
    "tri", "a matrix with ones at and below diagonal `k`", "ng.tri(2, 3)",
    "tensor([[1., 0., 0.],\n            [1., 1., 0.]])",
)  # fmt: skip
tril_indices = plain(
    "tril_indices", "the indices of the lower triangle of a matrix", "ng.tril_indices(2)",
    "(tensor([0, 1, 1]), tensor([0, 0, 1]))",
)  # fmt: skip
triu_indices = plain(
    "triu_indices", "the indices of the upper triangle of a matrix", "ng.triu_indices(2)",
    "(tensor([0, 0, 1]), tensor([0, 1, 1]))",
)  # fmt: skip
diag_indices = plain(
    "diag_indices", "the indices of the main diagonal", "ng.diag_indices(2)",
    "(tensor([0, 1]), tensor([0, 1]))",
)  # fmt: skip
mask_indices = plain(
    "mask_indices", "the indices where a function such as `triu` leaves ones of a square matrix",
    "ng.mask_indices(2, np.triu)", "(tensor([0, 0, 1]), tensor([0, 1, 1]))",
)  # fmt: skip
indices = plain(
    "indices", "the index of every element along each axis", "ng.indices((2, 2))[0]",
    "tensor([[0, 0],\n            [1, 1]])",
)  # fmt: skip
bartlett = plain("bartlett", "the triangular window", "ng.bartlett(3)", "tensor([0., 1., 0.])")
blackman = plain("blackman", "the Blackman window", "ng.blackman(3).round(6)",
                 "tensor([-0.,  1., -0.])")  # fmt: skip
hamming = plain("hamming", "the Hamming window", "ng.hamming(3)", "tensor([0.08, 1.  , 0.08])")
hanning = plain("hanning", "the Hann window", "ng.hanning(3)", "tensor([0., 1., 0.])")


def kaiser(M: int, beta: ArrayLike) -> Tensor:
    """Return the Kaiser window, Bessel functions of ``beta`` times a half of a circle.

    Notes
    -----
    The derivative of :math:`I_0(\\beta r) / I_0(\\beta)` is that of the function `i0`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.kaiser(3, 0.0)
    tensor([1., 1., 1.])
    """
    if not carries_graph([M, beta]):
        return fresh(np.kaiser(arrays_of(guarded(M)), arrays_of(guarded(beta))))
    count = whole(M)
    if count <= 1:
        return fresh(np.ones(max(count, 0)))
    middle = (count - 1) / 2.0
    circle = np.sqrt(1 - ((np.arange(count) - middle) / middle) ** 2.0)
    return i0(as_tensor(beta) * circle) / i0(beta)


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Tensor, ...]:
    """Return the indices of the lower triangle of a matrix like ``arr``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.tril_indices_from(ng.zeros((2, 2)))
    (tensor([0, 1, 1]), tensor([0, 0, 1]))
    """
    return tril_indices(*_rows("tril_indices_from", arr, k))


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Tensor, ...]:
    """Return the indices of the upper triangle of a matrix like ``arr``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.triu_indices_from(ng.zeros((2, 2)))
    (tensor([0, 0, 1]), tensor([0, 1, 1]))
    """
    return triu_indices(*_rows("triu_indices_from", arr, k))


def diag_indices_from(arr: ArrayLike) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal of an array of equal sizes like ``arr``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.diag_indices_from(ng.zeros((2, 2)))
    (tensor([0, 1]), tensor([0, 1]))
    """
    shape = np.shape(arr)
    if len(shape) < 2 or len(set(shape)) > 1:
        raise ValueError(f"diag_indices_from needs two axes at least, of one size, got {shape}")
    return diag_indices(shape[0], len(shape))


def _rows(name: str, arr: ArrayLike, k: int) -> tuple[int, int, int]:
    shape = np.shape(arr)
    if len(shape) != 2:
        raise ValueError(f"{name} needs a matrix, got shape {shape}")
    return shape[0], k, shape[1]


def ix_(*args: ArrayLike) -> tuple[Tensor, ...]:
    """Return an open grid of index vectors, booleans as the places where they are true.

    Examples
    --------
    >>> import numgrad as ng
    >>> [i.shape for i in ng.ix_([0, 1], [2, 3, 4])]
    [(2, 1), (1, 3)]
    """
    grid = []
    for axis, arg in enumerate(args):
        x = as_tensor(arg)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        x = nonzero(x)[0] if x.dtype.kind == "b" else x if x.size else x.astype(np.intp)
        grid.append(reshape(x, (1,) * axis + (-1,) + (1,) * (len(args) - axis - 1)))
    return tuple(grid)


def unravel_index(indices: ArrayLike, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """Return positions in C order, or Fortran's, as an index for each axis of a shape.

    Raises
    ------
    ValueError
        For a position that is out of bounds.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.unravel_index(5, (2, 3))
    (tensor(1), tensor(2))
    """
    shape = tuple(map(whole, np.atleast_1d(guarded(shape))))
    found = _borrowed.unravel_index(as_tensor(indices), shape=shape, order=order)
    return tuple(as_scalar(found[..., axis]) for axis in range(len(shape)))


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C"
) -> Tensor:
    """Return indices, one array for each axis of a shape, as positions in C order, or Fortran's.

    Parameters
    ----------
    multi_index : sequence of array_like of int
    dims : sequence of int
    mode : {"raise", "wrap", "clip"} or a sequence of these
        What becomes of what is out of bounds.
    order : {"C", "F"}

    Raises
    ------
    ValueError
        For an index that is out of bounds.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ravel_multi_index(([1, 0], [2, 1]), (2, 3))
    tensor([5, 1])
    """
    index = stack(broadcast_arrays(*sequence(multi_index, "multi_index")), -1)
    dims = tuple(map(whole, np.atleast_1d(guarded(dims))))
    mode = mode if isinstance(mode, str) else tuple(mode)
    return as_scalar(_borrowed.ravel_multi_index(index, dims=dims, mode=mode, order=order))


# What is written as slices ------------------------------------------------------------------------


class Grid:
    """Coordinates of a grid, written as slices: ``ng.mgrid[0:2, 0:1:5j]``, dense, or
    ``ng.ogrid``, one axis each, as in NumPy; the derivatives are those of `arange` and
    `linspace`."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        if not any(carries_graph([item.start, item.stop, item.step]) for item in slices):
            return tensors_of((np.ogrid if self._sparse else np.mgrid)[_plain_key(key)])
        lines = [_range(item) for item in slices]
        dtype = np.result_type(*(line.dtype for line in lines))
        lines = [line.astype(dtype, copy=False) for line in lines]
        if not isinstance(key, tuple):
            return lines[0]
        axes = meshgrid(*lines, indexing="ij", sparse=self._sparse)
        return axes if self._sparse else stack(axes)


def _plain_key(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_plain_key, key))
    if isinstance(key, slice):
        start, stop, step = map(arrays_of, (key.start, key.stop, key.step))
        return slice(start, stop, step)
    return key


mgrid, ogrid = Grid(sparse=False), Grid(sparse=True)


class Pieces:
    """Vectors joined from numbers, arrays, tensors and ranges: ``ng.r_[0.0, x, 1:3]``, or columns,
    ``ng.c_[x, y]``; as in NumPy. Each gradient is the piece of the result's."""

    def __init__(self, axis: int, ndmin: int, place: int) -> None:
        self._options = (axis, ndmin, place)

    def __getitem__(self, key: Any) -> Tensor:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, place = self._options
        if items and isinstance(items[0], str):
            given = [int(n) for n in items.pop(0).split(",")]
            axis, ndmin, place = (*given, *self._options[len(given) :])
        ndmin = least_axes(ndmin, "r_")
        known = [_range(item) if isinstance(item, slice) else item for item in items]
        parts = in_one_dtype(*known) if known else []
        return concat([_at_least(part, ndmin, place) for part in parts], axis=axis)


def _range(item: slice) -> Tensor:
    if not carries_graph([item.start, item.stop, item.step]):
        return fresh(np.r_[_plain_key(item)])
    start, step = 0 if item.start is None else item.start, 1 if item.step is None else item.step
    if isinstance(step, complex):
        return linspace(start, item.stop, int(abs(step)))
    return arange(start, item.stop, step)


def _at_least(x: Tensor, ndmin: int, place: int) -> Tensor:
    """Return an array with new axes, its own ones at a place among them."""
    new = ndmin - x.ndim
    if new <= 0:
        return x
    before = place + new + 1 if place < 0 else place
    return reshape(x, (1,) * before + x.shape + (1,) * (new - before))


r_, c_ = Pieces(0, 1, -1), Pieces(-1, 2, 0)


# Ranges on logarithmic scales ---------------------------------------------------------------------


@composed
def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Return numbers evenly spaced on a logarithmic scale, ``base`` to the powers of `linspace`.

    Parameters
    ----------
    start, stop, num, endpoint, dtype
        As in `linspace`, of the powers.
    base : array_like
        Of the powers; differentiable as the ends are.
    axis : int
        Where the numbers lie in the result, if the ends are arrays.

    Notes
    -----
    With the powers :math:`p` the derivatives are :math:`y \\log b` times those of `linspace`, and
    :math:`p y / b`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logspace(0.0, ng.tensor(2.0), 3)
    tensor([  1.,  10., 100.])
    """
    if not carries_graph([start, stop, base]):
        first, last, known = (arrays_of(guarded(value)) for value in (start, stop, base))
        return fresh(np.logspace(first, last, num, endpoint, known, dtype, axis))
    if np.ndim(base):
        start, stop, base = broadcast_arrays(start, stop, base)
    y = _pow(base, linspace(start, stop, num, endpoint))
    y = moveaxis(y, 0, axis)
    return y if dtype is None else y.astype(dtype)


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Return a geometric sequence from ``start`` to ``stop``; parameters as in `logspace`.

    Raises
    ------
    ValueError
        If an end is 0.

    Notes
    -----
    With :math:`y_i = a^{1 - t_i} b^{t_i}` the derivatives are :math:`(1 - t_i) y_i / a` and
    :math:`t_i y_i / b`.

    Examples
    --------
    >>> import numgrad as ng
    >>> b = ng.tensor(4.0, requires_grad=True)
    >>> ng.geomspace(1.0, b, 3).detach()
    tensor([1., 2., 4.])
    >>> ng.grad(ng.geomspace(1.0, b, 3).sum(), b)[0]
    tensor(1.25)
    """
    if not carries_graph([start, stop]):
        first, last = (arrays_of(guarded(value)) for value in (start, stop))
        return fresh(np.geomspace(first, last, num, endpoint, dtype, axis))
    ends = as_tensors(start, stop)
    has_zero = any(is_known(end) and np.any(values_of(end) == 0) for end in ends)
    if has_zero and broadcast_arrays(*ends)[0].size:
        raise ValueError("geomspace: a geometric sequence cannot include 0")
    name = None if dtype is None else np.dtype(dtype).char
    return moveaxis(_geometric(ends[0], ends[1], num, endpoint, name), 0, axis)


@composed
def _geometric(start: Tensor, stop: Tensor, num: int, endpoint: bool, dtype: str | None) -> Tensor:
    """Return a geometric sequence along the first axis."""
    start, stop = broadcast_arrays(start, stop)
    wide = np.result_type(start.dtype, stop.dtype, np.zeros((), dtype))
    start, stop = start.astype(wide, copy=False), stop.astype(wide, copy=False)
    direction = start / _abs(start) if wide.kind == "c" else sign(start)
    first, last = start / direction, stop / direction
    y = _pow(10.0, linspace(log10(first), log10(last), num, endpoint))
    if num > 1 and endpoint:
        y = concat([first[None], y[1:-1], last[None]])
    elif num:
        y = concat([first[None], y[1:]])
    return (y * direction).astype(wide if dtype is None else dtype, copy=False)
