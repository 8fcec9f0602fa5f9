"""Checks of memory on a GPU: unneeded memory is freed, and a failed allocation leaves no traces."""

import gc

import numgrad as ng

from ....targets.cuda.device.driver import Driver
from ..agreement import DEVICE
from ..report import Check, Skipped, require
from ..sizes import Sizes
from .arrays import random

_ROUNDS = 5  # the first rounds create constants on the device, which are kept
_TOO_MUCH = 1 << 42


def _work(sizes: Sizes, side: ng.cuda.Stream) -> None:
    x = ng.tensor(random(sizes.elements, "float64"), requires_grad=True, device=DEVICE)
    y = ng.exp(ng.sin(x) * x)
    (first,) = ng.grad(y.sum(), x, create_graph=True)
    ng.grad(first.sum(), x)
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        z = y * 2
    ng.cuda.current_stream().wait_stream(side)
    require(z.shape == x.shape, "a product has another shape than its factor")


def _given_back(sizes: Sizes) -> str:
    left, side = [], ng.cuda.Stream()
    for _ in range(_ROUNDS):
        _work(sizes, side)
        gc.collect()
        left.append(ng.cuda.memory_allocated())
    require(left[-1] == left[-2], f"bytes in use after equal work grow: {left}")
    ng.cuda.reset_peak_memory_stats()
    _work(sizes, side)
    used = ng.cuda.max_memory_allocated() - left[-1]
    require(used >= 16 * sizes.elements, f"the work has used {used} bytes at most")
    return f"{left[-1]} bytes stay, {used} were used"


def _too_much(sizes: Sizes) -> str:
    if not isinstance(ng.cuda.current_stream()._runtime.driver, Driver):
        raise Skipped("the simulator's memory is that of the host")
    side = int((max(_TOO_MUCH, 2 * ng.cuda.mem_get_info()[1]) / 8) ** 0.5) + 1
    x = ng.tensor(random((side, 1), "float64"), device=DEVICE)
    y = ng.tensor(random((1, side), "float64"), device=DEVICE)
    before = ng.cuda.memory_allocated()
    try:
        _ = x * y
    except MemoryError as error:
        text = str(error)
    else:
        raise AssertionError(f"there is memory for {8 * side * side} bytes")
    gc.collect()
    require(ng.cuda.memory_allocated() == before, "what was refused counts as in use")
    _work(sizes, ng.cuda.Stream())
    return text


CHECKS = (
    Check("memory: given back", _given_back),
    Check("memory: too much is a MemoryError", _too_much),
)
