"""Small blocks of device memory that were given back, kept for later work of the default stream.

The driver takes longer to give a small block and to take it back than the host takes for all the
rest of an operation.
"""

from typing import Any

from ....process.fork_locks import fork_safe_lock

MOST = 1 << 20
"""The most bytes of a small block."""

MOST_KEPT = 64 << 20
"""The most bytes of all blocks that are kept."""

_STEP = 512  # what the driver rounds sizes to


def rounded(nbytes: int) -> int:
    """Return the size in bytes of the block for so many bytes."""
    return max(-(-nbytes // _STEP), 1) * _STEP


class SmallBlocks:
    """Blocks that nothing uses, by their size.

    All of them were given back by the default stream: work that the stream gets from now on begins
    after the work that has used them.

    Attributes
    ----------
    rows : dict of list
        The blocks of each size, the latest last.
    kept : int
        The bytes of all blocks.
    """

    __slots__ = ("_lock", "kept", "rows")

    def __init__(self) -> None:
        self.rows: dict[int, list[Any]] = {}
        self.kept = 0
        self._lock = fork_safe_lock()

    def row(self, nbytes: int) -> list[Any]:
        """Return the list of the blocks from which one for so many bytes is taken."""
        return self.rows.setdefault(rounded(nbytes), [])

    def take(self, nbytes: int) -> Any:
        """Return a block for so many bytes, which is no longer kept; None without one."""
        size = rounded(nbytes)
        with self._lock:
            row = self.rows.get(size)
            if not row:
                return None
            self.kept -= size
            return row.pop()

    def keep(self, block: Any, nbytes: int) -> bool:
        """Keep the block of so many bytes; return whether there was room for it."""
        size = rounded(nbytes)
        with self._lock:
            if self.kept + size > MOST_KEPT:
                return False
            self.kept += size
            self.row(nbytes).append(block)
            return True

    def taken_out(self) -> list[Any]:
        """Return all blocks, which are no longer kept."""
        with self._lock:
            found = [block for row in self.rows.values() for block in row]
            for row in self.rows.values():
                row.clear()
            self.kept = 0
            return found
