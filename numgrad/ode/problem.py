"""An initial value problem as functions of one vector, and the containers of the user around it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import ArgTypeError, DtypeError
from ..control.body import captured
from ..control.containers import Tree, line_of, results_of
from ..functions.shape.joining import concat, stack
from ..functions.shape.reshaping import reshape

FLOAT = np.dtype(float)


class Problem:
    """The right-hand side as a function of one vector, and the containers around it.

    Parameters
    ----------
    name : str
        The function of the user, for errors.
    f : callable
        The right-hand side.
    first, given : Tree
        The first state, and the parameters.
    event : callable, optional
        A function of the same arguments whose value is the second result of ``body``.
    """

    def __init__(
        self, name: str, f: Callable[..., Any], first: Tree, given: Tree,
        event: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        self._name, self._f, self._event = name, f, event
        self._first, self._given = first, given
        first.require_here()
        given.require_here()
        self._shapes = [shape for shape, _ in first.specs()]
        self._sizes = [int(np.prod(shape)) for shape in self._shapes]
        for n, (_, dtype) in enumerate(first.specs()):
            if dtype.kind not in "fiub" or dtype == np.float16:
                raise DtypeError(f"{first.place(n)} has dtype {dtype}; states are real numbers")
        if not sum(self._sizes):
            raise ArgTypeError(f"{name}: y0 holds no numbers")
        specs = [((sum(self._sizes),), FLOAT), ((), FLOAT), *given.specs()]
        self.body, self.closed_over = captured(f"ng.ode.{name}", self._slope, specs, f)

    def start(self) -> Any:
        """Return the first state as one vector."""
        return _joined(self._first.tensors())

    def parted(self, states: Any) -> Any:
        """Return states in the user's container; the last axis has the numbers of one state."""
        made, place = [], 0
        kinds = [dtype for _, dtype in self._first.specs()]
        for shape, size, dtype in zip(self._shapes, self._sizes, kinds, strict=True):
            part = reshape(states[..., place : place + size], (*states.shape[:-1], *shape))
            made.append(part.astype(dtype) if dtype == np.float32 else part)
            place += size
        return self._first.rebuild(made)

    def _slope(self, y: Any, t: Any, *params: Any) -> list[Any]:
        parts, place = [], 0
        for shape, size in zip(self._shapes, self._sizes, strict=True):
            parts.append(reshape(y[place : place + size], shape))
            place += size
        state, given = self._first.rebuild(parts), self._given.rebuild(params)
        result = self._f(state, t, *given)
        if len(self._shapes) == 1 and self._first.structure.num_nodes == 1:
            result = stack(list(result)) if isinstance(result, (list, tuple)) else result
        found, tree = results_of(result, f"{self._name}: what the function returns")
        self._require_alike(found, tree)
        made = [_joined(found)]
        return made if self._event is None else [*made, self._level(state, t, given)]

    def _level(self, state: Any, t: Any, given: Sequence[Any]) -> Any:
        """Return the value of the event."""
        result = self._event(state, t, *given)  # type: ignore[misc]
        found, _ = results_of(result, f"{self._name}: what the event returns")
        if len(found) != 1 or found[0].shape or found[0].dtype.kind not in "fiu":
            shown = ", ".join(f"{v.dtype} of shape {v.shape}" for v in found) or "nothing"
            raise ArgTypeError(
                f"{self._name}: the event returns {shown}, and must return one real number, which "
                f"is zero when the event happens: a - b for a comparison a < b, and the product of "
                f"several numbers"
            )
        return found[0].astype(FLOAT, copy=False)

    def _require_alike(self, found: Sequence[Any], tree: Tree) -> None:
        first = self._first
        if tree.structure != first.structure:
            is_one = len(found) == 1 and found[0].shape == (len(self._shapes),)
            instead = (
                "; write np.array(y0) for a state that is one array"
                if is_one and not any(self._shapes)
                else ""
            )
            raise ArgTypeError(
                f"{self._name}: the function returns another structure than y0 "
                f"({line_of(found[0], self._f) if found else ''}): {tree.structure} instead of "
                f"{first.structure}{instead}"
            )
        for n, (value, shape) in enumerate(zip(found, self._shapes, strict=True)):
            if value.shape != shape:
                raise ArgTypeError(
                    f"{first.place(n)} has shape {shape}, and the function returns there a slope "
                    f"of shape {value.shape}, made at {line_of(value, self._f)}"
                )
            if value.dtype.kind not in "fiub":
                raise DtypeError(
                    f"{first.place(n)} is real, and the function returns there {value.dtype}, made "
                    f"at {line_of(value, self._f)}"
                )


def _joined(parts: Sequence[Any]) -> Any:
    flat = [reshape(part, -1).astype(FLOAT, copy=False) for part in parts]
    return concat(flat) if len(flat) > 1 else flat[0]


def times_of(name: str, t: Any) -> Any:
    """Return times as a tensor with one axis."""
    given = Tree(t, f"{name}: t")
    given.require_here()
    times = stack(t) if isinstance(t, (list, tuple)) else given.tensors()[0]
    if len(times.shape) != 1 or not times.shape[0] or times.dtype.kind not in "fiu":
        raise ArgTypeError(
            f"{name}: t must be one axis of times, the first of them that of y0, got {times.dtype} "
            f"of shape {times.shape}"
        )
    return times.astype(FLOAT, copy=False)


def require_steps(name: str, first_step: Any, **counts: Any) -> None:
    """Raise unless the first step is None or positive, and each of some counts a positive int."""
    for count, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ArgTypeError(f"{name}: {count} must be a positive int, got {value!r}")
    if first_step is not None and not first_step > 0:
        raise ValueError(f"{name}: first_step must be positive, got {first_step!r}")


__all__ = ["FLOAT", "Problem", "require_steps", "times_of"]
