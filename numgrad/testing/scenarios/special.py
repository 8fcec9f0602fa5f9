"""Scenarios of special functions."""

import numpy as np
import scipy.special as sp

from ..._declare import registry
from ...functions import special
from .elementwise import INF, binary, unary
from .scenario import Scenario, floats, spread

SCENARIOS = (
    unary(
        "erf", -2, 2, 0.0, INF, 1e-300, takes_complex=False, function=special.erf, reference=sp.erf
    ),
    unary(
        "erfc", -2, 2, 0.0, INF, 10.0, takes_complex=False, function=special.erfc, reference=sp.erfc
    ),
    unary(
        "expit",
        -2,
        2,
        0.0,
        40.0,
        -40.0,
        -700.0,
        function=special.expit,
        reference=lambda x: 1 / (1 + np.exp(-x)),
    ),
    unary(
        "gammaln",
        0.3,
        5,
        1.0,
        2.0,
        1e10,
        1e-10,
        takes_complex=False,
        function=special.gammaln,
        reference=sp.gammaln,
        tolerance=64,
    ),
    unary(
        "digamma",
        0.3,
        5,
        1.0,
        1e10,
        1e-10,
        -1.5,
        takes_complex=False,
        function=special.digamma,
        reference=sp.digamma,
        tolerance=64,
    ),
    binary(
        "xlogy",
        (0.2, 2),
        (0.2, 2),
        (floats(0.0, 0.0, 1.0), floats(2.0, 0.5, 1.0)),
        function=special.xlogy,
        reference=sp.xlogy,
    ),
    Scenario(
        name="polygamma",
        function=lambda x: special.polygamma(2, x),
        operators=("polygamma",),
        reference=lambda x: sp.polygamma(2, x).astype(x.dtype),
        points=spread([(0.3, 5)]),
        domains=((0.3, 5),),
        tolerance=256,
    ),
    Scenario(
        name="root_of_sum",
        function=registry["root_of_sum"],
        operators=("root_of_sum",),
        half=False,
        oracle=False,
        reference=np.sqrt,
        points=spread([(0.2, 3)]),
    ),
    Scenario(
        name="shifted_exp",
        function=registry["shifted_exp"],
        operators=("shifted_exp",),
        half=False,
        oracle=False,
        reference=lambda x, shift: np.exp(x - shift),
        points=spread([(-2, 2), (-2, 2)]),
    ),
    unary(
        "ndtr", -2, 2, takes_complex=False, function=special.ndtr, reference=sp.ndtr, operators=()
    ),
    unary(
        "logit",
        0.1,
        0.9,
        takes_complex=False,
        function=special.logit,
        reference=sp.logit,
        operators=(),
    ),
    unary(
        "log_expit",
        -2,
        2,
        takes_complex=False,
        function=special.log_expit,
        reference=sp.log_expit,
        operators=(),
    ),
)
