"""W7: enthalpy of sea water, gradient of its sum to salinity and temperature, 10^6 points.

The 48-term rational function of TEOS-10 for the specific volume (IOC, SCOR and IAPSO 2010,
appendices A.20 and K), ``v = (a0 + a1 p + a2 p^2 + a3 p^3) / (b0 + 2 b1 p + b2 p^2)`` with
polynomials in salinity, its root and temperature as coefficients, integrated over pressure in
closed form: polynomial division leaves two logarithms.
"""

from typing import Any

import numpy as np

from ..task import CAPTURED, Call, Task, Workload
from .seawater_coefficients import A0, A1, A2, A3, B0, B2, HEAT_CAPACITY, PASCAL, TWICE_B1


def horner(coefficients: tuple[float, ...], x: Any) -> Any:
    """A polynomial in x."""
    y: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        y = c + x * y
    return y


def combined(rows: Any, salinity: Any, root: Any, temperature: Any) -> Any:
    """A polynomial in salinity, its root and temperature."""
    parts = [horner(row, temperature) for row in rows]
    if len(parts) == 1:
        return parts[0]
    inner = parts[1]
    if len(parts) > 2:
        inner = inner + root * parts[2]
    if len(parts) > 3:
        inner = inner + salinity * parts[3]
    return parts[0] + salinity * inner


def enthalpy(xp: Any, salinity: Any, temperature: Any, p: Any) -> Any:
    """Specific enthalpy in J/kg at g/kg, degrees Celsius and dbar."""
    at = (salinity, xp.sqrt(salinity), temperature)
    a0, a1, a2, a3 = (combined(rows, *at) for rows in (A0, A1, A2, A3))
    b0, b2 = combined(B0, *at), combined(B2, *at)
    b1 = 0.5 * combined(TWICE_B1, *at)
    root = xp.sqrt(b1 * b1 - b0 * b2)
    c1 = a3 / b2
    c0 = (a2 - 2.0 * b1 * c1) / b2
    slope = (a1 - 2.0 * b1 * c0 - b0 * c1) / b2
    rest = a0 - b0 * c0 - slope * b1
    first = xp.log(1.0 + p * (2.0 * b1 + b2 * p) / b0)
    x = b2 * p + b1
    second = xp.log((x - root) * (b1 + root) / ((x + root) * (b1 - root)))
    integral = p * (c0 + 0.5 * c1 * p) + 0.5 * slope * first + 0.5 * rest * second / root
    return HEAT_CAPACITY * temperature + PASCAL * integral


def task(quick: bool) -> Task:
    n = 1000 if quick else 1_000_000
    rng = np.random.default_rng(7)
    ranges = ((30.0, 40.0), (0.0, 30.0), (10.0, 5000.0))
    return Task(enthalpy, tuple(rng.uniform(*r, n) for r in ranges), wrt=2)


def hand_written(task: Task) -> Call:
    from .seawater_adjoint import gradient

    return lambda: gradient(*task.arguments)


WORKLOAD = Workload(
    key="W7",
    title="Enthalpy of sea water (TEOS-10, 48 terms), gradient of the sum, 10^6 points",
    task=task,
    hand_written=hand_written,
    systems=CAPTURED,
)
