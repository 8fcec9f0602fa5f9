"""Series of polynomials under the names of ``numpy.polynomial``, differentiable; others are NumPy's
own."""

from ..names.numpy_names import _names_of
from . import chebyshev as chebyshev
from . import hermite as hermite
from . import hermite_e as hermite_e
from . import laguerre as laguerre
from . import legendre as legendre
from . import polynomial as polynomial
from .chebyshev import Chebyshev as Chebyshev
from .hermite import Hermite as Hermite
from .hermite_e import HermiteE as HermiteE
from .laguerre import Laguerre as Laguerre
from .legendre import Legendre as Legendre
from .polynomial import Polynomial as Polynomial

__all__ = [
    "Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial", "chebyshev",
    "hermite", "hermite_e", "laguerre", "legendre", "polynomial",
]  # fmt: skip

__getattr__ = _names_of("numpy.polynomial", __name__)


def __dir__() -> list[str]:
    return __all__
