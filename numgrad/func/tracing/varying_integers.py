"""Choose the integer arguments of a captured function that become symbolic: those that differed
from call to call, unless Python has asked for their values."""

from collections.abc import Hashable
from typing import Any

from .arguments import Call

_MOST = 512  # kinds of calls that are remembered; the oldest makes room


class _IntegerHistory:
    """The integers of calls of one kind, by their places among the leaves.

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
    """The integers of all calls of a captured function, by the kind of call."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, _IntegerHistory] = {}

    def symbolic(self, outline: Hashable) -> frozenset[int]:
        """Return the places of symbolic integers."""
        seen = self._seen.get(outline)
        return frozenset() if seen is None else seen.symbolic

    def candidates(self, call: Call) -> frozenset[int]:
        """Return the places of the integers that may become symbolic, because they differed between
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
        """Remember the symbolic and the fixed integers that a capture has found."""
        seen = self._seen.get(call.outline)
        if seen is not None:
            seen.symbolic, seen.fixed = symbolic, seen.fixed | fixed
