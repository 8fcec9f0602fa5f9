"""Benchmarks of the time that the host takes for an operation on small arrays.

The host never waits for the device here.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numgrad as ng

from ..agreement import DEVICE
from ..checks.arrays import random
from ..report import Benchmark, Bound, Figure
from ..sizes import Sizes
from .timing import host_microseconds, milliseconds

OPERATION = Bound(10.0, is_upper=True)
"""The microseconds that an eager operation may take on the host."""

_FEW = 1000  # the elements of an array


def _run(sizes: Sizes) -> Iterator[Figure]:
    x, y = (ng.tensor(random(_FEW if sizes.calls > _FEW else 2, "float32", n), device=DEVICE)
            for n in range(2))  # fmt: skip
    live = x.clone().requires_grad_()
    captured = ng.jit(lambda x, y: ng.sin(x * y) + x, fuse="now")

    def host(name: str, call: Callable[[], Any], bound: Bound | None = None) -> Figure:
        return Figure(name, host_microseconds(call, sizes), "us", bound)

    array: Any = x.array
    yield host("launch of a kernel", _launch(array.copy))
    yield host("memory taken and given back", _allocation)
    yield host("event recorded and waited for", _event)
    yield host("x * y, eager", lambda: x * y, OPERATION)
    yield host("x + 1, eager", lambda: x + 1, OPERATION)
    yield host("x * y, recorded for derivatives", lambda: live * y, OPERATION)
    yield host("x[1:], a view", lambda: x[1:])
    yield host("three operations, captured and fused", lambda: captured(x, y))
    yield host("x * y with its gradient", lambda: ng.grad(live * y, live, y))
    between = 1e3 * milliseconds(lambda: x * y, sizes, sizes.calls)
    yield Figure("x * y, eager, from one to the next on the device", between, "us")


def _launch(operation: Callable[[], Any]) -> Callable[[], Any]:
    """Return a call of the driver's launch alone, with the arguments that an operation gives it.

    The operation must be one that Python launches.
    """
    driver = ng.cuda.current_stream()._runtime.driver
    launch = driver.launch
    given: list[Any] = []

    def noted(*arguments: Any, **named: Any) -> None:
        given[:] = arguments, named
        launch(*arguments, **named)

    driver.launch = noted
    try:
        result = operation()
    finally:
        del driver.launch
    arguments, named = given

    def call(kept: Any = result) -> None:  # each call writes the same memory
        launch(*arguments, **named)

    return call


def _allocation() -> None:
    ng.cuda.current_stream()._runtime.allocate(4 * _FEW)


def _event() -> None:
    stream = ng.cuda.current_stream()
    stream.wait_event(stream.record_event())


BENCHMARKS = (Benchmark("Overhead on the host", _run),)
