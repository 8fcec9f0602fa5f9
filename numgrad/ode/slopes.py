"""The right-hand side of an initial value problem, captured once, with its derivatives."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..control.body import Body
from ..functions.shape.reshaping import matrix_transpose


class Slope:
    """The slope of a system as a function of its state, the time, and further tensors.

    Parameters
    ----------
    body : Body
        Its arguments are the state, one axis; the time; and all others. The first result is the
        slope.
    """

    def __init__(self, body: Body) -> None:
        self.body, self.specs = body, body.specs
        self.size = body.specs[0][0][0]

    def __call__(self, y: Any, t: Any, *params: Any) -> Tensor:
        """Return the slope at a state and a time."""
        return self.body(y, t, *params)[0]

    def jacobian(self, y: Any, t: Any, *params: Any) -> Any:
        """Return the derivative with respect to the state; its columns are one program."""
        units = Tensor(np.eye(self.size))
        columns = self._along(0, (y, t, *params), units)
        return matrix_transpose(columns) if columns is not None else Tensor(0.0 * np.eye(self.size))

    def by_time(self, y: Any, t: Any, *params: Any) -> Any:
        """Return the derivative with respect to time; None if there is none."""
        return self._along(1, (y, t, *params), Tensor(np.ones(())))

    def _along(self, place: int, given: Any, tangent: Tensor) -> Any:
        return tangent_of(self.body, 0, place, given, tangent)


def tangent_of(body: Body, result: int, place: int, given: Sequence[Any], tangent: Tensor) -> Any:
    """Return the tangent of a result of a body along that of one argument; None if the result does
    not depend on the argument.

    Parameters
    ----------
    body : Body
    result, place : int
        The numbers of the result and of the argument.
    given : sequence of Tensor
        All arguments.
    tangent : Tensor
        The tangent of the argument.
    """
    trace, live = body.tangents(tuple([n == place for n in range(len(body.specs))]))
    if result not in live:
        return None
    return trace.mapped.apply([*given, tangent])[live.index(result)]
