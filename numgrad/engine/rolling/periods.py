"""Periods: where in a program the same patterns follow one another again and again.

The distance from a stretch of patterns to the next equal stretch is a period, or shorter than one
if the stretch occurs several times in a period. The distances that are met most often are tried:
one comparison of the program with itself, moved by the distance, finds the runs of a period. Then
the distances outside of these runs are tried, until no more runs are found. So the search takes a
time that is linear in the length of the program, but for sorting.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

STRETCH = 8  # patterns that are compared at a time
_MOST_TRIED = 8  # distances in a round
_MOST_FRUITLESS = 3  # rounds in a row that find no run
_NEARLY = 0.9  # a run of a shorter period is taken if it covers so much of the longest run


class Run(NamedTuple):
    """A range of instructions whose patterns repeat.

    Attributes
    ----------
    first, stop : int
        The positions of the first instruction, and behind the last one.
    period : int
        The number of instructions in one repetition, which is called a turn.
    """

    first: int
    stop: int
    period: int

    @property
    def turns(self) -> int:
        """The number of whole periods in the run."""
        return (self.stop - self.first) // self.period


def runs(names: np.ndarray, fewest: int) -> list[Run]:
    """Return the ranges in which a sequence of patterns repeats, in order and without overlaps.

    Parameters
    ----------
    names : ndarray of int
        A number for each instruction, equal for equal patterns.
    fewest : int
        The fewest turns of a run.
    """
    firsts, distances = _distances(names)
    chosen: list[Run] = []
    fruitless = 0
    while fruitless < _MOST_FRUITLESS:
        counted, times = np.unique(distances, return_counts=True)
        is_often = times >= fewest - 1  # so often is a stretch met that each turn has once
        counted, times = counted[is_often], times[is_often]
        if not len(counted):
            break
        tried = counted[np.argsort(-times, kind="stable")][:_MOST_TRIED]
        found = [run for period in tried.tolist() for run in _runs_of(names, period, fewest)]
        more = _longest(found, chosen, fewest)
        fruitless = 0 if more else fruitless + 1
        chosen = sorted(chosen + [_with_shortest_period(names, run) for run in more])
        edges = np.array([(run.first, run.stop) for run in chosen], np.int64).ravel()
        is_left = np.searchsorted(edges, firsts, "right") % 2 == 0
        is_left &= ~np.isin(distances, tried)
        firsts, distances = firsts[is_left], distances[is_left]
    return chosen


def _with_shortest_period(names: np.ndarray, run: Run) -> Run:
    """Return the run with its shortest period, a divisor of the one given."""
    within = names[run.first : run.stop]
    for period in range(1, run.period // 2 + 1):
        if run.period % period == 0 and np.array_equal(within[period:], within[:-period]):
            return run._replace(period=period)
    return run


def _longest(found: list[Run], taken: Sequence[Run], fewest: int) -> list[Run]:
    """Return the longest of the found runs that overlap neither each other nor those in ``taken``.

    Parts of found runs are runs too, if they have at least ``fewest`` turns.
    """
    for other in taken:
        found = _without(found, other, fewest)
    chosen: list[Run] = []
    while found:
        longest = max(found, key=_length)
        best = min(
            [r for r in found if _overlap(r, longest) >= _NEARLY * _length(longest)],
            key=lambda run: run.period,
        )
        chosen.append(best)
        found = _without(found, best, fewest)
    return chosen


def _without(found: Sequence[Run], other: Run, fewest: int) -> list[Run]:
    return [part for run in found for part in _beside(run, other) if part.turns >= fewest]


def _length(run: Run) -> int:
    return run.stop - run.first


def _overlap(one: Run, other: Run) -> int:
    return min(one.stop, other.stop) - max(one.first, other.first)


def _beside(run: Run, other: Run) -> list[Run]:
    """Return the parts of a run before and behind another run, without empty parts."""
    before = Run(run.first, min(run.stop, other.first), run.period)
    behind = Run(max(run.first, other.stop), run.stop, run.period)
    return [part for part in (before, behind) if part.stop > part.first]


def _distances(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of stretches that occur again, and the distances to the next ones.

    A stretch is `STRETCH` patterns in a row.
    """
    count = len(names) - STRETCH + 1
    if count < 2:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    marks = np.zeros(count, np.uint64)
    for n in range(STRETCH):
        marks = marks * np.uint64(0x9E3779B97F4A7C15) + names[n : n + count].astype(np.uint64)
    # Sorting is faster than `argsort`: so the last bits of a number have its position.
    last = np.uint64((1 << count.bit_length()) - 1)
    keys = np.sort(marks & ~last | np.arange(count, dtype=np.uint64))
    order = (keys & last).astype(np.int64)
    again = (keys[1:] ^ keys[:-1]) <= last
    return order[:-1][again], np.diff(order)[again]


def _runs_of(names: np.ndarray, period: int, fewest: int) -> list[Run]:
    """Return the runs with a certain period and at least ``fewest`` turns."""
    same = names[period:] == names[:-period]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]])))
    begins, ends = edges[::2], edges[1::2]
    long = ends - begins >= period * (fewest - 1)
    return [
        Run(int(begin), int(end) + period, period)
        for begin, end in zip(begins[long], ends[long], strict=True)
    ]
