"""Tiled runs: instructions outside the batch that become a segment run tile by tile.

An instruction over many elements is cut along its leading axes: into rows of a matrix, or single
elements. Instructions that can be cut into equally many rows share a tile, as long as a row reads
only the same row of a buffer that the tiled run has written: other rows may belong to a later tile.
So a tile stays in a core's cache from one instruction to the next. The window of an operand tells
where its rows lie in a buffer: how many bytes apart, and from which byte on.

An instruction that cannot join a tiled run is moved in front of the run if its operands allow that,
and otherwise behind it; apart from this, the order is kept.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from math import gcd
from typing import NamedTuple, TypeAlias

from ....ir.kernel_spec import ElementwiseSpec, FusedSpec, LoopSpec
from ....ir.program import Instruction, Pattern, extent

# The most operations of a row in a shared tile: tiles of longer rows leave the cache.
LONGEST_ROW = 1 << 15
# The most instructions that wait for the end of a tiled run, beside one for each of its own.
MOST_WAITING = 4
# The window of a buffer whose rows are not used one by one.
_SCATTERED = (0, -1)


Window: TypeAlias = tuple[int, int]


class RowSplit(NamedTuple):
    """How a pattern is cut into rows.

    Attributes
    ----------
    axes : int
        The number of loop axes that make the rows.
    strides : tuple of int
        How far apart the rows of each operand are, in bytes.
    reach : tuple of (int, int)
        The range of bytes of each operand that the first row uses, from the operand's beginning.
    windows : tuple of (int, int)
        The window of each operand if it lies at the beginning of its buffer.
    step : int
        The rows of a tile are a multiple of this number.
    """

    axes: int
    strides: tuple[int, ...]
    reach: tuple[tuple[int, int], ...]
    windows: tuple[Window, ...]
    step: int = 1


def row_splits_of(pattern: Pattern) -> dict[int, RowSplit]:
    """Return the ways to cut a pattern into rows, by the number of rows."""
    return (pattern.row_splits or _found_splits(pattern))[0]


def _short(pattern: Pattern) -> list[int]:
    """Return the numbers of rows into which a pattern can be cut, if the rows are short.

    Instructions can share a tile of short rows only: longer rows leave the cache before the next
    instruction reads them.
    """
    return (pattern.row_splits or _found_splits(pattern))[1]


def _found_splits(pattern: Pattern) -> tuple[dict[int, RowSplit], list[int]]:
    row_splits = dict(_block_splits(pattern) if pattern.block else _loop_splits(pattern))
    most = pattern.work / LONGEST_ROW
    short = [rows for rows, split in row_splits.items() if rows >= most * split.step]
    pattern.row_splits = row_splits, short
    return pattern.row_splits


def _loop_splits(pattern: Pattern) -> Iterator[tuple[int, RowSplit]]:
    """Yield the ways to cut an instruction along its leading loop axes.

    Each number of leading axes gives a way, as long as rows are evenly spaced. With core
    dimensions, only kernels of compiled core functions can be cut.
    """
    kind = isinstance(pattern.spec, (ElementwiseSpec, FusedSpec, LoopSpec))
    if pattern.rows or not (kind or pattern.elementwise):
        return
    rows, strides = 1, None
    for axis, size in enumerate(pattern.loop):
        if size == 1:
            continue
        along = tuple([s[axis] for s in pattern.strides])
        if strides is not None and any(
            outer != size * inner for outer, inner in zip(strides, along, strict=True)
        ):
            return
        rows, strides = rows * size, along
        reach = tuple([_byte_range(pattern, place, axis + 1) for place in range(len(strides))])
        windows = tuple([_window(*item, 0) for item in zip(strides, reach, strict=True)])
        yield rows, RowSplit(axis + 1, strides, reach, windows)


def _byte_range(pattern: Pattern, place: int, axes: int) -> tuple[int, int]:
    """Return the range of bytes of an operand used while the first ``axes`` loop axes stand still.

    The range counts from the operand's beginning.
    """
    layout = pattern.layouts[place]
    low, high = extent(layout.shape, layout.strides)
    before, behind = extent(pattern.loop[:axes], pattern.strides[place][:axes])
    return low - before, high - behind + layout.dtype.itemsize


def _block_splits(pattern: Pattern) -> Iterator[tuple[int, RowSplit]]:
    """Yield the ways to cut a reduction in blocks into rows; a tile has whole blocks."""
    source, count = pattern.layouts[0], pattern.core[0]
    rows = 1
    for size in source.shape:
        rows *= size
        if rows > count:
            return
        each = count // rows
        step = pattern.block // gcd(pattern.block, each)
        if rows > 1:
            row = source.nbytes // rows
            yield rows, RowSplit(0, (row, 0), ((0, row), (0, 0)), ((row, 0), _SCATTERED), step)


class TiledRun:
    """Instructions that can be cut into equally many rows.

    Attributes
    ----------
    counts : dict
        For each number of rows that all instructions so far allow, a dict from buffers in use to
        their windows.
    """

    def __init__(self, first: Instruction) -> None:
        self.instructions: list[Instruction] = []
        self.read: set[int] = set()
        self.written: set[int] = set()
        short = _short(first.pattern)
        self.is_alone = not short
        self.counts: dict[int, dict[int, Window]] = {
            rows: {} for rows in short or row_splits_of(first.pattern)
        }
        self._add(first, {rows: _windows(first, rows) for rows in self.counts})

    @property
    def rows(self) -> int:
        """The number of rows: the largest that all instructions allow."""
        return max(self.counts)

    def takes(self, instruction: Instruction) -> bool:
        """Add an instruction if it can be cut into as many rows; return whether that was done."""
        short = _short(instruction.pattern)
        if not short or self.is_alone:
            return False
        fits = {}
        for rows in self.counts:
            if rows in short:
                windows = _windows(instruction, rows)
                if self._is_in_step(instruction, self.counts[rows], windows):
                    fits[rows] = windows
        if fits:
            self._add(instruction, fits)
        return bool(fits)

    def _is_in_step(
        self, instruction: Instruction, known: dict[int, Window], windows: Sequence[Window]
    ) -> bool:
        """Whether each row of an instruction uses only the same row of what the tiled run writes.

        The same must hold for what the instruction writes and the tiled run reads.
        """
        buffers, nin = instruction.buffers, instruction.pattern.nin
        for place, index in enumerate(buffers):
            if index in self.written or (place >= nin and index in self.read):
                window = windows[place]
                if window == _SCATTERED or known.get(index) != window:
                    return False
        return True

    def _add(self, instruction: Instruction, fits: dict[int, Sequence[Window]]) -> None:
        buffers, nin = instruction.buffers, instruction.pattern.nin
        if len(fits) < len(self.counts):
            self.counts = {rows: self.counts[rows] for rows in fits}
        for rows, windows in fits.items():
            known = self.counts[rows]
            for index, window in zip(buffers, windows, strict=True):
                if known.setdefault(index, window) != window:
                    known[index] = _SCATTERED
        self.instructions.append(instruction)
        self.read.update(buffers[:nin])
        self.written.update(buffers[nin:])

    def concerns(self, instruction: Instruction) -> bool:
        """Whether an instruction must run after the tiled run, because one uses what the other
        writes."""
        return _concerns(instruction, self.read, self.written)


def _concerns(instruction: Instruction, read: set[int], written: set[int]) -> bool:
    """Whether an instruction uses a buffer in ``written``, or writes one in ``read``."""
    buffers, nin = instruction.buffers, instruction.pattern.nin
    new = buffers[nin:]
    return not (written.isdisjoint(buffers) and read.isdisjoint(new))


def _windows(instruction: Instruction, rows: int) -> Sequence[Window]:
    """Return the window of each operand of an instruction that is cut into ``rows`` rows.

    An operand has a window if no row reaches beyond the beginning of the next row; otherwise
    `_SCATTERED` is in place of the window.
    """
    split, offsets = row_splits_of(instruction.pattern)[rows], instruction.offsets
    if not any(offsets):
        return split.windows
    places = zip(split.strides, split.reach, offsets, strict=True)
    return [_window(step, reach, offset) for step, reach, offset in places]


def _window(step: int, reach: tuple[int, int], offset: int) -> Window:
    if step <= 0:
        return _SCATTERED
    first = (offset + reach[0]) // step * step
    return (step, first) if offset + reach[1] <= first + step else _SCATTERED


def tiled_runs(
    instructions: Sequence[Instruction], many: int
) -> Iterator[tuple[list[Instruction], TiledRun | None]]:
    """Yield pairs: instructions to run one by one, and the tiled run to run after them, or None.

    Parameters
    ----------
    many : int
        The least work of an instruction that begins a tiled run.
    """
    late: deque[Instruction] = deque()
    rest = iter(instructions)
    while True:
        before, tiled_run, waiting = _split(_all(late, rest), many)
        yield before, tiled_run
        if tiled_run is None:
            return
        late.extendleft(reversed(waiting))


def _all(late: deque[Instruction], rest: Iterator[Instruction]) -> Iterator[Instruction]:
    """Remove and yield the instructions in ``late``, which had to wait; then yield the rest."""
    while late:
        yield late.popleft()
    yield from rest


def _split(
    instructions: Iterator[Instruction], many: int
) -> tuple[list[Instruction], TiledRun | None, list[Instruction]]:
    """Return the instructions before the first tiled run, the tiled run, and those that must wait.

    Instructions that none of the three has stay in the iterator.
    """
    before: list[Instruction] = []
    waiting: list[Instruction] = []
    tiled_run: TiledRun | None = None
    read: set[int] = set()
    written: set[int] = set()
    for instruction in instructions:
        pattern = instruction.pattern
        begins = pattern.work >= many and bool(row_splits_of(pattern))
        if tiled_run is None:
            if begins:
                tiled_run = TiledRun(instruction)
            else:
                before.append(instruction)
            continue
        late = bool(waiting) and _concerns(instruction, read, written)
        if not late and tiled_run.takes(instruction):
            continue
        if late or begins or tiled_run.concerns(instruction):
            waiting.append(instruction)
            read.update(instruction.buffers[: pattern.nin])
            written.update(instruction.buffers[pattern.nin :])
            if len(waiting) > MOST_WAITING + len(tiled_run.instructions):
                break
        else:
            before.append(instruction)
    return before, tiled_run, waiting
