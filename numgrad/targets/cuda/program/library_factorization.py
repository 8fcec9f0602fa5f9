"""Factorizations of large matrices by cuSOLVER, and their systems, as steps of a program.

The step copies its operands to memory of its own, by columns, lets the library work there matrix by
matrix, and copies the results where they belong.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.program import Shape
from ..kernels.element_walk import COPY, Lines, Operand, launch
from ..kernels.small_matrices import Form
from ..launch.library_calls import INFO, Call, LibraryCalls, OwnMemory
from ..launch.steps import HostCall, Launch, Loop, Place
from ..libraries.solver import LOWER, UPPER

_FLAG = np.dtype(np.int64)
_SINGULAR = Lines("singular", ("if x[{x}] == zero:", "    flag[{flag}] = 1"))
_FAILED = Lines("failed", ("if info[{info}] != 0:", "    flag[{flag}] = 1"))
_LOWER = Lines("lower_triangle", ("out[{out}] = x[{x}] if {c} <= {r} else zero",))
_LEFT, _NO_UNIT = 0, 0
_PLAIN, _TRANSPOSED, _ADJOINT = 0, 1, 2


def lowered(
    form: Form, pattern: Any, loop: Loop, begins: Sequence[Place], flag: Place,
    host: Callable[[], HostCall] | None, target: Any,
) -> LibraryCalls:  # fmt: skip
    """Return the step of an instruction that factorizes matrices or solves systems."""
    return _Factorization(form, pattern, loop, begins, flag, target).step(host)


def checked(
    what: Lines, operand: Operand, sizes: Shape, flag: Place, target: Any
) -> Launch:
    """Return the launch that sets the flag of the program where an element is as ``what`` says."""
    where = Operand("flag", flag, _FLAG, (0,) * len(sizes))
    return launch(what, sizes, [where, operand], target)


def failed(memory: OwnMemory, loop: Loop, flag: Place, target: Any) -> Launch:
    """Return the launch that sets the flag if the library says that a matrix has failed."""
    place, dtype, strides = memory.lies("info")
    info = Operand("info", place, dtype, strides or (0,))
    return checked(_FAILED, info, loop.sizes or (1,), flag, target)


class _Factorization:
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
        self._memory = OwnMemory(loop)
        self._memory.add("matrix", (self._size, self._size), form.dtype)
        self._memory.add("pivots", (self._size,), INFO)
        self._memory.add("right", (self._columns, self._size), form.dtype)
        self._memory.add("info", (), INFO)

    def step(self, host: Callable[[], HostCall] | None) -> LibraryCalls:
        form = self._form
        # The library reads by columns: a matrix of the program, by rows, is turned on the way. The
        # factors of an elimination lie by columns already, and the rows of a Hermitian matrix are
        # the columns of its conjugate.
        by_rows = form.name in ("lu_solve", "cholesky")
        before = [self._copy("a", "matrix", is_turned=not by_rows, is_into=True)]
        after: list[Launch] = []
        if form.solves:
            before.append(self._copy("b", "right", is_turned=True, is_into=True))
            after.append(self._copy("out", "right", is_turned=True, is_into=False))
            after.append(self._singular())
        if form.name == "lu_solve":
            before.append(self._copy("pivots", "pivots", is_turned=False, is_into=True))
        elif form.name == "lu_factor":
            after.append(self._copy("out", "matrix", is_turned=False, is_into=False))
            after.append(self._copy("pivots", "pivots", is_turned=False, is_into=False))
        elif form.name == "cholesky":
            after.append(self._lower_triangle())
            after.append(failed(self._memory, self._loop, self._flag, self._target))
        parts = (*before, self._call(), *after)
        return LibraryCalls(form.dtype, self._loop.elements, self._memory, parts, host)

    def _call(self) -> Call:
        """Return the call of the library; see LAPACK and BLAS for what the arguments are."""
        form, n, k = self._form, self._size, self._columns
        adjoint = _ADJOINT if form.dtype.kind == "c" else _TRANSPOSED
        operation = adjoint if form.adjoint else _PLAIN
        if form.name == "lu_factor":
            given = (n, n, "matrix", n, "scratch", "pivots", "info")
            return Call("getrf", given, (n, n, "matrix", n))
        if form.name == "lu_solve":
            return Call("getrs", (operation, n, k, "matrix", n, "pivots", "right", n, "info"))
        if form.name == "cholesky":
            first = (UPPER, n, "matrix", n)
            return Call("potrf", (*first, "scratch", "elements", "info"), first)
        triangle = LOWER if form.lower else UPPER
        what = (_LEFT, triangle, operation, _NO_UNIT, n, k, "one")
        return Call("trsm", (*what, "matrix", n, "right", n), is_of_blas=True)

    def _copy(self, operand: str, name: str, is_turned: bool, is_into: bool) -> Launch:
        """Return the launch that copies an operand to a part of the step's memory, or from there.

        If ``is_turned``, what is in that memory has the last two axes in reverse order.
        """
        shape = self._memory.parts[name].shape
        core = shape[::-1] if is_turned else shape
        ends = [self._operands[operand], self._memory.lies(name, is_turned)]
        (source, kind, along), (to, dtype, across) = ends[:: 1 if is_into else -1]
        operands = [Operand("x", source, kind, along), Operand("out", to, dtype, across)]
        return launch(COPY, (*self._loop.sizes, *core), operands, self._target)

    def _singular(self) -> Launch:
        """Return the launch that sets the flag if there is a zero on the diagonal of a matrix."""
        place, dtype, (*loop, row, column) = self._memory.lies("matrix")
        diagonal = Operand("x", place, dtype, (*loop, row + column))
        sizes = (*self._loop.sizes, self._size)
        return checked(_SINGULAR, diagonal, sizes, self._flag, self._target)

    def _lower_triangle(self) -> Launch:
        """Return the launch that copies the lower triangles of the matrices, with zeros above."""
        core, lead = (self._size, self._size), (0,) * len(self._loop.sizes)
        place, dtype, strides = self._operands["out"]
        mine, _, own = self._memory.lies("matrix")
        operands = [
            Operand("r", None, None, (*lead, 1, 0)), Operand("c", None, None, (*lead, 0, 1)),
            Operand("x", mine, dtype, own), Operand("out", place, dtype, strides),
        ]  # fmt: skip
        return launch(_LOWER, (*self._loop.sizes, *core), operands, self._target)
