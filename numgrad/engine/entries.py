"""Entries: builtin functions that run a program with no Python around it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .attempts import attempt
from .graph import Shape
from .schedule import OUTSIDE

if TYPE_CHECKING:
    from .executable import Executable

# The most work for which Python's lock is kept: up to a millisecond. Python itself lets other
# threads in every 5 ms.
_MOST = 1_000_000
# So many calls in a row are not timed, of a plan that may still be fused.
_UNTIMED = 1000


def entry_of(
    plan: "Executable",
    arguments: Sequence[tuple[Any, Any]],
    positions: Sequence[int] | Mapping[int, int],
    shapes: Sequence[Shape],
) -> Any:
    """Return a builtin function that runs a plan at once; None for a long program that may still be
    fused, the runs of which are timed, or that calls BLAS on many threads.

    It takes arguments and arrays for the results. It returns None when it has run, and anything
    else when the caller has to call the plan: also for results that share memory with anything.

    Parameters
    ----------
    arguments : sequence of (dtype, shape)
        What it takes: an array, in C order unless the shape is a `Strided`; a number of a type, in
        place of the dtype, for an ``int`` with the least and the greatest in place of the shape;
        the object of a `Same`.
    positions : sequence or dict of int
        Which of them is each argument of the program.
    shapes : sequence of tuple
        The results in the shapes that the caller gives them.
    """
    bound = plan.bound
    segments = bound.schedule.segments
    spread = [segment.parallel for segment in segments]
    is_long = any(spread) or sum([segment.work for segment in segments]) > _MOST
    if not hasattr(plan.target, "entry"):
        return None
    if is_long and (plan.fusion is not None or plan.program.uses_blas):
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
    calls = None if plan.fusion is None else _UNTIMED
    alive = bound.schedule.alive
    threads = spread if is_long else None
    name = f"{len(plan.program.instructions)} instructions"
    entry, meter = attempt(
        "enter a program directly", name,
        lambda: plan.target.entry(bound.run, [*given, *made], alive, bound, calls, threads),
    ) or (None, None)  # fmt: skip
    if meter is not None:
        plan.meters[entry] = meter
    return entry
