"""Recurrences: scalar functions that a kernel applies again and again to their own results."""

from typing import Any, NamedTuple

import numpy as np

Place = tuple[int, int, np.dtype]
"""The place of a scalar: the number of an operand, the offset there in bytes, and the dtype."""


class Recurrence(NamedTuple):
    """Scalar functions that a kernel applies again and again, to values carried from step to step.

    Values are numbered: the inputs come first, then the result of each step.

    Attributes
    ----------
    steps : tuple of (ElementwiseSpec or ProductSpec, tuple of int)
        A function, and the numbers of the values that the function takes. A step of a matrix
        product takes two factors and, after the first term, the sum so far.
    inputs, outputs : tuple of places
        The scalars that are read and written; see `Place`. Input operands and output operands are
        each numbered from 0. The last input operand has the constants.
    values : tuple of int
        For each output the number of the value that is written.
    carried : int
        The first input operands, as many as this number, are carried from step to step. Their
        scalars are read before the first step; at later steps they have the values that the step
        before has written to the same places of the outputs.
    per_step : tuple of bool
        For each input operand, whether its address moves on at each step.
    goes_on : int or None
        The number of a boolean value: the loop ends after a step in which the value is false.
    """

    steps: tuple[tuple[Any, tuple[int, ...]], ...]
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    values: tuple[int, ...]
    carried: int
    per_step: tuple[bool, ...]
    goes_on: int | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        """The key of the kernel: recurrences with equal identities share one kernel."""
        return tuple([(spec.identity, args) for spec, args in self.steps]), *self[1:]


class Columns(NamedTuple):
    """Parts of arrays that a loop treats alike, each on its own, by the same recurrence.

    Attributes
    ----------
    number : int
        How many there are; 1 where the recurrence computes all elements.
    strides : tuple of int
        For each operand, inputs without the constants and then outputs, the distance in bytes from
        a column to the next one; 0 for an operand that all columns share. What is written there is
        the same in all of them.
    """

    number: int
    strides: tuple[int, ...]


class StepLoop(NamedTuple):
    """A loop as one kernel: a recurrence, and what its launches have in common.

    Attributes
    ----------
    name : str
        The name in errors and profiles.
    recurrence : Recurrence
    constants : bytes
        The memory of the operand that has the constants.
    columns : Columns
    """

    name: str
    recurrence: Recurrence
    constants: bytes
    columns: Columns


class Loop(NamedTuple):
    """The steps of a `StepLoop`, of a known number.

    Attributes
    ----------
    of : StepLoop
    length : int
        The number of steps.
    is_reverse : bool
        Whether the first step has the last elements of operands with elements for each step.
    replaces : int
        The number of instructions that a program has in place of the loop otherwise; 0 for a loop
        that is called.
    """

    of: StepLoop
    length: int
    is_reverse: bool = False
    replaces: int = 0


__all__ = ["Columns", "Loop", "Place", "Recurrence", "StepLoop"]
