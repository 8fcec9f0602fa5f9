"""Given loops: a call of a function that repeats scalar functions becomes a loop in a kernel.

An operator such as `ng.scan` is a function of whole arrays, which runs its turns when it is called.
Where such a function is a loop that a kernel can have inside (`numgrad.ir.recurrence.Loop`), the
call of it in a program can be replaced by the instruction that rolling makes of repeated
instructions: a program then runs it without Python, and the turns need not look for their operands.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ...ir.kernel_spec import RolledSpec
from ...ir.program import Instruction, Pattern, Program, Ref, is_contiguous, layout_of
from ...ir.recurrence import Loop
from ...ir.recurrence import Place as Scalar
from .loop_instruction import BYTE, Place, looping


def with_given_loops(program: Program) -> Program | None:
    """Return a program with the same results and bits in which given loops are kernels; None for a
    program without any."""
    found = {pattern: _given(pattern) for pattern in dict.fromkeys(program.patterns())}
    if not any(found.values()):
        return None
    made = copy_of(program)
    read = {ref.buffer for ref in program.results}
    for instruction in program.instructions:
        read.update(instruction.buffers[: instruction.pattern.nin])
    for instruction in program.instructions:
        given = found[instruction.pattern]
        if given is None:
            made.instructions.append(instruction)
        else:
            made.instructions += _Rolled(made, instruction, given, read).instructions()
    return made


def copy_of(program: Program) -> Program:
    """Return a program with the buffers of another one, and no instructions yet."""
    made = Program(program.batch)
    made.nbytes, made.rows = [*program.nbytes], [*program.rows]
    made.row_strides, made.arrays = [*program.row_strides], {**program.arrays}
    made.arguments, made.results = program.arguments, program.results
    made.uses_blas, made.given = program.uses_blas, program.given
    return made


def _given(pattern: Pattern) -> Loop | None:
    """Return the loop that the function of a pattern runs, if a kernel can take its place."""
    as_loop = getattr(pattern.spec, "as_loop", None)
    if as_loop is None or pattern.loop:
        return None
    if not all([is_contiguous(x.shape, x.strides, x.dtype.itemsize) for x in pattern.layouts]):  # noqa: C419
        return None
    return as_loop()  # type: ignore[no-any-return]


class _Rolled:
    """The instruction with a loop in the place of a call.

    Parameters
    ----------
    program : Program
        The program that gets the instruction, and its constants.
    instruction : Instruction
        The call.
    given : Loop
    read : set of int
        The buffers that instructions read, or that are results.
    """

    def __init__(
        self, program: Program, instruction: Instruction, given: Loop, read: set[int]
    ) -> None:
        self._program, self._given, self._site = program, given, instruction.site
        self._of = given.of.recurrence
        nin = instruction.pattern.nin
        operands = list(instruction.operands)
        self._inputs, self._results = operands[:nin], operands[nin:]
        self._is_read = [ref.buffer in read for ref in self._results]

    def instructions(self) -> Iterator[Instruction]:
        """Yield the instruction; nothing if no result is read."""
        of = self._of
        kept = [at for at in of.outputs if self._is_read[at[0]]]
        if not kept:
            return
        order = sorted(range(len(of.inputs)), key=self._is_state)
        sources = list(dict.fromkeys([of.inputs[n][0] for n in order]))
        targets = list(dict.fromkeys([at[0] for at in kept]))
        spec = self._spec(order, sources, targets, kept)
        of_inputs = [self._place(self._source(n), of.per_step[n]) for n in sources]
        of_results = [self._place(self._results[n], n >= of.carried) for n in targets]
        yield looping(
            spec, of_inputs, of_results, self._given.length, self._program.rows, self._site
        )

    def _is_state(self, number: int) -> bool:
        """Whether an input is carried from turn to turn."""
        return self._of.inputs[number][0] < self._of.carried

    def _spec(
        self, order: Sequence[int], sources: Sequence[int], targets: Sequence[int],
        kept: Sequence[Scalar],
    ) -> RolledSpec:  # fmt: skip
        """Return the spec of a kernel that reads inputs in an order, those carried last, and
        stores the elements ``kept``; ``sources`` and ``targets`` are its operands."""
        of, count = self._of, len(order)
        values = dict(zip(of.outputs, of.values, strict=True))
        numbers = {old: new for new, old in enumerate(order)}
        numbers |= {count + n: count + n for n in range(len(of.steps))}
        places = {operand: n for n, operand in enumerate(sources)}
        ends = {operand: len(sources) + n for n, operand in enumerate(targets)}
        stores = [
            (ends[at], offset, dtype, numbers[values[at, offset, dtype]])
            for at, offset, dtype in kept
        ]
        is_last = [at < of.carried for at, _, _ in kept]
        reads = [of.inputs[n] for n in order if not self._is_state(n)]
        states = [of.inputs[n] for n in order if self._is_state(n)]
        return RolledSpec(
            self._name(of.steps),
            tuple([(function, tuple([numbers[v] for v in args])) for function, args in of.steps]),
            tuple([(places[at], offset, dtype, "moving" if of.per_step[at] else "fixed")
                   for at, offset, dtype in reads]),
            tuple([(places[at], offset, dtype, numbers[values[at, offset, dtype]])
                   for at, offset, dtype in states]),
            tuple([store for store, last in zip(stores, is_last, strict=True) if not last]),
            tuple([store for store, last in zip(stores, is_last, strict=True) if last]),
            (BYTE,) * len(sources), (BYTE,) * len(targets),
        )  # fmt: skip

    def _name(self, steps: Sequence[Any]) -> str:
        names = list(dict.fromkeys([spec.name for spec, _ in steps]))
        return f"loop[{len(steps)}: {' '.join(names[:4])}{' ...' if len(names) > 4 else ''}]"

    def _source(self, operand: int) -> Ref:
        """Return an input of the call, or the array of the constants."""
        if operand < len(self._inputs):
            return self._inputs[operand]
        constants = np.frombuffer(self._given.of.constants, np.uint8)
        buffer = self._program.new_buffer(constants.nbytes, False)
        self._program.arrays[buffer] = constants
        return Ref(buffer, 0, layout_of(constants.shape, constants.strides, BYTE))

    def _place(self, ref: Ref, moves: bool) -> tuple[Place, int]:
        """Return where a kernel finds an operand at the first turn, and the bytes of one turn."""
        layout, length = ref.layout, self._given.length
        if not moves:
            return Place(ref.buffer, ref.offset, 0), layout.nbytes
        nbytes = prod(layout.shape[1:]) * layout.dtype.itemsize
        if self._given.is_reverse:
            return Place(ref.buffer, ref.offset + (length - 1) * nbytes, -nbytes), nbytes
        return Place(ref.buffer, ref.offset, nbytes), nbytes

