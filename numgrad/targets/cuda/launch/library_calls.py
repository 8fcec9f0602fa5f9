"""Steps in which a library works on matrices: copies to memory of the step, calls, and copies back.

The library takes matrices that are stored by columns. So a step has memory of its own, where the
matrices lie one after the other, with what the library needs and gives beside them.
"""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ....ir.program import Shape, contiguous_strides
from .steps import Blocks, HostCall, Launch, Loop, Place

MINE = -1
"""The last slot of a step: its own memory."""

INFO = np.dtype(np.int32)
"""The dtype of the numbers by which a library says what failed, and of pivots."""

_ALIGNMENT = 256


class Call(NamedTuple):
    """A call of a routine, for each of several matrices.

    Attributes
    ----------
    routine : str
        Its name, without the letter of the dtype.
    arguments : tuple of int or str
        What it takes behind the handle. A string names a part of the memory of the step, or is
        ``"scratch"`` for the address of memory to work in, ``"elements"`` for the number of
        elements there, ``"one"`` for the address of a 1 on the host, or ``"options"`` for the
        settings of Jacobi's method.
    query : tuple of int or str, optional
        What the routine that says how much memory is needed takes; None for a routine that needs
        none.
    is_of_blas : bool
        Whether the routine is one of cuBLAS.
    is_for_all : bool
        Whether one call is for all matrices.
    """

    routine: str
    arguments: tuple[int | str, ...]
    query: tuple[int | str, ...] | None = None
    is_of_blas: bool = False
    is_for_all: bool = False


class Part(NamedTuple):
    """A part of the memory of a step: an array for each matrix, the arrays one after the other."""

    offset: int
    shape: Shape
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        """The bytes of one array."""
        return prod(self.shape) * self.dtype.itemsize


class OwnMemory:
    """The memory of a step, with parts for each matrix of a loop.

    Attributes
    ----------
    parts : dict
        The parts by their names.
    nbytes : int
        The bytes of all.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.parts: dict[str, Part] = {}
        self.nbytes = 0

    def add(self, name: str, shape: Shape, dtype: np.dtype) -> None:
        """Add a part."""
        part = self.parts[name] = Part(self.nbytes, shape, dtype)
        self.nbytes += -(-self._loop.elements * part.nbytes // _ALIGNMENT) * _ALIGNMENT

    def lies(self, name: str, is_turned: bool = False) -> tuple[Place, np.dtype, Shape]:
        """Return the place of a part, its dtype, and its strides along the loop and its own axes;
        if ``is_turned``, along the last two axes in reverse order."""
        part = self.parts[name]
        strides = contiguous_strides((*self._loop.sizes, *part.shape), part.dtype.itemsize)
        if is_turned:
            strides = (*strides[:-2], strides[-1], strides[-2])
        return Place(MINE, part.offset), part.dtype, strides


class LibraryCalls(NamedTuple):
    """A step in which cuSOLVER or cuBLAS works on each of several matrices.

    Attributes
    ----------
    dtype : dtype
    matrices : int
        The number of matrices.
    memory : OwnMemory
    parts : tuple of Launch or Call
        The copies to that memory, the calls, and the copies from there with checks, in order.
    host : callable or None
        Returns the step that says what failed, if the flag was set.
    """

    dtype: np.dtype
    matrices: int
    memory: OwnMemory
    parts: tuple[Any, ...]
    host: Callable[[], HostCall] | None

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> None:
        """Let the library compute on a stream, by default the current one."""
        if not self.matrices:
            return
        stream = stream or runtime.current()
        memory = runtime.allocate(self.memory.nbytes, stream)
        try:
            given = [*blocks, (memory, 0)]
            for part in self.parts:
                if type(part) is Launch:
                    part.run(runtime, given, stream)
                else:
                    self._call(part, runtime, memory.used_by(stream), stream)
        finally:
            memory.give_back()

    def _call(self, call: Call, runtime: Any, block: Any, stream: Any) -> None:
        solver = runtime.driver.solver
        elements = solver.scratch(call, self.dtype, self._pointers(block, 0), stream.handle)
        scratch = runtime.allocate(max(elements, 1) * self.dtype.itemsize, stream)
        try:
            for n in range(1 if call.is_for_all else self.matrices):
                pointers = self._pointers(block, n) | {"scratch": (scratch.used_by(stream), 0)}
                solver.call(call, self.dtype, pointers, elements, stream.handle)
        finally:
            scratch.give_back()

    def _pointers(self, block: Any, n: int) -> dict[str, tuple[Any, int]]:
        """Return where the parts of matrix ``n`` are, by their names."""
        parts = self.memory.parts.items()
        return {name: (block, part.offset + n * part.nbytes) for name, part in parts}
