"""Choose which integer arguments of a captured function become symbolic.

An integer becomes symbolic if it has differed from call to call, unless Python has asked for its
value.
"""

from collections.abc import Hashable
from typing import Any

from .arguments import Call

_MOST = 512  # kinds of calls that are remembered; the oldest makes room


class _IntegerHistory:
    """The integers among the arguments of one kind of calls, by their places among the leaves.

    Attributes
    ----------
    first : dict
        The integers of the first call.
    symbolic : frozenset of int
        The places of symbolic integers.
    fixed : set of int
        The places of integers that are constants of a trace, since Python has asked for them.
    """

    def __init__(self, first: dict[int, Any]) -> None:
        self.first = first
        self.symbolic: frozenset[int] = frozenset()
        self.fixed: set[int] = set()


class VaryingIntegers:
    """The integers in the calls of one captured function, by the kind of call."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, _IntegerHistory] = {}

    def symbolic(self, outline: Hashable) -> frozenset[int]:
        """Return the places of the symbolic integers in calls of one kind."""
        seen = self._seen.get(outline)
        return frozenset() if seen is None else seen.symbolic

    def candidates(self, call: Call) -> frozenset[int]:
        """Return the places of the integers that may become symbolic, as they differed between
        calls."""
        seen = self._seen.get(call.outline)
        if seen is None:
            if len(self._seen) >= _MOST:
                self._seen.pop(next(iter(self._seen)), None)
            self._seen[call.outline] = _IntegerHistory(call.integers)
            return frozenset()
        differ = {place for place, value in call.integers.items() if value != seen.first[place]}
        return frozenset((seen.symbolic | differ) - seen.fixed)

    def settle(self, call: Call, symbolic: frozenset[int], fixed: frozenset[int]) -> None:
        """Remember which integers a capture has made symbolic, and which constants of the trace."""
        seen = self._seen.get(call.outline)
        if seen is not None:
            seen.symbolic, seen.fixed = symbolic, seen.fixed | fixed
