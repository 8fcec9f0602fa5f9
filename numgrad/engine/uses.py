"""Uses: the elementwise instructions of a program as units, and what reads what of them."""

from collections.abc import Collection, Sequence

from .._specs import ElementwiseSpec
from .expand import Kind, Leaf, Unit
from .program import Instruction, Pattern, Program
from .rings import closed
from .spreading import Spreads


def is_fusible(instruction: Instruction) -> bool:
    """Whether an instruction applies a scalar function that cannot fail."""
    pattern = instruction.pattern
    return (
        isinstance(pattern.spec, ElementwiseSpec)
        and len(pattern.layouts) == pattern.nin + 1
        and pattern.replay is None
        and pattern.error is None
    )


def _written_twice(program: Program, instructions: Sequence[Instruction]) -> set[int]:
    """Return the buffers of which elements are overwritten: what they hold depends on the order."""
    written: dict[int, int] = {}
    outputs: dict[Pattern, list[tuple[int, int]]] = {}
    for instruction in instructions:
        pattern = instruction.pattern
        if pattern not in outputs:
            nbytes = [layout.nbytes for layout in pattern.layouts]
            outputs[pattern] = [*enumerate(nbytes)][pattern.nin :]
        for place, count in outputs[pattern]:
            index = instruction.buffers[place]
            written[index] = written.get(index, 0) + count
    return {index for index, nbytes in written.items() if nbytes > program.nbytes[index]}


class Uses:
    """The units of a program's instructions, and what reads what of them, in order.

    Attributes
    ----------
    units : list
        For each instruction its unit. Pieces that are joined to a ring have one together, which
        belongs to the last of them; the others have None, and so have those of ``plain``.
    plain : set of int
        The numbers of the instructions that cannot be fused.
    reads : list
        For each instruction the buffers that its unit reads.
    readers : dict
        For each buffer the operands that read it, with their units and whether these have rows.
    outputs : dict
        For each buffer the units that write it.
    writers : dict
        For each buffer the numbers of the instructions that these units belong to.
    whole : set of int
        The buffers that instructions use which cannot be fused.
    """

    def __init__(self, program: Program, instructions: Sequence[Instruction]) -> None:
        self.program, self.instructions = program, instructions
        self.units: list[Unit | None] = []
        self.plain: set[int] = set()
        self.reads: list[Collection[int]] = []
        self.readers: dict[int, list[tuple[Leaf, Unit, bool]]] = {}
        self.outputs: dict[int, list[Unit]] = {}
        self.writers: dict[int, list[int]] = {}
        self.whole: set[int] = set()
        self.has_rings = False
        self._find_units()
        self._join_rings()
        self._find_readers()
        self.spreads = Spreads(self.outputs)

    def _find_units(self) -> None:
        """Find the units of single instructions."""
        program, twice = self.program, _written_twice(self.program, self.instructions)
        kinds: dict[Pattern, Kind | None] = {}
        for number, instruction in enumerate(self.instructions):
            pattern = instruction.pattern
            if pattern not in kinds:
                kinds[pattern] = Kind.of(pattern) if is_fusible(instruction) else None
            kind = kinds[pattern]
            if kind is None or instruction.buffers[-1] in twice:
                self.plain.add(number)
                self.whole.update(instruction.buffers)
                self.units.append(None)
                continue
            unit = kind.unit(program, number, instruction)
            self.units.append(unit)
            self.outputs.setdefault(unit.output.buffer, []).append(unit)
            self.writers.setdefault(unit.output.buffer, []).append(number)

    def _join_rings(self) -> None:
        """Put one unit in the place of those which write pieces of a ring."""
        for buffer, pieces in self.outputs.items():
            joined = closed(pieces) if len(pieces) > 1 else None
            if joined is None:
                continue
            numbers = self.writers[buffer]
            for number in numbers:
                self.units[number] = None
            self.units[numbers[-1]] = joined
            self.outputs[buffer], self.writers[buffer] = [joined], [numbers[-1]]
            self.has_rings |= any(leaf.turns for leaf in joined.operands)

    def _find_readers(self) -> None:
        readers = self.readers
        for unit, instruction in zip(self.units, self.instructions, strict=True):
            self.reads.append(() if unit is None else instruction.buffers[:-1])
            if unit is None:
                continue
            rows = instruction.pattern.rows
            for leaf in unit.inputs:
                readers.setdefault(leaf.buffer, []).append((leaf, unit, rows))
