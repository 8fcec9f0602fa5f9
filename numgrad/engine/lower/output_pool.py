"""A pool of memory for large results: the memory of an array that is gone is used again.

The operating system clears the pages of a new large block at their first use, which takes longer
than many programs. So a block is kept, up to a bound, when the last array in it is gone, for the
next result of the same size. Blocks begin on a cache line.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

from ...process.fork_locks import fork_safe_lock
from ..graph.value import Shape

LARGE = 1 << 18
"""Results of fewer bytes are ordinary arrays: the allocator keeps small blocks itself."""

LARGE_RUN, LARGE_IN_RUN = 1 << 19, 1 << 15
"""If the results of a run have `LARGE_RUN` bytes together, the allocator returns freed memory to
the system: then only results of fewer than `LARGE_IN_RUN` bytes are ordinary arrays."""

MOST_KEPT = 64 << 20
"""The most bytes that the pool keeps for later results."""

_LINE = 64


class _Block:
    """A block of memory; it keeps the address of its first cache line, which takes long to find."""

    __slots__ = ("address", "array", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self.array = np.empty(nbytes, np.uint8)
        self.nbytes = nbytes
        address = self.array.__array_interface__["data"][0]
        self.address = address + -address % _LINE


class _Pool:
    """The blocks that no array uses, the latest last.

    A block comes back when an array is destroyed, at any moment and in any thread, perhaps during
    `take`. So it only enters a queue, which needs no lock.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.returned: deque[_Block] = deque()
        self.blocks: list[_Block] = []
        self.lock = fork_safe_lock()

    def take(self, nbytes: int) -> _Block:
        """Return a block with room for ``nbytes`` bytes from its first cache line on.

        The block is one of the pool if one has just this size, else a new one.
        """
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
        """Keep a block, unless too many have come back since the last `take`."""
        try:
            waiting = self.returned.copy()
        except RuntimeError:  # without the GIL another block may come back meanwhile
            return
        if sum([b.nbytes for b in waiting]) + block.nbytes <= self.most:
            self.returned.append(block)


pool = _Pool(MOST_KEPT)


class _Lease:
    """Owns a block while arrays use its memory, and then gives the block back to the pool."""

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
    """Return an undefined array in C order for a result.

    An array of ``least`` bytes or more lies in a block of the pool.
    """
    nbytes = prod(shape) * dtype.itemsize
    if nbytes < least:
        return np.empty(shape, dtype)
    return np.asarray(_Lease(pool, pool.take(nbytes), shape, dtype))


def copied(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array; a large copy is in a block of the pool."""
    if array.nbytes < LARGE or not array.flags.c_contiguous:
        return array.copy(order="K")
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def allocator_of(
    specs: Sequence[tuple[Shape, np.dtype]],
) -> Callable[[Shape, np.dtype], np.ndarray]:
    """Return the function that allocates the results of a run, given their shapes and dtypes."""
    sizes = [prod(shape) * dtype.itemsize for shape, dtype in specs]
    if sum(sizes) >= LARGE_RUN:
        return partial(empty, least=LARGE_IN_RUN)
    return empty if max(sizes, default=0) >= LARGE else np.empty
