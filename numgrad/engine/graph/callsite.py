"""Where the user's code recorded a node: one line always, the whole stack on request."""

import inspect
import os
import sys
import traceback
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from ...process.bounded_dict import Bounded

PACKAGE = str(Path(__file__).parents[2]) + os.sep
_CALLED = (PACKAGE, str(Path(np.__file__).parent) + os.sep)
"""The folders whose frames are not the user's: NumPy's functions were called by the user's code."""


class Site(NamedTuple):
    """The line of user code that recorded a node, and the device stream that was chosen there.

    The line is kept as a code object and the offset of an instruction in it: few lines are ever
    printed, and making the text takes time.
    """

    code: CodeType | None
    instruction: int
    stream: Any = None

    @property
    def line(self) -> int:
        """The number of the line in its file; 0 for an unknown line."""
        if self.code is None:
            return 0
        line = self.code.co_firstlineno
        for start, end, number in self.code.co_lines():
            if start <= self.instruction < end and number is not None:
                line = number
        return line

    def __str__(self) -> str:
        if self.code is None:
            return "a line that is not known"
        return f"{self.code.co_filename}:{self.line} in {self.code.co_name}"


class _Files(Bounded[str, bool]):
    """A cache that tells from the name of a source file whether the file is numgrad's or
    NumPy's."""

    def __missing__(self, name: str) -> bool:
        ours = self[name] = name.startswith(_CALLED)
        return ours


is_ours = _Files(4096)  # a notebook makes a new one for every cell


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user among ``frame`` and its callers; None if there is
    none.

    Frames of numgrad and NumPy are not the user's.
    """
    while frame is not None and is_ours[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def user_site() -> Site | None:
    """Return the line that the innermost frame outside numgrad and NumPy is executing."""
    frame = user_frame(sys._getframe(1))
    return Site(frame.f_code, frame.f_lasti) if frame is not None else None


def user_stack() -> str:
    """Return the present Python stack as text, without the frames of numgrad."""
    frames = traceback.extract_stack(sys._getframe(1))
    kept = [frame for frame in frames if not frame.filename.startswith(PACKAGE)]
    return "".join(traceback.format_list(kept))


IS_WRITTEN_THROUGH = sys.version_info >= (3, 13)
"""Whether `f_locals` of a function is a view of its variables, not a copy."""

_UNSHARED = 3
"""The reference count of a dictionary `f_locals` that no program has asked for: the frame refers to
the dictionary, and so do a variable of `release` and the argument of `sys.getrefcount`."""


def release(frame: FrameType) -> None:
    """Drop the references to a frame's variables that remain after a look at its `f_locals`.

    Before Python 3.13 `f_locals` of a function is a dictionary, which refers to each variable's
    object once more and would falsify reference counts.
    """
    if IS_WRITTEN_THROUGH or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return
    names, code = frame.f_locals, frame.f_code
    if sys.getrefcount(names) == _UNSHARED:  # else a program has asked for it
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            names.pop(name, None)
