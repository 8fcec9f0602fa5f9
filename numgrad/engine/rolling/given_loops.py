"""Given loops: a call of a function that repeats scalar functions becomes a loop in a kernel.

An operator such as `ng.scan` is a function of whole arrays, which runs its turns when it is called.
Where such a function says what it does turn by turn (`GivenLoop`), the call of it in a program can
be replaced by the instruction that rolling makes of repeated instructions: a program then runs it
without Python, and the turns need not look for their operands.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ...ir.kernel_spec import GivenLoop, RolledSpec
from ...ir.program import Instruction, Pattern, Program, Ref, is_contiguous, layout_of
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


def _given(pattern: Pattern) -> GivenLoop | None:
    """Return the loop that the function of a pattern runs, if a kernel can take its place."""
    turns = getattr(pattern.spec, "turns", None)
    if turns is None or pattern.loop:
        return None
    if not all([is_contiguous(x.shape, x.strides, x.dtype.itemsize) for x in pattern.layouts]):  # noqa: C419
        return None
    return turns()  # type: ignore[no-any-return]


class _Rolled:
    """The instruction with a loop in the place of a call.

    Parameters
    ----------
    program : Program
        The program that gets the instruction, and its constants.
    instruction : Instruction
        The call.
    given : GivenLoop
    read : set of int
        The buffers that instructions read, or that are results.
    """

    def __init__(
        self, program: Program, instruction: Instruction, given: GivenLoop, read: set[int]
    ) -> None:
        self._program, self._given, self._site = program, given, instruction.site
        nin = instruction.pattern.nin
        operands = list(instruction.operands)
        self._inputs, self._results = operands[:nin], operands[nin:]
        self._is_read = [ref.buffer in read for ref in self._results]

    def instructions(self) -> Iterator[Instruction]:
        """Yield the instruction; nothing if no result is read."""
        body, carried = self._given.body, self._given.carried
        ends = {(e.operand, e.offset): value for e, value in body.outputs}
        kept = [
            (e, value) for e, value in body.outputs if self._is_read[e.operand]
        ]  # fmt: skip
        if not kept:
            return
        is_state = [e.operand < carried for e in body.inputs]
        order = [n for n, state in enumerate(is_state) if not state]
        order += [n for n, state in enumerate(is_state) if state]
        count = len(order)
        numbers = {old: new for new, old in enumerate(order)}
        numbers |= {count + n: count + n for n in range(len(body.steps))}
        sources = dict.fromkeys([body.inputs[n].operand for n in order])
        places = {operand: n for n, operand in enumerate(sources)}
        targets = {e.operand: len(places) + n for n, e in enumerate(_firsts(kept))}
        at = [(body.inputs[n], n) for n in order]
        inputs = tuple([
            (places[e.operand], e.offset, e.dtype, self._way(e.operand))
            for e, n in at if not is_state[n]
        ])  # fmt: skip
        carries = tuple([
            (places[e.operand], e.offset, e.dtype, numbers[ends[e.operand, e.offset]])
            for e, n in at if is_state[n]
        ])  # fmt: skip
        stores = [(targets[e.operand], e.offset, e.dtype, numbers[v], e.operand) for e, v in kept]
        spec = RolledSpec(
            self._name(body.steps),
            tuple([(function, tuple([numbers[v] for v in args])) for function, args in body.steps]),
            inputs, carries,
            tuple([store[:4] for store in stores if store[4] >= carried]),
            tuple([store[:4] for store in stores if store[4] < carried]),
            (BYTE,) * len(places), (BYTE,) * len(targets),
        )  # fmt: skip
        of_inputs = [self._place(operand, self._source(operand)) for operand in sources]
        of_results = [
            self._place(n, self._results[n], n >= carried) for n in targets
        ]  # fmt: skip
        yield self._instruction(spec, of_inputs, of_results)

    def _name(self, steps: Sequence[Any]) -> str:
        names = list(dict.fromkeys([spec.name for spec, _ in steps]))
        return f"loop[{len(steps)}: {' '.join(names[:4])}{' ...' if len(names) > 4 else ''}]"

    def _way(self, operand: int) -> str:
        return "moving" if self._moves(operand) else "fixed"

    def _moves(self, operand: int) -> bool:
        given = self._given
        return given.carried <= operand < given.carried + given.per_step

    def _source(self, operand: int) -> Ref:
        """Return an input of the call, or the array of the body's constants."""
        if operand < len(self._inputs):
            return self._inputs[operand]
        constants = np.frombuffer(self._given.body.constants, np.uint8)
        buffer = self._program.new_buffer(constants.nbytes, False)
        self._program.arrays[buffer] = constants
        return Ref(buffer, 0, layout_of(constants.shape, constants.strides, BYTE))

    def _place(self, operand: int, ref: Ref, moves: bool | None = None) -> tuple[Place, int]:
        """Return where a kernel finds an operand at the first turn, and the bytes of one turn."""
        layout, length = ref.layout, self._given.length
        if not (self._moves(operand) if moves is None else moves):
            return Place(ref.buffer, ref.offset, 0), layout.nbytes
        nbytes = prod(layout.shape[1:]) * layout.dtype.itemsize
        if self._given.is_reverse:
            return Place(ref.buffer, ref.offset + (length - 1) * nbytes, -nbytes), nbytes
        return Place(ref.buffer, ref.offset, nbytes), nbytes

    def _instruction(
        self, spec: RolledSpec, inputs: Sequence[tuple[Place, int]],
        results: Sequence[tuple[Place, int]],
    ) -> Instruction:  # fmt: skip
        return looping(spec, inputs, results, self._given.length, self._program.rows, self._site)


def _firsts(kept: Sequence[Any]) -> list[Any]:
    """Return the first element that is kept of each result."""
    return list({element.operand: element for element, _ in reversed(kept)}.values())[::-1]
