"""What the host takes for operations on a device that does nothing, beside the processor's
operations on the same arrays.

``NUMBA_ENABLE_CUDASIM=1 python -m tests.cuda.hosted.costs`` prints microseconds of processor time
for each case: on the processor, and on the device, where the driver's own time is not in it. The
process can do nothing else with its device, as nothing is computed there.
"""

import gc
import json
import sys
import time
from types import SimpleNamespace

import numpy as np

import numgrad as ng
from numgrad.testing.cuda.benchmarks.workloads import lorenz

from . import begin

ROUNDS = 7
WARM = 120  # plans get recorders, and programs entries, after some runs
RING = {"cpu": 8, "cuda": 4096}  # so large that the program does not become a graph


def vectors(device):
    x, y = (np.linspace(0.1, 1.0, 1000, dtype=np.float32) + k for k in range(2))
    return ng.tensor(x, device=device), ng.tensor(y, device=device)


def eager(device):
    x, y = vectors(device)
    return lambda: x * y


def number(device):
    x, _ = vectors(device)
    return lambda: x + 1


def recorded(device):
    x, y = vectors(device)
    x.requires_grad_()
    return lambda: x * y


def view(device):
    x, _ = vectors(device)
    return lambda: x[1:]


def total(device):
    x, _ = vectors(device)
    return lambda: x.sum()


def captured(device):
    x, y = vectors(device)
    function = ng.jit(lambda x, y: ng.sin(x * y) + x, fuse="now")
    return lambda: function(x, y)


def graph(device):
    x, y = vectors(device)

    @ng.jit(fuse="never")
    def function(x, y):
        for _ in range(7):
            x = x + ng.sin(y) * x
        return x

    return lambda: function(x, y)


def gradient(device):
    x, y = vectors(device)
    x.requires_grad_()
    y.requires_grad_()
    seed = ng.ones_like(x)
    return lambda: ng.grad(x * y, [x, y], seed)


def lorenz_96(device):
    n = RING[device]
    x = ng.tensor(8 + 0.01 * np.sin(np.arange(float(n))), device=device, requires_grad=True)
    rows = ng.tensor(np.eye(n), device=device)

    @ng.jit(fuse="now")
    def function(x, rows):
        y = lorenz(SimpleNamespace(roll=ng.roll), x, 10)
        return ng.grad(y, [x], rows, is_grads_batched=True)

    return lambda: function(x, rows)


def scanned(device):
    x, y = vectors(device)

    @ng.jit
    def function(x, y):
        return ng.scan(lambda c, _: (ng.sin(c) * y, None), x, length=100)[0]

    return lambda: function(x, y)


def scanned_backwards(device):
    x, y = vectors(device)

    def total(x, y):
        return ng.scan(lambda c, _: (ng.sin(c) * y, None), x, length=100)[0].sum()

    function = ng.jit(ng.func.grad(total, (0, 1)))
    return lambda: function(x, y)


def ensemble(device):
    x, y = [part.reshape(250, 4) for part in vectors(device)]

    def total(x, y):
        return ng.scan(lambda c, _: (c + 0.1 * ng.roll(c, 1) * y, None), x, length=100)[0].sum()

    function = ng.jit(ng.func.vmap(ng.func.grad(total)))
    return lambda: function(x, y)


CASES = {
    "x * y, eager": (eager, 2000), "x + 1, eager": (number, 2000),
    "x * y, recorded": (recorded, 2000), "x[1:], a view": (view, 3000),
    "x.sum(), eager": (total, 2000), "captured, three operations in a kernel": (captured, 2000),
    "captured, a graph of 21 launches": (graph, 300), "x * y with its gradient": (gradient, 200),
    "Lorenz-96, captured, 80 launches": (lorenz_96, 30), "a scan of 100 steps": (scanned, 20),
    "a scan of 100 steps with its gradient": (scanned_backwards, 10),
    "250 scans of 100 steps with gradients": (ensemble, 10),
}  # fmt: skip
"""Cases, and the calls over which each is measured."""

ON_A_STREAM = (
    "x * y, eager", "x * y, recorded", "captured, three operations in a kernel",
    "Lorenz-96, captured, 80 launches",
)  # fmt: skip
"""Cases that are also measured while a stream is chosen."""


def measured(call, calls):
    """Return the processor time of a call in microseconds."""
    gc.collect()
    gc.disable()
    begin = time.thread_time()
    for _ in range(calls):
        call()
    taken = time.thread_time() - begin
    gc.enable()
    return 1e6 * taken / calls


def costs():
    """Return for each case the least times on the processor and on the device, taken in turns."""
    found = {}
    ng.cuda.current_stream()._runtime.driver.RESIDENT = 132 * 2048  # as a large GPU has
    for name, (make, calls) in CASES.items():
        found[name] = compared(make, calls)
    with ng.cuda.stream(ng.cuda.Stream()):
        for name in ON_A_STREAM:
            found[f"{name}, on a stream"] = compared(*CASES[name])
    return found


def compared(make, calls):
    """Return the least times of a case on the processor and on the device, taken in turns."""
    ways = [make("cpu"), make("cuda")]
    for way in ways:
        for _ in range(WARM):
            way()
    rounds = [[measured(way, calls) for way in ways] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


if __name__ == "__main__":
    begin(is_idle=True)
    FOUND = costs()
    if "--json" in sys.argv:
        print(json.dumps(FOUND))
    else:
        print(f"{'us':<54}{'processor':>10}{'device':>10}{'ratio':>8}")
        for name, (here, there) in FOUND.items():
            print(f"{name:<54}{here:>10.2f}{there:>10.2f}{there / here:>8.2f}")
