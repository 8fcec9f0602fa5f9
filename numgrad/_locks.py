"""Locks that a forked child can take: the thread that forks holds them meanwhile."""

import os
import threading
from typing import Any

_locks: list[Any] = []
_held: list[Any] = []  # by the thread that forks: locks may be registered meanwhile


def held_during_fork(lock: Any) -> Any:
    """Return ``lock``, which no other thread will hold at a fork; the forking thread may.

    Without this the child would wait for a thread of its parent, which it does not have.
    """
    _locks.append(lock)
    return lock


def fork_safe_lock() -> Any:
    """Return a reentrant lock that is held during a fork."""
    return held_during_fork(threading.RLock())


def _acquire_all() -> None:
    """Take all locks, in whatever order other threads nest them: nobody is waited for with a lock
    in hand."""
    first = 0
    while True:
        order = [*_locks[first:], *_locks[:first]]
        taken = []
        for number, lock in enumerate(order):
            if not lock.acquire(blocking=number == 0):
                break
            taken.append(lock)
        if len(taken) == len(order):
            _held.extend(taken)
            return
        for lock in taken:
            lock.release()
        first = (first + len(taken)) % len(order)


def _release_all() -> None:
    held = list(_held)
    _held.clear()  # before another thread that forks can take the locks
    for lock in held:
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_acquire_all, after_in_parent=_release_all, after_in_child=_release_all
    )
