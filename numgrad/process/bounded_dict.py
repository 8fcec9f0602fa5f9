"""Bounded dictionaries for items that can be made again: a full dictionary is emptied."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(dict[K, V]):
    """A dictionary of at most ``most`` items: a write to a full dictionary empties it first.

    Items in frequent use soon return, and a look-up writes nothing, as it would have to if the
    oldest items were dropped first.
    """

    __slots__ = ("most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.most:
            self.clear()
        super().__setitem__(key, value)
