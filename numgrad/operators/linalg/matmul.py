"""The matrix product."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..._declare import KernelOperator, registry
from ..._declare.operands import as_values
from ..._declare.operator import Computation
from ...ir.dtypes import FLOATING
from ...ir.kernel_spec import ElementwiseSpec, LibrarySpec, ProductSpec
from ..elementwise.arithmetic import multiply
from ..shape.reshape import permute_dims


def transpose(x):
    """Return matrices with their last two axes exchanged."""
    return permute_dims(x, axes=(-1, -2))


def adjoint(x):
    """Return the conjugate transposes of matrices."""
    x = permute_dims(x, axes=(-1, -2))
    return registry["conj"](x) if x.dtype.kind == "c" else x


LARGE = 1 << 21
"""The number of multiply-adds in a product above which a BLAS on all threads is faster than the
target's own kernel on one thread. On one thread each, the kernel is faster."""


SMALL, MANY = 256, 16
"""The most multiply-adds in a product whose kernel is made for its sizes, and the fewest different
matrices for which that is done; so too for the factorizations of small matrices. Such a kernel has
no loops but that over pairs: its code, of a few instructions for each multiply-add, is translated
once for each size, in 20 to 200 ms."""


class MatMul(KernelOperator):
    """The product of matrices, ``(m,k),(k,n)->(m,n)``.

    Integers are multiplied by NumPy, or in programs by a plain loop. Real matrices are multiplied
    by the target's own kernel, in which the bits of a row do not depend on other rows. BLAS
    multiplies complex matrices, and large ones that are not rows of a batch.

    The products of many vectors with one matrix become one product of matrices: the kernel folds a
    loop in which the right matrix is shared. So a product with a column is computed as that of the
    transposes, whose right factor is the matrix. Many small products with different right matrices
    have a kernel for their sizes.
    """

    def __call__(self, x1: Any, x2: Any) -> Any:
        """Apply the operator to two values, and record it.

        Half precision is computed in single precision, and rounded if no operand is in single.
        """
        result = super().__call__(x1, x2)
        if result.dtype == np.float32 and np.float16 in (x1.dtype, x2.dtype):
            half = np.result_type(x1.dtype, x2.dtype) == np.float16
            return result.astype(np.dtype(np.float16)) if half else result
        return result

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        values = as_values(args)
        first, second = values
        if (
            first.dtype == second.dtype
            and first.dtype in FLOATING
            and len(first.shape) == len(second.shape)
        ):
            return first, second
        dtype = np.result_type(*[v.dtype for v in values])
        if dtype == np.float16:
            dtype = np.dtype(np.float32)
        return self.align([v if v.dtype == dtype else v.astype(dtype) for v in values])

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        return [np.result_type(*dtypes)]

    def spec(self, dtypes: tuple[np.dtype, ...]) -> Any:
        known = self._specs.get(dtypes)
        if known is None:
            dtype = dtypes[0]
            if dtype.kind in "biu":
                return super().spec(dtypes)
            known = LibrarySpec("matmul", dtype) if dtype.kind == "c" else ProductSpec(dtype)
            self._specs[dtypes] = known
        return known

    def _spec_for(
        self, dtype: np.dtype, core: tuple[int, int, int], rows: bool, pairs: tuple[int, int]
    ) -> Any:
        """Return the kernel spec for sizes, and for the numbers of left and of right matrices.

        The sum of a single product is that product: -0.0 stays so. Outer products are elementwise
        multiplications, for which many short rows have a kernel for their sizes.
        """
        if core[1] == 1:
            is_short = 1 not in (core[0], core[2]) and prod(core) <= SMALL
            if is_short and dtype.kind == "f" and max(pairs) >= MANY:
                return self._spec_of_size(dtype, core)
            return multiply.spec(dtype)
        if not rows and prod(core) > LARGE:
            return LibrarySpec("matmul", dtype)
        is_folded = core[2] == 1 and pairs[0] < MANY
        if dtype.kind == "f" and prod(core) <= SMALL and pairs[1] >= MANY and not is_folded:
            return self._spec_of_size(dtype, core)
        return self.spec((dtype, dtype))

    def _spec_of_size(self, dtype: np.dtype, core: tuple[int, int, int]) -> ProductSpec:
        known = self._specs.get((dtype, core))
        if known is None:
            known = self._specs[dtype, core] = ProductSpec(dtype, core)
        return known

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        a, b = arrays
        if a.shape[-1] != b.shape[-2]:
            self.core_sizes([a.shape, b.shape])  # raises
        if a.dtype.kind in "biu":
            return [np.matmul(a, b)]
        pairs = matrices(a), matrices(b)
        spec = self._spec_for(a.dtype, _core(a.shape, b.shape), False, pairs)
        turned = _is_column(b.shape, a.shape) and _has_any_size(spec)
        if turned:
            a, b = _turned(b), _turned(a)
        if type(spec) is LibrarySpec:
            a, b = (x if _blas_knows(x) else np.ascontiguousarray(x) for x in (a, b))
        result = np.asarray(target.kernel(spec).ufunc(a, b))
        return [_turned(result) if turned else result]

    def computation(
        self, target: Any, inputs: Any, static: dict[str, Any]
    ) -> Computation:
        left, right, dtype = inputs[0].shape, inputs[1].shape, inputs[0].dtype
        core = _core(left, right)
        if dtype in FLOATING:
            spec = self._spec_for(dtype, core, False, (prod(left[:-2]), prod(right[:-2])))
            if type(spec) is ProductSpec:
                ufunc = target.kernel(spec).ufunc
                if _is_column(right, left) and _has_any_size(spec):
                    return lambda a, b: _turned(ufunc(_turned(b), _turned(a)))
                return ufunc
        return super().computation(target, inputs, static)

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Any, static: dict[str, Any]
    ) -> list[Any]:
        self.core_sizes([o.shape for o in inputs])
        (spec,) = specs
        shape, dtype, rows = spec.shape, spec.dtype, spec.rows
        a, b = inputs
        if dtype.kind in "biu" and a.shape[-1] != 1:
            return super().lower(builder, inputs, specs, static)
        output = builder.new(shape, dtype, rows)
        if 0 in shape:
            return [output]
        core, result = _core(a.shape, b.shape), output
        spec = self._spec_for(dtype, core, rows, (matrices(a), matrices(b)))
        if isinstance(spec, ElementwiseSpec):
            builder.emit(spec, [a, b], [output], name=self.name)
            return [output]
        if _is_column(b.shape, a.shape) and _has_any_size(spec):
            a, b, result = b.view(_turned), a.view(_turned), output.view(_turned)
            core = core[::-1]
        if type(spec) is LibrarySpec:
            a, b = (o if _blas_knows(o) else builder.contiguous(o) for o in (a, b))
            builder.uses_blas = True
        builder.emit(spec, [a, b], [result], self.ncore, core, name=self.name)
        return [output]


def _core(left: Sequence[int], right: Sequence[int]) -> tuple[int, int, int]:
    return left[-2], left[-1], right[-1]


def _is_column(right: Sequence[int], left: Sequence[int]) -> bool:
    return right[-1] == 1 and left[-2] != 1


def _has_any_size(spec: Any) -> bool:
    """Whether a kernel spec is that of products whose matrices may have any sizes."""
    return isinstance(spec, LibrarySpec | ProductSpec) and spec.core is None


def matrices(operand: Any) -> int:
    """Return the number of different matrices in an array or operand; a batch counts as many."""
    loop = zip(operand.shape[:-2], operand.strides[:-2], strict=True)
    has_rows = not isinstance(operand, np.ndarray) and operand.buffer.rows
    return prod([size for size, stride in loop if stride]) * (MANY if has_rows else 1)


def _turned(array: np.ndarray) -> np.ndarray:
    return array.swapaxes(-1, -2)


def _blas_knows(operand: Any) -> bool:
    """Whether BLAS can read a matrix: stored by rows or by columns, at any distance."""
    (m, n), (row, column), size = operand.shape[-2:], operand.strides[-2:], operand.dtype.itemsize
    by_rows = (n == 1 or column == size) and (m == 1 or (row % size == 0 and row >= n * size))
    return by_rows or (
        (m == 1 or row == size) and (n == 1 or (column % size == 0 and column >= m * size))
    )


def _product(a, b, out):
    """Compute the product of integer matrices; of booleans, whether any pair of terms is true."""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


matmul = MatMul(_product, "(m,k),(k,n)->(m,n)", name="matmul", uses_blas=True)


matmul.reads(lambda needs: (needs[1], needs[0], False))


@matmul.pullback
def matmul_pullback(context, g):
    want1, want2 = context.wanted
    g1 = matmul(g, adjoint(context.input(1))) if want1 else None
    g2 = matmul(adjoint(context.input(0)), g) if want2 else None
    return g1, g2
