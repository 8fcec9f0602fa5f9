"""Progress on standard error: one line that rewrites itself, or plain lines in a log."""

import sys
from typing import TextIO


class Progress:
    """Tell a waiting user what is going on.

    On a terminal the current line is overwritten and erased at the end; anywhere else each stage is
    printed once and updates inside a stage are left out.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._terminal = self._stream.isatty()
        self._stage = ""
        self._width = 0

    def stage(self, text: str) -> None:
        """Begin a stage."""
        self._stage = text
        if self._terminal:
            self._rewrite(text + " ...")
        else:
            print(text, file=self._stream, flush=True)

    def update(self, text: str) -> None:
        """Show how far the stage is."""
        if self._terminal:
            self._rewrite(f"{self._stage}: {text}")

    def close(self) -> None:
        """Erase the line, so that later output starts on a clean one."""
        if self._terminal:
            self._rewrite("")
            self._stream.write("\r")
            self._stream.flush()

    def _rewrite(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)
