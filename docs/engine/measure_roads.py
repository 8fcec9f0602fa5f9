"""What the roads of ``roads.md`` take, for small arrays: ``python docs/engine/measure_roads.py``.

Microseconds, the least of many rounds that take turns in one process: each is the mean of 20 calls.
"""

from collections.abc import Callable
from inspect import getclosurevars
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.replay import plan_cache
from numgrad.functions.reduction import reduction

ROUNDS, CALLS = 60, 20
NEVER = -(10**9)

lengths = count(100)
x = ng.tensor(np.linspace(0.5, 1.5, 8), requires_grad=True)
array = np.linspace(0.5, 1.5, 8)


def reference(call: Callable[[], Any]) -> Callable[[], float]:
    """Time a call on the reference path."""

    def timed() -> float:
        ng.set_flags(path="reference")
        try:
            call()
            return seconds(call)
        finally:
            ng.set_flags(path="default")

    return timed


def seconds(call: Callable[[], Any]) -> float:
    began = perf_counter()
    for _ in range(CALLS):
        call()
    return (perf_counter() - began) / CALLS


def exp_by_plan() -> float:
    registry["exp"].forget_plans()
    ng.exp(x)
    plan = registry["exp"].kinds[x.spec]
    plan.recorder, plan.uses = None, NEVER
    return seconds(lambda: ng.exp(x))


def exp_by_recorder() -> float:
    registry["exp"].forget_plans()
    return operation(lambda: ng.exp(x))


def on_new_lengths(call: Callable[[Any], Any]) -> float:
    """Time calls on arrays of lengths that were never met, after some of other lengths."""
    inputs = [ng.tensor(np.ones(next(lengths)), requires_grad=True) for _ in range(CALLS)]
    began = perf_counter()
    for given in inputs:
        call(given)
    return (perf_counter() - began) / CALLS


def sum_by_steps(recorded: bool) -> float:
    steps = getclosurevars(reduction.sum).nonlocals["reduced"]
    steps.forget_plans()
    registry["sum"].forget_plans()
    for _ in range(130):
        x.sum()
    if not recorded:
        for plans in steps.plans.values():
            for plan in plans:
                plan.recorder, plan.uses = None, NEVER
    call = steps._call if not recorded else steps.call
    return seconds(lambda: call(x, None, False))


def operation(call: Callable[[], Any]) -> float:
    for _ in range(130):
        call()
    return seconds(call)


def grad(passes: int) -> float:
    """Time pass number ``passes`` over a graph that nothing is known of."""
    total = 0.0
    for _ in range(CALLS):
        plan_cache.forget()
        for _ in range(passes):
            y = ng.sin(x) * x + ng.exp(x)
            began = perf_counter()
            ng.grad(y, x)
            last = perf_counter() - began
        total += last
    return total / CALLS


def one_pass(x: Any = x) -> None:
    ng.grad(ng.sin(x) * x + ng.exp(x), x)


captured = ng.jit(lambda x: ng.sin(x) * x + ng.exp(x))
of_pair = ng.jit(lambda pair: ng.sin(pair[0]) * pair[0] + ng.exp(pair[1]))
out = np.empty(8)

ROADS: list[tuple[str, Callable[[], float]]] = [
    ("exp(x): general", reference(lambda: ng.exp(x))),
    ("exp(x): plan of another shape", lambda: on_new_lengths(ng.exp)),
    ("exp(x): plan", exp_by_plan),
    ("exp(x): recorder", exp_by_recorder),
    ("x.sum(): general", reference(lambda: x.sum())),
    ("x.sum(): plan of the options", lambda: sum_by_steps(False)),
    ("x.sum(): finder", lambda: sum_by_steps(True)),
    ("y and grad(y, x): rules, program made", reference(one_pass)),
    ("y and grad(y, x): new shapes", lambda: on_new_lengths(one_pass)),
    ("y and grad(y, x): walk", lambda: operation(one_pass)),
    ("grad(y, x): computed at once", lambda: grad(1)),
    ("grad(y, x): program made and kept", lambda: grad(2)),
    ("grad(y, x): found by its key", lambda: grad(3)),
    ("grad(y, x): found by a walk", lambda: grad(4)),
    ("captured: programs", reference(lambda: captured(array))),
    ("captured: entry, tuple of arrays", lambda: operation(lambda: of_pair((array, array)))),
    ("captured: entry, array", lambda: operation(lambda: captured(array))),
    ("captured: entry, array, out=", lambda: operation(lambda: captured(array, out=out))),
]


def main() -> None:
    least = {name: float("inf") for name, _ in ROADS}
    for _ in range(ROUNDS):
        for name, road in ROADS:
            least[name] = min(least[name], road())
    for name, value in least.items():
        print(f"| {name} | {1e6 * value:.3g} |")


if __name__ == "__main__":
    main()
