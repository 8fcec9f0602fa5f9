"""Compiled loops over the rows of arrays, which call a function for one row after the other."""

import math
from collections.abc import Callable, Sequence
from threading import _DummyThread, current_thread
from typing import Any

import numpy as np

from ..ir.broadcasting import broadcast_shapes


class Rows:
    """A function of arrays that is called for each element of the loop over leading axes.

    Parameters
    ----------
    single : callable
        ``single(*cores)`` returns the results for one element.
    cores : sequence of Core
        The dtype of each operand, and how many axes it has without the leading ones.
    compiled : callable
        ``compiled(shared)`` returns a function of operands and results, which fills in the results
        of all rows but the first. ``shared`` says which operands are the same for all rows.
    """

    def __init__(
        self,
        single: Callable[..., Sequence[np.ndarray]],
        cores: Sequence[Any],
        compiled: Callable[[tuple[bool, ...]], Callable[..., None]],
    ) -> None:
        self.single, self.cores, self._compile = single, cores, compiled
        self._compiled: dict[tuple[bool, ...], Callable[..., None]] = {}

    def prepare(self, shared: tuple[bool, ...]) -> Callable[..., None]:
        """Return the compiled function for all rows but the first; compile it if that was not done
        before."""
        if shared not in self._compiled:
            self._compiled[shared] = self._compile(shared)
        return self._compiled[shared]

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the results of the function for all rows; the operands have equally many leading
        axes."""
        lead = arrays[0].ndim - self.cores[0][1]
        if lead == 1 and all([len(a) == 1 for a in arrays]):  # noqa: C419  a list is faster
            return [result[None] for result in self.single(*[a[0] for a in arrays])]
        loop = broadcast_shapes(*[a.shape[:lead] for a in arrays])
        count = math.prod(loop)
        shared = tuple([_is_shared(a, lead) for a in arrays])
        given = [
            a[(0,) * lead] if same else _in_rows(a, loop, lead)
            for a, same in zip(arrays, shared, strict=True)
        ]
        first = self.single(*[a if same else a[0] for a, same in zip(given, shared, strict=True)])
        results = [np.empty((count, *r.shape), r.dtype) for r in first]
        for whole, r in zip(results, first, strict=True):
            whole[0] = r
        if count > 1:
            self._fill(shared, given, results)
        return [whole.reshape(*loop, *whole.shape[1:]) for whole in results]

    def _fill(
        self, shared: tuple[bool, ...], given: Sequence[Any], results: Sequence[np.ndarray]
    ) -> None:
        """Compute all rows but the first.

        If the function is not compiled, a thread of the machine computes the rows one by one, as
        nothing is compiled there.
        """
        function = self._compiled.get(shared)
        if function is None and not isinstance(current_thread(), _DummyThread):
            function = self.prepare(shared)
        if function is not None:
            function(*given, *results)
            return
        for row in range(1, len(results[0])):
            cores = [a if same else a[row] for a, same in zip(given, shared, strict=True)]
            for whole, r in zip(results, self.single(*cores), strict=True):
                whole[row] = r


def _is_shared(array: np.ndarray, lead: int) -> bool:
    """Whether an operand is the same for all rows, along its first ``lead`` axes."""
    axes = zip(array.shape[:lead], array.strides[:lead], strict=True)
    return all(size == 1 or stride == 0 for size, stride in axes)


def _in_rows(array: np.ndarray, loop: tuple[int, ...], lead: int) -> np.ndarray:
    whole = np.broadcast_to(array, (*loop, *array.shape[lead:]))
    return writable(np.ascontiguousarray(whole.reshape(-1, *array.shape[lead:])))


def writable(array: np.ndarray) -> np.ndarray:
    """Return an array that is in C order and writable, copied if need be.

    Numba would compile another function for arrays that are read-only.
    """
    if array.flags.c_contiguous and array.flags.writeable:
        return array
    return np.array(array, order="C")


# Source -------------------------------------------------------------------------------------------


def compiled(
    header: Sequence[str], body: Sequence[str], namespace: dict[str, Any], arguments: Sequence[Any]
) -> Any:
    """Compile a function ``rows`` from lines of source; it runs without the global interpreter
    lock.

    Parameters
    ----------
    header : sequence of str
        The names of the parameters.
    body : sequence of str
        Lines with their indentation.
    namespace : dict
        What global names in the lines stand for.
    arguments : sequence of types of Numba
    """
    from numba import njit  # not needed where there are no loops

    from ..targets.cpu.compile.dispatcher_cache import kept_on_disk

    text = "\n".join([f"def rows({', '.join(header)}):", *[f"    {line}" for line in body]])
    space: dict[str, Any] = {**namespace, "__name__": __name__}
    exec(compile(text, "<rows>", "exec"), space)
    # Python alone calls the function, so the wrapper for calls from C need not be compiled.
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
    made: Any = kept_on_disk(njit(**options)(space["rows"]))
    made.compile(tuple(arguments))
    return made


def copied(target: str, source: str, axes: int) -> list[str]:
    """Return lines of source that copy the array ``source`` into the row ``r`` of ``target``.

    An assignment to a slice would do, but Numba compiles its functions of strings with that, for a
    message that shows both shapes: two seconds in each process.
    """
    part, indices = f"part_{target}", [f"j{n}" for n in range(axes)]
    lines = [
        f"{part} = {source}",
        f"if {part}.shape != {target}.shape[1:]:",
        "    raise ValueError('an array has another shape than that of the first row')",
    ]
    for n, index in enumerate(indices):
        lines.append("    " * n + f"for {index} in range({part}.shape[{n}]):")
    place = ", ".join(indices)
    return [*lines, "    " * axes + f"{target}[r, {place}] = {part}[{place}]"]


def array_types(
    cores: Sequence[Any], shared: Sequence[bool]
) -> list[Any]:
    """Return Numba's types of operands, with one more axis for an operand that differs between
    rows."""
    from numba.core import types
    from numba.np.numpy_support import from_dtype

    found: list[Any] = []
    for (dtype, ndim), same in zip(cores, shared, strict=True):
        axes = ndim + (not same)
        found.append(types.Array(from_dtype(dtype), axes, "C") if axes else from_dtype(dtype))
    return found


def element(name: str, same: bool) -> str:
    """Return the text that stands in a line for the row ``r`` of an operand."""
    return name if same else f"{name}[r]"


