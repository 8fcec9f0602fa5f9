"""Memory of results: that of large ones is used again once nobody refers to them any more.

The system hands out large blocks of memory as pages that it clears at their first use, which takes
longer than many a program. So a block is kept when the last array that uses it is gone, up to a
bound, for the next result of its size. Blocks begin on a cache line.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod

import numpy as np

from .._locks import fork_safe_lock
from .graph import Shape
from .program import Program, is_contiguous
from .schedule import ELEMENTS, ONCE, Schedule, Segment

LARGE = 1 << 18
"""Results of fewer bytes are ordinary arrays, whose memory the allocator keeps for itself."""

TOGETHER, PART = 1 << 19, 1 << 15
"""If the results of a run come to so many bytes, it gives back what is free, and only those of
fewer bytes than the second number are ordinary arrays."""

MOST = 64 << 20
"""Bytes that are kept for later results."""

_LINE = 64


class _Block:
    """Memory, and where its first cache line begins, which takes long to ask for."""

    __slots__ = ("address", "array", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self.array = np.empty(nbytes, np.uint8)
        self.nbytes = nbytes
        address = self.array.__array_interface__["data"][0]
        self.address = address + -address % _LINE


class _Pool:
    """Blocks that no array uses, the latest last.

    Blocks come back when arrays are destroyed, at any moment and in any thread, perhaps in the
    midst of `take`: they only enter a queue there, which needs no lock.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.returned: deque[_Block] = deque()
        self.blocks: list[_Block] = []
        self.lock = fork_safe_lock()

    def take(self, nbytes: int) -> _Block:
        """Return a block of so many bytes."""
        with self.lock:
            while self.returned:
                self.blocks.append(self.returned.popleft())
            found = None
            for n in range(len(self.blocks) - 1, -1, -1):
                if self.blocks[n].nbytes == nbytes + _LINE:
                    found = self.blocks.pop(n)
                    break
            total = sum([block.nbytes for block in self.blocks])
            while total > self.most:
                total -= self.blocks.pop(0).nbytes
        return _Block(nbytes + _LINE) if found is None else found

    def give_back(self, block: _Block) -> None:
        """Keep a block, unless too many have come since somebody took one."""
        try:
            waiting = self.returned.copy()
        except RuntimeError:  # without the GIL others may come meanwhile
            return
        if sum([b.nbytes for b in waiting]) + block.nbytes <= self.most:
            self.returned.append(block)


pool = _Pool(MOST)


class _Lease:
    """Owns a block for as long as arrays refer to it."""

    __slots__ = ("__array_interface__", "block", "owner")

    def __init__(self, owner: _Pool, block: _Block, shape: Shape, dtype: np.dtype) -> None:
        self.owner, self.block = owner, block
        self.__array_interface__ = {
            "data": (block.address, False),
            "shape": shape,
            "typestr": dtype.str,
            "version": 3,
        }

    def __del__(self) -> None:
        self.owner.give_back(self.block)


def empty(shape: Shape, dtype: np.dtype, least: int = LARGE) -> np.ndarray:
    """Return an undefined array in C order for a result, an ordinary one of fewer bytes."""
    nbytes = prod(shape) * dtype.itemsize
    if nbytes < least:
        return np.empty(shape, dtype)
    return np.asarray(_Lease(pool, pool.take(nbytes), shape, dtype))


def copied(array: np.ndarray) -> np.ndarray:
    """Return a copy; a large one in the memory of earlier results."""
    if array.nbytes < LARGE or not array.flags.c_contiguous:
        return array.copy(order="K")
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def maker(specs: Sequence[tuple[Shape, np.dtype]]) -> Callable[[Shape, np.dtype], np.ndarray]:
    """Return what makes the results of a run, which have these specs."""
    sizes = [prod(shape) * dtype.itemsize for shape, dtype in specs]
    if sum(sizes) >= TOGETHER:
        return partial(empty, least=PART)
    return empty if max(sizes, default=0) >= LARGE else np.empty


# Where an instruction uses a buffer: numbers of the segment, the instruction, and the operand.
Use = tuple[int, int, int]


def heirs(program: Program, plan: Schedule, donated: Mapping[int, np.dtype]) -> dict[int, int]:
    """Return for results the argument over which each may be written.

    Parameters
    ----------
    donated : dict
        Dtypes of the arguments that may be overwritten, by their positions; nobody else reads
        their memory.
    """
    found: dict[int, int] = {}
    free = {b: p for b, p in program.arguments.items() if p in donated}
    free = {b: p for b, p in free.items() if list(program.arguments.values()).count(p) == 1}
    for number, result in enumerate(program.results):
        for buffer, position in free.items():
            same = program.nbytes[buffer] == program.nbytes[result.buffer]
            same = same and donated[position] == result.layout.dtype
            same = same and program.rows[buffer] == program.rows[result.buffer]
            if same and _is_over(plan, buffer, result.buffer):
                found[number] = position
                del free[buffer]
                break
    return found


def _is_over(plan: Schedule, argument: int, result: int) -> bool:
    """Whether every read of the argument comes before any use of the result at the same place."""
    reads, uses = list(_uses(plan, argument)), list(_uses(plan, result))
    return all(_comes_first(plan, read, use) for read in reads for use in uses)


def _uses(plan: Schedule, buffer: int) -> Iterator[Use]:
    for s, segment in enumerate(plan.segments):
        for i, instruction in enumerate(segment.instructions):
            for n, index in enumerate(instruction.buffers):
                if index == buffer:
                    yield s, i, n


def _comes_first(plan: Schedule, read: Use, use: Use) -> bool:
    if read[0] != use[0]:
        return read[0] < use[0]
    segment = plan.segments[read[0]]
    if segment.kind != ONCE and not (_in_step(segment, read) and _in_step(segment, use)):
        return False
    if read[1] != use[1]:
        return read[1] < use[1]
    return use[2] >= segment.instructions[use[1]].pattern.nin and _is_alike(segment, read, use)


def _in_step(segment: Segment, use: Use) -> bool:
    """Whether a tile uses only its own rows of a buffer."""
    layout = segment.instructions[use[1]].pattern.layouts[use[2]]
    return _is_all(segment, use) if segment.kind == ELEMENTS else layout.rows


def _is_alike(segment: Segment, read: Use, use: Use) -> bool:
    """Whether an elementwise instruction writes each element where it has read it."""
    pattern = segment.instructions[read[1]].pattern
    one, two = pattern.layouts[read[2]], pattern.layouts[use[2]]
    alike = one.shape == two.shape and one.dtype == two.dtype and one.rows == two.rows
    whole = _is_all(segment, read) and _is_all(segment, use)
    return pattern.elementwise and len(pattern.layouts) == pattern.nin + 1 and alike and whole


def _is_all(segment: Segment, use: Use) -> bool:
    """Whether an instruction walks over a buffer in C order, from its first element on."""
    instruction = segment.instructions[use[1]]
    layout, pattern = instruction.pattern.layouts[use[2]], instruction.pattern
    ordered = is_contiguous(layout.shape, layout.strides, layout.dtype.itemsize)
    return ordered and layout.shape == pattern.loop and instruction.offsets[use[2]] == 0
