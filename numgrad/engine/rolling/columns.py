"""Programs that treat the parts of their arrays alike: each part is a program of its own.

Such parts are the elements of arrays of one size, or what has one index along their first or last
axes. All instructions go over these parts, or over elements that all parts share. So one part, a
column, is computed by scalar functions without the others.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...ir.program import Program, is_contiguous
from ...ir.recurrence import Columns
from .expansion import (  # fmt: skip
    MOST_STEPS,
    Element,
    Expansion,
    ProgramExpander,
    UnknownError,
    offsets,
)


class ColumnExpansion(NamedTuple):
    """One column of a program as scalar functions, and where the other columns are."""

    expansion: Expansion
    columns: Columns


def in_columns(program: Program, count: int, order: Sequence[int]) -> ColumnExpansion | None:
    """Return a program of ``count`` arguments as scalar functions of one column.

    ``order`` is that of `expanded`. None for a program of other instructions, and for one whose
    parts are not alike.
    """
    if program.batch is not None:
        return None
    for size, is_last in _ways(program):
        try:
            return _Column(program, count, size, is_last).columns_made(order)
        except UnknownError:
            pass
    return None


def _ways(program: Program) -> list[tuple[int, bool]]:
    """Return numbers of columns to try, each with whether the columns lie along the last axis."""
    shapes = [ref.layout.shape for ref in program.results]
    shape = max(shapes, key=prod) if shapes else ()
    ways = [(prod(shape), True)]
    if len(shape) > 1:
        ways += [(shape[-1], True), (shape[0], False)]
    return [way for way in ways if way[0] > 1]


class _Column(ProgramExpander):
    """Expands the first column of a program.

    Parameters
    ----------
    program : Program
    count : int
        The number of arguments.
    size : int
        The number of columns.
    is_last : bool
        Whether neighbouring elements belong to neighbouring columns. Otherwise a column is one
        piece of memory.
    """

    def __init__(self, program: Program, count: int, size: int, is_last: bool) -> None:
        super().__init__(program, count)
        self._size, self._is_last = size, is_last
        self._are_wide: dict[int, bool] = {}  # whether each column has elements of a buffer

    def columns_made(self, order: Sequence[int]) -> ColumnExpansion:
        program = self._program
        for instruction in program.instructions:
            self.apply(instruction)
        results = [program.results[n] for n in order]
        strides = [0] * self._count
        outputs, of_results = [], []
        for number, ref in enumerate(results):
            size, each = prod(ref.layout.shape), ref.layout.dtype.itemsize
            is_wide = self._are_wide.setdefault(ref.buffer, size > 0 and size % self._size == 0)
            whole = ref.offset == 0 and size * each == program.nbytes[ref.buffer]
            whole = whole and is_contiguous(ref.layout.shape, ref.layout.strides, each)
            if is_wide and not whole:
                raise UnknownError
            if not is_wide and size > MOST_STEPS:
                raise UnknownError
            of_results.append(self._stride(ref.buffer, each) if is_wide else 0)
            outputs += self._outputs(number, ref, is_wide)
        if not any(of_results):
            raise UnknownError
        for buffer, number in program.arguments.items():
            if self._are_wide.get(buffer):
                if program.given[buffer][2] is not None:
                    raise UnknownError
                strides[number] = self._stride(buffer, program.given[buffer][1].itemsize)
        columns = Columns(self._size, (*strides, *of_results))
        return ColumnExpansion(self.finished(outputs), columns)

    def _outputs(self, number: int, ref: Any, is_wide: bool) -> list[tuple[Element, Any]]:
        dtype, count = ref.layout.dtype, prod(ref.layout.shape)
        if not is_wide:
            return self.outputs_of(number, ref)
        apart = dtype.itemsize * (self._size if self._is_last else 1)
        places = [n * apart for n in range(count // self._size)]
        return [(Element(number, at, dtype), self.read(ref.buffer, at, dtype)) for at in places]

    def _stride(self, buffer: int, each: int) -> int:
        """Return the bytes from a column of a buffer to the next one."""
        return each if self._is_last else self._program.nbytes[buffer] // self._size

    def places(self, instruction: Any) -> list[list[tuple[int, int]]]:
        """Return the elements of each operand that belong to the first column."""
        pattern = instruction.pattern
        if len(pattern.core) > 1 or pattern.turns:
            raise UnknownError
        inner = (pattern.core, pattern.core_strides[:1])
        core = [inner, *[((), ())] * (len(pattern.layouts) - 1)]
        operands = list(zip(instruction.buffers, instruction.offsets, pattern.layouts, strict=True))
        for axis, size in enumerate(pattern.loop):
            if size % self._size or not size:
                continue
            loop, strides, steps = self._split(pattern, axis)
            if all(self._fits(*one, step) for one, step in zip(operands, steps, strict=True)):
                for (buffer, _, _), step in zip(operands, steps, strict=True):
                    self._note(buffer, step != 0)
                return [
                    self._column(*one, loop, along, step, ends)
                    for one, along, step, ends in zip(operands, strides, steps, core, strict=True)
                ]  # fmt: skip
        if pattern.work > MOST_STEPS:
            raise UnknownError
        for buffer in instruction.buffers:
            self._note(buffer, False)
        return super().places(instruction)

    def _split(self, pattern: Any, axis: int) -> tuple[Any, Any, Any]:
        """Return the loop without the columns along an axis, its strides, and those of columns."""
        rest = pattern.loop[axis] // self._size
        loop = (*pattern.loop[:axis], rest, *pattern.loop[axis + 1 :])
        inner, outer = (1, self._size) if self._is_last else (rest, 1)
        strides, steps = [], []
        for along in pattern.strides:
            strides.append((*along[:axis], along[axis] * outer, *along[axis + 1 :]))
            steps.append(along[axis] * inner)
        return loop, strides, steps

    def _fits(self, buffer: int, offset: int, layout: Any, step: int) -> bool:
        is_wide = self._are_wide.get(buffer, step != 0)
        if step and buffer in self._program.arrays:
            return False  # the columns of a constant would have constants of their own
        whole = self._program.nbytes[buffer] % (self._size * layout.dtype.itemsize) == 0
        is_right = step != 0 and whole and step == self._stride(buffer, layout.dtype.itemsize)
        return is_right if is_wide else step == 0

    def _column(
        self, buffer: int, offset: int, layout: Any, loop: Any, along: Any, step: int,
        core: Any,
    ) -> list[tuple[int, int]]:  # fmt: skip
        """Return the elements of an operand over which a column loops.

        Raise if one of them, or of the core dimension that begins there, is in another column.
        """
        found = [offset + one for one in offsets(loop, along)]
        if step:
            each = layout.dtype.itemsize
            row, within = (each * self._size, each) if self._is_last else (step, step)
            ends = [at + one for at in found for one in offsets(*core)]
            if any(at % row >= within or (at >= row and not self._is_last) for at in ends):
                raise UnknownError
        return [(buffer, at) for at in found]

    def _note(self, buffer: int, is_wide: bool) -> None:
        if self._are_wide.setdefault(buffer, is_wide) != is_wide:
            raise UnknownError


__all__ = ["ColumnExpansion", "in_columns"]
