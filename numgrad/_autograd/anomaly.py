"""Anomaly detection: the first node of a pass whose gradient has a NaN or infinity is an error."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import AnomalyError
from ..engine.graph.node import Edge, Node, Value
from ..engine.record.device_launch import on_host
from ..process.interruptible import Action, Setting


class _State(threading.local):
    """The setting of anomaly detection in this thread."""

    enabled = False
    check_nan = True


_state = _State()


class set_detect_anomaly(Setting):  # noqa: N801 - torch's name
    """Switch anomaly detection on or off in this thread, at once; the end of a ``with`` undoes it.

    Parameters
    ----------
    mode : bool
        Whether every gradient is checked.
    check_nan : bool
        Whether a NaN or an infinity is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> with ng.set_detect_anomaly(True):
    ...     x = ng.tensor(2.0, requires_grad=True)
    ...     ng.backward(x * x)
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__(_state, enabled=bool(mode), check_nan=bool(check_nan))
        self._change, self._undo = super().prepare()
        self._change()

    def prepare(self) -> tuple[Action, Action]:
        return self._change, self._undo


class detect_anomaly(set_detect_anomaly):  # noqa: N801 - torch's name
    """Raise `AnomalyError` where a pass inside the block produces a NaN or an infinity.

    The error names the operator and the line of user code that recorded it. Every gradient is
    computed and checked by itself: passes are much slower.

    Parameters
    ----------
    check_nan : bool
        Whether a NaN or an infinity is an error.

    Raises
    ------
    AnomalyError
        From ``grad`` and ``backward``; no ``.grad`` has changed then and nothing is freed.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor(0.0, requires_grad=True)
    >>> y = 0.0 / x / x
    >>> with ng.detect_anomaly():
    ...     ng.backward(y)
    Traceback (most recent call last):
    numgrad._errors.AnomalyError: ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        Setting.__init__(self, _state, enabled=True, check_nan=bool(check_nan))

    def prepare(self) -> tuple[Action, Action]:
        return Setting.prepare(self)  # the setting acts inside the block only


class Checker:
    """Checks the gradients of a pass; see `numgrad.engine.differentiate.request.GradientCheck`."""

    def computed(
        self, node: Node, gradients: Sequence[Value | None], cotangents: Sequence[Value | None]
    ) -> None:
        """Raise if a gradient that a node has computed is not finite."""
        for position, gradient in enumerate(gradients):
            found = _describe(gradient)
            if found:
                raise AnomalyError(
                    f"the gradient of {node.name()}{node.where()} with respect to input {position} "
                    f"contains {found}{_origin(cotangents)}{_stack(node)}"
                )

    def delivered(self, edge: Edge, value: Value) -> None:
        """Raise if the sum of gradients at an edge, after its hooks, is not finite."""
        found = _describe(value)
        if found and edge.node is not None:
            raise AnomalyError(
                f"the gradients that arrive at output {edge.slot} of {edge.node.name()}"
                f"{edge.node.where()} add up to a value that contains {found}"
            )


def _describe(value: Value | None) -> str:
    """Return a text about the first element of a value that is not finite, or an empty text."""
    if value is None or value.array is None:
        return ""
    array = on_host(value.array)
    finite = np.isfinite(array)
    if finite.all():
        return ""
    index = tuple(int(n) for n in np.argwhere(~finite)[0])
    first: Any = array[index]
    kind = "nan" if np.isnan(first) else "inf"
    if value.rows:
        return f"{kind} in row {index[0]} of the batch, first at index {index[1:]}"
    return f"{kind}, first at index {index}"


def _origin(cotangents: Sequence[Value | None]) -> str:
    if any(_describe(g) for g in cotangents):
        return "; so did the gradient that it received"
    return ""


def _stack(node: Node) -> str:
    return f"\nIt was recorded here:\n{node.stack}" if node.stack else ""


def checker() -> Checker | None:
    """Return the check of gradients for passes of this thread; None if anomaly detection is off."""
    return Checker() if _state.enabled and _state.check_nan else None
