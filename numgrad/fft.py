"""Fourier transforms under the names of ``numpy.fft``, and those of cosines and sines under the
names of ``scipy.fft``."""

from ._numpy_names import _names_of
from .functions.cosines import dct as dct
from .functions.cosines import dctn as dctn
from .functions.cosines import dst as dst
from .functions.cosines import dstn as dstn
from .functions.cosines import idct as idct
from .functions.cosines import idctn as idctn
from .functions.cosines import idst as idst
from .functions.cosines import idstn as idstn
from .functions.fourier import fft as fft
from .functions.fourier import fft2 as fft2
from .functions.fourier import fftfreq as fftfreq
from .functions.fourier import fftn as fftn
from .functions.fourier import fftshift as fftshift
from .functions.fourier import hfft as hfft
from .functions.fourier import ifft as ifft
from .functions.fourier import ifft2 as ifft2
from .functions.fourier import ifftn as ifftn
from .functions.fourier import ifftshift as ifftshift
from .functions.fourier import ihfft as ihfft
from .functions.fourier import irfft as irfft
from .functions.fourier import irfft2 as irfft2
from .functions.fourier import irfftn as irfftn
from .functions.fourier import next_fast_len as next_fast_len
from .functions.fourier import rfft as rfft
from .functions.fourier import rfft2 as rfft2
from .functions.fourier import rfftfreq as rfftfreq
from .functions.fourier import rfftn as rfftn

__all__ = [
    "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "idct",
    "idctn", "idst", "idstn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2",
    "irfftn", "next_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

__getattr__ = _names_of("scipy.fft", __name__)


def __dir__() -> list[str]:
    return __all__
