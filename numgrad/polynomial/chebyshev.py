"""Series of Chebyshev polynomials.

The names are those of ``numpy.polynomial.chebyshev``; other functions are NumPy\'s own.
"""

import numpy.polynomial.chebyshev as _numpys

from ..names.numpy_names import _names_of
from . import algebra as _algebra
from . import series as _series
from .family import Family as _Family
from .objects import Series as _Series

_family = _Family("chebyshev", "cheb", lambda n: (2 if n else 1, 0, 1))
chebval = _family.of(_series.val)
chebval2d = _family.of(_series.val2d)
chebval3d = _family.of(_series.val3d)
chebgrid2d = _family.of(_series.grid2d)
chebgrid3d = _family.of(_series.grid3d)
chebvander = _family.of(_series.vander)
chebvander2d = _family.of(_series.vander2d)
chebvander3d = _family.of(_series.vander3d)
chebder = _family.of(_series.der)
chebint = _family.of(_series.int_)
chebfit = _family.of(_series.fit)
chebadd = _family.of(_algebra.add)
chebsub = _family.of(_algebra.sub)
chebmulx = _family.of(_algebra.mulx)
chebmul = _family.of(_algebra.mul)
chebdiv = _family.of(_algebra.div)
chebpow = _family.of(_algebra.pow_)
chebline = _family.of(_algebra.line)
chebtrim = _family.of(_algebra.trim)
chebfromroots = _family.of(_algebra.fromroots)
chebcompanion = _family.of(_algebra.companion)
chebroots = _family.of(_algebra.roots)
cheb2poly = _family.of(_algebra.to_powers)
poly2cheb = _family.of(_algebra.of_powers)


class Chebyshev(_Series, _numpys.Chebyshev):  # pyright: ignore[reportIncompatibleMethodOverride]
    """NumPy's class; its coefficients, and what it is called with, may be tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.Chebyshev(c)(0.5), c)[0][0].item()
    1.0
    """


__getattr__ = _names_of("numpy.polynomial.chebyshev", __name__)
