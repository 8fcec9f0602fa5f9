"""Loops on devices whose steps are on few numbers: one kernel has the loop inside.

A thread takes all steps. It works on one column of the arrays where their parts do not meet, and
else on all elements, of which there may be few then.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..._settings import settings
from ...engine.record.apply import runtime
from ...engine.rolling.columns import ColumnExpansion
from ...ir.recurrence import Loop, StepLoop
from ...process.bounded_dict import Bounded
from ..compiled import recurrence_of

MOST_FUNCTIONS = 512
"""The most scalar functions of a step. A launch takes some 4 microseconds, which are 7000 cycles of
a GPU, and a thread gets the result of an addition after 4 to 8 cycles, of a division or a sine
after some ten times as many. With more functions a step is faster as kernels of many threads."""

MOST_KEPT = 4 * 128
"""The most bytes of what a thread carries, and reads ahead for the next step: half of the 255
registers of 32 bits that a thread has."""

MOST_OPERANDS = 80
"""The most arrays and constants; each takes up to five of the parameters of a kernel."""

_MOST_KNOWN = 64  # launches of a loop: one for each length, number of samples, and strides


class DeviceLoop:
    """A loop over the scalar functions of a body, inside of a kernel of a device.

    Parameters
    ----------
    name : str
    made : ColumnExpansion
    count : int
        The number of arguments of the body.
    carried, per_step, ends
        As for `CompiledLoop`.
    device : str

    Attributes
    ----------
    of : StepLoop
    is_small : bool
        Whether the loop suits a thread: few functions, few numbers that it keeps, and few operands.
    """

    def __init__(
        self, name: str, made: ColumnExpansion, count: int, device: str, carried: int,
        per_step: int, ends: bool = False,
    ) -> None:  # fmt: skip
        expansion, columns = made
        recurrence = recurrence_of(expansion, count, carried, per_step, ends)
        strides, ends_at = list(columns.strides), count + carried
        read = {place[0] for place in recurrence.inputs}
        for n in range(carried):
            if n not in read:
                strides[n] = strides[count + n]
        kept = [p for p in recurrence.outputs if p[0] < carried]
        kept += [p for p in recurrence.inputs if recurrence.per_step[p[0]]]
        operands = len(strides) + len({expansion.constants[p[1] : p[1] + 8]
                                       for p in recurrence.inputs if p[0] == count})  # fmt: skip
        self.is_small = (
            strides[:carried] == strides[count:ends_at]
            and len(recurrence.steps) <= MOST_FUNCTIONS
            and sum([p[2].itemsize for p in kept]) <= MOST_KEPT
            and operands <= MOST_OPERANDS
        )
        columns = columns._replace(strides=tuple(strides))
        self.of = StepLoop(name, recurrence, expansion.constants, columns)
        self._device = device
        self._known: dict[Any, Callable[..., None]] = Bounded(_MOST_KNOWN)

    def is_ready(self, length: int) -> bool:
        """Whether kernels have loops inside: always, unless nothing is to be fused."""
        return settings.fusion() != "never"

    def timed(self, began: float) -> None:
        """Do nothing: time does not decide."""

    def fits_inside(self, length: int) -> bool:
        """Whether a kernel of a program can have a loop of ``length`` steps inside."""
        return self.is_ready(length)

    def run_steps(
        self, arrays: Sequence[Any], moving: Sequence[bool], carried: int, length: int,
        leads: Sequence[bool], count: int | None,
    ) -> None:  # fmt: skip
        """Run steps; the parameters are those of `CompiledLoop.run_steps`."""
        target, lies = runtime.targets[self._device], tuple([array.strides for array in arrays])
        key = target, length, count, tuple(moving), tuple(leads), lies
        run = self._known.get(key)
        if run is None:
            run = target.runner(Loop(self.of, length), arrays, moving, leads, count)
            self._known[key] = run
        run(arrays)


def device_loop(
    name: str, made: Sequence[ColumnExpansion], count: int, device: str, sizes: Any
) -> DeviceLoop | None:
    """Return the first loop over an expanded body that suits a thread, or None."""
    loops = (DeviceLoop(name, one, count, device, *sizes) for one in made)
    return next((loop for loop in loops if loop.is_small), None)


__all__ = ["DeviceLoop", "device_loop"]
