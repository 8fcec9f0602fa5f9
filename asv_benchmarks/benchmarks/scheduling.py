"""What it costs to make a program ready to run, per instruction: it must not grow with the length."""

from collections.abc import Callable
from time import perf_counter

import numpy as np

import numgrad as ng
from numgrad.engine.capture import argument
from numgrad.engine.encode import encode
from numgrad.engine.fuse import fuse
from numgrad.engine.graph import Spec
from numgrad.engine.lower import lower
from numgrad.engine.record import deferring, runtime
from numgrad.engine.schedule import schedule

ROUNDS = 5
STATE = 32


def advance(x):
    """One explicit step of Lorenz-96, with neighbours on a ring: 11 instructions."""
    slope = (ng.roll(x, -1) - ng.roll(x, 2)) * ng.roll(x, 1) - x
    return x + 0.01 * slope


def integrated(instructions):
    """Return the state after so many steps as expressions, and the number of instructions."""
    with ng.no_grad(), deferring(True):
        x = argument(0, Spec((STATE,), np.dtype(float), False))
        steps = 0
        while True:
            x = advance(x)
            steps += 1
            if steps == 1:
                each = len(lower([x], runtime.target).instructions)
            if steps * each >= instructions:
                return x


def cost(function: Callable[[], object], count: int) -> float:
    """Return the microseconds per instruction of the fastest of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = perf_counter()
        function()
        best = min(best, perf_counter() - began)
    return best / count * 1e6


class Preparing:
    """Lowering, scheduling and fusing a program of a thousand and of ten thousand instructions."""

    params = ([1_000, 10_000],)
    param_names = ("instructions",)
    unit = "microseconds per instruction"

    def setup(self, instructions):
        self.value = integrated(instructions)
        self.program = self.lowered()
        self.count = len(self.program.instructions)

    def lowered(self):
        return lower([self.value], runtime.target)

    def scheduled(self):
        return encode(schedule(self.program, runtime.target), self.program)

    def track_lowering(self, instructions):
        return cost(self.lowered, self.count)

    def track_scheduling(self, instructions):
        return cost(self.scheduled, self.count)

    def track_fusing(self, instructions):
        return cost(lambda: fuse(self.program, runtime.target), self.count)
