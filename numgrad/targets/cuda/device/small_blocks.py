"""Small blocks of device memory that were given back, kept for later work of the default stream.

The driver takes longer to give a small block and to take it back than the host takes for all the
rest of an operation.
"""

from typing import Any

from .memory import Usage

MOST = 1 << 20
"""The most bytes of a small block."""

MOST_KEPT = 64 << 20
"""The most bytes of all blocks that are kept."""

_STEP = 512  # what the driver rounds sizes to


def rounded(nbytes: int) -> int:
    """Return the size in bytes of the block for so many bytes."""
    return max(-(-nbytes // _STEP), 1) * _STEP


class Row(list[Any]):
    """The kept blocks of one size, the latest last.

    Attributes
    ----------
    size : int
        The bytes of each block.
    """

    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


class SmallBlocks:
    """Blocks that nothing uses, by their size.

    All of them were given back by the default stream: work that the stream gets from now on begins
    after the work that has used them.

    Parameters
    ----------
    usage : Usage
        Counts the bytes that are in use.

    Attributes
    ----------
    kept : int
        The bytes of all blocks.
    """

    __slots__ = ("_rows", "_usage", "kept")

    def __init__(self, usage: Usage) -> None:
        self._rows: dict[int, Row] = {}
        self._usage = usage
        self.kept = 0

    def row(self, nbytes: int) -> Row:
        """Return the row of the blocks from which one for so many bytes is taken."""
        size = rounded(nbytes)
        return self._rows.get(size) or self._rows.setdefault(size, Row(size))

    def take(self, row: Row) -> Any:
        """Return a block of a row, which is no longer kept; None without one."""
        with self._usage.lock:
            if not row:
                return None
            self.kept -= row.size
            return row.pop()

    def keep(self, row: Row, block: Any, nbytes: int) -> bool:
        """Keep a block of which ``nbytes`` were in use; return whether there was room for it."""
        with self._usage.lock:
            if self.kept + row.size > MOST_KEPT:
                return False
            self.kept += row.size
            row.append(block)
            self._usage.now -= nbytes
        return True

    def taken_out(self) -> list[Any]:
        """Return all blocks, which are no longer kept."""
        with self._usage.lock:
            found = [block for row in self._rows.values() for block in row]
            for row in self._rows.values():
                row.clear()
            self.kept = 0
            return found
