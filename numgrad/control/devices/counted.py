"""Steps on a device until a condition no longer holds, which the host reads at each step."""

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.graph.value import CPU
from ...engine.record.apply import runtime
from ..body import Body, Spec


class CountedDeviceSteps:
    """The steps of a loop that ends when a step returns False as its last result; see
    `CountedSteps`.

    Parameters
    ----------
    name : str
    function : callable
        Takes tensors, those that are carried and those that are the same for all steps. Returns the
        carried tensors and a boolean, whether the loop goes on.
    specs : sequence of (shape, dtype)
        Those of the arguments.
    carried : int
        How many of the arguments are carried.
    device : str
    """

    def __init__(
        self, name: str, function: Callable[..., Sequence[Any]], specs: Sequence[Spec],
        carried: int, device: str,
    ) -> None:  # fmt: skip
        self._program = Body.of(name, function, specs, device).program()
        self._carried = carried

    def run(
        self, carries: Sequence[Any], constants: Sequence[Any]
    ) -> tuple[int, list[Any], bool]:
        """Take at least one step, until a step ends the loop.

        Return the number of steps taken, the carried arrays after the last one, and False.
        """
        taken, present, goes_on = 0, list(carries), True
        while goes_on:
            *present, flag = self._program([*present, *constants])
            taken, goes_on = taken + 1, is_true(flag)
        return taken, present, False


def is_true(flag: Any) -> bool:
    """Return the boolean in an array of the host or of a device, for whose work the host waits."""
    return bool(runtime.on_device(flag, CPU))


__all__ = ["CountedDeviceSteps", "is_true"]
