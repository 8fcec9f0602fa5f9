"""What the first call of a captured function costs before its program runs, per expression."""

from functools import partial

import numpy as np

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.engine.fusion.assemble import fuse
from numgrad.engine.graph.value import Spec
from numgrad.func.tracing.trace import placeholder, record
from numgrad.process.gc_pause import paused

from .scheduling import cost

CELLS = 1000


def advance(u, between, none):
    """One explicit step of the heat equation between insulated ends."""
    flux = ng.concatenate([none, between * (u[1:] - u[:-1]), none])
    return u + 0.4 * (flux[1:] - flux[:-1])


def misfit(conductivity, u, observed, none, steps):
    """Return how far the state after so many steps is from an observation."""
    between = 0.5 * (conductivity[1:] + conductivity[:-1])
    for _ in range(steps):
        u = advance(u, between, none)
    return ((u - observed) ** 2).sum()


class Capturing:
    """Capturing the gradient of some hundred steps, and making its program."""

    params = ([20, 200],)
    param_names = ("steps",)
    unit = "microseconds of processor time per expression"

    def setup(self, steps):
        self.function = ng.func.grad(partial(misfit, steps=steps))
        self.recording = self.recorded()
        self.count = len(self.recording.exprs)
        self.programs()

    def recorded(self):
        """Record the function anew."""
        sizes = (CELLS, CELLS, CELLS, 1)
        specs = [Spec((n,), np.dtype(np.float64)) for n in sizes]
        arguments = [placeholder(Tensor, n, spec, False) for n, spec in enumerate(specs)]
        with paused():
            return record("misfit", lambda given: [self.function(*given)], arguments, "never")

    def programs(self):
        """Make the programs of the recording anew."""
        self.recording.__dict__.pop("stages", None)
        return self.recording.stages

    def track_recording(self, steps):
        return cost(self.recorded, self.count)

    def track_programs(self, steps):
        return cost(self.programs, self.count)


class Fusing:
    """Finding out what to fuse in the gradient of some hundred steps; nothing is compiled."""

    params = ([20, 200],)
    param_names = ("steps",)
    unit = "microseconds of processor time per instruction"

    def setup(self, steps):
        capturing = Capturing()
        capturing.setup(steps)
        (stage,) = capturing.programs().stages
        self.program = stage.plan.program

    def track_fusing(self, steps):
        with paused():
            return cost(lambda: fuse(self.program), len(self.program.instructions))


class Eager:
    """A chain of operations that was never seen, its pass and what makes it ready to run."""

    params = ([100, 1000],)
    param_names = ("nodes",)
    unit = "microseconds of processor time per node"

    def setup(self, nodes):
        self.length = nodes
        self.unseen()

    def unseen(self):
        """Record and differentiate a chain that is one longer than the last one."""
        self.length += 1
        x = ng.tensor(np.linspace(0.0, 1.0, 8), requires_grad=True)
        y = x
        for _ in range(self.length):
            y = ng.sin(y)
        return ng.grad(y.sum(), x)

    def track_chain(self, nodes):
        return cost(self.unseen, nodes)


__all__ = ["Capturing", "Eager", "Fusing"]
