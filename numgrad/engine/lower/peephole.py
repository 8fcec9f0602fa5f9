"""Peephole optimization: ``x + (-y)`` becomes ``x - y``, and ``x - (-y)`` becomes ``x + y``.

The derivative of a difference negates a cotangent, which is then added to others. The bits of
``x + (-y)`` are those of ``x - y``, so a negation goes away if only sums and differences read it.
Each program is searched once, when it has been lowered.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.program import Instruction, Pattern, Program
from ..graph.runtime import runtime

_DTYPES = tuple(map(np.dtype, ("float32", "float64", "complex64", "complex128")))


class Signs:
    """Removes negations from programs: sums of negated values become differences, and vice versa.

    A negation is removed only if all that read its result are sums and differences.
    """

    def __init__(self) -> None:
        roles = runtime.roles
        operators: list[Any] = [roles.negative, roles.add, roles.subtract]
        negative, add, subtract = (
            [operator.spec(dtype) for dtype in _DTYPES] for operator in operators
        )
        self._negations = set(negative)
        self._opposites = dict(zip([*add, *subtract], [*subtract, *add], strict=True))
        self._sums = set(add)
        self._turned: dict[tuple[Pattern, int], Pattern] = {}

    def negates(self, pattern: Pattern, offsets: Sequence[int]) -> bool:
        """Whether an instruction negates a whole buffer into a whole buffer of the same layout."""
        if pattern.spec not in self._negations:
            return False
        one, other = pattern.layouts
        return one is other and one.whole and not any(offsets)

    def simplify(self, program: Program) -> None:
        """Remove from a program each negation that only sums and differences read."""
        instructions = program.instructions
        negated = {instructions[n].buffers[1]: n for n in program.negations}
        for ref in program.results:
            negated.pop(ref.buffer, None)
        gone = set()
        for buffer, readers in _readers(instructions, negated).items():
            n = negated[buffer]
            source = instructions[n].buffers[0]
            made = [self._instead(instructions[k], buffer, source) for k in readers]
            if made and None not in made:
                for k, instruction in zip(readers, made, strict=True):
                    instructions[k] = instruction  # type: ignore[assignment]
                gone.add(n)
        if gone:
            program.instructions = [i for n, i in enumerate(instructions) if n not in gone]
        program.negations = []

    def _instead(self, reader: Instruction, negated: int, source: int) -> Instruction | None:
        """Return an instruction that computes what ``reader`` does without a negated operand.

        A sum or difference that reads the buffer ``negated`` becomes a difference or sum that reads
        ``source``, the buffer before negation. None where there is no such instruction.
        """
        pattern = reader.pattern
        if pattern.spec not in self._opposites:
            return None
        one, other, output = reader.buffers
        if one == other:
            return None
        first, second, third = reader.offsets
        if other == negated:
            buffers, offsets = (one, source, output), reader.offsets
            turned = self._turned.get((pattern, 1)) or self._turn(pattern, 1)
        elif pattern.spec in self._sums:
            buffers, offsets = (other, source, output), (second, first, third)
            turned = self._turned.get((pattern, 0)) or self._turn(pattern, 0)
        else:
            return None
        return Instruction(turned, buffers, offsets, reader.site)

    def _turn(self, pattern: Pattern, place: int) -> Pattern:
        """Return the pattern of a difference for that of a sum, or of a sum for a difference.

        ``place``, 0 or 1, is the operand that was negated, and becomes the second one.
        """
        spec = self._opposites[pattern.spec]
        order = (1 - place, place, 2)
        turned = self._turned[pattern, place] = Pattern(
            spec, tuple([pattern.layouts[n] for n in order]), 2,
            pattern.loop, pattern.core, [pattern.strides[n] for n in order],
            pattern.core_strides, spec.name,
        )  # fmt: skip
        return turned


def _readers(
    instructions: Iterable[Instruction], negated: Mapping[int, int]
) -> dict[int, list[int]]:
    """Return for each result of a negation the positions of the instructions that read it.

    ``negated`` has for the buffer of each such result the position of the negation.
    """
    found: dict[int, list[int]] = {buffer: [] for buffer in negated}
    buffers = set(found)
    for n, instruction in enumerate(instructions if found else ()):
        if not buffers.isdisjoint(instruction.buffers):
            for index in instruction.buffers:
                if index in found and n != negated[index]:
                    found[index].append(n)
    return found
