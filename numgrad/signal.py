"""Filters, convolution and correlation of arrays under the names of ``scipy.signal``,
differentiable; others are SciPy's own."""

from .functions.signal.convolution import convolve as convolve
from .functions.signal.convolution import convolve2d as convolve2d
from .functions.signal.convolution import correlate as correlate
from .functions.signal.convolution import correlate2d as correlate2d
from .functions.signal.convolution import fftconvolve as fftconvolve
from .functions.signal.convolution import oaconvolve as oaconvolve
from .functions.signal.filters import filtfilt as filtfilt
from .functions.signal.filters import lfilter as lfilter
from .functions.signal.filters import lfilter_zi as lfilter_zi
from .functions.signal.filters import sosfilt as sosfilt
from .functions.signal.filters import sosfilt_zi as sosfilt_zi
from .functions.signal.filters import sosfiltfilt as sosfiltfilt
from .functions.signal.periodograms import lombscargle as lombscargle
from .functions.signal.periodograms import periodogram as periodogram
from .functions.signal.periodograms import welch as welch
from .functions.signal.ranks import medfilt as medfilt
from .functions.signal.ranks import medfilt2d as medfilt2d
from .functions.signal.resampling import decimate as decimate
from .functions.signal.resampling import resample_poly as resample_poly
from .functions.signal.resampling import upfirdn as upfirdn
from .functions.signal.spectra import coherence as coherence
from .functions.signal.spectra import csd as csd
from .functions.signal.spectra import hilbert as hilbert
from .functions.signal.spectra import istft as istft
from .functions.signal.spectra import spectrogram as spectrogram
from .functions.signal.spectra import stft as stft
from .functions.signal.trends import detrend as detrend
from .functions.signal.trends import savgol_filter as savgol_filter
from .names.numpy_names import _names_of

__all__ = [
    "coherence", "convolve", "convolve2d", "correlate", "correlate2d", "csd", "decimate",
    "detrend", "fftconvolve", "filtfilt", "hilbert", "istft", "lfilter", "lfilter_zi",
    "lombscargle", "medfilt", "medfilt2d", "oaconvolve", "periodogram", "resample_poly",
    "savgol_filter", "sosfilt", "sosfilt_zi", "sosfiltfilt", "spectrogram", "stft", "upfirdn",
    "welch",
]  # fmt: skip

__getattr__ = _names_of("scipy.signal", __name__)


def __dir__() -> list[str]:
    return __all__
