"""The states of a loop from its last step to its first, within a number of snapshots.

A reverse sweep reads the state before each step, the last one first. Where all of them take too
much memory, some are kept as snapshots, and the steps behind a snapshot run again. Snapshots are
placed as in Griewank and Walther, "Algorithm 799: revolve" (2000): with s of them and r runs of
each step, binomial(s + r, s) steps can be reversed.
"""

from collections.abc import Callable, Iterator, Sequence
from math import comb
from typing import Any

State = Sequence[Any]


def walk_back(
    length: int,
    most: int,
    first: State,
    advance: Callable[[int, int, State], State],
    record: Callable[[int, int, State], State],
) -> Iterator[tuple[int, int, State]]:
    """Yield stretches ``(start, stop, states)`` of the steps of a loop, the last stretch first.

    Parameters
    ----------
    length : int
        The number of steps.
    most : int
        The most states to keep at a time, at least 1.
    first : State
        The state before the first step.
    advance : callable
        ``advance(start, stop, state)`` runs the steps from ``start``, where the state is known, and
        returns the state before the step ``stop``.
    record : callable
        ``record(start, stop, state)`` runs these steps, too, and returns the states before all of
        them.
    """
    waiting, free = [(0, length, first)], max(most, 1)
    while waiting:
        start, stop, state = waiting.pop()
        count = stop - start
        if count == 0:
            continue
        if count <= free:
            yield start, stop, record(start, stop, state)
            free += start > 0
            continue
        if free == 1:
            last = advance(start, stop - 1, state)
            waiting.append((start, stop - 1, state))
            yield stop - 1, stop, record(stop - 1, stop, last)
            continue
        middle = start + _left(count, free)
        waiting.append((start, middle, state))
        waiting.append((middle, stop, advance(start, middle, state)))
        free -= 1


def _left(count: int, snapshots: int) -> int:
    """Return how many of ``count`` steps lie between the present snapshot and the next one to take.
    """
    runs = 1
    while comb(snapshots + runs, snapshots) < count:
        runs += 1
    # As many steps stay behind the snapshot as can be recorded at once, which costs less than
    # recording them one by one.
    whole = count - snapshots + 1
    return whole if runs == 1 else min(comb(snapshots + runs - 1, snapshots), whole)
