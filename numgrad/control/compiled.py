"""Steps on few numbers as one compiled loop, in place of a program that runs once for each."""

import ctypes
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .._settings import settings
from .expansion import Expansion, expanded

Arrays = Sequence[np.ndarray]

_CALL = 2e-6  # seconds that a program takes at least, run by Python
_KERNEL, _STEP = 0.05, 3e-4  # expected seconds to compile: at all, and for each scalar function
AT_ONCE = 1 << 20  # steps of one call, between which Ctrl-C is heard
_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)


class CompiledLoop:
    """A loop over the program of a body, compiled once that pays; see `numgrad.engine.fusion`.

    Parameters
    ----------
    expansion : Expansion
    count : int
        The number of arguments of the body.
    carried, per_step : int
        How many of them are carried, and how many are a step's own.
    """

    def __init__(self, expansion: Expansion, count: int, carried: int, per_step: int) -> None:
        self._expansion = expansion
        rest = count + 1 - carried - per_step  # with the constants
        self._steps = (*[False] * carried, *[True] * per_step, *[False] * rest)
        self._carried = carried
        self._constants = np.frombuffer(expansion.constants or bytes(8), np.uint8)
        self._function: Any = None
        self._seconds = 0.0
        self._cost = _KERNEL + _STEP * len(expansion.steps)
        self._is_looked_up = False

    def is_ready(self, length: int) -> bool:
        """Whether the loop is compiled, after compiling it if that is due before ``length`` steps.
        """
        if self._function is None and settings.fuse != "never" and settings.path != "reference":
            if settings.fuse == "now" or self._seconds + length * _CALL > self._cost:
                self._compile()
            elif not self._is_looked_up:
                self._look_up()
        return self._function is not None

    def timed(self, began: float) -> None:
        """Note that the program has run since ``began``."""
        self._seconds += perf_counter() - began

    def _recurrence(self) -> Any:
        from ..targets.cpu.kernels.recurrence import Recurrence  # it imports Numba

        of = self._expansion
        outputs = tuple([tuple(place) for place, _ in of.outputs])
        values = tuple([value for _, value in of.outputs])
        inputs = tuple(map(tuple, of.inputs))
        return Recurrence(of.steps, inputs, outputs, values, self._carried, self._steps)

    def _look_up(self) -> None:
        """Load the loop if it is on disk."""
        from ..targets.cpu.kernels.recurrence import is_ready

        self._is_looked_up = True
        if is_ready(self._recurrence()):
            self._compile()

    def _compile(self) -> None:
        from ..targets.cpu.kernels.recurrence import address

        self._function = _FUNCTION(address(self._recurrence()))

    def run(self, inputs: Sequence[tuple[int, int]], outputs: Sequence[tuple[int, int]], length: int
            ) -> None:  # fmt: skip
        """Run steps.

        Parameters
        ----------
        inputs, outputs : sequence of (int, int)
            The address of each operand, and how many bytes it moves on at a step.
        length : int
        """
        operands = [*inputs, (self._constants.ctypes.data, 0), *outputs]
        bases = np.array([address for address, _ in operands], np.int64)
        moves = np.array([move for _, move in operands], np.int64)
        status = np.zeros(1, np.int64)
        where = bases.ctypes.data, moves.ctypes.data, status.ctypes.data
        self._function(where[0], length, 0, where[1], where[2])


def compiled_loop(program: Any, count: int, carried: int, per_step: int) -> CompiledLoop | None:
    """Return the compiled loop over a program; None where there is none."""
    expansion = expanded(program, count)
    return None if expansion is None else CompiledLoop(expansion, count, carried, per_step)


def operand(array: np.ndarray, moves: bool, row: int, has_rows: bool) -> tuple[int, int]:
    """Return the address of an array, and how far it moves on at a step: along its first axis, if
    that is the axis of the steps. The next axis is that of the rows of a batch."""
    address = array.__array_interface__["data"][0]
    first = row * array.strides[int(moves)] if has_rows else 0
    return address + first, array.strides[0] if moves else 0
