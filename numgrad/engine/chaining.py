"""Chaining: runs of elementwise instructions over the same elements become one instruction each.

Unlike fusing, nothing is compiled for it: a target keeps a block of elements in registers and takes
it from one operator to the next. Values that only the run reads never reach memory.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from .._specs import FusedSpec
from .attempts import attempt
from .graph import Shape
from .loops import loops
from .program import Instruction, Layout, Pattern, Program
from .stretches import walks_of
from .uses import is_fusible

# Instructions on fewer elements are not worth finding out what to chain them with.
FEWEST_ELEMENTS = 1 << 15
# Shorter inner loops would be ends of blocks for the most part. It is more than `loops.SHORT`, so
# that elements side by side stay the inner loop.
SHORTEST_LOOP = 256
LONGEST_RUN = 1000
# Seconds that it takes to make a chain, and for each instruction; and that it takes to walk over an
# element of an operand. In so many runs of the program a chain must pay.
_CHAIN, _INSTRUCTION, _ELEMENT = 6e-4, 2e-5, 1e-11
RUNS = 4


class Chaining:
    """Chains the instructions of a program, one sequence of them after the other."""

    def __init__(self, program: Program, target: Any) -> None:
        self.program, self.target = program, target
        self._uses: Counter[int] | None = None
        # The stages of an integrator are alike: the patterns that runs came to, None if to none.
        self._patterns: dict[Any, Pattern | None] = {}

    def chained(
        self, instructions: list[Instruction], times: int, rows: int | None = None
    ) -> list[Instruction]:
        """Return the instructions of a segment with runs of them chained.

        Parameters
        ----------
        times : int
            How often the segment runs.
        rows : int, optional
            In how many rows each instruction of a stretch is cut.
        """
        made: list[Instruction] = []
        for run in self._runs(instructions, times, rows):
            made += self._joined(run, times, rows)
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
        self, instructions: Iterable[Instruction], times: int, rows: int | None
    ) -> Iterator[list[Instruction]]:
        """Yield the instructions in order, those together that can be one."""
        run: _Run | None = None
        common = None
        for instruction in instructions:
            key = None
            if instruction.pattern.work * times >= FEWEST_ELEMENTS:
                key = self._key(instruction, rows)
            if run is not None:
                if key is not None and key == common and run.takes(instruction):
                    run.append(instruction)
                    continue
                yield run.instructions
                run = None
            if key is None:
                yield [instruction]
            else:
                run, common = _Run(instruction), key
        if run is not None:
            yield run.instructions

    def _key(self, instruction: Instruction, rows: int | None) -> Any:
        """Return what instructions of one run have in common; None for one that is in none."""
        pattern = instruction.pattern
        if rows not in pattern.chain:
            fits = is_fusible(instruction) and self.target.can_chain(pattern.spec)
            fits = fits and _numbers(pattern, rows) is not None
            dtype = pattern.layouts[-1].dtype.char
            pattern.chain[rows] = (dtype, pattern.loop, pattern.rows) if fits else None
        return pattern.chain[rows]

    def _joined(
        self, run: list[Instruction], times: int, rows: int | None
    ) -> list[Instruction]:
        """Return a run as one instruction; as several if it is too large, or does not pay."""
        if len(run) == 1:
            return run
        joint = _Joint(run, self.uses)
        if not joint.stored:
            return run  # that nobody needs is rare
        key = joint.key(rows)
        if key not in self._patterns:
            if not joint.pays(times):
                return run
            self._patterns[key] = joint.pattern(self.target, rows)
        pattern = self._patterns[key]
        if pattern is not None:
            return [joint.instruction(pattern)]
        half = len(run) // 2
        return self._joined(run[:half], times, rows) + self._joined(run[half:], times, rows)


def _uses(instructions: Iterable[Instruction]) -> Counter[int]:
    return Counter(chain.from_iterable([i.buffers for i in instructions]))


def _numbers(pattern: Pattern, rows: int | None) -> list[bool] | None:
    """Return which operands are one number for the inner loop; None if that is too short for a
    chain, or others are not side by side."""
    if rows is None:
        counts, strides, row = loops(pattern, None)
    else:
        walk = walks_of(pattern)[rows]
        counts, strides, row = loops(pattern, walk.strides, walk.axes)
    inner, step = strides[-1], pattern.layouts[-1].dtype.itemsize
    long = row == len(counts) - 1 or counts[-1] >= SHORTEST_LOOP
    if not long or inner[-1] != step or not {0, step}.issuperset(inner):
        return None
    return [stride == 0 for stride in inner]


class _Run:
    """Instructions each of which reads of the results of the others the same element."""

    def __init__(self, first: Instruction) -> None:
        self.instructions: list[Instruction] = []
        self._written: dict[int, tuple[int, Shape]] = {}
        self._read: set[int] = set()
        self.append(first)

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
        pattern = instruction.pattern
        for k in range(pattern.nin):
            found = self._written.get(instruction.buffers[k])
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

    def _args(self, instruction: Instruction, made: dict[int, int]) -> tuple[int, ...]:
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
        return tuple(args)

    def _spec(self, name: str, numbers: Sequence[bool]) -> FusedSpec:
        """Return what the run computes."""
        nin, count = len(self.layouts), len(self.run)
        last = nin + count
        steps = tuple(
            [
                (i.pattern.spec, tuple([n if n >= 0 else last + n for n in args]))
                for i, args in zip(self.run, self.args, strict=True)
            ]
        )
        outputs = tuple([last + n for n in self.stored])
        dtypes = steps[0][0].out_dtypes
        scalars = tuple(numbers)
        return FusedSpec(name, steps, dtypes * nin, dtypes * len(outputs), outputs, scalars)

    def key(self, rows: int | None) -> Any:
        """Return what makes two runs alike: they differ in buffers at most."""
        return tuple([i.pattern for i in self.run]), tuple(self.args), tuple(self.stored), rows

    def pays(self, times: int) -> bool:
        """Whether to walk over fewer operands soon outweighs making a chain."""
        apart = sum([_walked(i.pattern.strides) for i in self.run])
        joint = _walked([strides for _, _, strides in self.numbers]) + len(self.stored)
        elements = (apart - joint) * self.run[0].pattern.work * times
        return RUNS * _ELEMENT * elements >= _CHAIN + _INSTRUCTION * len(self.run)

    def pattern(self, target: Any, rows: int | None) -> Pattern | None:
        """Return the pattern of the instruction; None if it would be too large."""
        written = [self.run[n].pattern for n in self.stored]
        layouts = (*self.layouts, *[p.layouts[-1] for p in written])
        strides = [strides for _, _, strides in self.numbers]
        strides += [p.strides[-1] for p in written]
        nin, loop = len(self.layouts), self.run[0].pattern.loop
        name = f"chain[{len(self.run)}: {_names(self.run)}]"
        made = Pattern(None, None, layouts, nin, loop, (), strides, (), name)
        numbers = _numbers(made, rows)
        if numbers is None:
            return None
        made.spec = self._spec(name, numbers[:nin])
        made.kernel = attempt("chain operations", name, lambda: target.chain(made.spec))
        if made.kernel is None:
            return None
        made.over = made.kernel.over
        return made

    def instruction(self, pattern: Pattern) -> Instruction:
        """Return the instruction, which has this pattern."""
        written = [self.run[n] for n in self.stored]
        buffers = [*[buffer for buffer, _, _ in self.numbers], *[i.buffers[-1] for i in written]]
        offsets = [*[offset for _, offset, _ in self.numbers], *[i.offsets[-1] for i in written]]
        return Instruction(pattern, tuple(buffers), tuple(offsets), self.run[0].site)


def _walked(operands: Iterable[Shape]) -> int:
    """Return how many operands with these strides are more than one number."""
    return sum([any(strides) for strides in operands])


def _names(run: Sequence[Instruction]) -> str:
    names = list(dict.fromkeys([i.name for i in run]))
    return " ".join(names[:4]) + (" ..." if len(names) > 4 else "")
