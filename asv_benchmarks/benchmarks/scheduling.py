"""What it costs to make a program ready to run, per instruction, however long it is."""

from collections.abc import Callable
from time import process_time

import numpy as np

import numgrad as ng
from numgrad.engine.fusion.assemble import fuse
from numgrad.engine.lower.lower import lower
from numgrad.engine.record.apply import deferring, runtime
from numgrad.targets.cpu.schedule.encode import encode
from numgrad.targets.cpu.schedule.schedule import schedule

ROUNDS = 5
STATE = 32


def advance(x):
    """One explicit step of Lorenz-96, with neighbours on a ring."""
    slope = (ng.roll(x, -1) - ng.roll(x, 2)) * ng.roll(x, 1) - x
    return x + 0.01 * slope


def integrated(instructions):
    """Return the state after as many steps as make so many instructions, not computed yet."""
    with ng.no_grad(), deferring(True):
        x = ng.tensor(np.linspace(0.0, 1.0, STATE))
        each = len(lower([advance(x)], runtime.target).instructions)
        for _ in range(instructions // each):
            x = advance(x)
    return x


def cost(function: Callable[[], object], count: int) -> float:
    """Return the microseconds of processor time per item of the fastest of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = process_time()
        function()
        best = min(best, process_time() - began)
    return best / count * 1e6


class Preparing:
    """Lowering, scheduling and fusing a program of a thousand and of ten thousand instructions."""

    params = ([1_000, 10_000],)
    param_names = ("instructions",)
    unit = "microseconds of processor time per instruction"

    def setup(self, instructions):
        self.value = integrated(instructions)
        self.program = self.lowered()
        self.count = len(self.program.instructions)

    def lowered(self):
        return lower([self.value], runtime.target)

    def scheduled(self):
        return encode(schedule(self.program, runtime.target), self.program, runtime.target)

    def track_lowering(self, instructions):
        return cost(self.lowered, self.count)

    def track_scheduling(self, instructions):
        return cost(self.scheduled, self.count)

    def track_fusing(self, instructions):
        return cost(lambda: fuse(self.program), self.count)
