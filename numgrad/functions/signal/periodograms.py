"""Estimates of the power at each frequency, under the names of ``scipy.signal``."""

from importlib import import_module
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ..array.argument_checks import integer
from ..array.operands import as_tensor
from ..elementwise.complex_parts import imag, real
from ..elementwise.trigonometric import cos, sin
from ..indexing.indexing import take
from ..reduction.statistics import median
from ..shape.joining import concat
from ..shape.reshaping import moveaxis
from ..shape.selection import where
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
    _require(name, "average", average, AVERAGES)
    x = sequences(name, x, axis)
    plan = Segments(name, x, fs, axis, window, nperseg, noverlap, nfft, scaling, return_onesided)
    power = plan.powers(_squares(plan.transform(x, detrend)))
    p = plan.averaged(power, average)
    return plan.frequencies, moveaxis(p.astype(real_dtype(x.dtype), copy=False), -1, axis)


def _require(name: str, what: str, given: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(given, str) or given not in choices:
        raise ValueError(f"{name}: {what} must be one of {choices}, got {given!r:.80}")


class Segments:
    """How sequences are cut into segments that overlap, and what their transforms mean.

    Attributes
    ----------
    weights : Tensor
        The window.
    starts : numpy.ndarray
        Where the segments begin.
    is_half : bool
        Whether the transforms have the frequencies that are not negative alone.
    total : Tensor
        By what squares are divided.
    """

    def __init__(
        self, name: str, x: Tensor, fs: ArrayLike, axis: int, window: Any, nperseg: Any,
        noverlap: Any, nfft: Any, scaling: str, return_onesided: Any, parts: int = 2,
    ) -> None:  # fmt: skip
        _require(name, "scaling", scaling, SCALINGS)
        self.name, self.rate = name, floating_numbers(fs, "fs")
        if not x.shape[-1]:
            raise ValueError(f"{name}: x must have elements along axis {axis}, got shape {x.shape}")
        if self.rate.ndim:
            raise ValueError(f"{name}: fs must be a number, got shape {self.rate.shape}")
        self.weights = weights = _window(name, window, nperseg, x)
        self.n = n = weights.shape[0]
        self.size = n if nfft is None else integer(nfft, "nfft")
        self.shared = n // parts if noverlap is None else integer(noverlap, "noverlap")
        if not 0 <= self.shared < n or self.size < n:
            raise ValueError(
                f"{name}: noverlap must be in 0..nperseg - 1 and nfft at least nperseg, got "
                f"noverlap {self.shared}, nperseg {n}, nfft {self.size}"
            )
        self.starts = np.arange(0, x.shape[-1] - n + 1, n - self.shared)
        is_complex = "c" in (x.dtype.kind, weights.dtype.kind)
        if np.ndim(return_onesided):
            raise TypeError(f"{name}: return_onesided must be True or False, not an array")
        self.is_half = bool(guarded(return_onesided)) and not is_complex
        is_density = scaling == "density"
        self.total = (
            self.rate * (weights * weights).sum() if is_density else weights.sum() ** 2
        )

    @property
    def frequencies(self) -> Tensor:
        """The frequencies of the transforms."""
        numbers = (np.fft.rfftfreq if self.is_half else np.fft.fftfreq)(self.size)
        return self.rate * numbers

    def transform(self, x: Tensor, detrend: Any) -> Tensor:
        """Return the transforms of all segments."""
        parts = take(x, self.starts[:, None] + np.arange(self.n), axis=-1)
        parts = _detrended(self.name, parts, detrend) * self.weights
        return (rfft if self.is_half else fft)(parts, self.size)

    def powers(self, squares: Tensor) -> Tensor:
        """Return powers of squares, with those of negative frequencies that are left out."""
        power = squares / self.total
        return _doubled(power, self.size) if self.is_half else power

    def averaged(self, power: Tensor, average: str) -> Tensor:
        """Return the mean or the median over the segments."""
        if average == "mean":
            return power.mean(axis=-2)
        bias = _bias(len(self.starts))
        if power.dtype.kind == "c":
            return (median(real(power), axis=-2) + 1j * median(imag(power), axis=-2)) / bias
        return median(power, axis=-2) / bias


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
        return floating_numbers(made.astype(real_dtype(x.dtype)), "window")
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


def real_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype of the real parts."""
    return np.dtype(dtype.char.lower()) if dtype.kind == "c" else dtype


def lombscargle(
    x: ArrayLike,
    y: ArrayLike,
    freqs: ArrayLike,
    precenter: bool = False,
    normalize: Any = False,
    *,
    weights: ArrayLike | None = None,
    floating_mean: bool = False,
) -> Tensor:
    """Return the periodogram of values at uneven times, as `scipy.signal.lombscargle` does.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Times and values.
    freqs : array_like, shape (m,)
        Angular frequencies, not 0.
    precenter : bool
        Whether the mean of ``y`` is subtracted before.
    normalize : bool, "power", "normalize" or "amplitude"
        The power (False), its share of the whole (True), or a complex amplitude.
    weights : array_like, shape (n,), optional
    floating_mean : bool
        Whether a constant is fitted with each oscillation.

    Notes
    -----
    It is the fit of ``a cos + b sin`` by least squares, with gradients to all numbers.

    Examples
    --------
    >>> import numgrad as ng
    >>> w = ng.tensor([2.0], requires_grad=True)
    >>> power = ng.signal.lombscargle([0.0, 0.7, 1.9], [1.0, 0.2, -0.8], w)
    >>> power.detach().round(4), ng.grad(power.sum(), w)[0].round(4)
    (tensor([0.84]), tensor([0.0036]))
    """
    x, y, freqs = (floating_numbers(a, n) for a, n in ((x, "x"), (y, "y"), (freqs, "freqs")))
    w = as_tensor(np.ones(x.shape)) if weights is None else floating_numbers(weights, "weights")
    if x.ndim != 1 or not x.size or x.shape != y.shape or x.shape != w.shape:
        raise ValueError(
            f"lombscargle: x, y and weights must be vectors of one size, got shapes {x.shape}, "
            f"{y.shape} and {w.shape}"
        )
    if freqs.ndim != 1 or not freqs.size:
        raise ValueError(f"lombscargle: freqs must be a vector, got shape {freqs.shape}")
    is_named = isinstance(normalize, str)
    kind = normalize if is_named else "normalize" if guarded(normalize) else "power"
    if kind not in ("power", "normalize", "amplitude"):
        raise ValueError(
            f"lombscargle: normalize must be a bool, 'power', 'normalize' or 'amplitude', got "
            f"{normalize!r:.40}"
        )
    y = y - y.mean() if guarded(precenter) else y
    return _oscillations(x, y, freqs, w / w.sum(), kind, bool(guarded(floating_mean)))


def _oscillations(
    x: Tensor, y: Tensor, freqs: Tensor, w: Tensor, kind: str, is_free: bool
) -> Tensor:
    """Return the fits of oscillations, by their normal equations of two unknowns."""
    angle = freqs[:, None] * x
    c, s = cos(angle), sin(angle)
    if is_free:
        y = y - (w * y).sum()
        c, s = (part - (w * part).sum(axis=-1)[:, None] for part in (c, s))
    yc, ys, cc, ss, cs = ((w * p).sum(axis=-1) for p in (y * c, y * s, c * c, s * s, c * s))
    area, size = cc * ss - cs * cs, cc + ss
    is_regular = area > np.finfo(np.float64).epsneg * size
    area, size = where(is_regular, area, 1.0), where(size > 0, size, 1.0)
    a = where(is_regular, (ss * yc - cs * ys) / area, yc / size)
    b = where(is_regular, (cc * ys - cs * yc) / area, ys / size)
    if kind == "amplitude":
        return a + 1j * b
    power = a * yc + b * ys
    return power / (w * y * y).sum() if kind == "normalize" else 0.5 * x.size * power
