"""Values that a captured function may decide by: masks, positions, matrices with zeros."""

from typing import Any

import numpy as np

from ..._declare import Operator
from ..graph.value import CPU, Expr
from ..record.apply import mode, runtime


class Constants:
    """The elements of values that depend on no argument of a function that is being captured.

    They decide about its recording or about a pattern, so the function is recorded anew once
    tensors and arrays from outside that they are computed from are others.
    """

    def __init__(self) -> None:
        self._found: dict[Expr, list[np.ndarray] | None] = {}

    def of(self, value: Any) -> np.ndarray | None:
        """Return the elements of a value; None where they are not known."""
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
        if not isinstance(expr.operator, Operator):  # such as an argument
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
            mode.capture.look(value)
        if value.rows:  # those of samples, which are arguments
            return None
        return runtime.on_device(value.array, CPU)
