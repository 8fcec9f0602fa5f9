"""Python's garbage collector, kept from looking for cycles where none are made.

A graph of thousands of nodes makes it look through all objects of the process many times.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

_pausing: list[None] = []  # an entry for each block that will switch it on again


@contextmanager
def paused() -> Iterator[None]:
    """Collect no garbage inside the block, if it is collected at all."""
    if not gc.isenabled():
        yield
        return
    _pausing.append(None)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        _pausing.pop()


def _after_fork_in_child() -> None:
    """Switch it on again where a thread has paused it that the child does not have."""
    if _pausing:
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
