"""The sizes of NumPy's buffers in calls of universal functions whose operands broadcast.

NumPy copies broadcast operands into its buffers, to have longer loops: for a column times a row the
copies take three times as long as the product. With buffers smaller than a row it makes no copies.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..ir.broadcasting import broadcast_shapes

# For fewer elements changing the size of the buffers takes longer than the copies.
_MANY_ELEMENTS = 1 << 14
_LONG_ROW = 128
_SMALLEST = 16  # elements of a buffer


def best_call(ufunc: Any, operands: Sequence[Any]) -> Callable[..., Any]:
    """Return the fastest function that computes a ufunc of arrays with the operands' shapes."""
    shapes = {operand.shape for operand in operands if operand.shape}
    if len(shapes) < 2:
        return ufunc
    sizes = sorted(map(prod, shapes))
    if sizes[-2] == 1 and sizes[-1] < _MANY_ELEMENTS:  # an array and numbers
        return ufunc
    shape = broadcast_shapes(*shapes)
    if prod(shape) < _MANY_ELEMENTS or shape[-1] < _LONG_ROW:
        return ufunc

    def call(*arrays: np.ndarray) -> Any:
        before = np.setbufsize(_SMALLEST)
        try:
            return ufunc(*arrays)
        finally:
            np.setbufsize(before)

    return call
