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
        self.address = self._block.ctypes.data
        self._make((0, 0))

    def lend(self, floats: int, integers: int) -> None:
        """Lend tapes that are at least so long, unless they would be large: a call that fills
        these takes much longer than the way through Python."""
        own, needed = self._lengths, (floats, integers)
        pairs = list(zip(needed, own, strict=True))
        if sum(needed) <= _MOST and any(n > m for n, m in pairs):
            self._make(tuple([m if n <= m else max(n, 2 * m) for n, m in pairs]))

    def _make(self, lengths: tuple[int, ...]) -> None:
        tapes = np.empty(lengths[0]), np.empty(lengths[1], np.int64)
        words = [word for tape in tapes for word in (tape.ctypes.data, tape.size)]
        record = np.array(words, np.int64)
        self._kept += [*tapes, record]
        self._lengths = lengths
        self._block[TAPES] = record.ctypes.data
