"""Steps on a device until a condition no longer holds.

Steps on few numbers are taken within kernels, thousands by each, and the host reads whether the
loop goes on behind each kernel; else behind each step.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...engine.graph.value import CPU
from ...engine.record.apply import runtime
from ...process.cached_attribute import lazy
from ..body import Body, Spec
from .arrays import empty

_AT_ONCE = 1 << 12  # steps of one kernel, between which Ctrl-C is heard


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
        self._name, self._function, self._specs = name, function, specs
        self._carried, self._device = carried + 1, device

        def step(count: Tensor, *arguments: Tensor) -> list[Any]:
            return [count + 1, *function(*arguments)]

        self._body = Body.of(name, step, [((), np.dtype(np.int64)), *specs], device)

    @lazy
    def _program(self) -> Any:
        """The program of one step that does not count."""
        return Body.of(self._name, self._function, self._specs, self._device).program()

    def run(
        self, carries: Sequence[Any], constants: Sequence[Any]
    ) -> tuple[int, list[Any], bool]:
        """Take at least one step, until a step ends the loop.

        Return the number of steps taken, the carried arrays after the last one, and False.
        """
        loop = self._body.compiled((self._carried, 0, True))
        if loop is not None and loop.is_ready(1):
            return self._inside(loop, carries, constants)
        taken, present, goes_on = 0, list(carries), True
        while goes_on:
            *present, flag = self._program([*present, *constants])
            taken, goes_on = taken + 1, is_true(flag)
        return taken, present, False

    def _inside(
        self, loop: Any, carries: Sequence[Any], constants: Sequence[Any]
    ) -> tuple[int, list[Any], bool]:
        first = runtime.targets[self._device].constant(np.zeros((), np.int64))
        state, flag = [first, *carries], empty((), np.dtype(bool), self._device)
        fixed = [False] * (2 * self._carried + len(constants) + 1)
        goes_on = True
        while goes_on:
            last = [empty(*spec, self._device) for spec in self._body.results[: self._carried]]
            arrays = [*state, *constants, *last, flag]
            loop.run_steps(arrays, fixed, self._carried, _AT_ONCE, fixed, None)
            state, goes_on = last, is_true(flag)
        return int(runtime.on_device(state[0], CPU)), state[1:], False


def is_true(flag: Any) -> bool:
    """Return the boolean in an array of the host or of a device, for whose work the host waits."""
    return bool(runtime.on_device(flag, CPU))


__all__ = ["CountedDeviceSteps", "is_true"]
