"""PyTensor: one compiled function."""

from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph

from ..task import Call, Task


class Namespace:
    """pytensor.tensor, with NumPy's name for joining."""

    @staticmethod
    def concatenate(parts: Any) -> Any:
        return pt.concatenate(parts, axis=0)

    def __getattr__(self, name: str) -> Any:
        return getattr(pt, name)


def compiled(task: Task) -> Call:
    """The products as one PyTensor function; rows by vectorising Lop."""
    symbols = [pt.tensor(dtype=a.dtype, shape=a.shape) for a in task.arguments]
    y = task.function(Namespace(), *symbols)
    variables = symbols[: task.wrt]
    if task.cotangents is None:
        gradients = pytensor.grad(y.sum(), variables)
        outputs = [y, *gradients] if task.with_value else gradients
        function = pytensor.function(symbols, outputs)
        function.trust_input = True  # the arrays have the right type: PyTensor's own advice
        return lambda: function(*task.arguments)
    return _batched(task, symbols, y, variables)


def _batched(task: Task, symbols: Any, y: Any, variables: Any) -> Call:
    rows = np.asarray(task.cotangents)
    one = pt.tensor(dtype=rows.dtype, shape=rows.shape[1:])
    many = pt.tensor(dtype=rows.dtype, shape=rows.shape)
    products = pytensor.gradient.Lop(y, variables, one)
    results = vectorize_graph(list(products), {one: many})
    function = pytensor.function([many, *symbols], results, on_unused_input="ignore")
    function.trust_input = True
    return lambda: function(rows, *task.arguments)
