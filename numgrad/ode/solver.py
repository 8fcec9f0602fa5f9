"""A method for a system: states at wanted times, as functions of the start, the times and further
tensors.

Sizes of steps are found first, as numbers. What has derivatives are loops over steps of these
sizes, operations like any other. A state between two steps is one more step from the last one
before it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._settings import settings
from .._tensor import Tensor
from ..control.body import Body
from ..control.loop import loop_over
from ..control.recording import applied
from ..control.steps import Sizes
from ..functions.creation.ranges import arange
from ..functions.indexing.indexing import take_along_axis
from ..functions.shape.joining import concat
from ..functions.shape.repeating import broadcast_to
from ..functions.shape.reshaping import reshape
from ..process.bounded_dict import Bounded
from ..process.cached_attribute import lazy
from .attempts import Attempts, Found, Tolerances
from .methods import Step, explicit, implicit_midpoint, rosenbrock
from .slopes import Slope
from .tableaux import DOPRI5, RK4, RODAS5P, TSIT5

ADAPTIVE: dict[str, tuple[Callable[..., Step], Any]] = {
    "dopri5": (explicit, DOPRI5), "tsit5": (explicit, TSIT5), "rodas5p": (rosenbrock, RODAS5P),
}  # fmt: skip
FIXED: dict[str, Callable[[Slope], Step]] = {
    "rk4": lambda slope: explicit(RK4, slope), "implicit_midpoint": implicit_midpoint,
}  # fmt: skip
_MOST_FOUND, _MOST_BYTES = 4, 1 << 20  # steps of problems that are remembered, and their arguments


class Solver:
    """A method for a system.

    Parameters
    ----------
    slope : Slope
    method : str
    """

    def __init__(self, slope: Slope, method: str) -> None:
        self.slope, self.method = slope, method
        if method in FIXED:
            self.step = FIXED[method](slope)
        else:
            make, self.tableau = ADAPTIVE[method]
            self.step = make(self.tableau, slope)
        state, time, *params = slope.specs
        self._specs = [state, time, time, *params]
        self._found: dict[Any, Any] = Bounded(_MOST_FOUND)

    def fixed(self, y: Any, t: Any, params: Sequence[Any], substeps: int) -> Any:
        """Return the states at times, by equally many equal steps between two of them."""
        count = t.shape[0] - 1
        if not count:
            return y[None]
        apart = (t[1:] - t[:-1]) / substeps
        sizes = broadcast_to(apart[:, None], (count, substeps))
        times = t[:-1, None] + sizes * arange(substeps)
        found = self._over_steps(
            self._landing, (), y, (reshape(times, -1), reshape(sizes, -1)), params
        )
        return concat([y[None], found[substeps - 1 :: substeps]])

    def adaptive(self, y: Any, t: Any, params: Sequence[Any], asked: Tolerances) -> Any:
        """Return the states at times, with axes of samples in front where all arguments have them.
        """
        lead = y.shape[:-1]
        begin, sizes, places = self._known_grids(*arrays_of(y, t, params), asked)
        places = places.reshape(*lead, places.shape[-1])
        before, since = self.at_steps(y, t, params, begin, sizes, places)
        loop = loop_over(self._reaching, Sizes(0, 3), t.shape[-1], False)
        return loop.apply(before, since, t - since, *params)[0]

    def at_steps(
        self, y: Any, t: Any, params: Sequence[Any], begin: np.ndarray, sizes: np.ndarray,
        places: np.ndarray,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Return the states and the times before some of the steps.

        Parameters
        ----------
        begin, sizes : numpy.ndarray
            The times and the sizes of the steps of each sample.
        places : numpy.ndarray
            The numbers of the steps.
        """
        lead = y.shape[:-1]
        begin, sizes = (a.reshape(*lead, a.shape[-1]) for a in (begin, sizes))
        first = t[..., :1]
        times = first + Tensor(begin - first.detach().numpy())
        states = self._over_steps(self._leaving, lead, y, (times, Tensor(sizes)), params)
        if not lead:
            return states[places], times[places]
        wide = np.broadcast_to(places[..., None], (*places.shape, y.shape[-1]))
        before = take_along_axis(states, Tensor(np.ascontiguousarray(wide)), axis=-2)
        return before, take_along_axis(times, Tensor(places), axis=-1)

    def _over_steps(
        self, body: Body, lead: tuple[int, ...], y: Any, steps: Sequence[Any], params: Sequence[Any]
    ) -> Any:
        """Return what the steps of a body yield."""
        length = steps[0].shape[-1]
        loop = loop_over(body, Sizes(1, 2), length, False)
        nbytes = 8 * int(np.prod((*lead, length, self.slope.size)))
        is_kept = nbytes <= settings.loop_memory << 20
        values = [y, *steps, *params]
        return (applied(loop, values) if is_kept else loop.apply(*values))[1]

    # Bodies of loops

    @lazy
    def _landing(self) -> Body:
        """A step that yields the state behind it."""

        def step(*given: Tensor) -> list[Any]:
            following = self.step(*given)[0]
            return [following, following]

        return Body.of(self.slope.body.name, step, self._specs)

    @lazy
    def _leaving(self) -> Body:
        """A step that yields the state before it."""
        return Body.of(
            self.slope.body.name, lambda *given: [self.step(*given)[0], given[0]], self._specs
        )

    @lazy
    def _reaching(self) -> Body:
        """A step from a given state."""
        return Body.of(self.slope.body.name, lambda *given: [self.step(*given)[0]], self._specs)

    # Steps

    @lazy
    def _attempts(self) -> Attempts:
        return Attempts(self.slope, self.step, self.tableau.controlled)

    def _known_grids(
        self, y: np.ndarray, t: np.ndarray, params: Sequence[np.ndarray], asked: Tolerances
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what `_grids` does; the gradient in a captured function asks again for what the
        value has asked for."""
        arrays = [y, t, *params]
        if sum([a.nbytes for a in arrays]) > _MOST_BYTES:
            return self._grids(y, t, params, asked)
        key = asked.key, *[(a.shape, a.tobytes()) for a in arrays]
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._grids(y, t, params, asked)
        return found

    def _grids(
        self, y: np.ndarray, t: np.ndarray, params: Sequence[np.ndarray], asked: Tolerances
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the times and the sizes of the steps of each sample, and from which of them each
        wanted state is reached; steps of size 0 fill up."""
        found = [
            self._attempts.found(
                y[n, ...], float(t[n, 0]), float(t[n, -1]), [p[n, ...] for p in params], asked
            )
            for n in range(len(y))
        ]
        places = np.empty(t.shape, np.int64)
        for n, (times, _, _) in enumerate(found):
            forward = 1.0 if t[n, -1] >= t[n, 0] else -1.0
            places[n] = np.searchsorted(forward * times, forward * t[n]) - 1
        return *filled_up(found, t[:, -1]), np.maximum(places, 0)


def filled_up(found: Sequence[Found], ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the times and the sizes of the steps of all samples as two arrays, in which steps of
    size 0 at the end of a sample follow those that were taken."""
    length = _rounded(max([steps.sizes.size for steps in found], default=1))
    begin, sizes = np.empty((len(found), length)), np.zeros((len(found), length))
    for n, (times, steps, _) in enumerate(found):
        begin[n, : times.size], sizes[n, : steps.size] = times, steps
        begin[n, times.size :] = ends[n]
    return begin, sizes


def arrays_of(
    y: Any, t: Any, params: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return arrays with one axis of samples."""
    count = int(np.prod(y.shape[:-1]))
    lead = len(y.shape) - 1
    rows = [v.detach().numpy() for v in (y, t, *params)]
    rows = [np.ascontiguousarray(a.reshape(count, *a.shape[lead:])) for a in rows]
    return rows[0], rows[1], rows[2:]


def _rounded(count: int) -> int:
    """Return a number of steps that is not smaller, of few that there are, so that loops of these
    lengths are made once."""
    unit = 1 << max(count.bit_length() - 4, 0)
    return -(-count // unit) * unit


def solver_of(body: Body, method: str) -> Solver:
    """Return the solver of a system, made once."""
    key: Any = "ode", method
    found = body.loops.get(key)
    if found is None:
        found = body.loops[key] = Solver(Slope(body), method)
    return found


__all__ = ["ADAPTIVE", "FIXED", "Solver", "arrays_of", "filled_up", "solver_of"]
