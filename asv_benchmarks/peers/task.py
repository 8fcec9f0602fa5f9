"""What a workload asks of a system: a function, where to evaluate it, and which products of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Call = Callable[[], Any]

PEERS = ("torch.func", "torch.compile", "jax", "autograd", "pytensor")
# The systems of a workload that records its function in every call, and of one that captures it.
RECORDED = ("numgrad unfused", "numgrad fused", "torch is_grads_batched", *PEERS)
CAPTURED = ("numgrad jit unfused", "numgrad jit fused", "torch eager", *PEERS)


class MissingError(Exception):
    """A system cannot do a workload; the message is the reason that the table prints."""


@dataclass(frozen=True)
class Task:
    """A function of arrays, written once for every system.

    Attributes
    ----------
    function : callable
        ``function(xp, *arguments)``, where ``xp`` has NumPy's names in the system's own arrays.
    arguments : tuple of arrays
    wrt : int
        So many leading arguments are differentiated.
    cotangents : array, optional
        Rows for a batched vector-Jacobian product. Without them the result is the gradient of the
        sum of the outputs.
    with_value : bool
        Whether the value of the function is a result too, before the gradients.
    numpy_in_out : bool
        Whether each call takes NumPy arrays and returns them, conversions counted.
    """

    function: Callable[..., Any]
    arguments: tuple[Array, ...]
    wrt: int = 1
    cotangents: Array | None = None
    with_value: bool = False
    numpy_in_out: bool = False

    @property
    def variables(self) -> tuple[Array, ...]:
        return self.arguments[: self.wrt]

    @property
    def constants(self) -> tuple[Array, ...]:
        return self.arguments[self.wrt :]


@dataclass(frozen=True)
class Workload:
    """A benchmark: its task at two sizes, and how systems do it.

    Attributes
    ----------
    key, title : str
    task : callable
        ``task(quick)``: the task at the size of the table or a small one, always the same data.
    hand_written : callable
        Takes the task; returns a function without arguments that returns a tuple of arrays.
    systems : tuple of str
        Names from ``systems.SYSTEMS`` that do the task in the general way.
    own : mapping
        What a system does in a way of its own here (``scan``): name to function of the task.
    skipped : mapping
        System to the reason why it is left out.
    tolerance : float
        Largest relative difference from the hand-written result that counts as agreement.
    """

    key: str
    title: str
    task: Callable[[bool], Task]
    hand_written: Callable[[Task], Call]
    systems: tuple[str, ...]
    own: Mapping[str, Callable[[Task], Call]] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 1e-9


def disagreement(results: tuple[Array, ...], expected: tuple[Array, ...]) -> float:
    """Largest difference relative to each result's largest entry; infinite for other shapes."""
    if len(results) != len(expected):
        return float("inf")
    worst = 0.0
    for result, right in zip(results, expected, strict=True):
        if result.shape != right.shape or not np.isfinite(result).all():
            return float("inf")
        scale = np.abs(right).max(initial=0.0) or 1.0
        worst = max(worst, float(np.abs(result - right).max(initial=0.0) / scale))
    return worst
