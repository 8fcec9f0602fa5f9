"""Entries: builtin functions that run a short program with no Python around it."""

from collections.abc import Sequence
from typing import Any

from .graph import Shape
from .plan import Plan
from .schedule import ELEMENTS, OUTSIDE, Schedule

# The work of a call, and the most work for which Python's lock is kept: from 0.1 ms, where kernels
# are fused, to 0.6 ms. Python itself lets other threads in every 5 ms.
_CALL = 32
_MOST = 600_000
# So many calls in a row are not timed, of a plan that may still be fused.
_UNTIMED = 1000


def entry_of(
    plan: Plan,
    arguments: Sequence[tuple[Any, Shape]],
    positions: Sequence[int],
    shapes: Sequence[Shape],
) -> Any:
    """Return a builtin function that runs a plan at once; None for a long program, because it keeps
    Python's lock.

    It takes arguments and arrays for the results. It returns None when it has run, and anything
    else when the caller has to call the plan: also for results that share memory with anything.

    Parameters
    ----------
    arguments : sequence of (dtype, shape)
        What it takes: an array, a Python float where the dtype is the type ``float``, and that very
        object where it is something else.
    positions : sequence of int
        Which of them is each argument of the program.
    shapes : sequence of tuple
        The results in the shapes that the caller gives them.
    """
    bound = plan.bound
    if work_of(bound.schedule) > _MOST or not hasattr(plan.target, "entry"):
        return None
    slots: list[list[int]] = [[] for _ in arguments]
    for slot, position in enumerate(bound.schedule.arguments, OUTSIDE):
        slots[positions[position]].append(slot)
    first = OUTSIDE + len(bound.schedule.arguments)
    given = [(*kind, at, False) for kind, at in zip(arguments, slots, strict=True)]
    made = [
        (dtype, shape, [first + n], True)
        for n, (shape, (_, dtype)) in enumerate(zip(shapes, plan.specs, strict=True))
    ]
    calls = None if plan.patience is None else _UNTIMED
    alive = bound.schedule.alive
    entry, plan.meter = plan.target.entry(bound.run, [*given, *made], alive, bound, calls)
    return entry


def work_of(schedule: Schedule) -> int:
    """Return an estimate of the operations of a run; one takes about a nanosecond."""
    total = 0
    for segment in schedule.segments:
        rows = 1 if segment.kind == ELEMENTS else segment.rows
        total += sum(_CALL + i.pattern.work * rows for i in segment.instructions)
    return total
