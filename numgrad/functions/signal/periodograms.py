"""Estimates of the power at each frequency, under the names of ``scipy.signal``."""

from importlib import import_module
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ..array.argument_checks import integer
from ..elementwise.complex_parts import imag, real
from ..indexing.indexing import take
from ..reduction.statistics import median
from ..shape.joining import concat
from ..shape.reshaping import moveaxis
from .filters import floating_numbers, sequences
from .fourier import fft, rfft
from .trends import detrend as without_trend

SCALINGS = ("density", "spectrum")
AVERAGES = ("mean", "median")


def welch(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Tensor, Tensor]:
    """Return the mean of the periodograms of segments that overlap, as `scipy.signal.welch` does.

    Parameters
    ----------
    x : array_like
        Sequences.
    fs : array_like
        How many elements there are in a unit of time; a number.
    window : str, tuple or array_like
        By name, as `scipy.signal.get_window` takes it, or its elements, which may have a gradient.
    nperseg : int, optional
        How many elements a segment has: 256 by default, or those of the window.
    noverlap : int, optional
        How many two segments share; half of them by default.
    nfft : int, optional
        The length of the transforms, of segments with zeros behind them; ``nperseg`` by default.
    detrend : {"constant", "linear", False} or callable
        What is subtracted from each segment, see `detrend`.
    return_onesided : bool
        Whether the power of negative frequencies is added to that of positive ones, for real ``x``.
    scaling : {"density", "spectrum"}
        Power in a unit of frequency, or power.
    axis : int
        Along which the sequences are.
    average : {"mean", "median"}
        The mean over the segments, or the median, without its bias.

    Returns
    -------
    f : Tensor
        Frequencies.
    p : Tensor
        The power at each of them along ``axis``.

    Raises
    ------
    ValueError
        For an empty ``x``, other choices than these, and lengths that do not fit.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 0.0, -1.0, 0.0] * 4, requires_grad=True)
    >>> f, p = ng.signal.welch(x, nperseg=8, scaling="spectrum")
    >>> f[p.argmax()].item()
    0.25
    """
    options = window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, average
    return _estimated("welch", x, fs, axis, *options)


def periodogram(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Tensor, Tensor]:
    """Return the squares of the Fourier transform of whole sequences, as
    `scipy.signal.periodogram` does.

    Parameters
    ----------
    x, fs, window, detrend, return_onesided, scaling, axis
        As for `welch`.
    nfft : int, optional
        The length of the transform; that of ``x`` by default.

    Returns
    -------
    f : Tensor
        Frequencies.
    p : Tensor
        The power at each of them along ``axis``.

    Examples
    --------
    >>> import numgrad as ng
    >>> f, p = ng.signal.periodogram([1.0, 0.0, -1.0, 0.0], scaling="spectrum")
    >>> p.round(6)
    tensor([0. , 0.5, 0. ])
    """
    values = sequences("periodogram", x, axis)
    n = values.shape[-1]
    size = n if nfft is None else integer(nfft, "nfft")
    if size < n:
        values, n = values[..., :size], size
    options = "boxcar" if window is None else window, n, 0, size, detrend, return_onesided, scaling
    f, p = _estimated("periodogram", values, fs, -1, *options, "mean")
    return f, moveaxis(p, -1, axis)


def _estimated(
    name: str, x: ArrayLike, fs: ArrayLike, axis: int, window: Any, nperseg: Any, noverlap: Any,
    nfft: Any, detrend: Any, return_onesided: Any, scaling: str, average: str,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    for what, given, choices in (("scaling", scaling, SCALINGS), ("average", average, AVERAGES)):
        if not isinstance(given, str) or given not in choices:
            raise ValueError(f"{name}: {what} must be one of {choices}, got {given!r:.80}")
    x, rate = sequences(name, x, axis), floating_numbers(fs, "fs")
    if not x.shape[-1]:
        raise ValueError(f"{name}: x must have elements along axis {axis}, got shape {x.shape}")
    if rate.ndim:
        raise ValueError(f"{name}: fs must be a number, got shape {rate.shape}")
    weights = _window(name, window, nperseg, x)
    n = weights.shape[0]
    size = n if nfft is None else integer(nfft, "nfft")
    shared = n // 2 if noverlap is None else integer(noverlap, "noverlap")
    if not 0 <= shared < n or size < n:
        raise ValueError(
            f"{name}: noverlap must be in 0..nperseg - 1 and nfft at least nperseg, got noverlap "
            f"{shared}, nperseg {n}, nfft {size}"
        )
    starts = np.arange(0, x.shape[-1] - n + 1, n - shared)
    parts = take(x, starts[:, None] + np.arange(n), axis=-1)
    parts = _detrended(name, parts, detrend) * weights
    is_half = bool(guarded(return_onesided)) and parts.dtype.kind != "c"
    z = (rfft if is_half else fft)(parts, size)
    total = rate * (weights * weights).sum() if scaling == "density" else weights.sum() ** 2
    power = _squares(z) / total
    if is_half:
        power = _doubled(power, size)
    frequencies = (np.fft.rfftfreq if is_half else np.fft.fftfreq)(size)
    p = power.mean(axis=-2) if average == "mean" else median(power, axis=-2) / _bias(len(starts))
    return rate * frequencies, moveaxis(p.astype(_real(x.dtype), copy=False), -1, axis)


def _window(name: str, window: Any, nperseg: Any, x: Tensor) -> Tensor:
    n = None if nperseg is None else integer(nperseg, "nperseg")
    if n is not None and n < 1:
        raise ValueError(f"{name}: nperseg must be positive, got {n}")
    if isinstance(window, (str, tuple)):
        n = min(256 if n is None else n, x.shape[-1])
        try:
            made = import_module("scipy.signal").get_window(window, n)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}: window {window!r:.80}: {error}") from None
        return floating_numbers(made.astype(_real(x.dtype)), "window")
    found = floating_numbers(window, "window")
    length = found.shape[0] if found.ndim == 1 else 0
    if not 0 < length <= x.shape[-1] or n not in (None, length):
        raise ValueError(
            f"{name}: window of shape {found.shape} must be a vector of nperseg elements, not more "
            f"than the {x.shape[-1]} of x; nperseg is {nperseg}"
        )
    return found


def _detrended(name: str, parts: Tensor, detrend: Any) -> Any:
    if callable(detrend):
        return detrend(parts)
    if detrend is False:
        return parts
    if not isinstance(detrend, str):
        raise ValueError(
            f"{name}: detrend must be 'constant', 'linear', False or a function, got "
            f"{detrend!r:.80}"
        )
    return without_trend(parts, type=detrend)


def _squares(z: Tensor) -> Tensor:
    return real(z) * real(z) + imag(z) * imag(z)


def _doubled(power: Tensor, size: int) -> Tensor:
    """Return the power with that of negative frequencies; 0 and the highest one have none."""
    end = power.shape[-1] - (size % 2 == 0)
    parts = [power[..., :1], 2 * power[..., 1:end], power[..., max(end, 1) :]]
    return concat([part for part in parts if part.shape[-1]], axis=-1)


def _bias(n: int) -> float:
    """Return the expected median of ``n`` squares over their mean."""
    pairs = 2.0 * np.arange(1, (n - 1) // 2 + 1)
    return float(1 + np.sum(1 / (pairs + 1) - 1 / pairs))


def _real(dtype: np.dtype) -> np.dtype:
    return np.dtype(dtype.char.lower()) if dtype.kind == "c" else dtype
