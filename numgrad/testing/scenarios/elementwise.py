"""Scenarios of elementwise operators with a derivative."""

from typing import Any

import numpy as np

import numgrad as ng

from ..._declare import registry
from .scenario import ALL, COMPLEX, REAL, Domain, Point, Scenario, floats, numbers, spread

INF, NAN = np.inf, np.nan


def unary(
    name: str, low: float, high: float, *special: float, takes_complex: bool = True, **options: Any
) -> Scenario:
    """Return the scenario of NumPy's function of one argument, which lies between two bounds.

    ``special`` are arguments at which value and gradient are compared with stored numbers.
    """
    points = ((floats(*special),),) if special else ()
    return _known(name, (low, high), special=points, takes_complex=takes_complex, **options)


def binary(
    name: str,
    first: Domain,
    second: Domain,
    *special: Point,
    takes_complex: bool = False,
    **options: Any,
) -> Scenario:
    """Return the scenario of NumPy's function of two arguments, which lie in two domains.

    ``special`` are points at which value and gradient are compared with stored numbers.
    """
    return _known(name, first, second, special=special, takes_complex=takes_complex, **options)


def _known(
    name: str, *domains: Domain, special: tuple[Point, ...], takes_complex: bool, **options: Any
) -> Scenario:
    settings: dict[str, Any] = {
        "function": getattr(ng, name, None),
        "reference": getattr(np, name, None),
        "operators": (name,),
        "points": spread(domains),
        "domains": domains,
        "dtypes": ALL if takes_complex else REAL,
        **options,
    }
    return Scenario(name=name, special=special, **settings)


ARITHMETIC = (
    unary("negative", -2, 2, 0.0, -0.0, INF),
    unary("abs", -2, 2, 0.0, -0.0, INF, -INF),
    unary("sign", -2, 2, 0.0, INF, takes_complex=False),
    unary("reciprocal", 0.5, 2, INF, -2.0),
    unary("square", -2, 2, 0.0, -3.0, 1e154),
    unary("cube", -2, 2, 0.0, -3.0, 1e102, function=lambda x: x**3, reference=lambda x: x**3),
    unary("sqrt", 0.2, 3, 0.0, 1e-300, 1e300, INF),
    unary("cbrt", 0.2, 3, -8.0, 1e300, takes_complex=False),
    unary("copy", -2, 2, function=lambda x: x.clone(), reference=np.copy),
    binary("add", (-2, 2), (-2, 2), takes_complex=True),
    binary("subtract", (-2, 2), (-2, 2), takes_complex=True),
    binary(
        "multiply",
        (-2, 2),
        (-2, 2),
        (floats(0.0, INF, 0.0), floats(0.0, 2.0, -1.0)),
        takes_complex=True,
    ),
    binary("divide", (-2, 2), (0.5, 2), (floats(1.0, 0.0), floats(INF, -3.0)), takes_complex=True),
    binary(
        "quotient_slope",
        (-2, 2),
        (-2, 2),
        (floats(0.0, -3.0), floats(INF, INF)),
        takes_complex=True,
        function=registry["quotient_slope"],
        reference=lambda y, r: np.where(y == 0, 0.0, -y * r),
        oracle=False,
        half=False,
    ),
    binary(
        "pow",
        (0.3, 3),
        (-2, 3),
        (floats(0.0, 0.0, 0.0, -2.0, -2.0, 2.0), floats(0.0, 1.0, 2.0, 2.0, 3.0, 0.0)),
        takes_complex=True,
        reference=np.power,
    ),
    binary("hypot", (-2, 2), (-2, 2), (floats(3.0, 0.0), floats(0.0, -2.0))),
)

EXPONENTIAL = (
    unary("exp", -2, 2, 0.0, -INF, 700.0, -745.0),
    unary("exp2", -2, 2, 0.0, -INF),
    unary("expm1", -2, 2, 0.0, 1e-300, -1e-10, -50.0),
    unary("log", 0.2, 3, 1.0, 1e-300, 1e300),
    unary("log2", 0.2, 3, 1.0, 1e-300),
    unary("log10", 0.2, 3, 1.0, 1e-300),
    unary("log1p", -0.5, 3, 0.0, 1e-300, -1e-10),
    binary(
        "logaddexp",
        (-2, 2),
        (-2, 2),
        (floats(0.0, 1000.0, -1000.0, -INF), floats(0.0, 1000.0, 5.0, 1.0)),
    ),
    binary("logaddexp2", (-2, 2), (-2, 2), oracle=False),
    binary(
        "soft_share",
        (-2, 2),
        (-2, 2),
        function=lambda x1, x2: registry["soft_share"](x1, x2, 2.0),
        reference=lambda x1, x2: 1 / (1 + np.exp(2.0 * (x2 - x1))),
        oracle=False,
        half=False,
    ),
)

TRIGONOMETRIC = (
    unary("sin", -4, 4, 0.0, -0.0, 1e5),
    unary("cos", -4, 4, 0.0, 1e5),
    unary("tan", -1.2, 1.2, 0.0),
    unary("asin", -0.9, 0.9, 0.0),
    unary("acos", -0.9, 0.9, 0.0),
    unary("atan", -2, 2, 0.0, INF, 1e200),
    unary("sinh", -2, 2, 0.0, 1e-300),
    unary("cosh", -2, 2, 0.0),
    unary("tanh", -2, 2, 0.0, INF, -400.0),
    unary("asinh", -2, 2, 0.0, -5.0, 1e8),
    unary("acosh", 1.2, 4, 1e8),
    unary("atanh", -0.9, 0.9, 0.0),
    binary("atan2", (-2, 2), (-2, 2), (floats(1.0, -1.0, 0.0), floats(0.0, 0.0, 2.0))),
)

ROUNDING = (
    unary("floor", -2, 2, 1.0, -1.0, takes_complex=False),
    unary("ceil", -2, 2, 1.0, takes_complex=False),
    unary("trunc", -2, 2, 1.0, takes_complex=False),
    unary("round", -2, 2, 0.5, 1.5, 2.5, -0.5, takes_complex=False),
    binary("floor_divide", (1, 5), (0.7, 2), (floats(-5.0, 6.0), floats(2.0, 3.0))),
    binary("remainder", (1, 5), (0.7, 2), (floats(-5.3, 5.3), floats(2.0, -2.0))),
    binary("fmod", (1, 5), (0.7, 2), (floats(-5.3, 5.3), floats(2.0, -2.0))),
)

TIES = (floats(1.0, 1.0, INF, -INF), floats(1.0, 2.0, INF, 0.0))

SELECTION = (
    binary("maximum", (-2, 2), (-2, 2), TIES),
    binary("minimum", (-2, 2), (-2, 2), TIES),
    binary("fmax", (-2, 2), (-2, 2), (floats(1.0, 2.0), floats(NAN, 1.0))),
    binary("fmin", (-2, 2), (-2, 2), (floats(1.0, 2.0), floats(NAN, 1.0))),
    binary("copysign", (-2, 2), (-2, 2), (floats(1.0, -2.0), floats(-3.0, -1.0))),
    binary(
        "nextafter", (-2, 2), (-2, 2), (floats(1.0, 0.0, -0.0), floats(1.0, -1.0, 1.0)),
        half=False, oracle=False,
    ),
    Scenario(
        name="where",
        function=ng.where,
        operators=("where",),
        reference=np.where,
        dtypes=ALL,
        points=tuple(
            (np.asarray(numbers(p[0].shape) > 0), *p[1:])
            for p in spread([(0, 1), (-2, 2), (-2, 2)])
        ),
    ),
    Scenario(
        name="clip",
        function=ng.clip,
        operators=("clip",),
        reference=np.clip,
        points=spread([(-2, 2), (-1.5, -0.5), (0.5, 1.5)]),
        special=((floats(-1.0, 1.0, 0.0, -3.0, 3.0), floats(-1.0), floats(1.0)),),
    ),
    Scenario(
        name="share",
        function=registry["share"],
        operators=("share",),
        oracle=False,
        half=False,
        reference=lambda g, x1, x2: np.where(x1 < x2, 0.0, g),
        points=spread([(-2, 2), (-2, 2), (-2, 2)]),
    ),
)

PARTS = (
    Scenario(
        name="conj",
        function=ng.conj,
        operators=("conj",),
        reference=np.conj,
        dtypes=ALL,
        points=spread([(-2, 2)]),
    ),
    *(
        Scenario(
            name=name,
            function=function,
            operators=(name,),
            reference=reference,
            dtypes=dtypes,
            points=spread([(-2, 2)]),
            oracle=function is registry[name],
        )
        for name, function, reference, dtypes in (
            ("real", registry["real"], np.real, ALL),
            ("imag", registry["imag"], np.imag, ALL),
            ("real_part", ng.real, np.real, COMPLEX),
            ("imag_part", ng.imag, np.imag, COMPLEX),
        )
    ),
    Scenario(
        name="cartesian",
        function=registry["cartesian"],
        operators=("cartesian",),
        reference=lambda x, y: x.real + 1j * y.real,
        dtypes=COMPLEX,
        points=spread([(-2, 2), (-2, 2)]),
        oracle=False,
    ),
    Scenario(
        name="angle",
        function=ng.angle,
        operators=(),
        reference=np.angle,
        dtypes=COMPLEX,
        points=spread([(-2, 2)]),
        half=False,
    ),
    Scenario(
        name="direction",
        function=registry["direction"],
        operators=("direction",),
        dtypes=ALL,
        half=False,
        reference=lambda x: x / np.abs(x),
        points=spread([(-2, 2)]),
        oracle=False,
    ),
    Scenario(
        name="abs_slope",
        function=registry["abs_slope"],
        operators=("abs_slope",),
        dtypes=ALL,
        half=False,
        reference=lambda x: x / np.abs(x),
        points=spread([(-2, 2)]),
        oracle=False,
    ),
    Scenario(
        name="creased",
        function=lambda x: registry["creased"](x != x, x),
        operators=("creased",),
        dtypes=REAL,
        half=False,
        reference=lambda x: x,
        points=spread([(-2, 2)]),
        oracle=False,
    ),
    Scenario(
        name="at_kink",
        function=lambda x: registry["at_kink"](x != x, x),
        operators=("at_kink",),
        dtypes=ALL,
        half=False,
        reference=lambda x: x,
        points=spread([(-2, 2)]),
        oracle=False,
    ),
)

SCENARIOS = (*ARITHMETIC, *EXPONENTIAL, *TRIGONOMETRIC, *ROUNDING, *SELECTION, *PARTS)
