"""Dictionaries of what can be made again: one that is full is emptied."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(dict[K, V]):
    """A dictionary of at most ``most`` items; the next one finds it empty.

    What is used often is soon there again, and nothing is written down at a look-up, as it would be
    if the oldest items had to go first.
    """

    __slots__ = ("most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.most:
            self.clear()
        super().__setitem__(key, value)
