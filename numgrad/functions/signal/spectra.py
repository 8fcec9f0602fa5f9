"""Spectra of two signals and of short times, under the names of ``scipy.signal``."""

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ..array.argument_checks import integer
from ..array.operands import as_tensor, is_known, values_of
from ..elementwise.complex_parts import angle, conj, imag, real
from ..elementwise.powers import sqrt
from ..shape.joining import concat
from ..shape.rearranging import flip
from ..shape.reshaping import moveaxis, reshape
from ..shape.selection import where
from .filters import floating_numbers, sequences
from .fourier import fft, ifft, irfft
from .periodograms import AVERAGES, Segments

PARTS = {
    "psd": lambda z: real(z) * real(z) + imag(z) * imag(z),
    "complex": lambda z: z,
    "magnitude": lambda z: abs(z),
    "angle": lambda z: angle(z),
}


def csd(
    x: ArrayLike,
    y: ArrayLike,
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
    """Return the cross power of two signals at each frequency, as `scipy.signal.csd` does.

    Parameters
    ----------
    x, y : array_like
        Sequences; behind the shorter ones there are zeros.
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
        As for `welch`.

    Returns
    -------
    f : Tensor
        Frequencies.
    p : Tensor
        The cross power, complex numbers, at each of them along ``axis``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 0.0, -1.0, 0.0] * 4, requires_grad=True)
    >>> f, p = ng.signal.csd(x, [0.0, 1.0, 0.0, -1.0] * 4, nperseg=8, scaling="spectrum")
    >>> round(ng.angle(p[2]).item(), 4)  # a quarter of a period later
    -1.5708
    """
    if not isinstance(average, str) or average not in AVERAGES:
        raise ValueError(f"csd: average must be one of {AVERAGES}, got {average!r:.80}")
    a, b = _of_one_length(sequences("csd", x, axis), sequences("csd", y, axis, "y"))
    as_complex = b if b.dtype.kind == "c" else a
    plan = Segments(
        "csd", as_complex, fs, axis, window, nperseg, noverlap, nfft, scaling, return_onesided
    )
    power = plan.powers(conj(plan.transform(a, detrend)) * plan.transform(b, detrend))
    return plan.frequencies, moveaxis(plan.averaged(power, average), -1, axis)


def coherence(
    x: ArrayLike,
    y: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Tensor, Tensor]:
    """Return how much of a signal is a linear response to another one, as `scipy.signal.coherence`
    does.

    Parameters
    ----------
    x, y, fs, window, nperseg, noverlap, nfft, detrend, axis
        As for `csd`.

    Returns
    -------
    f : Tensor
        Frequencies.
    c : Tensor
        The square of the cross power over the product of the powers.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 0.0, -1.0, 3.0] * 4, requires_grad=True)
    >>> f, c = ng.signal.coherence(x, 2.0 * x, nperseg=8)
    >>> round(c[2].item(), 12)
    1.0
    """
    options: Any = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis)
    f, across = csd(x, y, *options)
    powers = [real(csd(v, v, *options)[1]) for v in (x, y)]
    return f, PARTS["psd"](across) / powers[0] / powers[1]


def _of_one_length(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return sequences with zeros behind the shorter ones."""
    size = max(a.shape[-1], b.shape[-1])
    return _with_zeros(a, 0, size - a.shape[-1]), _with_zeros(b, 0, size - b.shape[-1])


def _with_zeros(x: Tensor, before: int, after: int) -> Tensor:
    """Return sequences with zeros at the ends."""
    parts = [as_tensor(np.zeros((*x.shape[:-1], n), x.dtype)) for n in (before, after)]
    given = [part for part in (parts[0], x, parts[1]) if part.shape[-1]]
    return concat(given, axis=-1) if len(given) > 1 else x


def spectrogram(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Any, Any, Tensor]:
    """Return the spectra of segments, as `scipy.signal.spectrogram` does.

    Parameters
    ----------
    x, fs, window, nperseg, nfft, detrend, return_onesided, scaling, axis
        As for `welch`.
    noverlap : int, optional
        How many elements two segments share; an eighth of them by default.
    mode : {"psd", "complex", "magnitude", "angle"}
        The power, or the transform, its size or its angle.

    Returns
    -------
    f, t : Tensor
        Frequencies, and the times of the middles of the segments.
    s : Tensor
        Frequencies along ``axis``, times along the last one.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 0.0, -1.0, 0.0] * 4, requires_grad=True)
    >>> f, t, s = ng.signal.spectrogram(x, nperseg=8, noverlap=4)
    >>> t.tolist(), s.shape
    ([4.0, 8.0, 12.0], (5, 3))
    """
    if not isinstance(mode, str) or mode not in PARTS:
        raise ValueError(f"spectrogram: mode must be one of {tuple(PARTS)}, got {mode!r:.80}")
    values = sequences("spectrogram", x, axis)
    plan = Segments(
        "spectrogram", values, fs, axis, window, nperseg, noverlap, nfft, scaling, return_onesided,
        8,
    )  # fmt: skip
    z = plan.transform(values, detrend)
    if mode == "psd":
        s = plan.powers(PARTS["psd"](z))
    else:
        s = PARTS[mode](z if mode == "angle" else z / sqrt(plan.total))
    times = (plan.starts + plan.n / 2) / plan.rate
    return plan.frequencies, times, _in_place_of(s, axis)


def _in_place_of(s: Tensor, axis: int) -> Tensor:
    """Return spectra with the times last, and frequencies where the sequences were."""
    s = moveaxis(s, -1, -2)
    return moveaxis(s, -2, axis - 1 if axis < 0 else axis)


def stft(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> tuple[Any, Any, Tensor]:
    """Return the Fourier transforms of segments that overlap, as `scipy.signal.stft` does.

    Parameters
    ----------
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis
        As for `welch`.
    boundary : {"zeros", "even", "odd", "constant", None}
        What is before and behind the sequences.
    padded : bool
        Whether zeros behind make whole segments.
    scaling : {"spectrum", "psd"}
        Squares are powers, or powers in a unit of frequency.

    Returns
    -------
    f, t : Tensor
        Frequencies, and the times of the middles of the segments.
    z : Tensor
        Frequencies along ``axis``, times along the last one.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 0.0, -1.0, 0.0] * 2, requires_grad=True)
    >>> f, t, z = ng.signal.stft(x, nperseg=4)
    >>> round(abs(z[1, 2]).item(), 6), t.tolist()
    (0.5, [0.0, 2.0, 4.0, 6.0, 8.0])
    """
    _require_scaling("stft", scaling)
    if np.ndim(padded):
        raise TypeError("stft: padded must be True or False, not an array")
    values = sequences("stft", x, axis)
    n = None if nperseg is None else integer(nperseg, "nperseg")
    n = min(n or 256, values.shape[-1]) if isinstance(window, (str, tuple)) else n
    n = len(window) if n is None else n
    step = n - (n // 2 if noverlap is None else integer(noverlap, "noverlap"))
    values = _surrounded(values, boundary, n // 2)
    if padded and step > 0:
        values = _with_zeros(values, 0, (-(values.shape[-1] - n) % step) % n)
    kind = "spectrum" if scaling == "spectrum" else "density"
    plan = Segments(
        "stft", values, fs, axis, window, n, noverlap, nfft, kind, return_onesided
    )
    z = plan.transform(values, detrend) / sqrt(plan.total)
    times = plan.starts + plan.n / 2 - (0.0 if boundary is None else plan.n / 2)
    return plan.frequencies, times / plan.rate, _in_place_of(z, axis)


def _require_scaling(name: str, scaling: Any) -> None:
    if not isinstance(scaling, str) or scaling not in ("spectrum", "psd"):
        raise ValueError(f"{name}: scaling must be 'spectrum' or 'psd', got {scaling!r:.80}")


BOUNDARIES = ("zeros", "even", "odd", "constant", None)


def _surrounded(x: Tensor, boundary: Any, n: int) -> Tensor:
    """Return sequences with ``n`` elements at each end."""
    if np.ndim(boundary) or boundary not in BOUNDARIES:
        raise ValueError(f"stft: boundary must be one of {BOUNDARIES}, got {boundary!r:.80}")
    if boundary is None or not n:
        return x
    if boundary == "zeros":
        return _with_zeros(x, n, n)
    first, last = x[..., :1], x[..., -1:]
    if boundary == "constant":
        ends = [first * np.ones(n), last * np.ones(n)]
    else:
        ends = [flip(x[..., 1 : n + 1], -1), flip(x[..., -n - 1 : -1], -1)]
        if boundary == "odd":
            ends = [2 * first - ends[0], 2 * last - ends[1]]
    return concat([ends[0], x, ends[1]], axis=-1)


def istft(
    Zxx: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Any, Tensor]:
    """Return the signal of transforms of segments, as `scipy.signal.istft` does.

    Parameters
    ----------
    Zxx : array_like
        What `stft` returns.
    fs, window, nperseg, noverlap, nfft, input_onesided, scaling
        As for `stft`.
    boundary : bool
        Whether `stft` has added elements at the ends, which are taken away.
    time_axis, freq_axis : int

    Returns
    -------
    t : Tensor
        Times.
    x : Tensor
        The signal along ``freq_axis``, or the axis that takes its place.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, -1.0, 5.0] * 2, requires_grad=True)
    >>> _, _, z = ng.signal.stft(x, nperseg=4)
    >>> t, y = ng.signal.istft(z)
    >>> y.detach().numpy().round(12).tolist()
    [1.0, 2.0, -1.0, 5.0, 1.0, 2.0, -1.0, 5.0]
    """
    z = floating_numbers(Zxx, "Zxx")
    time_axis, freq_axis = integer(time_axis, "time_axis"), integer(freq_axis, "freq_axis")
    if np.ndim(input_onesided) or np.ndim(boundary):
        raise TypeError("istft: input_onesided and boundary must be True or False, not arrays")
    if z.ndim < 2 or time_axis % z.ndim == freq_axis % z.ndim:
        raise ValueError(f"istft: axes {freq_axis} and {time_axis} of an array of shape {z.shape}")
    z = moveaxis(z, (time_axis % z.ndim, freq_axis % z.ndim), (-2, -1))
    count, bins = z.shape[-2:]
    n, shared, size = _lengths_of(bins, input_onesided, nperseg, noverlap, nfft)
    weights = _window_of(window, n)
    parts = (irfft if input_onesided else ifft)(z, size)[..., :n]
    rate = floating_numbers(fs, "fs")
    _require_scaling("istft", scaling)
    scale = weights.sum() if scaling == "spectrum" else sqrt(rate * (weights * weights).sum())
    x = _overlapped(parts * weights, n - shared) * scale
    norm = _overlapped((weights * weights) * np.ones((count, 1)), n - shared)
    if boundary:
        x, norm = (v[..., n // 2 : v.shape[-1] - n // 2] for v in (x, norm))
    is_covered = norm.detach() > 1e-10
    if is_known(is_covered) and not values_of(is_covered).all():
        warnings.warn(
            "istft: the window leaves elements without weight, so they are not those of a signal",
            stacklevel=2,
        )
    x = x / where(is_covered, norm, 1.0)
    times = np.arange(x.shape[-1]) / rate
    return times, moveaxis(x, -1, min(time_axis % z.ndim, freq_axis % z.ndim)) if x.ndim > 1 else x


def _lengths_of(
    bins: int, is_onesided: bool, nperseg: Any, noverlap: Any, nfft: Any
) -> tuple[int, int, int]:
    """Return the lengths of segments, of what neighbours share, and of transforms."""
    usual = 2 * (bins - 1) if is_onesided else bins
    n = usual if nperseg is None else integer(nperseg, "nperseg")
    size = n if n == usual + 1 and is_onesided else usual
    size = size if nfft is None else integer(nfft, "nfft")
    shared = n // 2 if noverlap is None else integer(noverlap, "noverlap")
    if not 0 <= shared < n <= size:
        raise ValueError(
            f"istft: noverlap must be in 0..nperseg - 1 and nfft at least nperseg, got noverlap "
            f"{shared}, nperseg {n}, nfft {size}"
        )
    return n, shared, size


def _window_of(window: Any, n: int) -> Tensor:
    if not isinstance(window, (str, tuple)):
        found = floating_numbers(window, "window")
        if found.shape != (n,):
            raise ValueError(f"istft: window of shape {found.shape}, and nperseg is {n}")
        return found
    return as_tensor(import_module("scipy.signal").get_window(window, n))


def _overlapped(parts: Tensor, step: int) -> Tensor:
    """Return the sum of segments, each so many elements behind the one before."""
    count, n = parts.shape[-2:]
    blocks = -(-n // step)
    parts = _with_zeros(parts, 0, blocks * step - n)
    parts = reshape(parts, (*parts.shape[:-1], blocks, step))
    total: Any = None
    for k in range(blocks):
        part = reshape(parts[..., k, :], (*parts.shape[:-3], count * step))
        moved = _with_zeros(part, k * step, (blocks - 1 - k) * step)
        total = moved if total is None else total + moved
    return total[..., : (count - 1) * step + n]


@composed
def hilbert(x: ArrayLike, N: int | None = None, axis: int = -1) -> Tensor:
    """Return the analytic signal, whose real part is the signal, as `scipy.signal.hilbert` does.

    Parameters
    ----------
    x : array_like
        Real sequences.
    N : int, optional
        How many elements are transformed; all by default.
    axis : int

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 0.0, -1.0, 0.0], requires_grad=True)
    >>> abs(ng.signal.hilbert(x)).detach().numpy().round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    values = sequences("hilbert", x, axis)
    if values.dtype.kind == "c":
        raise ValueError("hilbert: x must be real")
    size = values.shape[-1] if N is None else integer(N, "N")
    if size < 1:
        raise ValueError(f"hilbert: N must be positive, got {size}")
    factors = np.zeros(size)
    factors[: (size + 1) // 2] = 2.0
    factors[0] = 1.0
    if size % 2 == 0:
        factors[size // 2] = 1.0
    return moveaxis(ifft(fft(values, size) * factors), -1, axis)
