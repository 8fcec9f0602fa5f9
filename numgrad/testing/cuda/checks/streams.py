"""Checks of streams: operations on several streams, then a backward pass, while the GPU is busy.

The passes are repeated, and also run in several threads of the host.
"""

import threading
from typing import Any

import numpy as np

import numgrad as ng

from ..agreement import DEVICE, require_close
from ..report import Check, require, said
from ..sizes import Sizes
from .arrays import random, side_of


def _part(x: Any, n: int) -> Any:
    """Return the sum of some operations, part ``n`` of the function.

    Its intermediate memory is freed while other parts still run.
    """
    y = ng.sin(x * (n + 1)) * x
    return (ng.exp(-y * y) * x + y[::-1]).sum()


def _value(x: Any, streams: Any) -> Any:
    """Return the value of the function: the sum of its parts, each computed on its own stream."""
    here = ng.cuda.current_stream()
    parts = []
    for n, stream in enumerate(streams):
        stream.wait_stream(here)
        with ng.cuda.stream(stream):
            parts.append(_part(x, n))
    for stream in streams:
        here.wait_stream(stream)
    return _added(parts)


def _added(parts: list[Any]) -> Any:
    return sum(parts[1:], parts[0])


def _results(values: np.ndarray, streams: Any) -> list[np.ndarray]:
    x = ng.tensor(values, requires_grad=True, device=DEVICE)
    y = _value(x, streams)
    (gradient,) = ng.grad(y, x)
    return [y.detach().cpu().numpy(), gradient.cpu().numpy()]


def _expected(values: np.ndarray, count: int) -> list[np.ndarray]:
    return _results(values, [ng.cuda.default_stream()] * count)


def _require_same(found: list[np.ndarray], expected: list[np.ndarray], what: str) -> None:
    for one, other in zip(found, expected, strict=True):
        require(np.array_equal(one, other), f"{what} has other bits than work in order")


def _against_the_processor(sizes: Sizes) -> str:
    values = random(sizes.elements, "float64")
    found = _expected(values, sizes.streams)
    x = ng.tensor(values, requires_grad=True)
    y = _added([_part(x, n) for n in range(sizes.streams)])
    for one, other in zip(found, [y, *ng.grad(y, x)], strict=True):
        require_close(one, other.detach().numpy(), 2000)
    return "what the other checks of streams compare with is the processor's"


def _several(sizes: Sizes) -> str:
    values = random(sizes.elements, "float64")
    expected = _expected(values, sizes.streams)
    load = ng.tensor(random((side_of(sizes.elements),) * 2, "float32"), device=DEVICE)
    for n in range(sizes.rounds):
        busy = [load @ load for _ in range(n % 4)]  # varies the moments at which streams meet
        streams = [ng.cuda.Stream() for _ in range(sizes.streams)]
        _require_same(_results(values, streams), expected, f"round {n}")
        del busy
    return f"{sizes.rounds} rounds on {sizes.streams} streams, the same bits"


def _behind(sizes: Sizes) -> str:
    """Check a backward pass on another stream than the recorded operations ran on."""
    values = random(sizes.elements, "float64")
    expected = _expected(values, sizes.streams)
    here, caller = ng.cuda.current_stream(), ng.cuda.Stream()
    for _ in range(sizes.rounds):
        x = ng.tensor(values, requires_grad=True, device=DEVICE)
        y = _value(x, [ng.cuda.Stream() for _ in range(sizes.streams)])
        caller.wait_stream(here)
        with ng.cuda.stream(caller):
            (gradient,) = ng.grad(y, x)
            doubled = gradient * 2
        del gradient
        here.wait_stream(caller)
        found = [y.detach().cpu().numpy(), doubled.cpu().numpy() / 2]
        _require_same(found, expected, "a pass on a third stream")
    return f"{sizes.rounds} passes on a stream of their own, the same bits"


def _threads(sizes: Sizes) -> str:
    values = random(sizes.elements, "float64")
    expected = _expected(values, sizes.streams)
    wrong: list[str] = []

    def work() -> None:
        try:
            side = ng.cuda.Stream()
            with ng.cuda.stream(side):
                for _ in range(sizes.rounds):
                    _require_same(_results(values, [side] * sizes.streams), expected, "a thread")
        except Exception as error:  # it would be lost with the thread
            wrong.append(said(error))

    threads = [threading.Thread(target=work) for _ in range(sizes.streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(not wrong, "; ".join(wrong))
    return f"{sizes.streams} threads of the host, each with a stream"


CHECKS = (
    Check("streams: beside the processor", _against_the_processor),
    Check("streams: forward on several, backward", _several),
    Check("streams: backward on another", _behind),
    Check("streams: threads", _threads),
)
