"""Series of Legendre polynomials.

The names are those of ``numpy.polynomial.legendre``; other functions are NumPy\'s own.
"""

import numpy.polynomial.legendre as _numpys

from .._numpy_names import _names_of
from . import series as _series
from .objects import Series as _Series

_family = _series.Family("legendre", "leg", lambda n: ((2 * n + 1) / (n + 1), 0, n / (n + 1)))
legval = _family.of(_series.val)
legval2d = _family.of(_series.val2d)
legval3d = _family.of(_series.val3d)
leggrid2d = _family.of(_series.grid2d)
leggrid3d = _family.of(_series.grid3d)
legvander = _family.of(_series.vander)
legvander2d = _family.of(_series.vander2d)
legvander3d = _family.of(_series.vander3d)
legder = _family.of(_series.der)
legint = _family.of(_series.int_)
legfit = _family.of(_series.fit)


class Legendre(_Series, _numpys.Legendre):
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.Legendre(c)(0.5), c)[0][0].item()
    1.0
    """

    _val, _der = staticmethod(legval), staticmethod(legder)
    _int, _fit = staticmethod(legint), staticmethod(legfit)


__getattr__ = _names_of("numpy.polynomial.legendre", __name__)
