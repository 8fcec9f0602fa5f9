"""Memory of results: that of large ones is used again once nobody refers to them any more.

The system hands out large blocks of memory as pages that it clears at their first use, which takes
longer than many a program. So a block is kept when the last array that uses it is gone, up to a
bound, for the next result of its size. Blocks begin on a cache line.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

from ...process.fork_locks import fork_safe_lock
from ..graph.value import Shape

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
