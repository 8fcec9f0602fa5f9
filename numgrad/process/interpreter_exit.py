"""Code that must not be stopped while the interpreter ends.

While the interpreter ends, Python stops a daemon thread where the thread takes Python's lock. In
C++ code that takes the lock, and that threads may not leave by force, the stop terminates the whole
process. So threads in such code are awaited, and threads that reach it later wait before they
enter.
"""

import atexit
import os
import threading
import time
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

LONGEST = 20.0  # seconds that threads are awaited


class _Ending:
    """The threads in code that must not be stopped, and the depth of their calls."""

    def __init__(self) -> None:
        self.has_begun = False
        self.inside: dict[int, int] = {}

    def enter(self) -> None:
        thread = get_ident()
        self.inside[thread] = self.inside.get(thread, 0) + 1
        if self.has_begun and self.inside[thread] == 1 and threading.current_thread().daemon:
            self.leave()
            _wait_for_ever()

    def leave(self) -> None:
        thread = get_ident()
        depth = self.inside[thread] - 1
        if depth:  # the key is never removed in between, as `begin` may look at any time
            self.inside[thread] = depth
        else:
            del self.inside[thread]

    def begin(self) -> None:
        """Admit no more daemon threads, and wait, at most `LONGEST`, for the other threads."""
        self.has_begun = True
        end, own = time.monotonic() + LONGEST, {get_ident()}
        while self.inside.keys() - own and time.monotonic() < end:
            time.sleep(0.001)

    def forget_others(self) -> None:
        """Forget the threads of the parent, which a forked child does not have."""
        own = get_ident()
        self.inside = {own: self.inside[own]} if own in self.inside else {}


def _wait_for_ever() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def uncut(function: Function) -> Function:
    """Return the function, changed so that the end of the interpreter waits for its calls."""

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        ending.enter()
        try:
            return function(*args, **options)
        finally:
            ending.leave()

    return called  # type: ignore[return-value]


ending = _Ending()
atexit.register(ending.begin)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ending.forget_others)
