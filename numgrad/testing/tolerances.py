"""The accuracy of finite differences in each precision."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Tolerance(NamedTuple):
    """The step ``eps`` of central differences, and the disagreement that is allowed."""

    eps: float
    atol: float
    rtol: float


DEFAULTS = {
    np.dtype(np.float64): Tolerance(1e-6, 1e-6, 1e-5),
    np.dtype(np.float32): Tolerance(1e-2, 2e-3, 2e-3),
}


def tolerance_for(
    arrays: Sequence[np.ndarray], eps: float | None, atol: float | None, rtol: float | None
) -> Tolerance:
    """Return the tolerance for the least precise of arrays; options that are given replace it."""
    precisions = [np.finfo(a.dtype).dtype for a in arrays]
    default = DEFAULTS[min(precisions, key=lambda dtype: dtype.itemsize)]
    given = (eps, atol, rtol)
    return Tolerance(*(d if g is None else g for g, d in zip(given, default, strict=True)))
