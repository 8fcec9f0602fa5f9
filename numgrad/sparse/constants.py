"""Values that decide about a pattern: positions, and matrices with zeros."""

from typing import Any

import numpy as np

from .._declare import Operator
from ..engine.graph import Expr, Node
from ..engine.record import mode, runtime
from ..engine.values import CPU


class Constants:
    """The elements of values that a derivative reads, as far as they depend on no argument of a
    function that is being captured. They decide about the pattern, so the function is recorded
    anew once they are others."""

    def __init__(self) -> None:
        self._found: dict[Expr, list[np.ndarray] | None] = {}

    def of(self, node: Node, n: int) -> np.ndarray | None:
        """Return the elements of an input of a node; None where they are not known."""
        value = node.unpack()[n]
        if value is None:
            return None
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
        return runtime.on_device(value.array, CPU)
