"""Series of Laguerre polynomials.

The names are those of ``numpy.polynomial.laguerre``; other functions are NumPy\'s own.
"""

import numpy.polynomial.laguerre as _numpys

from ..names.numpy_names import _names_of
from . import algebra as _algebra
from . import series as _series
from .family import Family as _Family
from .objects import Series as _Series

_family = _Family("laguerre", "lag", lambda n: (-1 / (n + 1), (2 * n + 1) / (n + 1), n / (n + 1)))
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
lagadd = _family.of(_algebra.add)
lagsub = _family.of(_algebra.sub)
lagmulx = _family.of(_algebra.mulx)
lagmul = _family.of(_algebra.mul)
lagdiv = _family.of(_algebra.div)
lagpow = _family.of(_algebra.pow_)
lagline = _family.of(_algebra.line)
lagtrim = _family.of(_algebra.trim)
lagfromroots = _family.of(_algebra.fromroots)
lagcompanion = _family.of(_algebra.companion)
lagroots = _family.of(_algebra.roots)
lag2poly = _family.of(_algebra.to_powers)
poly2lag = _family.of(_algebra.of_powers)


class Laguerre(_Series, _numpys.Laguerre):  # pyright: ignore[reportIncompatibleMethodOverride]
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.Laguerre(c)(0.5), c)[0][0].item()
    1.0
    """


__getattr__ = _names_of("numpy.polynomial.laguerre", __name__)
