"""Ctrl-C while a kernel is compiled."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, in the thread that gets signals.

    Raised in one of LLVM's callbacks it would be lost, and what the callback was to keep with it;
    Numba would go on and fail later, with an error that speaks of the kernel.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    arrived = []
    signal.signal(signal.SIGINT, lambda *signal_and_frame: arrived.append(signal_and_frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if arrived:
            handler(*arrived[0])
