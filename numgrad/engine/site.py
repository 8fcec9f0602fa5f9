"""Where the user's code recorded a node: one line always, the whole stack on request."""

import os
import sys
import traceback
from pathlib import Path
from types import CodeType
from typing import NamedTuple

PACKAGE = str(Path(__file__).parent.parent) + os.sep


class Site(NamedTuple):
    """The line of user code that recorded a node, kept unformatted because few are ever printed."""

    code: CodeType
    instruction: int

    def __str__(self) -> str:
        line = self.code.co_firstlineno
        for start, end, number in self.code.co_lines():
            if start <= self.instruction < end and number is not None:
                line = number
        return f"{self.code.co_filename}:{line} in {self.code.co_name}"


def user_site() -> Site | None:
    """Return the first frame outside numgrad."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return Site(frame.f_code, frame.f_lasti) if frame is not None else None


def user_stack() -> str:
    """Return the present Python stack as text, without the frames of numgrad."""
    frames = traceback.extract_stack(sys._getframe(1))
    kept = [frame for frame in frames if not frame.filename.startswith(PACKAGE)]
    return "".join(traceback.format_list(kept))
