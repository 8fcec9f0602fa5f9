"""Scenarios of special functions."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.special as sp

from ..._declare import registry
from ...functions.special import special
from ...operators.special.formulas import TABLE, Tabled
from .elementwise import INF, binary, unary
from .scenario import REAL, Scenario, floats, spread

OWN = (
    unary(
        "erf",
        -2,
        2,
        0.0,
        INF,
        1e-300,
        takes_complex=False,
        half=False,
        function=special.erf,
        reference=sp.erf,
    ),
    unary(
        "erfc",
        -2,
        2,
        0.0,
        INF,
        10.0,
        takes_complex=False,
        half=False,
        function=special.erfc,
        reference=sp.erfc,
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
        half=False,
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
        half=False,
        tolerance=64,
    ),
    binary(
        "xlogy",
        (0.2, 2),
        (0.2, 2),
        (floats(0.0, 0.0, 1.0), floats(2.0, 0.5, 1.0)),
        function=special.xlogy,
        reference=sp.xlogy,
        half=False,
    ),
    Scenario(
        name="polygamma",
        function=lambda x: special.polygamma(2, x),
        operators=("polygamma",),
        reference=lambda x: sp.polygamma(2, x).astype(x.dtype),
        points=spread([(0.3, 5)]),
        domains=((0.3, 5),),
        half=False,
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
        name="kinked_power",
        function=lambda x: registry["kinked_power"](x, 0.4),
        operators=("kinked_power",),
        half=False,
        oracle=False,
        reference=lambda x: x**0.4,
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
        "log_expit",
        -2,
        2,
        takes_complex=False,
        function=special.log_expit,
        reference=sp.log_expit,
        operators=(),
    ),
)


# Operators of the tables --------------------------------------------------------------------------


def _groups(covered: set[str]) -> Iterator[list[Tabled]]:
    """Yield groups of tabled operators whose arguments have the same domains and derivatives.

    Operators in ``covered`` have scenarios of their own, and are left out.
    """
    groups: dict[Any, list[Tabled]] = {}
    for operator in TABLE.values():
        if operator.name not in covered:
            free = [x in operator.formulas for x in operator.parameters]
            key = (operator.tried, operator.gives_complex, not operator.once, *free)
            groups.setdefault(key, []).append(operator)
    yield from groups.values()


def _tricomi(a: Any, b: Any, x: Any) -> Any:
    from mpmath import hyperu  # only tests need mpmath

    return np.vectorize(lambda *z: float(hyperu(*map(float, z))), [float])(a, b, x)


def _student_inverse(df: Any, p: Any) -> Any:
    """Return quantiles of Student's distribution by the inverse of the incomplete beta function.

    SciPy computes that function to more digits than the quantiles themselves.
    """
    share = sp.betaincinv(0.5 * df, 0.5, 2 * np.minimum(p, 1 - p))
    return np.sign(p - 0.5) * np.sqrt(df * (1 - share) / share)


EXACT = {"hyperu": _tricomi, "stdtrit": _student_inverse}
"""References with more digits than the functions of SciPy."""


def _tabled(operators: list[Tabled]) -> Scenario:
    """Return one scenario of several operators whose parameters have the same domains.

    Parameters without a derivative are held constant in the middle of their domains.
    """
    first = operators[0]
    free = [x in first.formulas or not first.formulas for x in first.parameters]
    ranges = [pair for pair, moves in zip(first.tried, free, strict=True) if moves]
    middle = [low if low == high else 0.5 * (low + high) for low, high in first.tried]

    def all_of(functions: list[Callable[..., Any]], *given: Any) -> tuple[Any, ...]:
        values = iter(given)
        args = [next(values) if moves else m for moves, m in zip(free, middle, strict=True)]
        return tuple(function(*args) for function in functions)

    known = [EXACT.get(o.name) or getattr(sp, o.name, None) for o in operators]

    def reference(*given: Any) -> tuple[Any, ...]:
        dtype = np.result_type(given[0], np.complex64) if first.gives_complex else given[0].dtype
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy warns of integers given as floats
            return tuple(r.astype(dtype) for r in all_of(known, *given))  # type: ignore[arg-type]

    return Scenario(
        name=" ".join(operator.name for operator in operators),
        function=lambda *given: all_of(operators, *given),  # type: ignore[arg-type]
        operators=tuple(operator.name for operator in operators),
        reference=reference if None not in known else None,
        points=spread(ranges),
        domains=tuple(ranges),
        dtypes=REAL,
        order=(1 if first.once else 2) if first.formulas else 0,
        half=False,
        oracle=False,
        tolerance=64,
    )


SCENARIOS = (
    *OWN,
    *(_tabled(group) for group in _groups({name for own in OWN for name in own.operators})),
)
