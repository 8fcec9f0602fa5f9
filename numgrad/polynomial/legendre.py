"""Series of Legendre polynomials.

The names are those of ``numpy.polynomial.legendre``; other functions are NumPy\'s own.
"""

import numpy.polynomial.legendre as _numpys

from ..names.numpy_names import _names_of
from . import algebra as _algebra
from . import series as _series
from .family import Family as _Family
from .objects import Series as _Series

_family = _Family("legendre", "leg", lambda n: ((2 * n + 1) / (n + 1), 0, n / (n + 1)))
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
legadd = _family.of(_algebra.add)
legsub = _family.of(_algebra.sub)
legmulx = _family.of(_algebra.mulx)
legmul = _family.of(_algebra.mul)
legdiv = _family.of(_algebra.div)
legpow = _family.of(_algebra.pow_)
legline = _family.of(_algebra.line)
legtrim = _family.of(_algebra.trim)
legfromroots = _family.of(_algebra.fromroots)
legcompanion = _family.of(_algebra.companion)
legroots = _family.of(_algebra.roots)
leg2poly = _family.of(_algebra.to_powers)
poly2leg = _family.of(_algebra.of_powers)


class Legendre(_Series, _numpys.Legendre):  # pyright: ignore[reportIncompatibleMethodOverride]
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.Legendre(c)(0.5), c)[0][0].item()
    1.0
    """


__getattr__ = _names_of("numpy.polynomial.legendre", __name__)
