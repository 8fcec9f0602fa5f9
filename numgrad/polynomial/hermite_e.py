"""Series of Hermite polynomials, those of statisticians.

The names are those of ``numpy.polynomial.hermite_e``; other functions are NumPy\'s own.
"""

import numpy.polynomial.hermite_e as _numpys

from .._numpy_names import _names_of
from . import series as _series
from .objects import Series as _Series

_family = _series.Family("hermite_e", "herme", lambda n: (1, 0, n))
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


class HermiteE(_Series, _numpys.HermiteE):
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.HermiteE(c)(0.5), c)[0][0].item()
    1.0
    """

    _val, _der = staticmethod(hermeval), staticmethod(hermeder)
    _int, _fit = staticmethod(hermeint), staticmethod(hermefit)


__getattr__ = _names_of("numpy.polynomial.hermite_e", __name__)
