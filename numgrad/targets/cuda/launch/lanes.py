"""The streams of a program: assign each step to a stream, and find the steps for which it waits.

The streams that take part are numbered; the number is called a lane. Lane 0 is the current stream,
for all steps whose operators were recorded on no stream of their own. To its caller a program is
one operation of the current stream: the other streams wait for the current stream at the beginning,
and the current stream waits for the others at the end. In between a step waits for an earlier step
of another lane if one of the two writes memory that the other uses.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ....ir.program import Instruction, Program
from .steps import Place


class Access(NamedTuple):
    """Bytes ``start`` to ``stop`` of a block of memory, which a step reads or writes."""

    slot: int
    start: int
    stop: int
    is_write: bool

    def meets(self, other: "Access") -> bool:
        """Whether two accesses overlap and one of them is a write, so that their order matters."""
        return (
            self.slot == other.slot
            and (self.is_write or other.is_write)
            and self.start < other.stop
            and other.start < self.stop
        )


class LaneAssignment(NamedTuple):
    """The lane of a step, and the steps for which it waits.

    Attributes
    ----------
    lane : int
        0 for the current stream, else the number of a stream of the program, from 1 on.
    waits : tuple of int
        The earlier steps of other lanes for which it waits.
    is_awaited : bool
        Whether a later step of another lane waits for this one.
    """

    lane: int
    waits: tuple[int, ...] = ()
    is_awaited: bool = False


def streams_of(instructions: Iterable[Instruction], device: str) -> list[Any]:
    """Return the streams of a device on which the user recorded instructions, each once."""
    found = [i.site.stream for i in instructions if i.site is not None]
    return [s for s in dict.fromkeys(found) if s is not None and s.device == device]


def assign_lanes(
    instructions: Sequence[Instruction], steps: Sequence[Any], program: Program,
    places: Sequence[Place], streams: Sequence[Any],
) -> list[LaneAssignment]:  # fmt: skip
    """Return for each instruction the lane of its step, and the steps for which it waits.

    ``places`` are those of buffers, followed by the place of the program's flag, to which steps
    with a check write. ``streams`` are those of lane 1 and following.
    """
    lane_of = {stream: n for n, stream in enumerate(streams, 1)}
    lanes = [0 if i.site is None else lane_of.get(i.site.stream, 0) for i in instructions]
    uses = [_accesses(i, program, places) for i in instructions]
    slot, start = places[-1]
    for step, use in zip(steps, uses, strict=True):
        if getattr(step, "host", None) is not None:
            use.append(Access(slot, start, start + 1, True))
    waits = [_waits(n, lanes, uses) for n in range(len(lanes))]
    awaited = {other for others in waits for other in others}
    pairs = enumerate(zip(lanes, waits, strict=True))
    return [LaneAssignment(*item, n in awaited) for n, item in pairs]


def _waits(n: int, lanes: Sequence[int], uses: Sequence[Sequence[Access]]) -> tuple[int, ...]:
    """Return the steps for which step ``n`` has to wait, at most one of each other lane.

    That is the latest step of the lane with an access that meets one of step ``n``.
    """
    found: dict[int, int] = {}
    for other in range(n - 1, -1, -1):
        lane = lanes[other]
        if lane != lanes[n] and lane not in found and _meet(uses[n], uses[other]):
            found[lane] = other
    return tuple(sorted(found.values()))


def _meet(uses: Sequence[Access], others: Sequence[Access]) -> bool:
    return any(one.meets(other) for one in uses for other in others)


def _accesses(
    instruction: Instruction, program: Program, places: Sequence[Place]
) -> list[Access]:
    found = []
    for n, buffer in enumerate(instruction.buffers):
        slot, start = places[buffer]
        rows = (program.batch or 0) if program.rows[buffer] else 1
        is_write = n >= instruction.pattern.nin
        found.append(Access(slot, start, start + program.nbytes[buffer] * rows, is_write))
    return found
