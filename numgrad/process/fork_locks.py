"""Locks that a forked child can take: the forking thread holds them during the fork."""

import importlib

# ``logging`` takes its lock at forks too, and the module that registers last takes its locks first.
# It is imported here, so that our locks are taken before its own: a thread that compiles holds ours
# while it imports Numba, which asks for loggers.
import logging  # noqa: F401
import os
import threading
import time
from typing import Any

# Modules that numgrad imports when they are first needed, in any thread.
_IMPORTED_LATE = frozenset({"numgrad", "numba", "llvmlite", "scipy", "threadpoolctl", "optree"})
_PATIENCE = 10.0  # seconds; an import that takes longer may be waiting for the thread that forks

_locks: list[Any] = []
_held: list[Any] = []  # taken by the forking thread; others may be registered meanwhile


def held_during_fork(lock: Any) -> Any:
    """Register a lock that a thread which forks holds during the fork; return the lock.

    Otherwise another thread could hold the lock at the fork. The child, which does not have that
    thread, would wait for the lock forever.
    """
    _locks.append(lock)
    return lock


def fork_safe_lock() -> Any:
    """Return a reentrant lock that is held during a fork."""
    return held_during_fork(threading.RLock())


class _Imports:
    """A pseudo-lock that waits, at a fork, until other threads have finished their imports.

    A thread that imports holds Python's own lock of the module. Python does not renew these locks
    in the child, where an import that another thread of the parent had begun never ends.

    The pseudo-lock holds nothing, so imports may begin while it is "taken". A thread may import
    while it holds a lock of some other library, which the fork takes as well, and must be able to
    finish the import.
    """

    def acquire(self, blocking: bool = True) -> bool:
        patience = time.monotonic() + _PATIENCE
        while self._are_under_way():
            if not blocking:
                return False
            if time.monotonic() > patience:
                break
            time.sleep(0.001)
        return True

    def release(self) -> None:
        """Do nothing: `acquire` takes no lock."""

    @staticmethod
    def _are_under_way() -> bool:
        ours = (None, threading.get_ident())
        locks = getattr(getattr(importlib, "_bootstrap", None), "_module_locks", {})
        for name, reference in list(locks.items()):
            if name.partition(".")[0] in _IMPORTED_LATE:
                lock = reference()
                if lock is not None and getattr(lock, "owner", None) not in ours:
                    return True
        return False


def _acquire_all() -> None:
    """Take all locks, whatever the order in which other threads nest them.

    No lock is awaited while another one is held, so this thread and another one never wait for each
    other.
    """
    first = 0
    while True:
        order = [*_locks[first:], *_locks[:first]]
        taken: list[Any] = []
        try:
            for number, lock in enumerate(order):
                if not lock.acquire(blocking=number == 0):
                    break
                taken.append(lock)
        except BaseException:  # Ctrl-C: Python prints the exception, and forks
            _release(taken)
            raise
        if len(taken) == len(order):
            _held.extend(taken)
            return
        _release(taken)
        first = (first + len(taken)) % len(order)


def _release_all() -> None:
    held = list(_held)
    _held.clear()  # before another thread that forks can take the locks
    _release(held)


def _release(locks: list[Any]) -> None:
    for lock in locks:
        lock.release()


held_during_fork(_Imports())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_acquire_all, after_in_parent=_release_all, after_in_child=_release_all
    )
