"""Measure times, by events on the device or by the clock on the host.

A time is the median of repeated calls after some calls to warm up. A call that takes longer than a
second is measured once.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numgrad as ng

from ..sizes import Sizes

Call = Callable[[], Any]

_LONG = 1.0  # seconds


def milliseconds(call: Call, sizes: Sizes, inner: int = 1) -> float:
    """Return the time of a call on the device; ``inner`` calls are measured together.

    Later calls are issued while the device still runs the first one, so that the time of the host
    is hidden as in any program. The events are on the default stream, on which PyTorch and CuPy
    work too. Calls of a library that uses other streams must wait for their results.
    """
    for n in range(sizes.warm):
        if _seconds(call) > _LONG and n:  # the first call may have compiled kernels
            return _between_events(call, 1)
    return median(_between_events(call, inner) for _ in range(sizes.repeats))


def _seconds(call: Call) -> float:
    ng.cuda.synchronize()
    begin = time.perf_counter()
    call()
    ng.cuda.synchronize()
    return time.perf_counter() - begin


def _between_events(call: Call, inner: int) -> float:
    begin, end = (ng.cuda.Event(enable_timing=True) for _ in range(2))
    ng.cuda.synchronize()
    begin.record()
    for _ in range(inner):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / inner


def host_microseconds(call: Call, sizes: Sizes) -> float:
    """Return the time that a call takes on the host, without any wait for the device."""
    for _ in range(sizes.warm):
        call()
    return median(_on_host(call, sizes.calls) for _ in range(sizes.repeats))


def _on_host(call: Call, calls: int) -> float:
    ng.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    taken = time.perf_counter() - begin
    ng.cuda.synchronize()
    return 1e6 * taken / calls
