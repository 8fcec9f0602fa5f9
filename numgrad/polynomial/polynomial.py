"""Power series.

The names are those of ``numpy.polynomial.polynomial``; other functions are NumPy\'s own.
"""

import numpy.polynomial.polynomial as _numpys

from ..names.numpy_names import _names_of
from . import algebra as _algebra
from . import series as _series
from .family import PowerFamily as _Family
from .objects import Series as _Series

_family = _Family("polynomial", "poly", lambda n: (1, 0, 0))
polyval = _family.of(_series.val)
polyval2d = _family.of(_series.val2d)
polyval3d = _family.of(_series.val3d)
polygrid2d = _family.of(_series.grid2d)
polygrid3d = _family.of(_series.grid3d)
polyvander = _family.of(_series.vander)
polyvander2d = _family.of(_series.vander2d)
polyvander3d = _family.of(_series.vander3d)
polyder = _family.of(_series.der)
polyint = _family.of(_series.int_)
polyfit = _family.of(_series.fit)
polyadd = _family.of(_algebra.add)
polysub = _family.of(_algebra.sub)
polymulx = _family.of(_algebra.mulx)
polymul = _family.of(_algebra.mul)
polydiv = _family.of(_algebra.div)
polypow = _family.of(_algebra.pow_)
polyline = _family.of(_algebra.line)
polytrim = _family.of(_algebra.trim)
polyfromroots = _family.of(_algebra.fromroots)
polycompanion = _family.of(_algebra.companion)
polyroots = _family.of(_algebra.roots)


class Polynomial(_Series, _numpys.Polynomial):  # pyright: ignore[reportIncompatibleMethodOverride]
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.Polynomial(c)(0.5), c)[0][0].item()
    1.0
    """


__getattr__ = _names_of("numpy.polynomial.polynomial", __name__)
