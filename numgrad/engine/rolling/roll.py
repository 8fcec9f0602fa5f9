"""Rolling: what repeats in a program becomes an instruction with a loop in its kernel.

A plain Python loop in a captured function, and the derivative of one, leave the same instructions
again and again: a *run*, each repetition of which is a *turn*. `periods` finds where patterns
repeat, `turns` finds out whether the operands repeat too, `body` makes scalar functions of one
turn. What a loop hands on from turn to turn stays in registers. A value that is read outside of its
loop, at other turns than the last one, is kept for all turns, side by side in one buffer: a
*series*. A later loop, as that of the derivative, walks over the series.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...ir.packed_instructions import PackedInstructions
from ...ir.program import Instruction, Layout, Pattern, Program, Ref, layout_of
from ..graph.runtime import runtime
from .body import ADDRESS, Body, Kernel
from .costs import is_faster_as_scalars, width
from .expansion import MOST_STEPS, UnknownError, is_expandable
from .given_loops import copy_of, with_given_loops
from .loop_instruction import Place
from .operands import Operands
from .periods import Run, runs
from .residuals import with_residuals
from .turns import MOST_BEFORE, Source, Turns, Unlike, with_fewest_carried

FEWEST_TURNS = 16
FEWEST_INSTRUCTIONS = 400
"""The fewest instructions of a program that is looked at, and of a loop: so many go into one
kernel without a loop."""

_SAMPLE, _ALIKE = 3 * MOST_BEFORE, 4  # turns in a first look, and of these the fewest alike
_MULTIPLES = (1, 2, 3, 4, 6)  # periods of the patterns after which operands may repeat
_MOST_FAILED = 8  # runs found to be no loops, at some milliseconds each, before giving up


def rolled(program: Program, target: Any) -> Program | None:
    """Return a program with the same results and bits in which repeated instructions are loops, and
    given ones too.

    None for a program without loops, or a target without kernels that loop.
    """
    if not target.rolls:
        return None
    given = with_given_loops(program)
    program = given or program
    found = _repeating(program, target) or given
    return None if found is None else with_residuals(found)


def _repeating(program: Program, target: Any) -> Program | None:
    """Return a program in which repeated instructions are loops; None for one without these."""
    if len(program.instructions) < FEWEST_INSTRUCTIONS:
        return None
    ordered = program.instructions
    if program.batch is not None:
        ordered = sorted(ordered, key=lambda i: i.pattern.rows)  # as they are run
    found = [i.pattern for i in ordered]
    patterns = list(dict.fromkeys(found))
    numbers = {pattern: n for n, pattern in enumerate(patterns)}
    names = np.fromiter(map(numbers.__getitem__, found), np.int64, len(found))
    repeated = [
        run for run in runs(_allowed(names, patterns, program.batch or 1), FEWEST_TURNS)
        if run.stop - run.first >= FEWEST_INSTRUCTIONS
        and is_faster_as_scalars(found[run.first : run.first + run.period], program.batch or 1)
    ]  # fmt: skip
    if not repeated:
        return None
    operands = Operands(program, ordered, names, patterns)
    rolling, failed = _Rolling(program, target, ordered, operands), 0
    for run in repeated:
        failed += not rolling.take(run)
        if failed > _MOST_FAILED:
            break
    if not rolling.loops:
        return None
    made = rolling.made()
    if ordered is program.instructions:
        sites = [i.site for i in ordered]
        made.unrolled = PackedInstructions(
            patterns, names, operands.starts, operands.buffers, operands.offsets, sites
        )
    return made


def _allowed(names: np.ndarray, patterns: Sequence[Pattern], batch: int) -> np.ndarray:
    """Return the number of each instruction's pattern, made unique where no loop is allowed.

    ``names`` has the numbers, in the order of the program. An instruction that no loop may contain
    gets a number that no other instruction has, so that it is never found to repeat.
    """
    allowed = np.array([width(p, batch) <= MOST_STEPS and is_expandable(p) for p in patterns], bool)
    return np.where(allowed[names], names, -1 - np.arange(len(names)))


class _Rolling:
    """Replaces the runs of a program, its repeated instructions, by loops, one after the other.

    Attributes
    ----------
    loops : list of (int, int, Instruction)
        The loops in the order in which they were made, each after the first and behind the last
        position of the instructions that it replaces.
    """

    def __init__(
        self, program: Program, target: Any, ordered: Sequence[Instruction], operands: Operands
    ) -> None:
        self._target, self._ordered, self._operands = target, ordered, operands
        self.loops: list[tuple[int, int, Instruction]] = []
        self._series: list[tuple[int, int]] = []  # for each its buffer, and the bytes of a turn
        self._last: list[int] = []  # for each its last place
        self._patterns: dict[Any, Pattern] = {}
        self._program = copy_of(program)

    def take(self, run: Run) -> bool:
        """Replace a run by a loop, or by several loops of its parts; return whether that was done.

        Multiples of the period of the run are tried too, as the operands may repeat less often than
        the patterns.
        """
        for times in _MULTIPLES:
            wanted = run._replace(period=run.period * times)
            if wanted.turns < FEWEST_TURNS:
                return False
            wanted = with_fewest_carried(self._ordered, wanted)
            if self._is_like_loop(wanted) and self._take(wanted):
                return True
        return False

    def _is_like_loop(self, run: Run) -> bool:
        """Whether a few turns in the middle of a run are alike, so that a loop could replace them.

        That is a quick check before `_take` looks at all turns.
        """
        begin = run.first + max(run.turns - _SAMPLE, 0) // 2 * run.period
        stop = min(begin + _SAMPLE * run.period, run.stop)
        try:
            turns = Turns(self._operands, run._replace(first=begin, stop=stop))
        except Unlike:
            return False
        return turns.stop - turns.middle > _ALIKE

    def _take(self, run: Run) -> bool:
        """Make a loop of the turns of a run that are alike; return whether there is one.

        The turns before and after these are looked at as runs of their own.
        """
        if run.turns < FEWEST_TURNS or run.turns * run.period < FEWEST_INSTRUCTIONS:
            return False
        try:
            turns = Turns(self._operands, run)
            count = turns.stop - turns.first
            if count < FEWEST_TURNS or count * run.period < FEWEST_INSTRUCTIONS:
                return False
            begin = run.first + turns.first * run.period
            stop = run.first + turns.stop * run.period
            self._take(run._replace(stop=begin))
            body = Body(turns, self._ordered, MOST_STEPS)
            self.loops.append((begin, stop, self._loop(turns, body, begin, stop)))
        except (Unlike, UnknownError):
            return False
        self._take(run._replace(first=stop))
        return True

    def _loop(self, turns: Turns, body: Body, begin: int, stop: int) -> Instruction:
        """Return the loop that replaces the turns of a run that are alike.

        The turns are the instructions of the program from position ``begin`` to before ``stop``.
        """
        kernel = Kernel(body, turns)
        inputs = [self._place(turns, source, low) for source, (low, _) in kernel.inputs.items()]
        kept = self._store(kernel, body, turns, begin, stop)
        self._fill(kernel, body, turns)
        made = kernel.instruction(inputs, self._program.rows, self._ordered[begin].site)
        for number, column in enumerate(kept, len(self._series) - len(kept)):
            self._operands.series[column] = number
            self._operands.turn[column] = np.arange(len(column))
        return made

    def _store(
        self, kernel: Kernel, body: Body, turns: Turns, begin: int, stop: int
    ) -> list[np.ndarray]:
        """Let a loop's kernel store what is read outside of the loop.

        Return, for each value that is stored at all turns, the buffers that the turns would have
        written: the kernel writes all of them into one new buffer, a series.
        """
        values, kept = list(turns.values), []
        buffers = turns.buffers[turns.first : turns.stop, values]
        is_read = self._operands.reads_outside(begin, stop, buffers) > 0
        for n, value in enumerate(values):
            if is_read[:-1, n].any():
                kept.append(buffers[:, n])
                buffer, nbytes = self._series_of(kept[-1])
                kernel.store(Place(buffer, 0, nbytes), nbytes, body.written(value, nbytes))
            if is_read[-1, n]:
                last = int(buffers[-1, n])
                nbytes = self._program.nbytes[last]
                kernel.store(Place(last, 0, 0), nbytes, body.written(value, nbytes))
        return kept

    def _fill(self, kernel: Kernel, body: Body, turns: Turns) -> None:
        """Store the parts of buffers, of which each turn writes one."""
        for buffer, columns in turns.filled.items():
            stores = []
            for column in columns:
                source, first = turns.sources[column], int(turns.offsets[turns.first, column])
                for begin, nbytes, elements in body.filled(source):
                    place = Place(buffer, first + begin, source.move)
                    stores.append((place, nbytes, elements))
            _require_apart([(*place[1:], nbytes) for place, nbytes, _ in stores], kernel.count)
            for store in stores:
                kernel.store(*store)

    def _series_of(self, buffers: np.ndarray) -> tuple[int, int]:
        """Make a series, one new buffer in place of ``buffers``, of which each turn writes one.

        Return the number of the new buffer, and the bytes that a turn writes there.
        """
        first = int(buffers[0])
        nbytes = self._program.nbytes[first]
        rows = self._program.rows[first]
        buffer = self._program.new_buffer(len(buffers) * nbytes, rows)
        self._series.append((buffer, nbytes))
        self._last.append(len(buffers) - 1)
        return buffer, nbytes

    def _place(self, turns: Turns, source: Source, low: int) -> Place:
        """Return where the kernel finds an input at the first turn, and how it moves on.

        ``low`` is the offset in the input of the first byte that is read.
        """
        back = turns.first - turns.middle
        if source.kind == "table":
            return self._table(turns, source.buffer)
        if source.kind == "series":
            buffer, nbytes = self._series[source.buffer]
            place = source.place + back * source.move
            return Place(buffer, place * nbytes + low, source.move * nbytes)
        if source.kind == "same":
            return Place(*self._found(source.buffer, low + back * source.move), source.move)
        at = turns.first - source.place
        if at < 0:
            raise Unlike
        return Place(*self._found(int(turns.buffers[at, source.buffer]), low), 0)

    def _table(self, turns: Turns, column: int) -> Place:
        """Return the place of a new table with the address of the array that each turn reads.

        ``column`` is the operand of the repeated instructions that reads the arrays.
        """
        here = slice(turns.first, turns.stop)
        buffers, offsets = turns.buffers[here, column].tolist(), turns.offsets[here, column]
        program = self._program
        if any([program.rows[buffer] for buffer in buffers]):  # noqa: C419  a list is faster
            raise Unlike
        arrays = [program.arrays[buffer] for buffer in buffers]
        moved = offsets - turns.offsets[turns.middle, column]
        table = np.array(self._target.addresses(arrays), np.int64) + moved
        index = program.new_buffer(table.nbytes, False)
        program.arrays[index] = table
        return Place(index, 0, ADDRESS)

    def _found(self, buffer: int, offset: int) -> tuple[int, int]:
        """Return the buffer and the offset where elements of a buffer are in the new program.

        If a loop has replaced the instruction that wrote the buffer, the elements may be in a
        series.
        """
        number = self._operands.series[buffer]
        if number < 0:
            return buffer, offset
        place = int(self._operands.turn[buffer])
        if place == self._last[number] or self._operands.is_result[buffer]:
            return buffer, offset
        whole, nbytes = self._series[number]
        return whole, place * nbytes + offset

    # The program ------------------------------------------------------------------------------

    def made(self) -> Program:
        """Return the program with the loops."""
        instructions, copies, at = self._program.instructions, self._copies(), 0
        moved = set(np.flatnonzero(self._operands.series >= 0).tolist())
        moved = {buffer for buffer in moved if self._found(buffer, 0)[0] != buffer}
        for begin, stop, loop in sorted(self.loops, key=lambda item: item[0]):
            instructions += self._read_anew(self._ordered[at:begin], moved)
            instructions.append(loop)
            for buffer in loop.buffers[loop.pattern.nin :]:
                instructions += copies.get(buffer, ())
            at = stop
        instructions += self._read_anew(self._ordered[at:], moved)
        return self._program

    def _copies(self) -> dict[int, list[Instruction]]:
        """Return the instructions that copy results of the program out of series.

        The key is the buffer of the series.
        """
        copies: dict[int, list[Instruction]] = {}
        for ref in self._program.results:
            number, place = self._operands.series[ref.buffer], self._operands.turn[ref.buffer]
            if number >= 0 and place != self._last[number]:
                whole, nbytes = self._series[number]
                copies.setdefault(whole, []).append(_copy(ref, whole, int(place) * nbytes))
        return copies

    def _read_anew(
        self, instructions: Sequence[Instruction], moved: set[int]
    ) -> Iterator[Instruction]:
        """Yield instructions outside of loops, changed to read from series where they have to.

        ``moved`` has the buffers that are no longer written, as a loop writes their elements into a
        series.
        """
        for instruction in instructions:
            yield instruction if moved.isdisjoint(instruction.buffers) else self._new(instruction)

    def _new(self, instruction: Instruction) -> Instruction:
        pattern = instruction.pattern
        places, views = [], []
        for n, ref in enumerate(instruction.operands):
            place = self._found(ref.buffer, ref.offset) if n < pattern.nin else ref[:2]
            places.append(place)
            views.append(ref.layout if place[0] == ref.buffer else _part(ref.layout))
        key = pattern, *views
        found = self._patterns.get(key)
        if found is None:
            found = self._patterns[key] = Pattern(
                pattern.spec, tuple(views), pattern.nin, pattern.loop, pattern.core,
                pattern.strides, pattern.core_strides, pattern.name, pattern.error, pattern.replay,
            )  # fmt: skip
        buffers, offsets = zip(*places, strict=True)
        return Instruction(found, buffers, offsets, instruction.site)


def _require_apart(stores: Sequence[tuple[int, int, int]], count: int) -> None:
    """Raise `Unlike` if a turn writes where another one has written, or twice in one place.

    Parameters
    ----------
    stores : sequence of (int, int, int)
        The offset of what is written at the first turn, its move at each turn, and its bytes.
    count : int
        The number of turns.
    """
    begins, moves, nbytes = np.array(stores, np.int64).T
    every = (begins + moves * np.arange(count)[:, None]).ravel()
    order = np.argsort(every, kind="stable")
    every, ends = every[order], every[order] + np.tile(nbytes, count)[order]
    if (every[1:] < ends[:-1]).any():
        raise Unlike


def _part(layout: Layout) -> Layout:
    """Return the layout of an operand that is a part of its buffer."""
    return layout_of(layout.shape, layout.strides, layout.dtype, layout.rows)


def _copy(ref: Ref, buffer: int, offset: int) -> Instruction:
    """Return the instruction that copies a result from its place in a series to its buffer."""
    layout = ref.layout
    spec = runtime.roles.copy_spec(layout.dtype)
    strides = [layout.strides] * 2
    pattern = Pattern(spec, (_part(layout), layout), 1, layout.shape, (), strides, (), "copy")
    return Instruction(pattern, (buffer, ref.buffer), (offset, 0), None)
