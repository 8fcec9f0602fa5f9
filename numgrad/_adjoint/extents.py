"""The shapes of the results of a kernel before it has run, from the shapes and integers among its
arguments."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .builder.bases import carried_from
from .generation.writing import scalar_text
from .ssa.ir import Op, Program, Value
from .ssa.partials import SCALARS


class UnknownExtentError(Exception):
    """The length of an array depends on ``value``, whose elements are not known."""

    def __init__(self, value: Value, line: int) -> None:
        self.value, self.line = value, line


class Extents:
    """The lengths of the arrays of a program, computed without running it.

    Parameters
    ----------
    program : Program
    shapes : sequence of tuple of int
        The shape of each parameter; that of a number is empty.
    numbers : mapping
        The integers among the parameters that are known, by position.
    """

    def __init__(
        self,
        program: Program,
        shapes: Sequence[tuple[int, ...]],
        numbers: Mapping[int, int],
    ) -> None:
        self._program = program
        pairs = zip(program.parameters, shapes, strict=True)
        self._shapes = {value: shape for value, shape in pairs if value.type.is_array}
        self._numbers: dict[Value, Any] = {program.parameters[n]: i for n, i in numbers.items()}
        self._line = 0

    def of(self, array: Value) -> tuple[int, ...]:
        """Return the shape of an array.

        Raises
        ------
        UnknownExtentError
            If it depends on what is not known.
        """
        if array in self._shapes:
            return self._shapes[array]
        op = array.op
        if op is not None and "extents" in op.info:
            self._line = op.line or self._line
            return tuple(int(self.number(extent)) for extent in op.info["extents"])
        shapes = {self.of(init) for init in carried_from(array)}
        if len(shapes) == 1:
            return shapes.pop()
        raise UnknownExtentError(array, self._line)

    def number(self, value: Value) -> Any:
        """Return a number of the program, or raise as `of` does."""
        if value.constant is not None:
            return value.constant
        if value in self._numbers:
            return self._numbers[value]
        if value.op is None:
            raise UnknownExtentError(value, self._line)
        self._numbers[value] = found = self._computed(value, value.op)
        return found

    def _computed(self, value: Value, op: Op) -> Any:
        self._line = op.line or self._line
        if op.name == "shape":
            return self.of(op.args[0])[op.info["axis"]]
        if op.name == "if":
            taken = op.regions[0 if self.number(op.args[0]) else 1]
            return self.number(taken.yields[op.results.index(value)])
        if op.name not in SCALARS:
            raise UnknownExtentError(value, self._line)
        arguments = [repr(self.number(arg)) for arg in op.args]
        text = scalar_text(op.name, op.info.get("spelled") or "", arguments)
        return eval(text, {**self._program.namespace, **_NAMES})


_NAMES: dict[str, Callable[..., Any] | Any] = {"np": np, "math": math}
