"""Let Python's older garbage collections wait while a recorded graph grows.

Python looks through the youngest containers of the process again and again, through those that
outlived that after ten such collections, and through all of them when as many new ones have
outlived ten of the latter, and are a quarter as many as those before. The nodes of a graph are such
containers, although reference counts free them as soon as nobody needs them. So a long loop would
be walked over again and again while it grows, once no cache of the processor holds it any more.

Collections of the youngest containers, of which most belonged to a graph, do not count here. There
are two bounds. The older collections come when the memory of the process may have doubled: garbage
which only they can find takes at most as much memory as all else. And they come after as many new
containers as there were blocks of memory: looking through all takes a small part of the time that
making so many containers takes. Collections of the youngest, and those that a program asks for, are
as ever.
"""

import gc
import itertools
import sys
import sysconfig
from typing import Any

_WAIT = 1 << 30
"""Added to the second and the third threshold of the collector while collections wait, and
subtracted from the third where a full one is due. The user's own threshold can be told from both,
even if a program has read such a number and sets it again later."""

_WITH_A_NODE = 8
"""New containers for each node: a graph made most of them if there are fewer. A node comes with
tuples of its parents and saved values, and with a value where that is saved: about four in all."""


class _Pace:
    """What decides whether older collections may wait.

    Attributes
    ----------
    numbers : itertools.count
        Counts the nodes as they are made; the first number while there are none.
    next : int
        The number of the next node at the last collection.
    young, others : int
        How many partial collections there were since the last full one, and of how many of them
        the youngest containers were mostly no graph's.
    recent_others : int
        How many of the latter there were since the last collection of more than the youngest.
    has_waited : bool
        Whether a collection of more than the youngest has waited since the last full one.
    blocks : int
        How many blocks of memory the process had after the last full collection.
    moved : set of int
        The thresholds of users that `_WAIT` was added to or subtracted from.
    """

    def __init__(self) -> None:
        self.numbers, self.next = itertools.count(1), 1
        self.moved: set[int] = set()
        self._start()

    def _start(self) -> None:
        self.young = self.others = self.recent_others = 0
        self.has_waited = False
        self.blocks = sys.getallocatedblocks()

    def follow(self, phase: str, info: dict[str, Any]) -> None:
        """Set the thresholds of older collections anew at the end of a collection."""
        if phase == "start":
            return
        before = gc.get_threshold()
        youngest, middle, last = before[0], self._own(before[1]), self._own(before[2])
        wanted = youngest, middle, last
        if info["generation"] == 2:
            self._start()
        else:
            self._count(youngest, middle if info["generation"] else 0)
            passed = gc.get_count()[1] - 1
            if passed >= 0 and (passed < middle or passed % max(middle, 1)):
                return  # a collection of the youngest comes next in any case
            wanted = self._wanted(youngest, middle, last)
        if wanted != before:
            gc.set_threshold(*wanted)

    def _own(self, threshold: int) -> int:
        """Return the user's threshold that one of the collector stands for."""
        for own in (threshold - _WAIT, threshold + _WAIT):
            if own in self.moved:
                return own
        return threshold

    def _count(self, youngest: int, stands_for: int) -> None:
        """Count a partial collection.

        One of more than the youngest containers counts as so many collections of the youngest as
        ``stands_for`` says, which were no graph's: a program may ask for it when it has dropped
        containers of its own.
        """
        before, self.next = self.next, _next(self.numbers)
        is_other = _WITH_A_NODE * (self.next - before) < youngest
        self.young += 1
        self.others += stands_for or is_other
        self.recent_others = 0 if stands_for else self.recent_others + is_other

    def _wanted(self, youngest: int, middle: int, last: int) -> tuple[int, int, int]:
        """Return the thresholds for the time being; the parameters are those of the user."""
        recent, fits = gc.get_count()[1], max(middle, last) < _WAIT
        if not fits or not self.young or self.others >= self.young:
            return youngest, middle, last
        self.moved.update((middle, last))
        has_room = youngest * self.young <= self.blocks and self._has_memory()
        if has_room and self.recent_others <= middle and self.recent_others < max(recent, 1):
            self.has_waited = self.has_waited or recent > middle
            middle += _WAIT
        if has_room and self.others <= last * max(middle % _WAIT, 1):
            last += _WAIT
        elif self.has_waited and self.young > last * (middle % _WAIT):
            last -= _WAIT
        return youngest, middle, last

    def _has_memory(self) -> bool:
        return sys.getallocatedblocks() < 2 * self.blocks


def _next(numbers: "itertools.count[int]") -> int:
    """Return the number that a counter will return next, without taking the number."""
    return int(repr(numbers)[len("count(") : -1])


_pace = _Pace()


def pace_by(numbers: "itertools.count[int]") -> None:
    """Let older collections wait while many nodes are made, which ``numbers`` counts."""
    _pace.numbers, _pace.next = numbers, _next(numbers)


HAS_GENERATIONS = sys.version_info < (3, 14) and not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether the collector has three generations: since Python 3.14 it works in small steps, and the
interpreter without a global lock has a single one."""

if HAS_GENERATIONS:
    gc.callbacks.append(_pace.follow)
