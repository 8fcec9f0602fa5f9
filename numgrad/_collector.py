"""Python's garbage collector, kept from looking for cycles where none are made.

A graph of thousands of nodes makes it look through all objects of the process many times.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Collect no garbage inside the block, if it is collected at all."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
