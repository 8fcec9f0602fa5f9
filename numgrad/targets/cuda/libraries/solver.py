"""Calls of cuSOLVER and cuBLAS that factorize and decompose matrices and solve systems, if both are
installed.

Matrices are stored by columns, one after the other, in memory of the step that calls. Each stream
has handles of its own. The signatures were checked with nvmath-python 1.0; no GPU has run the
calls.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....process.fork_locks import fork_safe_lock
from ..launch.library_calls import Call
from .optional_library import loaded, reason

LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}

LOWER, UPPER = 0, 1
"""The triangle of a matrix that a routine reads."""

_JACOBI = {
    "syevj_batched": "create_syevj_info", "heevj_batched": "create_syevj_info",
    "gesvdj_batched": "create_gesvdj_info",
}  # fmt: skip
"""For the routines of Jacobi's method what makes their settings, which stay the default."""


class Solver:
    """The calls of cuSOLVER and cuBLAS, for the driver of a GPU.

    Parameters
    ----------
    lapack, blas : module
        The bindings of cuSOLVER's dense part, and of cuBLAS.
    resolve : callable
        Takes pointers and a stream as the driver has them, and returns their addresses.
    """

    def __init__(
        self, lapack: Any, blas: Any, resolve: Callable[[Sequence[Any], Any], Any]
    ) -> None:
        self._lapack, self._blas, self._resolve = lapack, blas, resolve
        self._handles: dict[tuple[Any, int], int] = {}
        self._options: dict[str, int] = {}
        self._ones = {char: np.array(1, char) for char in LETTERS}
        self._lock = fork_safe_lock()  # a handle is for one thread at a time

    def scratch(self, call: Call, dtype: np.dtype, pointers: Mapping[str, Any], on: Any) -> int:
        """Return how many elements a call needs beside its arguments.

        ``pointers`` are those of the parts of the first matrix.
        """
        if call.query is None:
            return 0
        return self._called(call, dtype, "_buffer_size", call.query, pointers, {}, on)

    def call(
        self, call: Call, dtype: np.dtype, pointers: Mapping[str, Any], elements: int, on: Any
    ) -> None:
        """Compute on the stream ``on``, with ``elements`` elements of memory to work in.

        ``pointers`` are those of the parts of a matrix, and of that memory.
        """
        self._called(call, dtype, "", call.arguments, pointers, {"elements": elements}, on)

    def _called(
        self, call: Call, dtype: np.dtype, suffix: str, arguments: Sequence[int | str],
        pointers: Mapping[str, Any], numbers: dict[str, int], on: Any,
    ) -> Any:  # fmt: skip
        addresses, stream = self._resolve(list(pointers.values()), on)
        known = dict(zip(pointers, addresses, strict=True)) | numbers
        known["one"] = self._ones[dtype.char].ctypes.data
        library = self._blas if call.is_of_blas else self._lapack
        routine = getattr(library, LETTERS[dtype.char] + call.routine + suffix)
        with self._lock:
            if "options" in arguments:
                known["options"] = self._settings(_JACOBI[call.routine])
            given = [known[item] if isinstance(item, str) else item for item in arguments]
            return routine(self._handle(library, stream), *given)

    def _settings(self, make: str) -> int:
        found = self._options.get(make)
        if found is None:
            found = self._options[make] = getattr(self._lapack, make)()
        return found

    def _handle(self, library: Any, stream: int) -> int:
        key = library, stream
        handle = self._handles.get(key) or library.create()
        self._handles[key] = handle
        library.set_stream(handle, stream)  # addresses of streams are used again
        return handle


def found(resolve: Callable[[Sequence[Any], Any], Any]) -> Solver | None:
    """Return the calls for the driver of a GPU; None if a library cannot be loaded."""
    libraries = loaded(_load)
    return None if libraries is None else Solver(*libraries, resolve)


def why_not() -> str | None:
    """Return why the libraries cannot be loaded, in one line; None if they can be loaded."""
    return reason(_load)


def _load() -> tuple[Any, Any]:
    """Return the bindings, after calls that load the libraries."""
    from nvmath.bindings import cublas, cusolverDn  # pyright: ignore[reportMissingImports]

    cublas.get_cudart_version()
    cusolverDn.destroy(cusolverDn.create())
    return cusolverDn, cublas
