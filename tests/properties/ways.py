"""The ways to compute a graph and its gradients, which must all give the same bits."""

import dataclasses
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.engine.graph.value import ForeignStorage
from numgrad.engine.record import apply
from numgrad.engine.replay import plan_cache
from numgrad.ir import program
from numgrad.targets.cpu.schedule import schedule
from numgrad.testing.comparison import inner
from numgrad.testing.invariants import agree
from numgrad.testing.subject import random_like, value

from .random_graphs import Graph

Arrays = Sequence[np.ndarray]
OPTIONS: dict[str, Any] = {"allow_unused": True, "materialize_grads": True, "retain_graph": True}
BROADCAST = 4
FEW, MANY = 2, 70
"""Seeds that are enough, where each costs a pass; and more than the rows of a tile."""


@dataclasses.dataclass(frozen=True)
class Setup:
    """How programs run.

    Attributes
    ----------
    elements, block : int
        From how many elements on a loop is run a tile of elements at a time, and of what a tile
        is made; small, so that small arrays have many tiles.
    """

    fuse: str = "never"
    tile: int = 0
    threads: int = 1
    elements: int = 1 << 30
    block: int = 1024
    debug: bool = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Run programs in this way, and nothing from before again."""
        target = apply.runtime.target
        flags = ng.get_flags("fuse", "tile", "debug")
        constants = [
            (program, "MANY_ELEMENTS"), (schedule, "ELEMENT_BLOCK"), (schedule, "PARALLEL_WORK"),
        ]  # fmt: skip
        before = [getattr(*constant) for constant in constants]
        threads = target.num_threads
        try:
            target.set_num_threads(min(self.threads, threads))
            work = 0 if self.threads > 1 else before[2]
            given = (self.elements, self.block, work)
            for constant, number in zip(constants, given, strict=True):
                setattr(*constant, number)
            ng.set_flags(fuse=self.fuse, tile=self.tile, debug=self.debug)
            plan_cache.forget()
            yield
        finally:
            target.set_num_threads(threads)
            for constant, number in zip(constants, before, strict=True):
                setattr(*constant, number)
            ng.set_flags(**flags)
            plan_cache.forget()


def draw_setup(rng: random.Random, fuse: str) -> Setup:
    """Return a random setup."""
    return Setup(
        fuse,
        rng.choice((0, 1, 2, 3, 7, 64)),
        rng.choice((1, 2)),
        rng.choice((1, 2, 16, 1 << 15)),
        rng.choice((1, 3, 16, 1024)),
        rng.random() < 0.5,
    )


class Check:
    """Computes one graph in many ways; raises where two differ.

    Parameters
    ----------
    graph : Graph
    fuse : {"never", "now"}
        Whether some of the ways fuse the programs, which compiles kernels.
    """

    def __init__(self, graph: Graph, fuse: str = "never") -> None:
        self.graph = graph
        self.rng = np.random.default_rng(graph.numbers)
        choices = random.Random(graph.numbers)
        self.setups = [draw_setup(choices, "never"), draw_setup(choices, fuse)]
        self.exact = graph.has("exact")
        single = any(a.dtype == np.float32 for a in graph.inputs) or any(
            step.name in ("single", "half") for step in graph.steps
        )
        self.precision = float(np.finfo(np.float32 if single else float).eps)
        rows = choices.choice((1, 2, 3, 4, 5, 6, 9, 0, 2, 3, 4, MANY))
        template = np.empty(graph.shape, graph.dtype)
        self.seeds = random_like(self.rng, template, (rows,))
        self.layout = choices.randrange(5)
        if self.layout == BROADCAST and rows:
            self.seeds[:] = self.seeds[0]
        first = graph.inputs[0]
        self.shares = rows > 0 and (first.shape, first.dtype) == (graph.shape, graph.dtype)

    def run(self) -> None:
        """Compare all ways, and the gradient with finite differences."""
        with np.errstate(all="ignore"):
            with Setup().active():
                self.expected = self.looped(self.graph.inputs)
                self.second = self.second_order(self.graph.inputs, self.seeds[:1])
                self.own = self.shared([a.copy() for a in self.graph.inputs], False)
                self.check_value()
                if self.graph.has("smooth") and self.graph.has("exact"):
                    self.check_differences()
            for setup in self.setups:
                with setup.active():
                    self.check(setup)

    def check(self, setup: Setup) -> None:
        """Compare what is computed in one setup with what was computed plainly."""
        inputs, others = self.graph.inputs, self.graph.others
        self.require(self.batched(inputs), "batched", setup)
        self.batched(others)  # leaves a plan, which the next pass runs
        self.require(self.batched(inputs), "batched again", setup)
        self.require(self.looped(inputs, FEW), "looped", setup)
        self.looped(others, 1)
        self.require(self.looped(inputs, FEW), "looped again", setup)
        if self.shares:
            found = [self.shared(inputs) for _ in range(3)]
            self.require_same(found[-1], self.own, "with a seed that is an input", setup)
        found = self.second_order(inputs, self.seeds[:1])
        self.require_same(found, self.second, "second order", setup)
        self.require(self.hooked(inputs), "looped with hooks", setup)
        self.require(self.batched(inputs, create_graph=True), "batched with a graph", setup)
        self.check_captured(setup)
        self.check_differentiated(setup)
        self.check_ensemble(setup)

    def check_captured(self, setup: Setup) -> None:
        """Compare a recording of value and gradients, replayed with other numbers."""
        seeds = self.laid_out(self.seeds)
        jitted = ng.jit(lambda inputs, seeds: self.everything(inputs, seeds), fuse=setup.fuse)
        inputs = [np.array(a) for a in self.graph.inputs]
        others = [np.array(a) for a in self.graph.others]
        first = jitted(others, seeds)
        outs = [np.empty_like(a) for a in first]
        for name, found in (
            ("jit", jitted(inputs, seeds)),
            ("jit with out=", jitted(inputs, seeds, out=outs)),
        ):
            self.require(found, name, setup)
        donating = ng.jit(
            lambda inputs, seeds: self.everything(inputs, seeds),
            fuse=setup.fuse, donate_argnums=(0, 1),
        )  # fmt: skip
        donating([a.copy() for a in others], seeds.copy())
        self.require(donating([a.copy() for a in inputs], seeds.copy()), "donated", setup)

    def check_differentiated(self, setup: Setup) -> None:
        """Compare gradients of a recording of the value, from outside."""
        jitted = ng.jit(self.graph, fuse=setup.fuse)
        for point in (self.graph.others, self.graph.inputs):
            variables = self.variables(point)
            output = jitted(*variables)
            found = ng.grad(
                output, variables, self.laid_out(self.seeds), is_grads_batched=True, **OPTIONS
            )
        self.require([value(a) for a in (output, *found)], "differentiated jit", setup)

    def check_ensemble(self, setup: Setup) -> None:
        """Compare members of an ensemble, value and gradients, with single calls."""
        if not len(self.seeds):
            return

        def member(inputs: Any, seed: Any) -> list[Any]:
            variables = [x.clone().requires_grad_() for x in inputs]
            output = self.graph(*variables)
            return [output, *ng.grad(output, variables, seed, **OPTIONS)]

        count = min(len(self.seeds), FEW)
        pairs = zip(self.graph.inputs, self.graph.others, strict=True)
        members = [np.stack([a] * count + [b]) for a, b in pairs]
        found = ng.jit(member, ensemble=True, fuse=setup.fuse)(
            members, np.concatenate([self.seeds[:count], self.seeds[:1]])
        )
        self.require([found[0][0], *(a[:count] for a in found[1:])], "looped by members", setup)

    # Ways -----------------------------------------------------------------------------------------

    def variables(self, inputs: Arrays) -> list[Tensor]:
        return [Tensor(a, True, ForeignStorage()) for a in inputs]

    def looped(self, inputs: Arrays, most: int = MANY) -> list[np.ndarray]:
        """Return the value, and the gradients for some seeds by a pass for each."""
        variables = self.variables(inputs)
        output = self.graph(*variables)
        rows = []
        for seed in self.seeds[:most]:
            found = ng.grad(output, variables, self.laid_out(seed), **OPTIONS)
            rows.append([value(g) for g in found])
        return [value(output), *(
            np.stack([row[n] for row in rows]) if rows else np.zeros((0, *a.shape), a.dtype)
            for n, a in enumerate(inputs)
        )]  # fmt: skip

    def batched(self, inputs: Arrays, **options: bool) -> list[np.ndarray]:
        """Return the value and the gradients for all seeds, by one pass."""
        found = self.everything(self.variables(inputs), self.laid_out(self.seeds), **options)
        return [value(a) for a in found]

    def everything(self, inputs: Any, seeds: Any, **options: bool) -> list[Any]:
        """Return the value and the gradients for all seeds."""
        variables = [x if x.requires_grad else x.clone().requires_grad_() for x in inputs]
        output = self.graph(*variables)
        options = {**OPTIONS, **options}
        return [output, *ng.grad(output, variables, seeds, is_grads_batched=True, **options)]

    def hooked(self, inputs: Arrays) -> list[np.ndarray]:
        """Return the value and the gradients for some seeds, past hooks that look at them."""
        variables = self.variables(inputs)
        output = self.graph(*variables)
        for x in (*variables, output):
            if x.requires_grad:
                x.register_hook(lambda g: None)
        found = ng.grad(output, variables, self.seeds[:FEW], is_grads_batched=True, **OPTIONS)
        return [value(a) for a in (output, *found)]

    def second_order(self, inputs: Arrays, seeds: np.ndarray) -> list[np.ndarray]:
        """Return the gradients of a product with the first gradients."""
        if not len(seeds):
            return []
        variables = self.variables(inputs)
        output = self.graph(*variables)
        first = ng.grad(output, variables, seeds[0], create_graph=True, **OPTIONS)
        live = [g for g in first if g.requires_grad]
        if not live:
            return []
        weights = [np.cos(np.arange(g.size).reshape(g.shape)).astype(g.dtype) for g in live]
        return [value(g) for g in ng.grad(live, variables, weights, **OPTIONS)]

    def shared(self, inputs: Arrays, shares: bool = True) -> list[np.ndarray]:
        """Return the gradients for a seed that is the array of the first input, or its copy."""
        if not self.shares:
            return []
        variables = [Tensor(a, True) for a in inputs]  # whose arrays are saved themselves
        seed = inputs[0] if shares else inputs[0].copy()
        return [value(g) for g in ng.grad(self.graph(*variables), variables, seed, **OPTIONS)]

    def laid_out(self, seeds: np.ndarray) -> np.ndarray:
        """Return equal seeds that lie in memory in another way."""
        if not seeds.ndim or self.layout < 2:
            return seeds
        if self.layout == 2:
            return seeds[::-1].copy()[::-1]
        if self.layout == BROADCAST and len(seeds) and seeds.ndim > len(self.graph.shape):
            return np.broadcast_to(seeds[0].copy(), seeds.shape)
        return np.asfortranarray(seeds)

    # Comparisons ----------------------------------------------------------------------------------

    def require(self, found: Sequence[Any], what: str, setup: Setup) -> None:
        """Raise unless value and gradients are those that were computed plainly."""
        for n, (a, b) in enumerate(zip(found, self.expected, strict=True)):
            looped = n > 0 and what.startswith("looped")
            name = f"{what}: gradient {n - 1}" if n else f"{what}: the value"
            self.require_equal(np.asarray(a), b[:FEW] if looped else b, name, setup)

    def require_same(
        self, found: Arrays, expected: Arrays, what: str, setup: Setup
    ) -> None:
        for n, (a, b) in enumerate(zip(found, expected, strict=True)):
            self.require_equal(a, b, f"{what}: gradient {n}", setup)

    def is_near(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Whether two arrays are equal to what rounding costs in a few steps."""
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        scale = np.max(np.abs(b), initial=1.0, where=np.isfinite(b))
        return np.allclose(a, b, 0, 1e5 * self.precision * scale, equal_nan=True)

    def require_equal(self, a: np.ndarray, b: np.ndarray, what: str, setup: Setup) -> None:
        if not (agree(a, b, True) if self.exact else self.is_near(a, b)):
            raise AssertionError(f"{what} differs in {setup}\n{self.graph}\n{a}\ninstead of\n{b}")

    def check_value(self) -> None:
        """Compare the value with NumPy's."""
        found, expected = self.expected[0], self.graph(*self.graph.inputs, xp=np)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), self.graph
        if self.graph.has("smooth"):
            assert self.is_near(found, expected), f"the value is not NumPy's\n{self.graph}"

    def check_differences(self) -> None:
        """Compare the first row of gradients with differences, where these are good."""
        inputs = self.graph.inputs
        if not len(self.seeds) or any(a.dtype != np.float64 for a in inputs):
            return
        gradients = [g[0] for g in self.expected[1:]]
        directions = [random_like(self.rng, a) for a in inputs]
        found = inner(gradients, directions)
        scale = sum(float(np.sum(np.abs(g))) for g in gradients) + 1.0
        coarse, fine = self._difference(directions, 1e-3), self._difference(directions, 5e-4)
        error = max(abs(fine - coarse), self._rounding() / 5e-4)
        if np.isfinite(scale) and error < 1e-3 * scale:
            assert abs(fine - found) <= 5 * error + 1e-6 * scale, (
                f"the gradient is {found}, differences give {fine}\n{self.graph}"
            )

    def _rounding(self) -> float:
        """What rounding may change in the sum of a row: large values can cancel in what follows."""
        values = self.graph.values(self.graph.inputs, np)
        largest = max(float(np.max(np.abs(value), initial=0.0)) for value in values)
        return float(np.spacing(largest) * np.sum(np.abs(self.seeds[0])))

    def _difference(self, directions: Arrays, h: float) -> float:
        inputs = self.graph.inputs
        ends = [
            self.graph(*[a + s * h * d for a, d in zip(inputs, directions, strict=True)], xp=np)
            for s in (1, -1)
        ]
        return float(np.sum((ends[0] - ends[1]) * self.seeds[0])) / (2 * h)
