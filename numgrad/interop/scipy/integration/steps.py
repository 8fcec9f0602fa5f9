"""Explicit Runge-Kutta steps, and the discrete adjoint of a run of them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._autograd import Function
from ...._tensor import Tensor, tensor
from ....engine.record.apply import mode
from ....func.forward import push
from ....func.gradients import Evaluation
from ....functions.creation.constants import zeros
from ....functions.creation.from_data import asarray
from ....functions.shape.joining import stack
from ..implicit.closures import Closure, Met
from ..implicit.derived import Captured

FIXED = ("Euler", "RK4")
ADAPTIVE = ("RK23", "RK45", "DOP853")


def tableau(method: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the matrix, the weights and the nodes of a method (Butcher's tableau)."""
    if method == "Euler":
        return np.zeros((1, 1)), np.ones(1), np.zeros(1)
    if method == "RK4":
        nodes = np.array([0.0, 0.5, 0.5, 1.0])
        return np.diag(nodes[1:], -1), np.array([1.0, 2.0, 2.0, 1.0]) / 6.0, nodes
    from scipy import integrate

    solver = getattr(integrate, method)
    n = solver.n_stages
    return solver.A[:n, :n], solver.B, solver.C[:n]


class Step:
    """One step of a method: a function of state, time, size and parameters."""

    def __init__(self, slope: Callable[..., Tensor], method: str, closure: Closure) -> None:
        self.slope, self.closure = slope, closure
        self.matrix, self.weights, self.nodes = tableau(method)

    def __call__(self, y: Any, t: Any, h: Any, *params: Any) -> Any:
        """Return the state at ``t + h``."""
        stages: list[Tensor] = []
        for row, node in zip(self.matrix, self.nodes, strict=True):
            stages.append(self.slope(_plus(y, h, row, stages), t + node * h, *params))
        return _plus(y, h, self.weights, stages)

    def pulled(self, w: Any, y: Any, t: Any, h: Any, *params: Any) -> Any:
        """Return the cotangents of the state, of the parameters and of closed-over tensors, for one
        ``w`` or for a batch."""
        places = 0, *range(3, 3 + len(params))
        at = Met(self, (y, t, h, *params), places, self.closure)
        return tuple(at.pulled([w], batched=w.ndim == 2))

    def pushed(self, dy: Any, y: Any, t: Any, h: Any, *both: Any) -> Any:
        """Return the tangent of the next state, for one ``dy`` or for a batch; ``both`` are the
        parameters, then their tangents."""
        params, tangents = both[: len(both) // 2], both[len(both) // 2 :]
        places = 0, *range(3, 3 + len(params))
        at = Evaluation(self, (y, t, h, *params), places, "solve_ivp")
        seeds = [asarray(v) for v in (dy, *tangents)]
        return push(at.leaves, at.variables.leaves, seeds, False, batched=seeds[0].ndim == 2)[0]


def _plus(y: Any, h: Any, weights: np.ndarray, stages: Sequence[Any]) -> Any:
    for weight, stage in zip(weights, stages, strict=False):
        if weight != 0.0:
            y = y + (h * float(weight)) * stage
    return y


def stepped(step: Callable[..., Any], y: Any, times: np.ndarray, args: Sequence[Any]) -> list[Any]:
    """Return the states after steps to given times, beginning with the start."""
    states = [y]
    for t, h in zip(times[:-1], np.diff(times), strict=True):
        states.append(step(states[-1], float(t), float(h), *args))
    return states


class Run:
    """A sequence of steps: its states, and the times of the wanted states.

    A state between two steps is one more step from the last state before it.
    """

    def __init__(
        self, step: Step, times: np.ndarray, states: np.ndarray, wanted: np.ndarray, jit: bool
    ) -> None:
        self.step, self.times, self.states, self.jit = step, times, states, jit
        direction = 1.0 if times[-1] >= times[0] else -1.0
        after = np.searchsorted(direction * times, direction * wanted, side="right") - 1
        self.from_state = np.clip(after, 0, times.size - 1)
        self.sizes = wanted - times[self.from_state]

    def values(self, params: Sequence[np.ndarray]) -> np.ndarray:
        """Return the wanted states."""
        step = Captured(self.step, self.jit, "solve_ivp")
        found = self._wanted(step, self.states, self.step.closure.given(params))
        return np.array(found).reshape(self.sizes.size, self.states.shape[1])

    def recorded(self, y: Tensor, *params: Tensor) -> Tensor:
        """Return the wanted states, recorded with all steps that lead to them."""
        states = stepped(self.step, y, self.times, params)
        return stack(self._wanted(self.step, states, params))

    def _wanted(self, step: Callable[..., Any], states: Any, params: Sequence[Any]) -> list[Any]:
        return [
            states[k] if h == 0.0 else step(states[k], float(self.times[k]), float(h), *params)
            for k, h in zip(self.from_state, self.sizes, strict=True)
        ]

    def pulled(self, g: np.ndarray, params: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the cotangents of the start and of the parameters, for cotangents of the wanted
        states: steps backwards, each from the state that was kept."""
        back = Captured(self.step.pulled, self.jit, "solve_ivp")
        w = np.zeros((*g.shape[:-2], g.shape[-1]))
        sums = [np.zeros((*w.shape[:-1], *p.shape)) for p in params]
        given = self.step.closure.given(params)

        def through(w: np.ndarray, k: int, h: float) -> np.ndarray:
            gy, *gparams = back(w, self.states[k], self.times[k], h, *given)
            for total, part in zip(sums, gparams, strict=True):
                total += part
            return gy

        for k in range(self.times.size - 1, -1, -1):
            if k + 1 < self.times.size:
                w = through(w, k, self.times[k + 1] - self.times[k])
            for n in np.flatnonzero(self.from_state == k):
                h, gn = self.sizes[n], np.ascontiguousarray(g[..., n, :])
                w = w + (gn if h == 0.0 else through(gn, k, h))
        return [w, *sums]

    def pushed(
        self, dy: np.ndarray, params: Sequence[np.ndarray], tangents: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return the tangents of the wanted states, for tangents of the start and of the
        parameters."""
        along = Captured(self.step.pushed, self.jit, "solve_ivp")
        steps = [dy]
        for k, h in enumerate(np.diff(self.times)):
            steps.append(along(steps[-1], self.states[k], self.times[k], h, *params, *tangents))
        wanted = [
            steps[k] if h == 0.0
            else along(steps[k], self.states[k], self.times[k], h, *params, *tangents)
            for k, h in zip(self.from_state, self.sizes, strict=True)
        ]  # fmt: skip
        return np.stack(wanted, -2) if wanted else np.zeros((*dy.shape[:-1], 0, dy.shape[-1]))


class DiscreteAdjoint(Function):
    """The wanted states of a run, as a function of its start and of parameters."""

    takes_batch = True

    @staticmethod
    def forward(ctx: Any, run: Run, y0: Tensor, *params: Tensor) -> Tensor:
        ctx.run = run
        ctx.save_for_backward(y0, *params)
        return tensor(run.values([p.numpy() for p in params]))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        y0, *params = ctx.saved_tensors
        if not mode.grad:
            numbers = [p.detach().numpy() for p in params]
            return (None, *[tensor(part) for part in ctx.run.pulled(g.numpy(), numbers)])
        closure = ctx.run.step.closure
        given = closure.given(params)
        at = Met(ctx.run.recorded, (y0, *given), range(1 + len(given)), closure)
        return None, *at.pulled([g], batched=g.ndim == 3)


class ClosedRun(DiscreteAdjoint):
    """A run whose slope closes over no tensor, so that it has a forward mode as well."""

    @staticmethod
    def jvp(ctx: Any, _: Any, *given: Any) -> Any:
        primals = ctx.saved_tensors
        pairs = list(zip(given, primals, strict=True))
        lead = next(t.shape[: t.ndim - p.ndim] for t, p in pairs if t is not None)
        tangents = [
            zeros((*lead, *p.shape), p.dtype) if t is None else t for t, p in pairs
        ]
        if not mode.grad:
            _, *params = [p.detach().numpy() for p in primals]
            dy, *others = [t.numpy() for t in tangents]
            return tensor(ctx.run.pushed(dy, params, others))
        at = Evaluation(ctx.run.recorded, primals, range(len(primals)), "solve_ivp")
        return push(at.leaves, at.variables.leaves, tangents, True, batched=bool(lead))[0]
