"""QR factorizations, eigenvalues of Hermitian matrices and singular values by cuSOLVER, as steps of
a program.

The routines are LAPACK's, called as NumPy calls these: so factors of a QR factorization are the
processor's to rounding, signs included. Eigenvectors and singular vectors are determined up to a
sign, or a complex number of size 1, which is what the library makes it. Of small matrices all are
decomposed by one call, by Jacobi's method.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._declare import registry
from ....ir.kernel_spec import HostSpec, LibrarySpec, core_dimensions
from ....ir.program import Shape
from ..kernels.element_walk import COPY, Lines, Operand, launch
from ..launch.library_calls import INFO, Call, LibraryCalls, OwnMemory
from ..launch.steps import HostCall, Launch, Loop, Place
from ..libraries.solver import LETTERS, LOWER, UPPER
from .library_factorization import checked, failed

MOST_OF_JACOBI = 32
"""The most rows and columns of matrices that the library decomposes together."""

_NAMES = ("eigh", "svd", "svdvals")
DECOMPOSING = ("hermitian_reduced", "eigvalsh", "hermitian_vectors", "qr", "qr_square")
"""Kernels of LAPACK among them. Some make or read reductions of Hermitian matrices. The library
keeps none, so NaN stands for one, which the host, too, takes for none."""

_FACTORING = ("qr", "qr_square")
_UPPER = Lines("upper_triangle", ("out[{out}] = x[{x}] if {r} <= {c} else zero",))
_CONJUGATE = Lines("conjugate", ("out[{out}] = x[{x}].conjugate()",))
_MISSING = Lines("missing", ("out[{out}] = nan",), (("nan", np.nan),))
_NOT_FINITE = Lines("not_finite", ("if x[{x}] - x[{x}] != zero:", "    flag[{flag}] = 1"))
_Lies = tuple[Place, np.dtype, Shape]


def lowered(
    pattern: Any, loop: Loop, begins: Sequence[Place], flag: Place, host: Callable[[], HostCall],
    target: Any,
) -> LibraryCalls | Launch | None:  # fmt: skip
    """Return the step of an instruction that decomposes matrices.

    The result is None for other instructions, and where matrices are left to the host: without the
    library, or if there are so many large ones that the library, which takes them one after the
    other, would leave the device idle. The step sets ``flag`` where the method has not converged,
    or has met what is not finite; ``host`` returns the step that finds out.
    """
    spec, driver = pattern.spec, target.runtime.driver
    is_of_lapack = isinstance(spec, LibrarySpec) and spec.name in DECOMPOSING
    if not is_of_lapack and not any(_is(spec, name) for name in _NAMES):
        return None
    options = dict(getattr(spec, "options", ()))
    dtype = pattern.layouts[0].dtype
    if dtype.char not in LETTERS or options.get("hermitian") or 0 in pattern.core:
        return None
    if driver.solver is None:  # asked late, as the answer may load the library
        return None
    made = _Decomposition(pattern, loop, begins, flag, target)
    if not loop.elements or not (made.is_small or loop.elements <= driver.PROCESSORS):
        return None
    if spec.name == "hermitian_reduced":
        return made.no_reduction()
    if spec.name in _FACTORING:
        return made.qr()
    return made.singular(host) if spec.name.startswith("svd") else made.eigen(host)


def _is(spec: Any, name: str) -> bool:
    operator: Any = registry[name]
    return isinstance(spec, HostSpec) and spec.function is operator.function


class _Decomposition:
    """The copies of operands and results of a step, its calls and its memory.

    Attributes
    ----------
    is_small : bool
        Whether one call decomposes all matrices.
    """

    def __init__(
        self, pattern: Any, loop: Loop, begins: Sequence[Place], flag: Place, target: Any
    ) -> None:
        self._loop, self._flag, self._target = loop, flag, target
        name = pattern.spec.name
        operator: Any = registry["qr" if name in _FACTORING else name]
        self._spec, self._options = pattern.spec, dict(getattr(pattern.spec, "options", ()))
        self._dtype: np.dtype = pattern.layouts[0].dtype
        self._real = np.finfo(self._dtype).dtype
        self._is_complex = self._dtype.kind == "c"
        left = list(pattern.core_strides)
        self._operands: list[_Lies] = []
        named = core_dimensions(str(operator.signature))
        layouts = zip(named, begins, pattern.layouts, loop.strides, strict=True)
        for core, place, layout, along in layouts:
            own, left = left[: len(core)], left[len(core) :]
            self._operands.append((place, layout.dtype, (*along, *own)))
        first = len(named[0])
        self._rows = pattern.core[0]
        self._columns = pattern.core[1] if len(set(named[0])) == first else self._rows
        self._shapes = [layout.shape[len(layout.shape) - len(core) :]
                        for core, layout in zip(named, pattern.layouts, strict=True)]  # fmt: skip
        largest = max(self._rows, self._columns)
        self.is_small = name not in _FACTORING and largest <= MOST_OF_JACOBI
        self._memory = OwnMemory(loop)

    # QR -----------------------------------------------------------------------------------------

    def qr(self) -> LibraryCalls:
        """Return the step that makes factors with orthonormal columns, and upper triangles."""
        m, n = self._rows, self._columns
        p, k = self._shapes[1][-1], min(m, n)
        self._memory.add("matrix", (max(n, p), m), self._dtype)
        self._memory.add("tau", (k,), self._dtype)
        self._memory.add("info", (), INFO)
        first, behind = (m, n, "matrix", m), ("scratch", "elements", "info")
        reflected = Call("geqrf", (*first, "tau", *behind), first)
        first = (m, p, k, "matrix", m, "tau")
        columns = Call("ungqr" if self._is_complex else "orgqr", (*first, *behind), first)
        return self._step(
            self._copy(COPY, self._operands[0], self._turned("matrix"), (m, n)),
            reflected,
            self._upper_triangle((p, n)),
            columns,
            self._copy(COPY, self._turned("matrix"), self._operands[1], (m, p)),
        )

    def _upper_triangle(self, core: Shape) -> Launch:
        """Return the launch that copies the upper triangles of the matrices, with zeros below."""
        lead = (0,) * len(self._loop.sizes)
        mine, _, own = self._turned("matrix")
        place, dtype, strides = self._operands[2]
        operands = [
            Operand("r", None, None, (*lead, 1, 0)), Operand("c", None, None, (*lead, 0, 1)),
            Operand("x", mine, self._dtype, own), Operand("out", place, dtype, strides),
        ]  # fmt: skip
        return launch(_UPPER, (*self._loop.sizes, *core), operands, self._target)

    # Eigenvalues --------------------------------------------------------------------------------

    def eigen(self, host: Callable[[], HostCall]) -> LibraryCalls:
        """Return the step that finds eigenvalues of Hermitian matrices, and eigenvectors if they
        are among the results."""
        n = self._rows
        self._add_matrix(n, n)
        has_vectors = self._spec.name != "eigvalsh"
        what = (int(has_vectors), self._triangle(), n, "matrix", n, "values")
        name = "heev" if self._is_complex else "syev"
        copies = [self._values(self._operands[-1 - has_vectors])]
        if has_vectors:
            copies.append(self._copy(COPY, self._turned("matrix"), self._operands[-1], (n, n)))
        given = self._copy(COPY, self._operands[0], self._turned("matrix"), (n, n))
        call = self._call(f"{name}j_batched", f"{name}d", what, what)
        return self._step(given, call, *copies, *self._checks(), host=host)

    def _triangle(self) -> int:
        if isinstance(self._spec, LibrarySpec):
            return LOWER if self._spec.lower else UPPER
        return UPPER if self._options.get("UPLO", "L").upper() == "U" else LOWER

    def no_reduction(self) -> Launch:
        """Return the launch that writes NaN where the host writes a reduction."""
        sizes = (*self._loop.sizes, self._rows, self._rows)
        return launch(_MISSING, sizes, [Operand("out", *self._operands[1])], self._target)

    # Singular values ----------------------------------------------------------------------------

    def singular(self, host: Callable[[], HostCall]) -> LibraryCalls:
        """Return the step that finds singular values, and singular vectors if they are among the
        results."""
        return self._of_small(host) if self.is_small else self._of_large(host)

    def _of_small(self, host: Callable[[], HostCall]) -> LibraryCalls:
        m, n, has_vectors = self._rows, self._columns, len(self._operands) > 2
        self._add_matrix(m, n)
        self._memory.add("left", (m, m), self._dtype)
        self._memory.add("right", (n, n), self._dtype)
        what = (int(has_vectors), m, n, "matrix", m, "values", "left", m, "right", n)
        call = self._call("gesvdj_batched", "", what, what)
        given = self._copy(COPY, self._operands[0], self._turned("matrix"), (m, n))
        copies = [self._values(self._operands[2 if has_vectors else 1])]
        if has_vectors:  # columns of the right vectors, of which rows are the adjoint
            left, right = self._operands[1], self._operands[3]
            rows = _CONJUGATE if self._is_complex else COPY
            copies.append(self._copy(COPY, self._turned("left"), left, self._shapes[1]))
            copies.append(self._copy(rows, self._memory.lies("right"), right, self._shapes[3]))
        return self._step(given, call, *copies, *self._checks(), host=host)

    def _of_large(self, host: Callable[[], HostCall]) -> LibraryCalls:
        """Return the step that calls the routine for matrices with at least as many rows as
        columns.

        A wide matrix, by rows, is its own transpose to the library: that has the conjugate left
        vectors as rows, and the conjugate right ones as columns.
        """
        m, n, has_vectors = self._rows, self._columns, len(self._operands) > 2
        is_wide = m < n
        high, low = max(m, n), min(m, n)
        self._add_matrix(high, low)
        job, leading = ord("N"), 1
        if has_vectors:
            job = ord("A" if self._options["full_matrices"] else "S")
            leading = high
            width = high if self._options["full_matrices"] else low
            self._memory.add("left", (width, high), self._dtype)
            self._memory.add("right", (low, low), self._dtype)
        else:
            self._memory.add("left", (1, 1), self._dtype)
            self._memory.add("right", (1, 1), self._dtype)
        what = (job, job, high, low, "matrix", high, "values", "left", leading, "right")
        behind = (low if has_vectors else 1, "scratch", "elements", 0, "info")
        call = Call("gesvd", (*what, *behind), (high, low))
        inside = self._memory.lies("matrix", not is_wide)
        given = self._copy(COPY, self._operands[0], inside, (m, n))
        copies = [self._values(self._operands[2 if has_vectors else 1])]
        if has_vectors:
            names = ("right", "left") if is_wide else ("left", "right")
            for name, k in zip(names, (1, 3), strict=True):
                lies = self._memory.lies(name, not is_wide)
                copies.append(self._copy(COPY, lies, self._operands[k], self._shapes[k]))
        return self._step(given, call, *copies, *self._checks(), host=host)

    # What all have ------------------------------------------------------------------------------

    def _add_matrix(self, rows: int, columns: int) -> None:
        """Add the parts of the memory for a matrix by columns, its values, and what fails."""
        self._memory.add("matrix", (columns, rows), self._dtype)
        self._memory.add("values", (min(rows, columns),), self._real)
        self._memory.add("info", (), INFO)

    def _call(self, of_all: str, of_one: str, what: tuple[Any, ...], query: Any) -> Call:
        """Return the call of a routine for all matrices, if they are small, or for each."""
        behind: tuple[Any, ...] = ("scratch", "elements", "info")
        if not self.is_small:
            return Call(of_one, (*what, *behind), query)
        more = ("options", self._loop.elements)
        return Call(of_all, (*what, *behind, *more), (*query, *more), is_for_all=True)

    def _step(
        self, *parts: Launch | Call, host: Callable[[], HostCall] | None = None
    ) -> LibraryCalls:
        return LibraryCalls(self._dtype, self._loop.elements, self._memory, parts, host)

    def _turned(self, name: str) -> _Lies:
        return self._memory.lies(name, is_turned=True)

    def _copy(self, what: Lines, source: _Lies, to: _Lies, core: Shape) -> Launch:
        """Return the launch that copies elements along the loop and the axes ``core``."""
        pairs = zip(("x", "out"), (source, to), strict=True)
        operands = [Operand(name, *lies) for name, lies in pairs]
        return launch(what, (*self._loop.sizes, *core), operands, self._target)

    def _values(self, to: _Lies) -> Launch:
        lies = self._memory.lies("values")
        return self._copy(COPY, lies, to, self._memory.parts["values"].shape)

    def _checks(self) -> list[Launch]:
        """Return the launches that set the flag where the method has failed."""
        values = Operand("x", *self._memory.lies("values"))
        sizes = (*self._loop.sizes, *self._memory.parts["values"].shape)
        return [
            failed(self._memory, self._loop, self._flag, self._target),
            checked(_NOT_FINITE, values, sizes, self._flag, self._target),
        ]
