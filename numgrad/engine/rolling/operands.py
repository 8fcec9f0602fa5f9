"""The operands of all instructions of a program, and facts about its buffers, as arrays."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ...ir.program import Instruction, Pattern, Program


class Operands:
    """The operands of instructions, side by side, and facts about the buffers, by their numbers.

    Parameters
    ----------
    program : Program
    instructions : sequence of Instruction
    names : ndarray of int
        For each instruction the number of its pattern in ``patterns``.
    patterns : sequence of Pattern

    Attributes
    ----------
    starts : ndarray
        Where the operands of each instruction begin; the last number is their count.
    buffers, offsets, is_input : ndarray
        For each operand its buffer, its offset, and whether it is an input.
    reads, writes : ndarray
        For each buffer how many operands read it, and how many write it. For a result of the
        program ``reads`` is one more.
    is_array, is_result : ndarray of bool
        Whether a buffer is an array from outside; whether it is a result.
    series, turn : ndarray
        The number of the series that a buffer belongs to, -1 for none, and its place in the series.
        A series has the buffers that one instruction of a loop writes, turn by turn.
    value, value_turn : ndarray
        The number of the value that a turn of the present run writes into a buffer, -1 for none,
        and which turn does. `Turns` fills them for one run, and then empties ``value`` again.
    """

    def __init__(
        self, program: Program, instructions: Sequence[Instruction], names: np.ndarray,
        patterns: Sequence[Pattern],
    ) -> None:  # fmt: skip
        counts = np.array([len(p.layouts) for p in patterns], np.int64)[names]
        inputs = np.array([p.nin for p in patterns], np.int64)[names]
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        total, size = int(self.starts[-1]), len(program.nbytes)
        of_each = chain.from_iterable([i.buffers for i in instructions])
        self.buffers = np.fromiter(of_each, np.int64, total)
        of_each = chain.from_iterable([i.offsets for i in instructions])
        self.offsets = np.fromiter(of_each, np.int64, total)
        within = np.arange(total) - np.repeat(self.starts[:-1], counts)
        self.is_input = within < np.repeat(inputs, counts)
        self.reads = np.bincount(self.buffers[self.is_input], minlength=size)
        self.writes = np.bincount(self.buffers[~self.is_input], minlength=size)
        self.is_array = _marked(list(program.arrays), size)
        self.is_result = _marked([ref.buffer for ref in program.results], size)
        self.reads += self.is_result
        self.series, self.turn = np.full(size, -1), np.full(size, -1)
        self.value, self.value_turn = np.full(size, -1), np.empty(size, np.int64)
        self._own_reads = np.zeros(size, np.int64)

    def reads_outside(self, first: int, stop: int, buffers: np.ndarray) -> np.ndarray:
        """Return how many operands read each of some buffers outside of a range of instructions."""
        here = slice(self.starts[first], self.starts[stop])
        own = self.buffers[here][self.is_input[here]]
        np.add.at(self._own_reads, own, 1)
        found = self.reads[buffers] - self._own_reads[buffers]
        self._own_reads[own] = 0
        return found


def _marked(numbers: Sequence[int], size: int) -> np.ndarray:
    marks = np.zeros(size, bool)
    marks[numbers] = True
    return marks
