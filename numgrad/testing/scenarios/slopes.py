"""Scenarios of derivatives of elementwise operators that are registered operators themselves."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from ..._declare import registry
from ...functions.special import special
from .scenario import ALL, REAL, Domain, Scenario, floats, numbers, spread


def slope(name: str, reference: Callable[..., Any], *domains: Domain, **options: Any) -> Scenario:
    """Return the scenario of a registered operator that numgrad has no public function for."""
    settings: dict[str, Any] = {
        "function": registry[name],
        "operators": (name,),
        "points": spread(domains),
        "domains": domains,
        "dtypes": ALL,
        "half": False,
        "oracle": False,
        **options,
    }
    return Scenario(name=name, reference=reference, **settings)


def lowered(x1: Any, x2: Any) -> Any:
    return registry["lower_power"](x1, x2, 2.0)


def sinc_reference(x: np.ndarray) -> np.ndarray:
    return ((np.cos(np.pi * x) - np.sinc(x)) / x).astype(x.dtype)


WIDE = numbers((3, 4))

SCENARIOS = (
    slope("logistic_density", lambda x: 0.5 / (1 + np.cosh(x)), (-2, 2)),
    slope("asin_slope", lambda x: 1 / np.sqrt(1 - x * x), (-0.9, 0.9)),
    slope("atan_slope", lambda x: 1 / (1 + x * x), (-2, 2)),
    slope("asinh_slope", lambda x: 1 / np.sqrt(1 + x * x), (-2, 2)),
    slope("acosh_slope", lambda x: 1 / np.sqrt(x - 1) / np.sqrt(x + 1), (1.2, 4)),
    slope("tanh_slope", lambda x: 1 / np.cosh(x) ** 2, (-2, 2)),
    slope("atanh_slope", lambda x: 1 / (1 - x * x), (-0.9, 0.9)),
    slope("cbrt_slope", lambda x: np.cbrt(x) / x / 3, (0.2, 3), dtypes=REAL),
    slope("lower_power", lambda x, p: x ** (p - 2), (0.3, 3), (-2, 3), function=lowered),
    slope("base_slope", lambda x, p: p * x ** (p - 1), (0.3, 3), (-2, 3)),
    slope("exponent_slope", lambda x, p: x**p * np.log(x), (0.3, 3), (-2, 3)),
    slope("leg_share", lambda x, y: x / np.hypot(x, y), (-2, 2), (0.3, 2), dtypes=REAL),
    slope("other_share", lambda x, y: y / np.hypot(x, y), (-2, 2), (0.3, 2), dtypes=REAL),
    slope("other_rate", lambda x, y: -x / np.hypot(x, y) ** 2, (-2, 2), (0.3, 2), dtypes=REAL),
    slope("turn_rate", lambda x, y: y / np.hypot(x, y) ** 2, (-2, 2), (0.3, 2), dtypes=REAL),
    slope("truncated_quotient", lambda x, y: np.trunc(x / y), (-2, 2), (0.3, 2), dtypes=REAL),
    slope("sinc_slope", sinc_reference, (0.2, 2), tolerance=64),
    Scenario(
        name="softmax",
        function=lambda x: special.softmax(x, axis=-1),
        operators=("of_shares",),
        reference=lambda x: sp.softmax(x, axis=-1).astype(x.dtype),
        points=((WIDE,), (numbers(5),)),
        special=((floats(40.0, 0.0),), (floats(1.0, 1.0, -800.0),)),
        oracle=False,
    ),
    Scenario(
        name="log_softmax",
        function=lambda x: special.log_softmax(x, axis=-1),
        operators=("of_log_shares",),
        reference=lambda x: sp.log_softmax(x, axis=-1).astype(x.dtype),
        points=((WIDE,), (numbers(5),)),
        special=((floats(40.0, 0.0),), (floats(1.0, 1.0, -800.0),)),
        oracle=False,
    ),
)
