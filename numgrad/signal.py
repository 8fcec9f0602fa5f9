"""Convolution and correlation of arrays under the names of ``scipy.signal``, differentiable; others
are SciPy's own."""

from ._numpy_names import _names_of
from .functions.convolution import convolve as convolve
from .functions.convolution import convolve2d as convolve2d
from .functions.convolution import correlate as correlate
from .functions.convolution import correlate2d as correlate2d
from .functions.convolution import fftconvolve as fftconvolve
from .functions.convolution import oaconvolve as oaconvolve

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve", "oaconvolve"]

__getattr__ = _names_of("scipy.signal", __name__)


def __dir__() -> list[str]:
    return __all__
