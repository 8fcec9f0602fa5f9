"""Progress bars for Jacobians that take long."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..._errors import ArgTypeError
from ...process.progress import Progress

_WIDTH = 30
_SHORT = 0.5  # seconds of work before a bar is shown
STEPS = 50  # the least number of steps of a bar


@dataclass
class ProgressBar:
    """Reports to a callable, or in a line on standard error, how many rows or columns are done.

    The line appears where the work takes longer than half a second. ``title`` stands at its
    beginning; ``what`` is the word for what ``total`` counts.
    """

    progress: bool | Callable[[int, int], Any]
    total: int
    what: str
    title: str = "Jacobian"
    done: int = 0
    began: float = field(default_factory=time.perf_counter)
    line: Progress | None = None

    def advance(self, count: int) -> None:
        """Note that ``count`` more rows or columns are done."""
        self.done += count
        if callable(self.progress):
            self.progress(self.done, self.total)
        elif self.progress and time.perf_counter() - self.began > _SHORT:
            self._show()

    def _show(self) -> None:
        if self.line is None:
            self.line = Progress()
            self.line.stage(self.title)
        share = self.done / max(self.total, 1)
        seconds = time.perf_counter() - self.began
        left = seconds / share - seconds if share else 0.0
        bar = ("#" * round(_WIDTH * share)).ljust(_WIDTH, ".")
        self.line.update(f"[{bar}] {self.done} of {self.total} {self.what}, {left:.0f} s left")

    def close(self) -> None:
        """Remove the bar."""
        if self.line is not None:
            self.line.close()


def require_progress(progress: Any, what: str) -> None:
    """Raise unless ``progress`` is a bool or a callable."""
    if not (isinstance(progress, bool) or callable(progress)):
        raise ArgTypeError(
            f"{what}: progress must be True, False or a callable progress(done, total), got "
            f"{progress!r}"
        )
