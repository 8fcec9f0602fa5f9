"""Let Python's full garbage collections wait while a recorded graph grows.

Python looks through all containers of the process when new ones have outlived ten partial
collections, and are a quarter as many as those before. The nodes of a graph are such containers,
although reference counts free them as soon as nobody needs them. So a long loop would be walked
over again and again while it grows.

Partial collections of which most containers belonged to a graph do not count here. There are two
bounds. A full collection comes when the memory of the process may have doubled: garbage which only
a full collection can find takes at most as much memory as all else. And it comes after as many new
containers as there were blocks of memory: a full collection takes a small part of the time that
making so many containers takes. Partial collections, and those that a program asks for, are as
ever.
"""

import gc
import itertools
import sys
import sysconfig
from typing import Any

_WAIT = 1 << 30
"""Added to the third threshold of the collector while full collections wait. The user's own
threshold can be told from the sum, even if a program has read the sum and sets it again later."""

_WITH_A_NODE = 8
"""New containers for each node: a graph made most of them if there are fewer. A node comes with
tuples of its parents and saved values, and with a value where that is saved: about four in all."""


class _Pace:
    """What decides whether a full collection may wait.

    Attributes
    ----------
    numbers : itertools.count
        Counts the nodes as they are made; the first number while there are none.
    next : int
        The number of the next node at the last collection of more than the youngest containers.
    others : int
        How many partial collections there were since the last full one whose containers were
        mostly no graph's.
    blocks : int
        How many blocks of memory the process had after the last full collection.
    raised : set of int
        The thresholds of users to which `_WAIT` was added.
    """

    def __init__(self) -> None:
        self.numbers, self.next = itertools.count(1), 1
        self.others = 0
        self.blocks = sys.getallocatedblocks()
        self.raised: set[int] = set()

    def follow(self, phase: str, info: dict[str, Any]) -> None:
        """Set the threshold of full collections anew at the end of a collection."""
        if phase == "start" or not info["generation"]:
            return
        youngest, middle, last = gc.get_threshold()
        own = wanted = last - _WAIT if last - _WAIT in self.raised else last
        if info["generation"] == 2:
            self.others, self.blocks = 0, sys.getallocatedblocks()
        elif own < _WAIT and self._may_wait(youngest * middle, own):
            wanted += _WAIT
            self.raised.add(own)
        if wanted != last:
            gc.set_threshold(youngest, middle, wanted)

    def _may_wait(self, containers: int, own: int) -> bool:
        """Whether the next full collection may wait, after a partial one.

        Parameters
        ----------
        containers : int
            How many new containers a partial collection looks at.
        own : int
            How many partial collections come before a full one, by the user's threshold.
        """
        before, self.next = self.next, _next(self.numbers)
        self.others += _WITH_A_NODE * (self.next - before) < containers
        count = gc.get_count()[2]
        if self.others > own or self.others == count or count * containers > self.blocks:
            return False
        return sys.getallocatedblocks() < 2 * self.blocks


def _next(numbers: "itertools.count[int]") -> int:
    """Return the number that a counter will return next, without taking the number."""
    return int(repr(numbers)[len("count(") : -1])


_pace = _Pace()


def pace_by(numbers: "itertools.count[int]") -> None:
    """Let full collections wait while many nodes are made, which ``numbers`` counts."""
    _pace.numbers, _pace.next = numbers, _next(numbers)


HAS_GENERATIONS = sys.version_info < (3, 14) and not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether the collector has three generations: since Python 3.14 it works in small steps, and the
interpreter without a global lock has a single one."""

if HAS_GENERATIONS:
    gc.callbacks.append(_pace.follow)
