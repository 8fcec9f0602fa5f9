"""Pause Python's garbage collector where code makes no cycles, and note when it is at work.

A graph of thousands of nodes makes the collector visit all objects of the process many times.

The collector clears the weak references to a garbage cycle before it calls the finalizers in the
cycle, which may still use the objects. So a dead reference proves that an object is gone only while
the collector is not at work.
"""

import gc
import os
from typing import Any

from .interruptible import Action, Block

_pausing: list[None] = []  # an entry for each block that will switch the collector on again


class paused(Block):  # noqa: N801  it is written as a function
    """Switch the garbage collector off inside the block, if it is on."""

    pauses = False

    def prepare(self) -> tuple[Action, Action]:
        if not gc.isenabled():
            return bool, bool  # calls without effect
        self.pauses = True
        _pausing.append(None)
        return gc.disable, gc.enable

    def settle(self) -> None:
        if self.pauses:
            _pausing.pop()


class _Collector:
    is_at_work = False


collector = _Collector()


def _note(phase: str, info: dict[str, Any]) -> None:
    collector.is_at_work = phase == "start"


gc.callbacks.append(_note)


def _after_fork_in_child() -> None:
    """Switch the collector on again if a thread of the parent had paused it at the fork."""
    if _pausing:
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
