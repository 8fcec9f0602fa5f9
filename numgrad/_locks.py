"""Locks that a forked child can take: the thread that forks holds them meanwhile."""

import os
import threading
from typing import Any


def held_during_fork(lock: Any) -> Any:
    """Return ``lock``, which no other thread will hold at a fork; the forking thread may.

    Without this the child would wait for a thread of its parent, which it does not have.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )
    return lock


def fork_safe_lock() -> Any:
    """Return a reentrant lock that is held during a fork; for short sections only."""
    return held_during_fork(threading.RLock())
