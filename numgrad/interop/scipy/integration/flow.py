"""Derivatives of states of an initial value problem with respect to their times: the flow of the
problem over no time."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._autograd import Function
from ...._tensor import Tensor, tensor
from ....engine.record.apply import mode
from ....functions.reduction.reduction import sum as _sum
from ....functions.shape.joining import concat, stack
from ..implicit.closures import Closure, Met
from ..implicit.functions import function
from ..implicit.parameters import number
from ..systems.linear import as_real

Field = Callable[[Tensor, Sequence[Tensor], Sequence[Tensor]], Sequence[Tensor]]
"""The slopes of states, as a function of the time, the states and parameters."""


class Flow(Function):
    """States at a time ``end``, as functions of the states at ``start``, of both times and of
    parameters, where the two times are the same number.

    The states are returned unchanged, and the derivatives, of any order, are those of the solution
    through these states. The adjoint of a flow is the flow of the adjoint problem back from ``end``
    to ``start``, over no time either: the first derivative needs only the slopes.
    """

    takes_batch = True

    @staticmethod
    def forward(
        ctx: Any, field: Field, count: int, start: Tensor, end: Tensor, *given: Tensor
    ) -> tuple[Tensor, ...]:
        states = tuple(state.clone() for state in given[:count])
        ctx.field, ctx.count = field, count
        ctx.save_for_backward(start, end, *states, *given[count:])
        return states

    @staticmethod
    def backward(ctx: Any, *g: Tensor) -> Any:
        start, end, *given = ctx.saved_tensors
        states, params = given[: ctx.count], given[ctx.count :]
        gend = _along(g, ctx.field(end, states, params), states)
        if not mode.grad:
            return None, None, -gend, gend, *g, *(None for _ in params)
        batch = g[0].shape[: g[0].ndim - states[0].ndim]
        sums = [tensor(np.zeros((*batch, *p.shape), p.dtype)) for p in params]
        back = AdjointField(ctx.field, len(states), bool(batch))
        there = (*states, *g, *sums)
        found = Flow.apply(back, len(there), end, start, *there, *params)
        before, found = found[: len(states)], found[len(states) :]
        gstart = -_along(found[: len(states)], ctx.field(start, before, params), states)
        return None, None, gstart, gend, *found


def _along(g: Sequence[Tensor], slopes: Sequence[Tensor], states: Sequence[Tensor]) -> Any:
    """Return the products of cotangents, which may have an axis for a batch, with slopes."""
    axes = [tuple(range(-state.ndim, 0)) for state in states]
    parts = [_sum(w * f, axis=a) for w, f, a in zip(g, slopes, axes, strict=True)]
    return sum(parts[1:], parts[0])


class AdjointField:
    """The slopes of states, of their cotangents, and of the sums of cotangents of parameters."""

    def __init__(self, field: "Slopes | AdjointField", count: int, batched: bool) -> None:
        self.field, self.count, self.batched, self.closure = field, count, batched, field.closure

    def __call__(
        self, t: Tensor, states: Sequence[Tensor], params: Sequence[Tensor]
    ) -> Sequence[Tensor]:
        """Return the slopes."""
        n, given = self.count, self.closure.given(params)
        at = Met(self._slopes, (t, *states[:n], *given), range(1 + n + len(given)), self.closure)
        found = at.pulled(states[n : 2 * n], self.batched)[1:]
        return *at.value(), *[-g for g in found]

    def _slopes(self, t: Tensor, *given: Tensor) -> Sequence[Tensor]:
        params = *given[self.count :], *self.closure.tensors
        return tuple(self.field(t, given[: self.count], params))


class Slopes:
    """The slope of one state, as a `Field`: of tensors where it is recorded, else from the function
    of the solver."""

    def __init__(self, slope: Callable[..., Tensor], hook: function, closure: Closure) -> None:
        self.slope, self.hook, self.closure = slope, hook, closure

    def __call__(
        self, t: Tensor, states: Sequence[Tensor], params: Sequence[Tensor]
    ) -> Sequence[Tensor]:
        """Return the slope."""
        if mode.grad:
            return (self.slope(states[0], t, *self.closure.given(params)),)
        return (tensor(self.hook.vector(states[0].numpy(), t.item())),)


class Times:
    """The times of a problem: numbers for a solver, and tensors for times that require grad."""

    def __init__(self, span: Sequence[Any], wanted: Any) -> None:
        first, last = span
        self.span = float(number(first)), float(number(last))
        self.first, self.last, self.wanted = (followed(t) for t in (first, last, wanted))
        self.has_tensors = any(isinstance(t, Tensor) for t in (first, last, wanted))
        self.are_chosen = wanted is not None

    @property
    def move(self) -> bool:
        """Whether one of the times requires grad."""
        return not (self.first is self.last is self.wanted is None)

    def begin(self, field: Slopes, y0: Tensor, params: Sequence[Tensor]) -> Tensor:
        """Return the start as a function of its time, if that requires grad: the state, at the
        present number of the time, of the solution through the start."""
        if self.first is None:
            return y0
        return moved(field, self.first, tensor(self.span[0]), y0, params)

    def states(
        self, field: Slopes, y: Tensor, t: np.ndarray, y0: Tensor, params: Sequence[Tensor]
    ) -> tuple[Any, Tensor]:
        """Return times and states as functions of the given times.

        Of the solver's own times only the ends of the interval are given ones.
        """
        if self.wanted is not None:
            return self.wanted, all_moved(field, t, self.wanted, y, params)
        if self.are_chosen or not self.move:
            return t, y
        times: Any = t
        if self.first is not None:
            times, y = concat([self.first[None], times[1:]]), concat([y0[None], y[1:]])
        if self.last is not None and t[-1] == self.span[1]:
            end = moved(field, tensor(t[-1]), self.last, y[-1], params)
            times, y = concat([times[:-1], self.last[None]]), concat([y[:-1], end[None]])
        return times, y


def followed(t: Any) -> Tensor | None:
    """Return a time, or several, as a tensor if it requires grad and gradients are recorded; else
    None."""
    is_followed = mode.grad and isinstance(t, Tensor) and t.requires_grad
    return as_real(t, "solve_ivp") if is_followed else None


def moved(field: Slopes, start: Tensor, end: Tensor, y: Tensor, params: Sequence[Tensor]) -> Tensor:
    """Return a state at one time as the state at another time, which is the same number."""
    return Flow.apply(field, 1, start, end, y, *params)[0]


def all_moved(
    field: Slopes, start: np.ndarray, end: Tensor, y: Tensor, params: Sequence[Tensor]
) -> Tensor:
    """Return states at several times as states at other times, which are the same numbers."""
    rows = [moved(field, tensor(at), end[n], y[n], params) for n, at in enumerate(start)]
    return stack(rows) if rows else y
