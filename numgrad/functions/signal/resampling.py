"""Signals with more or fewer elements in a unit of time, under the names of ``scipy.signal``."""

from importlib import import_module
from math import gcd
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ..array.argument_checks import integer
from ..array.operands import as_tensor
from ..shape.joining import concat
from ..shape.reshaping import moveaxis, reshape
from .convolution import convolve
from .filters import floating_numbers, sequences, sosfilt, sosfiltfilt


def upfirdn(h: ArrayLike, x: ArrayLike, up: int = 1, down: int = 1, axis: int = -1) -> Tensor:
    """Put zeros between elements, convolve, and take every so-many-th, as `scipy.signal.upfirdn`
    does.

    Parameters
    ----------
    h : array_like
        The filter, a vector.
    x : array_like
        Sequences.
    up, down : int
        How many elements one becomes, and how many become one.
    axis : int

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ng.signal.upfirdn([1.0, 1.0], x, up=2).tolist()
    [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    """
    values, taps = sequences("upfirdn", x, axis), floating_numbers(h, "h")
    more, fewer = _factors("upfirdn", up, down)
    if taps.ndim != 1 or not taps.size:
        raise ValueError(f"upfirdn: h must be a vector with elements, got shape {taps.shape}")
    n = values.shape[-1]
    if more > 1 and n:
        zeros = as_tensor(np.zeros((*values.shape, more - 1), values.dtype))
        apart = concat([reshape(values, (*values.shape, 1)), zeros], axis=-1)
        values = reshape(apart, (*values.shape[:-1], n * more))[..., : (n - 1) * more + 1]
    wide = reshape(taps, (1,) * (values.ndim - 1) + taps.shape)
    return moveaxis(convolve(values, wide, "full", "direct")[..., ::fewer], -1, axis)


def _factors(name: str, up: Any, down: Any) -> tuple[int, int]:
    more, fewer = integer(up, "up"), integer(down, "down")
    if more < 1 or fewer < 1:
        raise ValueError(f"{name}: up and down must be positive, got {more} and {fewer}")
    return more, fewer


def resample_poly(
    x: ArrayLike, up: int, down: int, axis: int = 0, window: Any = ("kaiser", 5.0)
) -> Tensor:
    """Return a signal with ``up / down`` times as many elements, as `scipy.signal.resample_poly`
    does.

    Parameters
    ----------
    x : array_like
        Sequences, with zeros around them.
    up, down : int
    axis : int
    window : str, tuple or array_like
        The window of which a filter is made, or the filter.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    >>> ng.signal.resample_poly(x, 1, 2).detach().numpy().round(3)
    array([0.73 , 3.401])
    """
    values = sequences("resample_poly", x, axis)
    more, fewer = _factors("resample_poly", up, down)
    common = gcd(more, fewer)
    more, fewer = more // common, fewer // common
    if more == fewer:
        return moveaxis(values * 1.0, -1, axis)
    taps = _filter_of(window, max(more, fewer)) * more
    half, n = (taps.shape[0] - 1) // 2, values.shape[-1]
    before = fewer - half % fewer
    first, count = (half + before) // fewer, -(-n * more // fewer)
    least = (first + count - 1) * fewer + 1 - ((n - 1) * more + taps.shape[0] + before)
    behind = max(least, 0)
    taps = concat([np.zeros(before), taps, np.zeros(behind)])
    found = upfirdn(taps, values, more, fewer)
    return moveaxis(found[..., first : first + count], -1, axis)


def _filter_of(window: Any, most: int) -> Tensor:
    """Return a low-pass filter, made with a window unless it is given."""
    if not isinstance(window, (str, tuple)):
        return floating_numbers(window, "window")
    signal = import_module("scipy.signal")  # when used: it takes a second
    return as_tensor(signal.firwin(20 * most + 1, 1.0 / most, window=window))


def decimate(
    x: ArrayLike,
    q: int,
    n: int | None = None,
    ftype: str = "iir",
    axis: int = -1,
    zero_phase: bool = True,
) -> Tensor:
    """Return every ``q``-th element of a filtered signal, as `scipy.signal.decimate` does.

    Parameters
    ----------
    x : array_like
        Sequences.
    q : int
    n : int, optional
        The order of the filter: 8, or ``20 * q`` for "fir".
    ftype : {"iir", "fir"}
        Chebyshev's filter, or one of finite length.
    axis : int
    zero_phase : bool
        Whether the signal is not moved.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> x = ng.tensor(np.arange(40.0), requires_grad=True)
    >>> ng.signal.decimate(x, 10).shape
    (4,)
    """
    values, step = sequences("decimate", x, axis), integer(q, "q")
    if ftype not in ("iir", "fir"):
        raise ValueError(f"decimate: ftype must be 'iir' or 'fir', got {ftype!r:.80}")
    if step < 1:
        raise ValueError(f"decimate: q must be positive, got {step}")
    signal = import_module("scipy.signal")  # when used: it takes a second
    if ftype == "fir":
        size = 20 * step if n is None else integer(n, "n")
        taps = signal.firwin(size + 1, 1.0 / step, window="hamming")
        taps = taps / taps.sum()
        count = -(-values.shape[-1] // step)
        found = (
            resample_poly(values, 1, step, -1, taps)
            if zero_phase
            else upfirdn(taps, values, 1, step)[..., :count]
        )
    else:
        order = 8 if n is None else integer(n, "n")
        sos = signal.cheby1(order, 0.05, 0.8 / step, output="sos")
        found = (sosfiltfilt if zero_phase else sosfilt)(sos, values)[..., ::step]
    return moveaxis(found, -1, axis)
