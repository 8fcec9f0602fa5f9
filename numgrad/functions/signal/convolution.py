"""Convolution and correlation of arrays of any number of axes, under the names of SciPy."""

from collections.abc import Sequence
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...operators.signal.convolution import places, slide
from ...operators.signal.convolution_2d import slide_plane
from ..array.axes import normalize_axis_tuple
from ..array.operands import as_tensors
from ..elementwise.rounding import round as rounded
from ..shape.padding import pad
from ..shape.rearranging import flip
from .fourier import fftn, ifftn, irfftn, rfftn

MODES = ("full", "same", "valid")
METHODS = ("auto", "direct", "fft")
BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


@composed
def convolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Tensor:
    """Return the convolution of two arrays of equally many axes, as `scipy.signal.convolve` does.

    Parameters
    ----------
    in1, in2 : array_like
        Arrays of as many axes.
    mode : {"full", "same", "valid"}
        All places where they overlap, the middle ones, as many as ``in1`` has elements, or those
        where one lies inside of the other.
    method : {"auto", "direct", "fft"}
        By sums of products, by Fourier transforms, or by what SciPy expects to be faster.

    Raises
    ------
    ValueError
        For another mode or method, other numbers of axes, and ``"valid"`` where neither array is
        at least as large as the other along every axis.

    Notes
    -----
    The gradient of each argument is the correlation of the cotangent with the other one.

    Examples
    --------
    >>> import numgrad as ng
    >>> edges = ng.tensor([[1.0, -1.0]], requires_grad=True)
    >>> y = ng.signal.convolve([[1.0, 2.0, 4.0], [0.0, 1.0, 1.0]], edges, mode="valid")
    >>> y.detach()
    tensor([[1., 2.],
            [1., 0.]])
    >>> ng.grad(y.sum(), edges)[0]
    tensor([[8., 4.]])
    """
    a, v = _pair("convolve", in1, in2, mode)
    _require("convolve", "method", method, METHODS)
    return _convolved("convolve", a, v, mode, method)


@composed
def correlate(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Tensor:
    """Return the correlation of two arrays: the convolution with the conjugate of ``in2``, turned
    around. Parameters, errors and derivatives are those of `convolve`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signal.correlate(ng.tensor([1.0, 2.0, 3.0]), [0.0, 1.0, 0.5], mode="same")
    tensor([2. , 3.5, 3. ])
    """
    a, v = _pair("correlate", in1, in2, mode)
    _require("correlate", "method", method, METHODS)
    return _convolved("correlate", a, flip(v.conj()), mode, method)


@composed
def fftconvolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: int | Sequence[int] | None = None
) -> Tensor:
    """Return the convolution by Fourier transforms, as `scipy.signal.fftconvolve` does.

    Parameters
    ----------
    in1, in2 : array_like
        Arrays of as many axes.
    mode : {"full", "same", "valid"}
        See `convolve`.
    axes : int or sequence of int, optional
        Along which; all by default. The others are broadcast.

    Raises
    ------
    ValueError
        As for `convolve`, and for shapes that cannot be broadcast along the other axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signal.fftconvolve(ng.tensor([1.0, 2.0, 3.0]), [2.0, 1.0, 0.5]).round(12)
    tensor([2. , 5. , 8.5, 4. , 1.5])
    """
    a, v = _pair("fftconvolve", in1, in2, mode)
    return _transformed("fftconvolve", a, v, mode, axes)


@composed
def oaconvolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: int | Sequence[int] | None = None
) -> Tensor:
    """Return the same as `fftconvolve`, under the name of `scipy.signal.oaconvolve`; the transforms
    are those of whole axes."""
    a, v = _pair("oaconvolve", in1, in2, mode)
    return _transformed("oaconvolve", a, v, mode, axes)


@composed
def convolve2d(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", boundary: str = "fill",
    fillvalue: ArrayLike = 0,
) -> Tensor:  # fmt: skip
    """Return the convolution of two matrices, as `scipy.signal.convolve2d` does.

    Parameters
    ----------
    in1, in2 : array_like
        Matrices.
    mode : {"full", "same", "valid"}
        See `convolve`.
    boundary : {"fill", "wrap", "symm"}
        What is around ``in1``: a number, its copies, or its mirror images.
    fillvalue : array_like
        The number for ``"fill"``. It has a gradient.

    Raises
    ------
    ValueError
        For what are no matrices, another mode or boundary, and ``"valid"`` as for `convolve`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> y = ng.signal.convolve2d(x, [[1.0, 1.0, 1.0]], mode="same", boundary="wrap")
    >>> y.detach()
    tensor([[ 5.,  4.],
            [11., 10.]])
    """
    a, v = _planes("convolve2d", in1, in2, mode, boundary)
    return _surrounded(a, v, mode, boundary, fillvalue)


@composed
def correlate2d(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", boundary: str = "fill",
    fillvalue: ArrayLike = 0,
) -> Tensor:  # fmt: skip
    """Return the correlation of two matrices, as `scipy.signal.correlate2d` does; parameters and
    errors are those of `convolve2d`.

    Notes
    -----
    Of complex matrices, where ``in2`` is the larger one in mode "valid", SciPy's function has the
    conjugate of this, and of what its `correlate` has.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signal.correlate2d(ng.tensor([[1.0, 2.0, 3.0]]), [[0.0, 1.0]], mode="valid")
    tensor([[2., 3.]])
    """
    a, v = _planes("correlate2d", in1, in2, mode, boundary)
    return _surrounded(a, flip(v.conj()), mode, boundary, fillvalue, True)


# Arguments ----------------------------------------------------------------------------------------


def _require(name: str, what: str, given: Any, choices: Sequence[str]) -> None:
    if not isinstance(given, str) or given not in choices:
        raise ValueError(f"{name}: {what} must be one of {', '.join(choices)}, got {given!r}")


def _pair(name: str, in1: ArrayLike, in2: ArrayLike, mode: str) -> tuple[Tensor, Tensor]:
    _require(name, "mode", mode, MODES)
    a, v = as_tensors(in1, in2)
    if a.ndim != v.ndim:
        raise ValueError(
            f"{name}: in1 and in2 need equally many axes, got shapes {a.shape} and {v.shape}"
        )
    return a, v


def _planes(
    name: str, in1: ArrayLike, in2: ArrayLike, mode: str, boundary: str
) -> tuple[Tensor, Tensor]:
    _require(name, "mode", mode, MODES)
    _require(name, "boundary", boundary, list(BOUNDARIES))
    a, v = as_tensors(in1, in2)
    if not a.ndim == v.ndim == 2:
        raise ValueError(f"{name} needs two matrices, got shapes {a.shape} and {v.shape}")
    return a, v


def _is_smaller(name: str, a: Tensor, v: Tensor, axes: Sequence[int] | None = None) -> bool:
    """Whether ``a`` fits into ``v``, and not ``v`` into ``a``; one of both has to."""
    pairs = [(a.shape[n], v.shape[n]) for n in (range(a.ndim) if axes is None else axes)]
    if all(n >= m for n, m in pairs):
        return False
    if all(n <= m for n, m in pairs):
        return True
    raise ValueError(
        f"{name}: for mode 'valid' one array must be at least as large as the other along every "
        f"axis, got shapes {a.shape} and {v.shape}"
    )


# Sums of products ---------------------------------------------------------------------------------


def _convolved(name: str, a: Tensor, v: Tensor, mode: str, method: str) -> Tensor:
    dtype = np.result_type(a.dtype, v.dtype)
    if a.ndim == 0:
        return a * v
    if not a.size or not v.size:
        return a.reshape(-1)[:0]
    if mode == "valid" and _is_smaller(name, a, v):
        a, v = v, a
    if method == "auto":
        method = _method_for(a, v, mode) if dtype.kind in "fc" else "direct"
    if method == "direct":
        return _slid(a, v, mode)
    y = _transformed(name, a, v, mode, None)
    return (rounded(y) if dtype.kind in "iu" else y).astype(dtype, copy=False)


def _method_for(a: Tensor, v: Tensor, mode: str) -> str:
    """Ask SciPy, which reads sizes only."""
    signal = import_module("scipy.signal")  # when used: it takes a second
    likes = [np.broadcast_to(np.zeros((), x.dtype), x.shape) for x in (a, v)]
    return signal.choose_conv_method(*likes, mode=mode)


def _widths(shape: tuple[int, ...], mode: str) -> list[tuple[int, int]]:
    """Return how many elements are added before and after each axis, for a ``v`` of a shape."""
    around = {"full": lambda n: (n - 1, n - 1), "same": lambda n: (n // 2, (n - 1) // 2)}
    return [around[mode](n) if mode != "valid" else (0, 0) for n in shape]


def _slid(a: Tensor, v: Tensor, mode: str) -> Tensor:
    widths = _widths(v.shape, mode)
    return _inside(pad(a, widths) if mode != "valid" else a, flip(v))


def _inside(a: Tensor, v: Tensor) -> Tensor:
    """Return the products of ``v`` with all parts of ``a``."""
    dtype = np.result_type(a.dtype, v.dtype)
    a, v = a.astype(dtype, copy=False), v.astype(dtype, copy=False)
    counts = tuple(n - m + 1 for n, m in zip(a.shape, v.shape, strict=True))
    ncore = 0 if dtype.kind in "biu" else min(a.ndim, 2)
    lead = a.ndim - ncore
    total: Any = None
    for start in product(*map(range, v.shape[:lead])):
        part = a[tuple(slice(k, k + n) for k, n in zip(start, counts, strict=False))]
        factor = v[start] if start else v
        if ncore:
            part = (slide if ncore == 1 else slide_plane)(part, factor, places(counts[lead:]))
        else:
            part = part * factor
        total = part if total is None else total + part
    return total.astype(dtype, copy=False)


def _surrounded(
    a: Tensor, v: Tensor, mode: str, boundary: str, fillvalue: ArrayLike, is_turned: bool = False
) -> Tensor:
    """Return the convolution of matrices with what is around the first. Of an even number of places
    the middle ones begin one later for a ``v`` that has been turned around."""
    if mode == "valid":
        return _slid(v, a, mode) if _is_smaller("convolve2d", a, v) else _slid(a, v, mode)
    a = a.astype(np.result_type(a.dtype, v.dtype), copy=False)
    constants = {"constant_values": fillvalue} if boundary == "fill" else {}
    widths = _widths(v.shape, mode)
    if mode == "same" and is_turned:
        widths = [(after, before) for before, after in widths]
    return _inside(pad(a, widths, BOUNDARIES[boundary], **constants), flip(v))


# Fourier transforms -------------------------------------------------------------------------------


def _transformed(
    name: str, a: Tensor, v: Tensor, mode: str, axes: int | Sequence[int] | None
) -> Tensor:
    along = range(a.ndim) if axes is None else normalize_axis_tuple(axes, a.ndim)
    along = [n for n in along if 1 not in (a.shape[n], v.shape[n])]
    if mode == "valid" and _is_smaller(name, a, v, along):
        a, v = v, a
    if a.ndim == 0:
        return a * v
    if not a.size or not v.size:
        return a.reshape(-1)[:0]
    others = [n for n in range(a.ndim) if n not in along]
    if any(a.shape[n] != v.shape[n] and 1 not in (a.shape[n], v.shape[n]) for n in others):
        raise ValueError(
            f"{name}: shapes {a.shape} and {v.shape} cannot be broadcast along the axes {others}"
        )
    found = _product(a, v, along)
    sizes = list(a.shape if mode == "same" else found.shape)
    if mode == "valid":
        for n in along:
            sizes[n] = a.shape[n] - v.shape[n] + 1
    starts = [(n - m) // 2 for n, m in zip(found.shape, sizes, strict=True)]
    return found[tuple(slice(k, k + n) for k, n in zip(starts, sizes, strict=True))]


def _product(a: Tensor, v: Tensor, axes: list[int]) -> Tensor:
    """Return the full convolution along axes, by the product of the transforms."""
    if not axes:
        return a * v
    is_complex = "c" in (a.dtype.kind, v.dtype.kind)
    fast = import_module("scipy.fft").next_fast_len
    counts = [a.shape[n] + v.shape[n] - 1 for n in axes]
    sizes = [fast(n, not is_complex) for n in counts]
    there, back = (fftn, ifftn) if is_complex else (rfftn, irfftn)
    y = back(there(a, sizes, axes=axes) * there(v, sizes, axes=axes), sizes, axes=axes)
    key = [slice(None)] * y.ndim
    for n, count in zip(axes, counts, strict=True):
        key[n] = slice(count)
    return y[tuple(key)]
