"""Fourier transforms under the names of ``numpy.fft``, and those of cosines and sines under the
names of ``scipy.fft``."""

from .functions.signal.cosines import dct as dct
from .functions.signal.cosines import dctn as dctn
from .functions.signal.cosines import dst as dst
from .functions.signal.cosines import dstn as dstn
from .functions.signal.cosines import idct as idct
from .functions.signal.cosines import idctn as idctn
from .functions.signal.cosines import idst as idst
from .functions.signal.cosines import idstn as idstn
from .functions.signal.fourier import fft as fft
from .functions.signal.fourier import fft2 as fft2
from .functions.signal.fourier import fftfreq as fftfreq
from .functions.signal.fourier import fftn as fftn
from .functions.signal.fourier import fftshift as fftshift
from .functions.signal.fourier import hfft as hfft
from .functions.signal.fourier import ifft as ifft
from .functions.signal.fourier import ifft2 as ifft2
from .functions.signal.fourier import ifftn as ifftn
from .functions.signal.fourier import ifftshift as ifftshift
from .functions.signal.fourier import ihfft as ihfft
from .functions.signal.fourier import irfft as irfft
from .functions.signal.fourier import irfft2 as irfft2
from .functions.signal.fourier import irfftn as irfftn
from .functions.signal.fourier import next_fast_len as next_fast_len
from .functions.signal.fourier import rfft as rfft
from .functions.signal.fourier import rfft2 as rfft2
from .functions.signal.fourier import rfftfreq as rfftfreq
from .functions.signal.fourier import rfftn as rfftn
from .names.numpy_names import _names_of

__all__ = [
    "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "idct",
    "idctn", "idst", "idstn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2",
    "irfftn", "next_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

__getattr__ = _names_of("scipy.fft", __name__)


def __dir__() -> list[str]:
    return __all__
