"""Values whose elements are known during a capture, as the values depend on no argument.

Code in Python may read such values (masks, positions, patterns of matrices) and decide by them;
guards check at a replay that nothing has changed from which they were computed.
"""

from typing import Any

import numpy as np

from ..graph.value import CPU, Expr
from ..record.apply import mode, runtime


class Constants:
    """The elements of those values of a captured function that depend on no argument.

    Elements are computed from the tensors and arrays that the function closes over. The capture
    notes these tensors and arrays: if one of them changes, its guard fails, and the function is
    captured anew.
    """

    def __init__(self) -> None:
        self._found: dict[Expr, list[np.ndarray] | None] = {}

    def of(self, value: Any) -> np.ndarray | None:
        """Return the elements of a value; None where they depend on an argument."""
        waiting = [] if value.array is not None else [value.expr]
        while waiting:
            expr = waiting[-1]
            before = [v.expr for v in expr.inputs if v.array is None and v.expr not in self._found]
            if not before and expr not in self._found:
                self._found[expr] = self._computed(expr)
            if before:
                waiting += before
            else:
                waiting.pop()
        return self._elements(value)

    def _computed(self, expr: Expr) -> list[np.ndarray] | None:
        if not hasattr(expr.operator, "run"):  # a placeholder, for example
            return None
        arrays: list[Any] = [self._elements(value) for value in expr.inputs]
        if any(array is None for array in arrays):
            return None
        return expr.operator.run(runtime.target, arrays, expr.static)

    def _elements(self, value: Any) -> np.ndarray | None:
        if value.array is None:
            found = self._found[value.expr]
            return None if found is None else found[value.expr_slot]
        if mode.capture is not None:
            mode.capture.note_read(value)
        if value.rows:  # one row for each sample, and samples are arguments
            return None
        return runtime.on_device(value.array, CPU)
