"""Programs on a device that read a clock before and after each step.

On a GPU the clock is that of the device, read by events on the stream of the step. In the simulator
it is the host's. Such a program is run from Python, without entries and graphs.
"""

from collections.abc import Sequence
from math import prod
from time import perf_counter
from typing import Any, NamedTuple

from ....ir.program import Instruction, Program
from ....ir.target import Failure
from .. import is_simulated
from ..launch.device_call import DeviceCall
from ..launch.steps import Blocks, HostCall, Launch, Place
from .bound_program import BoundProgram
from .copies import Copy
from .lowering import Step


class StepFacts(NamedTuple):
    """What is known of a step before it runs.

    Attributes
    ----------
    name : str
    nbytes : int
        The bytes that it reads and writes, those of each operand once.
    launches : int
        The kernels that it launches, calls of libraries among them.
    is_loop : bool
        Whether it runs other programs, whose steps are measured by themselves.
    """

    name: str
    nbytes: int
    launches: int
    is_loop: bool


class TimedStep:
    """A step that is run between two readings of a clock.

    Attributes
    ----------
    facts : StepFacts
    """

    __slots__ = ("_spans", "_step", "facts")

    def __init__(self, step: Any, facts: StepFacts) -> None:
        self._step, self.facts = step, facts
        self._spans: list[tuple[Any, Any, Any]] = []

    @property
    def host(self) -> Any:
        """See `LaunchSequence`."""
        return getattr(self._step, "host", None)

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> Failure | None:
        """Run the step on a stream, by default the current one."""
        stream = stream or runtime.current()
        began = _now(runtime.driver, stream)
        failure = self._step.run(runtime, blocks, stream)
        self._spans.append((runtime.driver, began, _now(runtime.driver, stream)))
        return failure

    def milliseconds(self) -> list[float]:
        """Return the time of each run so far, and forget them; all of them must be over."""
        spans, self._spans = self._spans, []
        return [
            1e3 * (end - began) if is_simulated() else driver.milliseconds(began, end)
            for driver, began, end in spans
        ]


def _now(driver: Any, stream: Any) -> Any:
    if not is_simulated():
        return driver.record(stream.handle, timing=True)
    driver.synchronize(stream.handle)
    return perf_counter()


class MeasuredProgram(BoundProgram):
    """A program that reads a clock before and after each step."""

    __slots__ = ()

    def _lowered(self, instructions: Sequence[Instruction], places: Sequence[Place]) -> list[Step]:
        parts = self._parts(instructions, places)
        steps = [self._step_of(part, places) for part in parts]
        return [
            TimedStep(step, _facts(step, part, self.program))  # type: ignore[misc]
            for step, part in zip(steps, parts, strict=True)
        ]

    def timed(self) -> list[TimedStep]:
        """Return the steps, in order."""
        return list(self.steps)  # type: ignore[arg-type]


def _facts(step: Any, part: Instruction | list[Copy], program: Program) -> StepFacts:
    launches, is_loop = _launches(step), isinstance(step, DeviceCall)
    if isinstance(part, list):
        nbytes = sum([2 * copy.elements * copy.dtype.itemsize for copy in part])
        return StepFacts(f"{len(part)} copies", nbytes, launches, is_loop)
    name = f"{part.name} on the host" if isinstance(step, HostCall) else part.name
    if isinstance(step, Launch) and getattr(part.pattern.spec, "as_loop", None) is not None:
        name += ", all steps in one kernel"
    return StepFacts(name, _nbytes(part, program), launches, is_loop)


def _nbytes(instruction: Instruction, program: Program) -> int:
    """Return the bytes of all operands of an instruction; elements that are repeated count once."""
    found: dict[Any, int] = {}
    triples = zip(
        instruction.buffers, instruction.offsets, instruction.pattern.layouts, strict=True
    )
    for buffer, offset, layout in triples:
        pairs = zip(layout.shape, layout.strides, strict=True)
        count = prod([size for size, stride in pairs if stride or not size])
        rows = (program.batch or 0) if program.rows[buffer] else 1
        found[buffer, offset, layout.strides] = count * rows * layout.dtype.itemsize
    return sum(found.values())


def _launches(step: Any) -> int:
    """Return how many kernels a step launches, and how many routines of libraries it calls."""
    if isinstance(step, Launch):
        return int(step.elements > 0)
    inner = getattr(step, "launches", None) or getattr(step, "parts", None)
    if inner is not None:
        return sum([_launches(one) if isinstance(one, Launch) else 1 for one in inner])
    staged = getattr(step, "staged", None)
    return _launches(staged) if staged is not None else 0


__all__ = ["MeasuredProgram", "StepFacts", "TimedStep"]
