"""Series of Laguerre polynomials.

The names are those of ``numpy.polynomial.laguerre``; other functions are NumPy\'s own.
"""

import numpy.polynomial.laguerre as _numpys

from .._numpy_names import _names_of
from . import series as _series
from .objects import Series as _Series

_family = _series.Family(
    "laguerre", "lag", lambda n: (-1 / (n + 1), (2 * n + 1) / (n + 1), n / (n + 1))
)
lagval = _family.of(_series.val)
lagval2d = _family.of(_series.val2d)
lagval3d = _family.of(_series.val3d)
laggrid2d = _family.of(_series.grid2d)
laggrid3d = _family.of(_series.grid3d)
lagvander = _family.of(_series.vander)
lagvander2d = _family.of(_series.vander2d)
lagvander3d = _family.of(_series.vander3d)
lagder = _family.of(_series.der)
lagint = _family.of(_series.int_)
lagfit = _family.of(_series.fit)


class Laguerre(_Series, _numpys.Laguerre):
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.Laguerre(c)(0.5), c)[0][0].item()
    1.0
    """

    _val, _der = staticmethod(lagval), staticmethod(lagder)
    _int, _fit = staticmethod(lagint), staticmethod(lagfit)


__getattr__ = _names_of("numpy.polynomial.laguerre", __name__)
