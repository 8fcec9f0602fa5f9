"""Calls of cuFFT for discrete Fourier transforms along an axis, if cuFFT is installed.

The rows of a transform lie one after the other in memory of the step that calls. Each stream has
plans of its own, as a plan has memory to work in. The signatures were checked with nvmath-python
1.0; no GPU has run the calls.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....process.fork_locks import fork_safe_lock
from .optional_library import loaded, reason

MOST_PLANS = 32
"""The most plans that are kept; the oldest are destroyed, with their memory on the device."""

MOST_ELEMENTS = (1 << 31) - 1
"""The most elements of a transform with all its rows, which cuFFT counts in 32 bits."""

_TYPES = {
    ("F", "F"): (41, "exec_c2c"), ("D", "D"): (105, "exec_z2z"), ("f", "F"): (42, "exec_r2c"),
    ("d", "D"): (106, "exec_d2z"), ("F", "f"): (44, "exec_c2r"), ("D", "d"): (108, "exec_z2d"),
}  # fmt: skip
"""For the dtypes of what is transformed and of the result the number of cuFFT's type, and the name
of the call."""


class Transform(NamedTuple):
    """A transform of ``rows`` rows of ``size`` elements, without a factor.

    For a transform from or to real numbers ``size`` is the number of these.
    """

    size: int
    rows: int
    given: np.dtype
    result: np.dtype
    is_inverse: bool


class Fourier:
    """The calls of cuFFT, for the driver of a GPU.

    Parameters
    ----------
    library : module
        The bindings of cuFFT.
    resolve : callable
        Takes pointers and a stream as the driver has them, and returns their addresses.
    """

    def __init__(self, library: Any, resolve: Callable[[Sequence[Any], Any], Any]) -> None:
        self._library, self._resolve = library, resolve
        self._plans: dict[Any, int] = {}  # the latest used last
        self._lock = fork_safe_lock()  # a plan is for one thread at a time

    def transform(self, one: Transform, pointers: Sequence[Any], on: Any) -> None:
        """Compute a transform on the stream ``on``; ``pointers`` are those of rows and results."""
        addresses, stream = self._resolve(pointers, on)
        number, call = _TYPES[one.given.char, one.result.char]
        is_complex = one.given == one.result
        directions = (1 if one.is_inverse else -1,) if is_complex else ()
        with self._lock:
            plan = self._plan((number, one.size, one.rows, stream))
            self._library.set_stream(plan, stream)  # addresses of streams are used again
            getattr(self._library, call)(plan, *addresses, *directions)

    def _plan(self, key: tuple[int, int, int, int]) -> int:
        plan = self._plans.pop(key, None)
        if plan is None:
            number, size, rows, _ = key
            plan = self._library.create()
            self._library.make_plan1d(plan, size, number, rows)
        self._plans[key] = plan
        while len(self._plans) > MOST_PLANS:
            self._library.destroy(self._plans.pop(next(iter(self._plans))))
        return plan


def found(resolve: Callable[[Sequence[Any], Any], Any]) -> Fourier | None:
    """Return the calls of cuFFT for the driver of a GPU; None if cuFFT cannot be loaded."""
    library = loaded(_load)
    return None if library is None else Fourier(library, resolve)


def why_not() -> str | None:
    """Return why cuFFT cannot be loaded, in one line; None if the library can be loaded."""
    return reason(_load)


def _load() -> Any:
    """Return the bindings, after a call that loads the library."""
    from nvmath.bindings import cufft  # pyright: ignore[reportMissingImports]

    cufft.get_version()
    return cufft
