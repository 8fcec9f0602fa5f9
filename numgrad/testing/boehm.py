"""Boehm's model of how pairs of the protein STAT5 form and move: a stiff problem of the literature.

Tests, benchmarks and the page about `ng.ode` solve it.
"""

from types import ModuleType
from typing import Any

import numpy as np

RATES = np.array([0.026982514, 1.00068e-5, 0.006170228, 0.0163679184, 97749.379, 15766.507])
VOLUMES = 0.45 / 1.4  # of the nucleus and the cytoplasm


def boehm(s: Any, t: Any, p: Any, np: ModuleType = np) -> list[Any]:
    """Return the time derivatives of the eight states ``s`` at the time ``t``, for six rates ``p``.

    Examples
    --------
    >>> slopes = boehm([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0, RATES)
    >>> print(round(slopes[0], 6))
    -0.005912
    """
    A, B, ab, aa, bb, naa, nab, nbb = s
    k, e = VOLUMES, 1.25e-7 * np.exp(-p[0] * t) * p[5]
    v0, v1, v2 = e * A**2, e * A * B, e * B**2
    v3, v4, v5 = p[4] * aa, p[3] * ab, p[4] * bb
    v6, v7, v8 = p[2] * naa, p[1] * nab, p[2] * nbb
    return [
        -2 * v0 - v1 + k * (2 * v6 + v7), -v1 - 2 * v2 + k * (v7 + 2 * v8), v1 - v4, v0 - v3,
        v2 - v5, v3 / k - v6, v4 / k - v7, v5 / k - v8,
    ]  # fmt: skip
