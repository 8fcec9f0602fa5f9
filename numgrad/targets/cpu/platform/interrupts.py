"""Handling of Ctrl-C while a kernel is compiled."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_waiting: list[tuple[Any, list[Any]]] = []  # handlers and pending signals of the main thread


@contextmanager
def held() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block on the main thread, which alone handles signals.

    Ctrl-C raises an exception. In one of LLVM's callbacks that exception would be lost, with the
    data that the callback was to keep: Numba would go on and fail later, with an error about the
    kernel.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    arrived: list[Any] = []
    signal.signal(signal.SIGINT, lambda *signal_and_frame: arrived.append(signal_and_frame))
    _waiting.append((handler, arrived))
    try:
        yield
    finally:
        _waiting.pop()
        signal.signal(signal.SIGINT, handler)
        if arrived:
            handler(*arrived[0])


def deliver() -> None:
    """Handle a Ctrl-C that `held` has delayed; called within the block, where the handler may
    raise."""
    if threading.current_thread() is not threading.main_thread():
        return
    pending = [signal_and_frame for _, arrived in _waiting for signal_and_frame in arrived]
    for _, arrived in _waiting:
        arrived.clear()
    if pending:
        handler, _ = _waiting[0]  # handlers of inner blocks only keep signals for the outer one
        handler(*pending[0])
