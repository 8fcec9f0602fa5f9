"""Tables of hooks: dicts from a running number to the function, in order of registration."""

import itertools
from collections.abc import Callable
from typing import Any

_keys = itertools.count()


class Handle:
    """A registered hook: ``remove()`` or the end of a ``with`` block takes it out of its table."""

    def __init__(self, table: dict[int, Any], key: int) -> None:
        self._table = table
        self.id = key

    def remove(self) -> None:
        """Remove the hook; removing it twice is harmless."""
        self._table.pop(self.id, None)

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(table: dict[int, Any], function: Callable[..., Any]) -> Handle:
    """Put a hook into a table of hooks, and return the handle that removes the hook again."""
    key = next(_keys)
    table[key] = function
    return Handle(table, key)
