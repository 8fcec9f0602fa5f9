"""Series of Hermite polynomials, those of statisticians.

The names are those of ``numpy.polynomial.hermite_e``; other functions are NumPy\'s own.
"""

import numpy.polynomial.hermite_e as _numpys

from ..names.numpy_names import _names_of
from . import algebra as _algebra
from . import series as _series
from .family import Family as _Family
from .objects import Series as _Series

_family = _Family("hermite_e", "herme", lambda n: (1, 0, n))
hermeval = _family.of(_series.val)
hermeval2d = _family.of(_series.val2d)
hermeval3d = _family.of(_series.val3d)
hermegrid2d = _family.of(_series.grid2d)
hermegrid3d = _family.of(_series.grid3d)
hermevander = _family.of(_series.vander)
hermevander2d = _family.of(_series.vander2d)
hermevander3d = _family.of(_series.vander3d)
hermeder = _family.of(_series.der)
hermeint = _family.of(_series.int_)
hermefit = _family.of(_series.fit)
hermeadd = _family.of(_algebra.add)
hermesub = _family.of(_algebra.sub)
hermemulx = _family.of(_algebra.mulx)
hermemul = _family.of(_algebra.mul)
hermediv = _family.of(_algebra.div)
hermepow = _family.of(_algebra.pow_)
hermeline = _family.of(_algebra.line)
hermetrim = _family.of(_algebra.trim)
hermefromroots = _family.of(_algebra.fromroots)
hermecompanion = _family.of(_algebra.companion)
hermeroots = _family.of(_algebra.roots)
herme2poly = _family.of(_algebra.to_powers)
poly2herme = _family.of(_algebra.of_powers)


class HermiteE(_Series, _numpys.HermiteE):  # pyright: ignore[reportIncompatibleMethodOverride]
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.HermiteE(c)(0.5), c)[0][0].item()
    1.0
    """


__getattr__ = _names_of("numpy.polynomial.hermite_e", __name__)
