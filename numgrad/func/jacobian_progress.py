"""How far long work is, for those who wait for it."""

import time
from collections.abc import Callable
from typing import Any

from .._errors import ArgTypeError
from .._progress import Progress

_WIDTH = 30
_SHORT = 0.5
"""Seconds of work of which nothing is shown."""
STEPS = 50
"""How often a bar moves at least."""


class Bar:
    """Tells a callable, or a line on standard error, how many rows or columns are done.

    Parameters
    ----------
    progress : bool or callable
        ``progress(done, total)``; True for a bar, which appears where the work takes longer than
        half a second.
    total : int
    what : str
        Of what there are so many.
    title : str
        What is in front of the bar.
    """

    def __init__(
        self,
        progress: bool | Callable[[int, int], Any],
        total: int,
        what: str,
        title: str = "Jacobian",
    ) -> None:
        self._progress, self._total, self._what = progress, total, what
        self._title = title
        self._done, self._began = 0, time.perf_counter()
        self._line: Progress | None = None

    def advance(self, count: int) -> None:
        """Note that more is done."""
        self._done += count
        if callable(self._progress):
            self._progress(self._done, self._total)
        elif self._progress and time.perf_counter() - self._began > _SHORT:
            self._show()

    def _show(self) -> None:
        if self._line is None:
            self._line = Progress()
            self._line.stage(self._title)
        share = self._done / max(self._total, 1)
        seconds = time.perf_counter() - self._began
        left = seconds / share - seconds if share else 0.0
        bar = ("#" * round(_WIDTH * share)).ljust(_WIDTH, ".")
        self._line.update(f"[{bar}] {self._done} of {self._total} {self._what}, {left:.0f} s left")

    def close(self) -> None:
        """Take the bar away."""
        if self._line is not None:
            self._line.close()


def require_progress(progress: Any, what: str) -> None:
    """Raise for what can tell nobody how far the work is."""
    if not (isinstance(progress, bool) or callable(progress)):
        raise ArgTypeError(
            f"{what}: progress must be True, False or a callable progress(done, total), got "
            f"{progress!r}"
        )
