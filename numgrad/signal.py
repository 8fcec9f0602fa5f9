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
from .functions.signal.periodograms import periodogram as periodogram
from .functions.signal.periodograms import welch as welch
from .functions.signal.trends import detrend as detrend
from .functions.signal.trends import savgol_filter as savgol_filter
from .names.numpy_names import _names_of

__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "detrend", "fftconvolve", "filtfilt",
    "lfilter", "lfilter_zi", "oaconvolve", "periodogram", "savgol_filter", "sosfilt", "sosfilt_zi",
    "sosfiltfilt", "welch",
]  # fmt: skip

__getattr__ = _names_of("scipy.signal", __name__)


def __dir__() -> list[str]:
    return __all__
