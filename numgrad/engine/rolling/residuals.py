"""Residuals: a loop reads what an earlier loop has computed, and does not compute it again.

The derivative of a loop is a loop over its turns in reverse. That loop reads the state before each
turn, and what the turn has computed it computes again. In a program with both loops, the first one
stores such values turn by turn, and the second one reads them, as if the two loops had been rolled
from all of their instructions. A loop of tangents reads the values of the loop that it goes along
with, too. Which values both loops compute is found in their kernels: equal functions of equal
operands.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..._settings import settings
from ...ir.kernel_spec import RolledSpec
from ...ir.program import Instruction, Program
from .costs import STORED, step_cost
from .loop_instruction import BYTE, Place, looping

_SLOT = 8  # bytes of a residual: no dtype of a loop has more
_MOST_WALKS = 4  # ways in which turns may go together, that are tried


def with_residuals(program: Program) -> Program:
    """Let the loops of a program read what earlier ones have computed; return the program.

    Results and bits stay. The memory of all that loops store stays within ``loop_memory`` of the
    settings.
    """
    ordered = program.instructions
    loops = [n for n, i in enumerate(ordered) if isinstance(i.pattern.spec, RolledSpec)]
    if len(loops) > 1:
        sharing = _Sharing(program, loops)
        for place, later in enumerate(loops):
            for earlier in reversed(loops[:place]):
                sharing.take(earlier, later)
    return program


class _Walk(NamedTuple):
    """Which turn of an earlier loop a turn of a later one goes with: ``begin + step * turn``."""

    begin: int
    step: int


class _Sharing:
    """Shares values between loops of a program, whose positions are ``loops``."""

    def __init__(self, program: Program, loops: Sequence[int]) -> None:
        self._program = program
        self._last_write: dict[int, int] = {}
        for at, instruction in enumerate(program.instructions):
            for buffer in instruction.buffers[instruction.pattern.nin :]:
                self._last_write[buffer] = at
        stored = {b for at in loops for b in _Loop(program, at).written()}
        self._left = (settings.loop_memory << 20) - sum(map(self._size, stored))

    def _size(self, buffer: int) -> int:
        program = self._program
        return program.nbytes[buffer] * (program.batch or 1 if program.rows[buffer] else 1)

    def take(self, earlier: int, later: int) -> None:
        """Have the later loop read what the earlier loop has computed, if that saves time."""
        one, other = _Loop(self._program, earlier), _Loop(self._program, later)
        walks = _walks(one, other)
        if walks:
            found = [_Shared(one, other, walk, self._stays_from(earlier)) for walk in walks]
            shared = max(found, key=lambda each: len(each.values))
            kept = shared.frontier()
            if other.saves(kept) > len(kept) * STORED and self._has_room(one, len(kept)):
                self._share(earlier, later, shared, kept)

    def _has_room(self, one: "_Loop", count: int) -> bool:
        """Whether a loop may store so many values at each turn; note their memory then."""
        rows = self._program.batch or 1 if one.instruction.pattern.rows else 1
        total = _SLOT * count * one.count * rows
        is_granted = total <= self._left
        self._left -= total * is_granted
        return is_granted

    def _share(
        self, earlier: int, later: int, shared: "_Shared", kept: Sequence[int]
    ) -> None:
        program, walk, nbytes = self._program, shared.walk, _SLOT * len(kept)
        one, other = _Loop(program, earlier), _Loop(program, later)
        buffer = program.new_buffer(nbytes * one.count, one.instruction.pattern.rows)
        self._last_write[buffer] = earlier
        there = Place(buffer, walk.begin * nbytes, walk.step * nbytes), nbytes
        stored = [(shared.values[value], other.dtype(value)) for value in kept]
        program.instructions[earlier] = one.storing(stored, (Place(buffer, 0, nbytes), nbytes))
        program.instructions[later] = other.reading(kept, there)

    def _stays_from(self, at: int) -> Callable[[int], bool]:
        """Return a function that says whether a buffer is not written behind an instruction."""
        return lambda buffer: self._last_write.get(buffer, -1) <= at


class _Loop:
    """A loop of a program: what its kernel reads and writes, as places in buffers.

    Attributes
    ----------
    count : int
        The number of turns.
    first : int
        The number of the value of the first step.
    """

    def __init__(self, program: Program, at: int) -> None:
        self._program = program
        self.instruction: Instruction = program.instructions[at]
        pattern = self.instruction.pattern
        self.spec: RolledSpec = pattern.spec
        self._nin, (self.count,) = pattern.nin, pattern.core
        self.first = len(self.spec.inputs) + len(self.spec.carries)

    def written(self) -> tuple[int, ...]:
        """Return the buffers that the loop writes."""
        return self.instruction.buffers[self._nin :]

    def place(self, operand: int) -> Place:
        """Return where an operand is at the first turn, and how it moves on."""
        i = self.instruction
        return Place(i.buffers[operand], i.offsets[operand], i.pattern.core_strides[operand])

    def ends(self) -> list[int]:
        """Return the numbers of the values that the loop hands on or stores."""
        spec = self.spec
        return [item[3] for item in (*spec.carries, *spec.outputs, *spec.finals)]

    def dtype(self, step: int) -> np.dtype:
        """Return the dtype of the value of a step."""
        return self.spec.steps[step - self.first][0].out_dtypes[0]  # type: ignore[no-any-return]

    def key(self, operand: int, offset: int, dtype: np.dtype, how: str, walk: _Walk) -> Any:
        """Return a key of an element that turns read: equal where two loops read the same one.

        ``walk`` tells how turns go with those of the loop with which the keys are compared.
        """
        buffer, begin, move = self.place(operand)
        if how == "fixed":
            known = self._number(buffer, begin + offset, dtype)
            return (buffer, begin + offset, dtype) if known is None else known
        begin -= move * walk.step * walk.begin
        if how == "table":
            return buffer, begin, move * walk.step, offset, dtype
        return buffer, begin + offset, move * walk.step, dtype

    def _number(self, buffer: int, offset: int, dtype: np.dtype) -> Any:
        """Return the bytes of an element of a constant array of the host, None for any other."""
        array = self._program.arrays.get(buffer)
        if type(array) is not np.ndarray or array.dtype != BYTE or array.ndim != 1:
            return None
        return array[offset : offset + dtype.itemsize].tobytes(), dtype

    # The loop with residuals ---------------------------------------------------------------------

    def _operands(self) -> list[tuple[Place, int]]:
        sizes = [layout.shape[-1] for layout in self.instruction.pattern.layouts]
        return [(self.place(n), size) for n, size in enumerate(sizes)]

    def storing(
        self, values: Sequence[tuple[int, np.dtype]], place: tuple[Place, int]
    ) -> Instruction:
        """Return the loop that stores further values, given by numbers and dtypes, at a place."""
        spec, operands = self.spec, self._operands()
        more = [(len(operands), _SLOT * n, dtype, v) for n, (v, dtype) in enumerate(values)]
        made = replace(
            spec, outputs=(*spec.outputs, *more), out_dtypes=(*spec.out_dtypes, BYTE)
        )  # fmt: skip
        return self._looping(made, operands[: self._nin], [*operands[self._nin :], place])

    def reading(self, kept: Sequence[int], place: tuple[Place, int]) -> Instruction:
        """Return the loop that reads the values of some steps at a place."""
        spec, operands, needed = self.spec, self._operands(), self._needed(kept)
        read = [n for n in range(len(spec.inputs)) if n in needed]
        steps = [n for n in range(self.first, self.first + len(spec.steps)) if n in needed]
        order = [*read, *kept, *range(len(spec.inputs), self.first), *steps]
        numbers = {old: new for new, old in enumerate(order)}

        def moved(ends: Any) -> tuple[Any, ...]:
            return tuple([(self._behind(at), *rest, numbers[v]) for at, *rest, v in ends])

        residuals = [(self._nin, _SLOT * n, self.dtype(v), "moving") for n, v in enumerate(kept)]
        functions = [spec.steps[n - self.first] for n in steps]
        made = replace(
            spec, inputs=(*[spec.inputs[n] for n in read], *residuals),
            steps=tuple([(f, tuple([numbers[v] for v in args])) for f, args in functions]),
            carries=moved(spec.carries), outputs=moved(spec.outputs), finals=moved(spec.finals),
            in_dtypes=(*spec.in_dtypes, BYTE),
        )  # fmt: skip
        return self._looping(made, [*operands[: self._nin], place], operands[self._nin :])

    def _behind(self, operand: int) -> int:
        """Return the number of an operand, with one more input."""
        return operand + (operand >= self._nin)

    def saves(self, kept: Sequence[int]) -> float:
        """Return what a turn takes less, in nanoseconds, if it reads the values in ``kept``."""
        spared = self._needed(()) - self._needed(kept)
        return sum([
            step_cost(self.spec.steps[n - self.first][0]) for n in spared if n >= self.first
        ])  # fmt: skip

    def _needed(self, kept: Sequence[int]) -> set[int]:
        """Return the inputs and steps that the loop needs if it reads the values in ``kept``."""
        needed, todo = set(kept), self.ends()
        while todo:
            value = todo.pop()
            if value not in needed:
                needed.add(value)
                todo += self.spec.steps[value - self.first][1] if value >= self.first else ()
        return needed - set(kept)

    def _looping(self, spec: RolledSpec, inputs: Any, results: Any) -> Instruction:
        rows, site = self._program.rows, self.instruction.site
        return looping(spec, inputs, results, self.count, rows, site)


def _walks(one: _Loop, other: _Loop) -> list[_Walk]:
    """Return ways in which the turns of a loop go with those of an earlier one whose series it
    reads, the likeliest first."""
    starts: dict[tuple[int, int], list[Place]] = {}
    for operand, offset, _, _ in one.spec.outputs:
        buffer, begin, move = one.place(operand)
        if move:
            starts.setdefault((buffer, abs(move)), []).append(Place(buffer, begin + offset, move))
    found: Counter[_Walk] = Counter()
    for operand, offset, _, how in other.spec.inputs:
        buffer, begin, move = other.place(operand)
        for start in starts.get((buffer, abs(move)), ()) if how == "moving" else ():
            first, rest = divmod(begin + offset - start.offset, start.move)
            walk = _Walk(first, move // start.move)
            last = first + walk.step * (other.count - 1)
            found[walk] += not rest and min(first, last) >= 0 and max(first, last) < one.count
    return [walk for walk, count in found.most_common(_MOST_WALKS) if count]


class _Shared:
    """What two loops both compute, if their turns go together in a certain way.

    Parameters
    ----------
    one, other : _Loop
        The earlier loop and the later one.
    walk : _Walk
    stays : callable
        Whether a buffer has at the later loop what it had at the earlier one.

    Attributes
    ----------
    values : dict
        The number of each value of the later loop that the earlier one has, and its number there.
    """

    def __init__(
        self, one: _Loop, other: _Loop, walk: _Walk, stays: Callable[[int], bool]
    ) -> None:
        self._one, self._other, self.walk, self._stays = one, other, walk, stays
        self._alike: dict[int, int] = {}  # values of the earlier loop that are equal to others
        self._identities: dict[int, Any] = {}
        known, steps = self._elements(), self._steps()
        self.values: dict[int, int] = {}
        for n, item in enumerate(other.spec.inputs):
            key = other.key(*item, walk)
            if key in known:
                self.values[n] = self._of(known[key])
        for value, (function, args) in enumerate(other.spec.steps, other.first):
            if all([v in self.values for v in args]):  # noqa: C419  a list is faster
                taken = tuple([self.values[v] for v in args])
                found = steps.get((self._identity(function), taken))
                if found is not None:
                    self.values[value] = found

    def _of(self, value: int) -> int:
        return self._alike.get(value, value)

    def _identity(self, function: Any) -> Any:
        if id(function) not in self._identities:
            self._identities[id(function)] = function.identity
        return self._identities[id(function)]

    def _elements(self) -> dict[Any, int]:
        """Return the values that the earlier loop reads or stores, by their keys."""
        one, known, along = self._one, {}, _Walk(0, 1)
        for n, item in enumerate(one.spec.inputs):
            if self._stays(one.place(item[0]).buffer):
                self._alike[n] = known.setdefault(one.key(*item, along), n)
        for operand, offset, dtype, value in one.spec.outputs:
            if self._stays(one.place(operand).buffer):
                known.setdefault(one.key(operand, offset, dtype, "moving", along), value)
        return known

    def _steps(self) -> dict[Any, int]:
        """Return the value of each step of the earlier loop, by its function and operands."""
        one, known = self._one, {}
        for value, (function, args) in enumerate(one.spec.steps, one.first):
            key = self._identity(function), tuple(map(self._of, args))
            self._alike[value] = known.setdefault(key, value)
        return known

    def frontier(self) -> list[int]:
        """Return the shared values of steps that the later loop needs for what is not shared."""
        other, shared = self._other, self.values
        read = set(other.ends())
        for value, (_, args) in enumerate(other.spec.steps, other.first):
            if value not in shared:
                read.update(args)
        return sorted([value for value in read if value >= other.first and value in shared])


__all__ = ["with_residuals"]
