"""Instructions of a program that does not run, in a tenth of their memory."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .program import Instruction, Pattern


class PackedInstructions(Sequence[Instruction]):
    """The instructions of a program of which another form runs; an instruction is made when it is
    asked for.

    A program of a long loop has hundreds of thousands of instructions, through which the garbage
    collector would look again and again.

    Parameters
    ----------
    patterns : sequence of Pattern
    names : ndarray of int
        The number of the pattern of each instruction.
    starts : ndarray of int
        Where the operands of each instruction begin; one more at the end.
    buffers, offsets : ndarray of int
        Of each operand.
    sites : list
        The site of each instruction.
    """

    __slots__ = ("_buffers", "_names", "_offsets", "_patterns", "_sites", "_starts")

    def __init__(
        self, patterns: Sequence[Pattern], names: np.ndarray, starts: np.ndarray,
        buffers: np.ndarray, offsets: np.ndarray, sites: list[Any],
    ) -> None:  # fmt: skip
        self._patterns, self._sites = patterns, sites
        self._names, self._starts = narrowed(names), narrowed(starts)
        self._buffers, self._offsets = narrowed(buffers), narrowed(offsets)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, n: Any) -> Any:
        return list(self)[n]

    def __iter__(self) -> Iterator[Instruction]:
        starts = self._starts.tolist()
        buffers, offsets = self._buffers.tolist(), self._offsets.tolist()
        of_each = zip(self.patterns(), self._sites, pairwise(starts), strict=True)
        for pattern, site, (first, stop) in of_each:
            yield Instruction(pattern, tuple(buffers[first:stop]), tuple(offsets[first:stop]), site)

    def patterns(self) -> list[Pattern]:
        """Return the pattern of each instruction."""
        return list(map(self._patterns.__getitem__, self._names.tolist()))


def narrowed(numbers: np.ndarray) -> np.ndarray:
    """Return integers in half of the memory, where they fit."""
    is_small = not len(numbers) or max(-numbers.min(), numbers.max()) < 1 << 31
    return numbers.astype(np.int32) if is_small else numbers


__all__ = ["PackedInstructions"]
