"""Series of Hermite polynomials, those of physicists.

The names are those of ``numpy.polynomial.hermite``; other functions are NumPy\'s own.
"""

import numpy.polynomial.hermite as _numpys

from ..names.numpy_names import _names_of
from . import algebra as _algebra
from . import series as _series
from .family import Family as _Family
from .objects import Series as _Series

_family = _Family("hermite", "herm", lambda n: (2, 0, 2 * n))
hermval = _family.of(_series.val)
hermval2d = _family.of(_series.val2d)
hermval3d = _family.of(_series.val3d)
hermgrid2d = _family.of(_series.grid2d)
hermgrid3d = _family.of(_series.grid3d)
hermvander = _family.of(_series.vander)
hermvander2d = _family.of(_series.vander2d)
hermvander3d = _family.of(_series.vander3d)
hermder = _family.of(_series.der)
hermint = _family.of(_series.int_)
hermfit = _family.of(_series.fit)
hermadd = _family.of(_algebra.add)
hermsub = _family.of(_algebra.sub)
hermmulx = _family.of(_algebra.mulx)
hermmul = _family.of(_algebra.mul)
hermdiv = _family.of(_algebra.div)
hermpow = _family.of(_algebra.pow_)
hermline = _family.of(_algebra.line)
hermtrim = _family.of(_algebra.trim)
hermfromroots = _family.of(_algebra.fromroots)
hermcompanion = _family.of(_algebra.companion)
hermroots = _family.of(_algebra.roots)
herm2poly = _family.of(_algebra.to_powers)
poly2herm = _family.of(_algebra.of_powers)


class Hermite(_Series, _numpys.Hermite):  # pyright: ignore[reportIncompatibleMethodOverride]
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.Hermite(c)(0.5), c)[0][0].item()
    1.0
    """


__getattr__ = _names_of("numpy.polynomial.hermite", __name__)
