"""Hypergeometric functions and orthogonal polynomials: their derivatives are of the same kind."""

from ...elementwise.arithmetic import where
from ..formulas import NAMES, declare
from . import orthogonal_polynomials
from .confluent_limit import limit_function
from .kummer import kummer
from .tricomi import tricomi

PARAMETERS = ((0.5, 2),)


declare("hyp0f1", "v z", "confluent hypergeometric limit function 0F1", value=limit_function,
        complex="dz", fixed="v", tried=((0.5, 2), (-2, 2)), dz="hyp0f1(v + 1, z) / v")
declare("hyp1f1", "a b x", "confluent hypergeometric function 1F1", value=kummer, complex="ddz",
        fixed="a b", tried=((0.5, 2), (0.5, 2), (-2, 2)), dx="a / b * hyp1f1(a + 1, b + 1, x)")
hyp2f1 = declare("hyp2f1", "a b c z", "Gauss's hypergeometric function 2F1", complex="dddz",
        fixed="a b c", domain="z < 1 or complex", tried=((0.5, 2), (0.5, 2), (0.5, 2), (-0.9, 0.8)),
        dz="a * b / c * hyp2f1(a + 1, b + 1, c + 1, z)")
declare("hyperu", "a b x", "confluent hypergeometric function U", value=tricomi, domain="x > 0",
        fixed="a b", tried=((0.5, 2), (0.5, 2), (0.5, 3)), dx="-a * hyperu(a + 1, b + 1, x)")

# Orthogonal polynomials ---------------------------------------------------------------------------

DEGREE, SHAPE, INTERVAL = (3, 3), (0.5, 2), (-0.9, 0.9)


def lower(n, factor):
    """``factor``, but 0 for the polynomial of degree 0."""
    return where(n == 0, 0.0, factor)


NAMES.update(lower=lower)
for _name, _parameters, _about, _formula in (
    ("legendre", "n x", "Legendre polynomial", "0.5 * (n + 1) * eval_jacobi(n - 1, 1.0, 1.0, x)"),
    ("chebyt", "n x", "Chebyshev polynomial of the first kind", "n * eval_chebyu(n - 1, x)"),
    ("chebyu", "n x", "Chebyshev polynomial of the second kind",
     "2 * eval_gegenbauer(n - 1, 2.0, x)"),
    ("gegenbauer", "n a x", "Gegenbauer polynomial", "2 * a * eval_gegenbauer(n - 1, a + 1, x)"),
    ("jacobi", "n a b x", "Jacobi polynomial",
     "0.5 * (n + a + b + 1) * eval_jacobi(n - 1, a + 1, b + 1, x)"),
    ("laguerre", "n x", "Laguerre polynomial", "-eval_genlaguerre(n - 1, 1.0, x)"),
    ("genlaguerre", "n a x", "generalized Laguerre polynomial",
     "-eval_genlaguerre(n - 1, a + 1, x)"),
    ("hermite", "n x", "Hermite polynomial of physicists", "2 * n * eval_hermite(n - 1, x)"),
    ("hermitenorm", "n x", "Hermite polynomial of statisticians", "n * eval_hermitenorm(n - 1, x)"),
):
    _names = _parameters.split()
    _kinds = "d" * (len(_names) - 1)
    _hermite = _name.startswith("hermite")
    declare(f"eval_{_name}", _parameters, f"{_about} of degree ``n``", fixed=" ".join(_names[:-1]),
            value="nd" if _hermite else getattr(orthogonal_polynomials, _name),
            complex=None if _hermite else _kinds + "z",
            tried=(DEGREE, *(SHAPE for _ in _names[2:]), INTERVAL),
            dx=(_formula, f"lower(n, {_formula.replace('n - 1', 'below(n)')})"))
declare("lpmv", "m v x", "associated Legendre function of integer order and real degree",
        domain="-1 < x < 1", fixed="m v", tried=((1, 1), (1.5, 3), (-0.9, 0.9)),
        dx="((v + m) * lpmv(m, v - 1, x) - v * x * y) / (1 - x * x)")
