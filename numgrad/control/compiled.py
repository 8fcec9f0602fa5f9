"""Compiled loops: steps on few numbers, in place of a program that runs once for each step."""

import ctypes
from collections.abc import Iterator, Sequence
from threading import _DummyThread, current_thread
from time import perf_counter
from typing import Any

import numpy as np

from .._settings import settings
from ..engine.lower.fallback import attempt
from ..engine.rolling.expansion import MOST_STEPS, Expansion
from ..ir.recurrence import Columns, Recurrence, StepLoop

Arrays = Sequence[np.ndarray]

_CALL = 2e-6  # seconds that a program takes at least, run by Python
_KERNEL, _STEP = 0.05, 3e-4  # seconds to compile a loop: at least, and for each scalar function
AT_ONCE = 1 << 20  # steps of one call, between which Ctrl-C is heard
_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)


class CompiledLoop:
    """A loop over the scalar functions of a body, compiled when that is expected to save time.

    Parameters
    ----------
    name : str
    expansion : Expansion
    count : int
        The number of arguments of the body.
    carried, per_step : int
        How many of them are carried, and how many have elements for each step.
    ends : bool
        Whether the last result of a step is a boolean that ends the loop where it is False.

    Attributes
    ----------
    of : StepLoop
    """

    def __init__(
        self, name: str, expansion: Expansion, count: int, carried: int, per_step: int,
        ends: bool = False,
    ) -> None:  # fmt: skip
        self._recurrence = recurrence_of(expansion, count, carried, per_step, ends)
        whole = Columns(1, (0,) * (count + len(self._recurrence.outputs)))
        self.of = StepLoop(name, self._recurrence, expansion.constants, whole)
        self._count = count
        self._constants = np.frombuffer(expansion.constants or bytes(8), np.uint8)
        self._address = self._constants.ctypes.data
        self._function: Any = None
        self._seconds = 0.0
        self._cost = _KERNEL + _STEP * len(expansion.steps)
        self._is_looked_up = False

    def fits_inside(self, length: int) -> bool:
        """Whether a kernel of a program can have a loop of ``length`` steps inside."""
        return 0 < length <= AT_ONCE and len(self._recurrence.steps) <= MOST_STEPS

    def is_ready(self, length: int) -> bool:
        """Whether the loop is compiled; compile it first if that pays before ``length`` further
        steps."""
        fusion = settings.fusion()
        if self._function is None and fusion != "never" and not in_machine():
            is_now = fusion == "now" and self._cost < float("inf")
            if is_now or self._seconds + length * _CALL > self._cost:
                self._compile()
            elif not self._is_looked_up:
                self._look_up()
        return self._function is not None

    def timed(self, began: float) -> None:
        """Note the time since ``began``, in which a program ran the steps; it decides when
        compiling pays."""
        self._seconds += perf_counter() - began

    def _look_up(self) -> None:
        """Load the compiled loop if it is in the cache on disk."""
        from ..targets.cpu.kernels.recurrence import is_ready

        self._is_looked_up = True
        if is_ready(self._recurrence):
            self._compile()

    def _compile(self) -> None:
        from ..targets.cpu.kernels.recurrence import address

        name = f"{len(self._recurrence.steps)} scalar functions"
        found = attempt("compile a loop", name, lambda: address(self._recurrence))
        self._cost = float("inf")  # if this has failed
        self._function = None if found is None else _FUNCTION(found)

    def run_steps(
        self, arrays: Arrays, moving: Sequence[bool], carried: int, length: int,
        leads: Sequence[bool], count: int | None,
    ) -> None:  # fmt: skip
        """Run steps of the compiled loop.

        Parameters
        ----------
        arrays : sequence of arrays
            The arguments of the first step, then the results.
        moving : sequence of bool
            Which of them have elements for each step.
        carried : int
            How many of the arguments are carried.
        length : int
        leads : sequence of bool
            Which of them have an axis of samples, behind that of the steps.
        count : int, optional
            The number of samples; None without samples.
        """
        operands = Operands(arrays, moving)
        if count is None:
            self.run(operands, carried, length)
        else:
            self.run_rows(operands, carried, length, leads, count)

    def run(self, operands: "Operands", carried: int, length: int) -> None:
        """Run steps of the compiled loop on one sample.

        Parameters
        ----------
        operands : Operands
            The arguments of the first step, then the results.
        carried : int
            How many of the arguments are carried.
        length : int
        """
        first = self._count
        table = np.zeros((3, operands.count + 1), np.int64)  # addresses, moves, status
        self._fill(table[0], operands.addresses, self._address)
        self._fill(table[1], operands.moves, 0)
        where, width = table.ctypes.data, table.strides[0]
        while length > 0:
            count = min(AT_ONCE, length)
            self._function(where, count, 0, where + width, where + 2 * width)
            ends = slice(first + 1, first + 1 + carried)
            table[0, :carried] = table[0, ends] + (count - 1) * table[1, ends]
            table[0, carried:] += count * table[1, carried:]
            length -= count

    def run_rows(
        self, operands: "Operands", carried: int, length: int, leads: Sequence[bool], count: int
    ) -> None:
        """Run steps for each sample of a batch; the operands in ``leads`` have an axis of samples.
        """
        if length > AT_ONCE:
            for row in operands.rows(leads, count):
                self.run(row, carried, length)
            return
        table = np.zeros((count + 2, operands.count + 1), np.int64)  # each row, moves, status
        self._fill(table[:count], operands.of_rows(leads, count), self._address)
        self._fill(table[count], operands.moves, 0)
        where, width = table.ctypes.data, table.strides[0]
        moves, status = where + count * width, where + (count + 1) * width
        for n in range(count):
            self._function(where + n * width, length, 0, moves, status)

    def _fill(self, table: np.ndarray, values: np.ndarray, own: int) -> None:
        """Write a number for each operand into a table, and ``own`` into the column of the
        constants.

        The numbers in ``values`` are addresses, or the bytes by which addresses move on.
        """
        first = self._count
        table[..., :first], table[..., first] = values[..., :first], own
        table[..., first + 1 :] = values[..., first:]


def recurrence_of(
    of: Expansion, count: int, carried: int, per_step: int, ends: bool
) -> Recurrence:
    """Return the recurrence of a body; the parameters are those of `CompiledLoop`."""
    rest = count + 1 - carried - per_step  # with the constants
    steps = (*[False] * carried, *[True] * per_step, *[False] * rest)
    outputs = tuple([place for place, _ in of.outputs])
    values = tuple([value for _, value in of.outputs])
    return Recurrence(
        of.steps, of.inputs, outputs, values, carried, steps, values[-1] if ends else None
    )


def in_machine() -> bool:
    """Whether this thread belongs to a running program, where nothing is compiled."""
    return isinstance(current_thread(), _DummyThread)


class Operands:
    """The addresses of arrays, and by how many bytes each address moves on at a step.

    An array moves along its first axis if that is the axis of the steps, as ``moving`` says.
    """

    def __init__(self, arrays: Arrays, moving: Sequence[bool]) -> None:
        self._arrays, self._moving, self.count = arrays, moving, len(arrays)
        self.addresses = np.array([a.__array_interface__["data"][0] for a in arrays], np.int64)
        pairs = zip(arrays, moving, strict=True)
        self.moves = np.array([a.strides[0] if m else 0 for a, m in pairs], np.int64)

    def rows(self, leads: Sequence[bool], count: int) -> Iterator["Operands"]:
        """Yield these operands once for each sample of a batch, with the addresses of its elements.

        The operands in ``leads`` have an axis of samples, behind that of the steps.
        """
        for addresses in self.of_rows(leads, count):
            self.addresses = addresses
            yield self

    def of_rows(self, leads: Sequence[bool], count: int) -> np.ndarray:
        """Return the addresses of all operands, one row for each sample of a batch."""
        triples = zip(self._arrays, self._moving, leads, strict=True)
        ahead = np.array([a.strides[int(m)] if lead else 0 for a, m, lead in triples], np.int64)
        return self.addresses + np.arange(count)[:, None] * ahead
