"""LLVM code of the kernels of `lapack` for many small real matrices of one size.

The methods are LAPACK's: Gaussian elimination that exchanges rows for the largest pivot, Cholesky's
factorization by columns, and substitution. The results equal those of LAPACK to rounding.
"""

from typing import Any

from llvmlite import ir

from ..compile.compiler import Code
from .gemm import Geometry
from .unrolled import INDEX, UnrolledKernel


def factorization(
    name: str, geometry: Geometry, core: tuple[int, ...], lower: bool, adjoint: bool, symbol: str
) -> Code:
    """Compile the kernel ``name`` of `lapack.lapack_spec` for the sizes ``core`` of its dimensions.

    ``core`` has the size of the matrices, and that of right-hand sides where there are any.
    """
    operands, strides = {
        "lu_factor": (3, 2), "lu_solve": (4, 5), "solve_triangular": (3, 4), "cholesky": (2, 2),
    }[name]  # fmt: skip
    kernel = UnrolledKernel(geometry, core[-1], operands, strides, symbol)
    with kernel.loop() as places:
        if name == "lu_factor":
            _emit_lu(kernel, core[0], places)
        elif name == "cholesky":
            _emit_cholesky(kernel, core[0], places)
        else:
            _System(kernel, core[0], places).emit(name, lower, adjoint)
    return kernel.compile()


def _emit_lu(kernel: UnrolledKernel, n: int, places: list[ir.Value]) -> None:
    """Emit the LU factorization of one matrix; the factors are stored by columns."""
    builder, (a, lu, pivots), (row, column) = kernel.builder, places, kernel.strides
    rows = [kernel.gathered(kernel.at(a, (row, i)), column) for i in range(n)]
    for j in range(n):
        pivot = _pivot(kernel, rows, j)
        kernel.store(builder.add(pivot, ir.Constant(INDEX, 1)), kernel.at(pivots, (4, j)))
        _exchange(kernel, rows, j, pivot)
        largest = kernel.element(rows[j], j)
        is_zero = builder.fcmp_ordered("==", largest, ir.Constant(kernel.scalar, 0.0))
        for i in range(j + 1, n):
            below = kernel.element(rows[i], j)
            factor = builder.select(is_zero, below, builder.fdiv(below, largest))
            rest = _after(kernel, j, kernel.less(rows[i], factor, rows[j]), rows[i])
            rows[i] = builder.insert_element(rest, factor, ir.Constant(INDEX, j))
    for j in range(n):
        stored = kernel.joined([kernel.element(rows[i], j) for i in range(n)])
        kernel.store(stored, kernel.at(lu, (n * kernel.itemsize, j)))


def _pivot(kernel: UnrolledKernel, rows: list[ir.Value], j: int) -> ir.Value:
    """Return the number of the row, from ``j`` on, whose element in column ``j`` is the largest."""
    builder = kernel.builder
    sizes = [_absolute(kernel, kernel.element(x, j)) for x in rows[j:]]
    best, pivot = sizes[0], ir.Constant(INDEX, j)
    for i, size in enumerate(sizes[1:], j + 1):
        is_larger = builder.fcmp_ordered(">", size, best)
        best = builder.select(is_larger, size, best)
        pivot = builder.select(is_larger, ir.Constant(INDEX, i), pivot)
    return pivot


def _absolute(kernel: UnrolledKernel, one: ir.Value) -> ir.Value:
    kind = ir.FunctionType(kernel.scalar, [kernel.scalar])
    name = f"llvm.fabs.f{8 * kernel.itemsize}"
    known = kernel.module.globals.get(name)
    return kernel.builder.call(known or ir.Function(kernel.module, kind, name), [one])


def _exchange(kernel: UnrolledKernel, rows: list[ir.Value], j: int, pivot: ir.Value) -> None:
    """Exchange row ``j`` with row ``pivot``, which is ``j`` or stands below."""
    builder = kernel.builder
    for i in range(j + 1, len(rows)):
        is_pivot = builder.icmp_signed("==", pivot, ir.Constant(INDEX, i))
        upper, lower = rows[j], rows[i]
        rows[j] = builder.select(is_pivot, lower, upper)
        rows[i] = builder.select(is_pivot, upper, lower)


def _after(kernel: UnrolledKernel, j: int, changed: ir.Value, before: ir.Value) -> ir.Value:
    """Return a vector whose elements after the first ``j + 1`` are those of ``changed``."""
    size = kernel.columns
    chosen = [number + size * (number <= j) for number in range(size)]
    mask = ir.Constant(ir.VectorType(INDEX, size), chosen)
    return kernel.builder.shuffle_vector(changed, before, mask)


def _emit_cholesky(kernel: UnrolledKernel, n: int, places: list[ir.Value]) -> None:
    """Emit the lower Cholesky factor of one matrix, whose lower triangle alone is read."""
    builder, (a, out), (row, column) = kernel.builder, places, kernel.strides
    kind = ir.FunctionType(kernel.scalar, [kernel.scalar])
    name = f"llvm.sqrt.f{8 * kernel.itemsize}"
    root = kernel.module.globals.get(name) or ir.Function(kernel.module, kind, name)
    zero = ir.Constant(kernel.scalar, 0.0)
    found: list[list[Any]] = [[zero] * n for _ in range(n)]
    for j in range(n):
        for i in range(j, n):
            total = kernel.load(kernel.at(a, (row, i), (column, j)))
            for k in range(j):
                total = builder.fsub(total, builder.fmul(found[i][k], found[j][k]))
            if i == j:
                kernel.fail_if(builder.fcmp_ordered("<=", total, zero))  # NaN is no failure
                found[j][j] = builder.call(root, [total])
            else:
                found[i][j] = builder.fdiv(total, found[j][j])
    for i, elements in enumerate(found):
        kernel.store(kernel.joined(elements), kernel.at(out, (n * kernel.itemsize, i)))


class _System:
    """Emits the solution of one system of ``n`` equations, whose right-hand sides are rows."""

    def __init__(self, kernel: UnrolledKernel, n: int, places: list[ir.Value]) -> None:
        self.kernel, self.n, self.places = kernel, n, places
        *_, self.row, self.column = kernel.strides

    def emit(self, name: str, lower: bool, adjoint: bool) -> None:
        """Emit the steps; a zero on the diagonal is a failure."""
        kernel, (matrix, *_, b, x) = self.kernel, self.places
        is_lu = name == "lu_solve"
        self.matrix, self.by_columns = matrix, is_lu
        diagonal = [self._entry(i, i, False) for i in range(self.n)]
        for one in diagonal:
            zero = ir.Constant(kernel.scalar, 0.0)
            kernel.fail_if(kernel.builder.fcmp_ordered("==", one, zero))
        self.rows = [
            kernel.gathered(kernel.at(b, (self.row, i)), self.column) for i in range(self.n)
        ]
        if is_lu:
            self._emit_lu(diagonal, adjoint)
        else:
            self._substitute(lower != adjoint, adjoint, diagonal)
        for i, value in enumerate(self.rows):
            kernel.store(value, kernel.at(x, (kernel.columns * kernel.itemsize, i)))

    def _emit_lu(self, diagonal: list[ir.Value], adjoint: bool) -> None:
        if adjoint:
            self._substitute(True, True, diagonal)
            self._substitute(False, True, None)
            self._exchange_rows(range(self.n - 1, -1, -1))
        else:
            self._exchange_rows(range(self.n))
            self._substitute(True, False, None)
            self._substitute(False, False, diagonal)

    def _entry(self, i: int, j: int, adjoint: bool) -> ir.Value:
        """Return element ``(i, j)`` of the matrix, or of its transpose."""
        i, j = (j, i) if adjoint != self.by_columns else (i, j)
        kernel = self.kernel
        return kernel.load(kernel.at(self.matrix, (kernel.itemsize, i * self.n + j)))

    def _substitute(self, forward: bool, adjoint: bool, diagonal: list[ir.Value] | None) -> None:
        """Emit the solution with a triangle, from the first row on or from the last.

        Without ``diagonal`` the triangle has ones there.
        """
        kernel, n = self.kernel, self.n
        for j in range(n) if forward else range(n - 1, -1, -1):
            if diagonal is not None:
                self.rows[j] = kernel.builder.fdiv(self.rows[j], kernel.repeated(diagonal[j]))
            for i in range(j + 1, n) if forward else range(j):
                self.rows[i] = kernel.less(self.rows[i], self._entry(i, j, adjoint), self.rows[j])

    def _exchange_rows(self, order: range) -> None:
        """Emit the exchanges of the rows ``order`` with the rows of their pivots."""
        kernel, pivots, step = self.kernel, self.places[1], self.kernel.strides[2]
        for i in order:
            number = kernel.load(kernel.at(pivots, (step, i)), INDEX)
            _exchange(kernel, self.rows, i, kernel.builder.sub(number, ir.Constant(INDEX, 1)))
