"""Chaining: runs of elementwise instructions over the same elements become one instruction each.

Unlike fusing, nothing is compiled for it: a target keeps a block of elements in registers and takes
it from one operator to the next. Values that only the run reads never reach memory.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from .._specs import FusedSpec
from .graph import Shape
from .loops import loops
from .program import Instruction, Layout, Pattern, Program
from .storing import is_fusible

# An instruction on fewer elements costs less than finding out what to chain it with.
FEWEST_ELEMENTS = 1 << 15
# Shorter inner loops would be ends of blocks for the most part.
SHORTEST_LOOP = 256
LONGEST_RUN = 1000


class Chaining:
    """Chains the instructions of a program, one sequence of them after the other."""

    def __init__(self, program: Program, target: Any) -> None:
        self.program, self.target = program, target
        self._uses: Counter[int] | None = None

    def chained(
        self, instructions: list[Instruction], rows: int | None = None
    ) -> list[Instruction]:
        """Return instructions with runs of them chained; without ``rows`` they are a stretch over
        elements."""
        made: list[Instruction] = []
        for run in self._runs(instructions, rows):
            made += self._joined(run)
        return made

    @property
    def uses(self) -> Counter[int]:
        """In how many places each buffer is read or written, as a result too."""
        if self._uses is None:
            found = _uses(self.program.instructions)
            found.update([ref.buffer for ref in self.program.results])
            self._uses = found
        return self._uses

    def _runs(
        self, instructions: Iterable[Instruction], rows: int | None
    ) -> Iterator[list[Instruction]]:
        """Yield the instructions in order, those together that can be one."""
        run, common = _Run(rows is None), None
        for instruction in instructions:
            key = self._key(instruction, rows)
            if key is None or key != common or not run.takes(instruction):
                if run.instructions:
                    yield run.instructions
                run, common = _Run(rows is None), key
            run.append(instruction)
        if run.instructions:
            yield run.instructions

    def _key(self, instruction: Instruction, rows: int | None) -> Any:
        """Return what instructions of one run have in common; None for one that is in none."""
        pattern = instruction.pattern
        if rows is not None and pattern.work * rows < FEWEST_ELEMENTS:
            return None
        known = pattern.chain
        if known is None:
            known = pattern.chain = _keys(instruction, self.target)
        return known[rows is not None]

    def _joined(self, run: list[Instruction]) -> list[Instruction]:
        """Return a run as one instruction, or as several if it is too large for one."""
        if len(run) == 1:
            return run
        made = _Joint(run, self.uses).instruction(self.target)
        if made is not None:
            return [made]
        half = len(run) // 2
        return self._joined(run[:half]) + self._joined(run[half:])


def _uses(instructions: Iterable[Instruction]) -> Counter[int]:
    return Counter(chain.from_iterable([i.buffers for i in instructions]))


def _keys(instruction: Instruction, target: Any) -> tuple[Any, Any]:
    """Return what instructions of a run have in common: in a stretch over elements, and where each
    has a loop of its own."""
    pattern = instruction.pattern
    if not is_fusible(instruction) or not target.has_forms(pattern.spec):
        return None, None
    dtype = pattern.spec.out_dtypes[0]
    counts, strides, _ = loops(pattern, None)
    inner = strides[-1]
    fits = counts[-1] >= SHORTEST_LOOP and inner[-1] == dtype.itemsize
    fits = fits and {0, dtype.itemsize}.issuperset(inner)
    return dtype, (dtype, pattern.loop, pattern.rows) if fits else None


class _Run:
    """Instructions each of which reads of the results of the others the same element."""

    def __init__(self, is_stretch: bool) -> None:
        self.is_stretch = is_stretch
        self.instructions: list[Instruction] = []
        self._written: dict[int, tuple[int, Shape]] = {}
        self._read: set[int] = set()

    def append(self, instruction: Instruction) -> None:
        pattern = instruction.pattern
        self.instructions.append(instruction)
        self._read.update(instruction.buffers[: pattern.nin])
        self._written[instruction.buffers[-1]] = instruction.offsets[-1], pattern.strides[-1]

    def takes(self, instruction: Instruction) -> bool:
        """Whether one more instruction may follow: it must write over nothing, too."""
        output = instruction.buffers[-1]
        if output in self._written or output in self._read:
            return False
        if len(self.instructions) == LONGEST_RUN:
            return False
        # In a stretch over elements all instructions keep step.
        return self.is_stretch or self._is_in_step(instruction)

    def _is_in_step(self, instruction: Instruction) -> bool:
        pattern, written = instruction.pattern, self._written
        for k in range(pattern.nin):
            found = written.get(instruction.buffers[k])
            if found is not None and found != (instruction.offsets[k], pattern.strides[k]):
                return False
        return True


class _Joint:
    """A run as one instruction.

    What it reads are operands; values are numbered: first the operands, then the results of the
    instructions, which here are negative numbers, as operands are still being found.
    """

    def __init__(self, run: Sequence[Instruction], uses: Counter[int]) -> None:
        self.run = run
        self.numbers: dict[tuple[int, int, Shape], int] = {}
        self.layouts: list[Layout] = []
        made = {i.buffers[-1]: number - len(run) for number, i in enumerate(run)}
        self.args = [self._args(instruction, made) for instruction in run]
        inside = _uses(run)
        self.stored = [number for buffer, number in made.items() if uses[buffer] > inside[buffer]]

    def _args(self, instruction: Instruction, made: dict[int, int]) -> list[int]:
        pattern = instruction.pattern
        args = []
        for k in range(pattern.nin):
            buffer = instruction.buffers[k]
            number = made.get(buffer)
            if number is None:
                operand = (buffer, instruction.offsets[k], pattern.strides[k])
                number = self.numbers.get(operand)
                if number is None:
                    number = self.numbers[operand] = len(self.layouts)
                    self.layouts.append(pattern.layouts[k])
            args.append(number)
        return args

    def _spec(self) -> FusedSpec:
        """Return what the run computes."""
        nin, count = len(self.layouts), len(self.run)
        last = nin + count
        steps = tuple(
            [
                (i.pattern.spec, tuple([n if n >= 0 else last + n for n in args]))
                for i, args in zip(self.run, self.args, strict=True)
            ]
        )
        axis = _inner_axis(self.run[0].pattern.loop)
        numbers = tuple([not (s and s[axis]) for _, _, s in self.numbers])
        dtype = steps[0][0].out_dtypes[0]
        outputs = tuple([last + n for n in self.stored])
        name = f"chain[{count}: {_names(self.run)}]"
        return FusedSpec(name, steps, (dtype,) * nin, (dtype,) * len(outputs), outputs, numbers)

    def instruction(self, target: Any) -> Instruction | None:
        """Return the instruction; None if it would be too large."""
        spec = self._spec()
        kernel = target.chain(spec)
        if kernel is None:
            return None
        first = self.run[0]
        written = [self.run[n] for n in self.stored]
        pattern = Pattern(
            kernel, spec, (*self.layouts, *[i.pattern.layouts[-1] for i in written]),
            len(self.layouts), first.pattern.loop, (),
            [*[s for _, _, s in self.numbers], *[i.pattern.strides[-1] for i in written]],
            (), spec.name,
        )  # fmt: skip
        pattern.work *= len(self.run)
        buffers = [*[b for b, _, _ in self.numbers], *[i.buffers[-1] for i in written]]
        offsets = [*[o for _, o, _ in self.numbers], *[i.offsets[-1] for i in written]]
        return Instruction(pattern, tuple(buffers), tuple(offsets), first.site)


def _inner_axis(loop: Shape) -> int:
    """Return the axis along which the machine walks: the last one with more than one element."""
    return max([axis for axis, size in enumerate(loop) if size != 1])


def _names(run: Sequence[Instruction]) -> str:
    names = list(dict.fromkeys([i.name for i in run]))
    return " ".join(names[:4]) + (" ..." if len(names) > 4 else "")
