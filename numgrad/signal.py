"""Filters, convolution and correlation of arrays under the names of ``scipy.signal``,
differentiable; others are SciPy's own."""

from ._numpy_names import _names_of
from .functions.convolution import convolve as convolve
from .functions.convolution import convolve2d as convolve2d
from .functions.convolution import correlate as correlate
from .functions.convolution import correlate2d as correlate2d
from .functions.convolution import fftconvolve as fftconvolve
from .functions.convolution import oaconvolve as oaconvolve
from .functions.filters import filtfilt as filtfilt
from .functions.filters import lfilter as lfilter
from .functions.filters import lfilter_zi as lfilter_zi
from .functions.filters import sosfilt as sosfilt
from .functions.filters import sosfilt_zi as sosfilt_zi
from .functions.filters import sosfiltfilt as sosfiltfilt
from .functions.periodograms import periodogram as periodogram
from .functions.periodograms import welch as welch
from .functions.trends import detrend as detrend
from .functions.trends import savgol_filter as savgol_filter

__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "detrend", "fftconvolve", "filtfilt",
    "lfilter", "lfilter_zi", "oaconvolve", "periodogram", "savgol_filter", "sosfilt", "sosfilt_zi",
    "sosfiltfilt", "welch",
]  # fmt: skip

__getattr__ = _names_of("scipy.signal", __name__)


def __dir__() -> list[str]:
    return __all__
