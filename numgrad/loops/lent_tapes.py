"""Tapes that stay where they are, for calls of derived adjoints without Python."""

import numpy as np

BUSY, TAPES = 0, 1
"""Words of the block: whether a call uses the tapes, and the address of a record of four words,
which has the address and the length of the tape of floats, then those of the tape of integers."""


_MOST = 1 << 20  # elements


class LentTapes:
    """The tapes that the calls of a kernel take turns to use.

    A record is never changed, and lives as long as its tapes: a call that has read its address may
    use it while longer tapes are lent.

    Attributes
    ----------
    address : int
        The address of the block.
    """

    def __init__(self) -> None:
        self._block = np.zeros(2, np.int64)
        self._kept: list[np.ndarray] = []
        self._lengths: tuple[int, ...] = (0, 0)
        self.address = self._block.ctypes.data

    def lend(self, floats: int, integers: int) -> None:
        """Lend tapes that are at least so long, unless they would be large: a call that fills
        these takes much longer than the way through Python."""
        own, needed = self._lengths, (floats, integers)
        if sum(needed) > _MOST or all(map(int.__le__, needed, own)):
            return
        pairs = zip(needed, own, strict=True)
        self._lengths = tuple([m if n <= m else max(n, 2 * m) for n, m in pairs])
        tapes = np.empty(self._lengths[0]), np.empty(self._lengths[1], np.int64)
        words = [word for tape in tapes for word in (tape.ctypes.data, tape.size)]
        record = np.array(words, np.int64)
        self._kept += [*tapes, record]
        self._block[TAPES] = record.ctypes.data
