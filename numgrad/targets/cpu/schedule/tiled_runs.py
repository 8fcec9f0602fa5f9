"""Stretches: instructions outside the batch that become a segment run tile by tile.

An instruction over many elements is cut along its leading axes: into rows of a matrix, or single
elements. Instructions that can be cut into equally many rows share a tile, as long as a row reads
only the same row of a buffer that the stretch has written: other rows may belong to a later tile.
So a tile stays in a core's cache from one instruction to the next.

An instruction that cannot join a stretch runs before it where its operands allow, otherwise after
it; apart from this, the order is kept.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from math import gcd
from typing import NamedTuple, TypeAlias

from ....ir.kernel_spec import ElementwiseSpec, FusedSpec, LoopSpec
from ....ir.program import Instruction, Pattern, extent

# The most operations of a row in a shared tile: tiles of longer rows leave the cache.
LONGEST_ROW = 1 << 15
# The most instructions that wait for the end of a stretch, beside one for each of its own.
MOST_WAITING = 4
# The window of a buffer whose rows are not used one by one.
_SCATTERED = (0, -1)


Window: TypeAlias = tuple[int, int]


class Walk(NamedTuple):
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
        Windows, as `_windows` returns them, of operands at the beginning of their buffers.
    step : int
        The rows of a tile are a multiple of it.
    """

    axes: int
    strides: tuple[int, ...]
    reach: tuple[tuple[int, int], ...]
    windows: tuple[Window, ...]
    step: int = 1


def walks_of(pattern: Pattern) -> dict[int, Walk]:
    """Return the ways to cut a pattern into rows, by the number of rows."""
    return (pattern.walks or _find(pattern))[0]


def _short(pattern: Pattern) -> list[int]:
    """Return the numbers of rows whose rows are short enough to share a tile."""
    return (pattern.walks or _find(pattern))[1]


def _find(pattern: Pattern) -> tuple[dict[int, Walk], list[int]]:
    walks = dict(_block_walks(pattern) if pattern.block else _walks(pattern))
    most = pattern.work / LONGEST_ROW
    short = [rows for rows, walk in walks.items() if rows >= most * walk.step]
    pattern.walks = walks, short
    return pattern.walks


def _walks(pattern: Pattern) -> Iterator[tuple[int, Walk]]:
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
        reach = tuple([_reach(pattern, place, axis + 1) for place in range(len(strides))])
        windows = tuple([_window(*item, 0) for item in zip(strides, reach, strict=True)])
        yield rows, Walk(axis + 1, strides, reach, windows)


def _reach(pattern: Pattern, place: int, axes: int) -> tuple[int, int]:
    """Return the range of bytes of an operand used while the first ``axes`` loop axes stand still.

    The range counts from the operand's beginning.
    """
    layout = pattern.layouts[place]
    low, high = extent(layout.shape, layout.strides)
    before, behind = extent(pattern.loop[:axes], pattern.strides[place][:axes])
    return low - before, high - behind + layout.dtype.itemsize


def _block_walks(pattern: Pattern) -> Iterator[tuple[int, Walk]]:
    """Yield the ways to cut a reduction in blocks into rows; the blocks themselves stay as is."""
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
            yield rows, Walk(0, (row, 0), ((0, row), (0, 0)), ((row, 0), _SCATTERED), step)


class Stretch:
    """Instructions that can be cut into equally many rows.

    Attributes
    ----------
    counts : dict
        For each number of rows that is still possible, the window of each buffer in use: how far
        apart its rows are, and where the first row begins.
    """

    def __init__(self, first: Instruction) -> None:
        self.instructions: list[Instruction] = []
        self.read: set[int] = set()
        self.written: set[int] = set()
        short = _short(first.pattern)
        self.is_alone = not short
        self.counts: dict[int, dict[int, Window]] = {
            rows: {} for rows in short or walks_of(first.pattern)
        }
        self._add(first, {rows: _windows(first, rows) for rows in self.counts})

    @property
    def rows(self) -> int:
        """The number of rows: the largest that all instructions allow."""
        return max(self.counts)

    def takes(self, instruction: Instruction) -> bool:
        """Add an instruction if it can be cut into as many rows; return whether it was added."""
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
        """Whether an instruction must run after the stretch, because of their operands."""
        return _concerns(instruction, self.read, self.written)


def _concerns(instruction: Instruction, read: set[int], written: set[int]) -> bool:
    """Whether an instruction uses a buffer that is ``written``, or writes one that is ``read``."""
    buffers, nin = instruction.buffers, instruction.pattern.nin
    new = buffers[nin:]
    return not (written.isdisjoint(buffers) and read.isdisjoint(new))


def _windows(instruction: Instruction, rows: int) -> Sequence[Window]:
    """Return the window of each operand: how far apart its rows are, and where the first begins.

    A row stays between its beginning and that of the next one.
    """
    walk, offsets = walks_of(instruction.pattern)[rows], instruction.offsets
    if not any(offsets):
        return walk.windows
    places = zip(walk.strides, walk.reach, offsets, strict=True)
    return [_window(step, reach, offset) for step, reach, offset in places]


def _window(step: int, reach: tuple[int, int], offset: int) -> Window:
    if step <= 0:
        return _SCATTERED
    first = (offset + reach[0]) // step * step
    return (step, first) if offset + reach[1] <= first + step else _SCATTERED


def stretches(
    instructions: Sequence[Instruction], many: int
) -> Iterator[tuple[list[Instruction], Stretch | None]]:
    """Yield pairs: instructions to run one by one, and the stretch, if any, to run after them.

    Parameters
    ----------
    many : int
        The least work of an instruction that begins a stretch.
    """
    late: deque[Instruction] = deque()
    rest = iter(instructions)
    while True:
        before, stretch, waiting = _split(_all(late, rest), many)
        yield before, stretch
        if stretch is None:
            return
        late.extendleft(reversed(waiting))


def _all(late: deque[Instruction], rest: Iterator[Instruction]) -> Iterator[Instruction]:
    """Yield the instructions that had to wait, removing each from ``late``, and then the rest."""
    while late:
        yield late.popleft()
    yield from rest


def _split(
    instructions: Iterator[Instruction], many: int
) -> tuple[list[Instruction], Stretch | None, list[Instruction]]:
    """Return the instructions before the first stretch, the stretch, and those that must wait.

    The iterator is left at the first instruction that was not looked at.
    """
    before: list[Instruction] = []
    waiting: list[Instruction] = []
    stretch: Stretch | None = None
    read: set[int] = set()
    written: set[int] = set()
    for instruction in instructions:
        pattern = instruction.pattern
        begins = pattern.work >= many and bool(walks_of(pattern))
        if stretch is None:
            if begins:
                stretch = Stretch(instruction)
            else:
                before.append(instruction)
            continue
        late = bool(waiting) and _concerns(instruction, read, written)
        if not late and stretch.takes(instruction):
            continue
        if late or begins or stretch.concerns(instruction):
            waiting.append(instruction)
            read.update(instruction.buffers[: pattern.nin])
            written.update(instruction.buffers[pattern.nin :])
            if len(waiting) > MOST_WAITING + len(stretch.instructions):
                break
        else:
            before.append(instruction)
    return before, stretch, waiting
