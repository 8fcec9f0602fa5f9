"""Factorizations of large matrices by cuSOLVER, and their systems, as steps of a program.

The step copies its operands to memory of its own, by columns, lets the library work there matrix by
matrix, and copies the results where they belong.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ....ir.program import Shape, contiguous_strides
from ..kernels.element_walk import COPY, Lines, Operand, launch
from ..kernels.small_matrices import Form
from ..launch.steps import Blocks, HostCall, Launch, Loop, Place

_MINE = -1  # the last slot: the memory of the step
_ALIGNMENT = 256
_PIVOT = np.dtype(np.int32)
_FLAG = np.dtype(np.int64)
_SINGULAR = Lines("singular", ("if x[{x}] == zero:", "    flag[{flag}] = 1"))
_FAILED = Lines("failed", ("if info[{info}] != 0:", "    flag[{flag}] = 1"))
_LOWER = Lines("lower_triangle", ("out[{out}] = x[{x}] if {c} <= {r} else zero",))


class LibraryFactorization(NamedTuple):
    """A step in which cuSOLVER or cuBLAS works on each of several matrices.

    Attributes
    ----------
    form : Form
    size, columns, matrices : int
        The rows of a matrix, the right-hand sides of each, and the number of matrices.
    own : dict
        The offsets in the memory of the step: of matrices, pivots, right-hand sides and infos.
    nbytes : int
        The bytes of that memory.
    before, after : tuple of Launch
        The copies to that memory, and from there, with checks.
    host : callable or None
        Returns the step that says what failed, if the flag was set.
    """

    form: Form
    size: int
    columns: int
    matrices: int
    own: dict[str, int]
    nbytes: int
    before: tuple[Launch, ...]
    after: tuple[Launch, ...]
    host: Callable[[], HostCall] | None

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> None:
        """Let the library compute on a stream, by default the current one."""
        if not self.matrices:
            return
        stream = stream or runtime.current()
        memory = runtime.allocate(self.nbytes, stream)
        try:
            given = [*blocks, (memory, 0)]
            for one in self.before:
                one.run(runtime, given, stream)
            self._call(runtime, memory, stream)
            for one in self.after:
                one.run(runtime, given, stream)
        finally:
            memory.give_back()

    def _call(self, runtime: Any, memory: Any, stream: Any) -> None:
        solver, block = runtime.driver.solver, memory.used_by(stream)
        first = block, self.own["matrix"]
        elements = solver.scratch(self.form, self.size, first, stream.handle)
        columns = self.columns if self.form.solves else elements
        scratch = runtime.allocate(max(elements, 1) * self.form.dtype.itemsize, stream)
        try:
            for n in range(self.matrices):
                places = [(block, self.own[name] + n * each) for name, each in self._each()]
                pointers = [*places, (scratch.used_by(stream), 0)]
                solver.call(self.form, self.size, columns, pointers, stream.handle)
        finally:
            scratch.give_back()

    def _each(self) -> tuple[tuple[str, int], ...]:
        """Return the bytes of each matrix, and of what belongs to it."""
        size, itemsize = self.size, self.form.dtype.itemsize
        return (
            ("matrix", size * size * itemsize), ("pivots", size * _PIVOT.itemsize),
            ("right", self.columns * size * itemsize), ("info", _PIVOT.itemsize),
        )  # fmt: skip


def lowered(
    form: Form, pattern: Any, loop: Loop, begins: Sequence[Place], flag: Place,
    host: Callable[[], HostCall] | None, target: Any,
) -> LibraryFactorization:  # fmt: skip
    """Return the step of an instruction that factorizes matrices or solves systems."""
    return _Copies(form, pattern, loop, begins, flag, target).step(host)


class _Copies:
    """The copies of operands and results of a step, and its memory."""

    def __init__(
        self, form: Form, pattern: Any, loop: Loop, begins: Sequence[Place], flag: Place,
        target: Any,
    ) -> None:  # fmt: skip
        self._form, self._loop, self._flag, self._target = form, loop, flag, target
        self._size, *columns = pattern.core
        self._columns = columns[0] if columns else 0
        left = list(pattern.core_strides)
        self._operands: dict[str, tuple[Place, np.dtype, Shape]] = {}
        for k, (name, ndim, dtype) in enumerate(form.operands):
            own, left = left[:ndim], left[ndim:]
            self._operands[name] = begins[k], dtype, (*loop.strides[k], *own)
        self._own: dict[str, int] = {}
        self._nbytes = 0
        for name, shape, dtype in (
            ("matrix", (self._size, self._size), form.dtype), ("pivots", (self._size,), _PIVOT),
            ("right", (self._columns, self._size), form.dtype), ("info", (), _PIVOT),
        ):  # fmt: skip
            self._own[name] = self._nbytes
            nbytes = loop.elements * prod(shape) * dtype.itemsize
            self._nbytes += -(-nbytes // _ALIGNMENT) * _ALIGNMENT

    def step(self, host: Callable[[], HostCall] | None) -> LibraryFactorization:
        form, matrix = self._form, (self._size, self._size)
        right, pivots = (self._size, self._columns), (self._size,)
        # The library reads by columns: a matrix of the program, by rows, is turned on the way. The
        # factors of an elimination lie by columns already, and the rows of a Hermitian matrix are
        # the columns of its conjugate.
        by_rows = form.name in ("lu_solve", "cholesky")
        before = [self._copy("a", "matrix", matrix, is_turned=not by_rows, is_into=True)]
        after: list[Launch] = []
        if form.solves:
            before.append(self._copy("b", "right", right, is_turned=True, is_into=True))
            after.append(self._copy("out", "right", right, is_turned=True, is_into=False))
            after.append(self._singular())
        if form.name == "lu_solve":
            before.append(self._copy("pivots", "pivots", pivots, is_turned=False, is_into=True))
        elif form.name == "lu_factor":
            after.append(self._copy("out", "matrix", matrix, is_turned=False, is_into=False))
            after.append(self._copy("pivots", "pivots", pivots, is_turned=False, is_into=False))
        elif form.name == "cholesky":
            after += [self._lower_triangle(), self._failed()]
        sizes = self._size, self._columns, self._loop.elements
        own = self._own, self._nbytes
        return LibraryFactorization(form, *sizes, *own, tuple(before), tuple(after), host)

    def _there(self, name: str, core: Shape, dtype: np.dtype) -> tuple[Place, Shape]:
        """Return the place of something in the memory of the step, and its strides."""
        shape = (*self._loop.sizes, *core)
        return Place(_MINE, self._own[name]), contiguous_strides(shape, dtype.itemsize)

    def _copy(
        self, operand: str, name: str, core: Shape, is_turned: bool, is_into: bool
    ) -> Launch:
        """Return the launch that copies an operand to the memory of the step, or from there.

        If ``is_turned``, what is in that memory has the last two axes in reverse order.
        """
        place, dtype, strides = self._operands[operand]
        mine, own = self._there(name, core[::-1] if is_turned else core, dtype)
        if is_turned:
            own = (*own[:-2], own[-1], own[-2])
        ends = [(place, strides), (mine, own)][:: 1 if is_into else -1]
        (source, along), (to, across) = ends
        operands = [Operand("x", source, dtype, along), Operand("out", to, dtype, across)]
        return launch(COPY, (*self._loop.sizes, *core), operands, self._target)

    def _singular(self) -> Launch:
        """Return the launch that sets the flag if there is a zero on the diagonal of a matrix."""
        size, dtype = self._size, self._form.dtype
        place, (*loop, row, column) = self._there("matrix", (size, size), dtype)
        diagonal = Operand("x", place, dtype, (*loop, row + column))
        return self._checked(_SINGULAR, diagonal, (*self._loop.sizes, size))

    def _failed(self) -> Launch:
        """Return the launch that sets the flag if the library says that a matrix has failed."""
        info = Operand("info", *self._info())
        return self._checked(_FAILED, info, self._loop.sizes or (1,))

    def _info(self) -> tuple[Place, np.dtype, Shape]:
        place, strides = self._there("info", (), _PIVOT)
        return place, _PIVOT, strides or (0,)

    def _checked(self, what: Lines, operand: Operand, sizes: Shape) -> Launch:
        flag = Operand("flag", self._flag, _FLAG, (0,) * len(sizes))
        return launch(what, sizes, [flag, operand], self._target)

    def _lower_triangle(self) -> Launch:
        """Return the launch that copies the lower triangles of the matrices, with zeros above."""
        core, lead = (self._size, self._size), (0,) * len(self._loop.sizes)
        place, dtype, strides = self._operands["out"]
        mine, own = self._there("matrix", core, dtype)
        operands = [
            Operand("r", None, None, (*lead, 1, 0)), Operand("c", None, None, (*lead, 0, 1)),
            Operand("x", mine, dtype, own), Operand("out", place, dtype, strides),
        ]  # fmt: skip
        return launch(_LOWER, (*self._loop.sizes, *core), operands, self._target)
