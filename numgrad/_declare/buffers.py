"""How ufuncs are called where operands are repeated.

Along axes on which operands have different sizes NumPy copies what is repeated into its buffers,
to have longer loops: of a column times a row this takes three times as long as the product. With
buffers that are smaller than a row it does without them.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..ir.broadcasting import broadcast_shapes

# With fewer elements than this it takes longer to change the size of the buffers.
_MANY_ELEMENTS = 1 << 14
_LONG_ROW = 128
_SMALLEST = 16  # elements of a buffer


def best_call(ufunc: Any, operands: Sequence[Any]) -> Callable[..., Any]:
    """Return what computes the ufunc of arrays with the shapes of some operands the fastest."""
    shapes = {operand.shape for operand in operands if operand.shape}
    if len(shapes) < 2:
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
