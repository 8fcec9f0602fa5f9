"""Calls of cuSOLVER and cuBLAS that factorize matrices and solve systems, if both are installed.

Matrices are stored by columns, one after the other, in memory of the step that calls. Each stream
has handles of its own. The signatures were checked with nvmath-python 1.0; no GPU has run the
calls.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....process.fork_locks import fork_safe_lock
from ..kernels.small_matrices import Form
from .optional_library import loaded, reason

LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
_LEFT, _LOWER, _UPPER, _NO_UNIT = 0, 0, 1, 0
_PLAIN, _TRANSPOSED, _ADJOINT = 0, 1, 2


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
        self._ones = {char: np.array(1, char) for char in LETTERS}
        self._lock = fork_safe_lock()  # a handle is for one thread at a time

    def scratch(self, form: Form, size: int, matrix: Any, on: Any) -> int:
        """Return how many elements a call for a matrix needs beside it; ``matrix`` points there."""
        shape = (_UPPER, size) if form.name == "cholesky" else (size, size)
        if form.solves:
            return 0
        (address,), stream = self._resolve([matrix], on)
        query = self._routine(self._lapack, form, "_buffer_size")
        with self._lock:
            return query(self._handle(self._lapack, stream), *shape, address, size)

    def call(
        self, form: Form, size: int, columns: int, pointers: Sequence[Any], on: Any
    ) -> None:
        """Compute on the stream ``on``.

        ``pointers`` are those of a matrix, its pivots, the right-hand sides, the number that says
        what failed, and the scratch memory, of ``columns`` elements unless the call solves systems.
        """
        (a, pivots, b, info, scratch), stream = self._resolve(pointers, on)
        char = form.dtype.char
        adjoint = _ADJOINT if form.dtype.kind == "c" else _TRANSPOSED
        operation = adjoint if form.adjoint else _PLAIN
        arguments: tuple[int, ...] = {
            "lu_factor": (size, size, a, size, scratch, pivots, info),
            "cholesky": (_UPPER, size, a, size, scratch, columns, info),
            "lu_solve": (operation, size, columns, a, size, pivots, b, size, info),
            "solve_triangular": (
                _LEFT, _LOWER if form.lower else _UPPER, operation, _NO_UNIT, size, columns,
                self._ones[char].ctypes.data, a, size, b, size,
            ),
        }[form.name]  # fmt: skip
        library = self._blas if form.name == "solve_triangular" else self._lapack
        with self._lock:
            self._routine(library, form)(self._handle(library, stream), *arguments)

    def _routine(self, library: Any, form: Form, suffix: str = "") -> Any:
        return getattr(library, f"{LETTERS[form.dtype.char]}{ROUTINES[form.name]}{suffix}")

    def _handle(self, library: Any, stream: int) -> int:
        key = library, stream
        handle = self._handles.get(key) or library.create()
        self._handles[key] = handle
        library.set_stream(handle, stream)  # addresses of streams are used again
        return handle


ROUTINES = {
    "lu_factor": "getrf", "lu_solve": "getrs", "solve_triangular": "trsm", "cholesky": "potrf",
}  # fmt: skip
"""For the name of each kernel the name of the routine, without the letter of its dtype."""


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
