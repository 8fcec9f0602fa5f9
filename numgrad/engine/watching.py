"""Who watches programs run, if anybody does."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Watcher(Protocol):
    """Asked before each run of a plan how to run it."""

    def runner(self, plan: Any, bound: Any) -> Callable[[Sequence[int]], Any]:
        """Return what is called with the addresses in place of ``bound.run``."""
        ...


class Watch:
    """The watcher of this process; while there is one, nothing goes past `Plan.into`."""

    current: Watcher | None = None


watch = Watch()
