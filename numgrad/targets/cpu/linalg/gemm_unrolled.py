"""LLVM code of the kernel that multiplies many pairs of matrices of one small size.

Each element is computed by the same operations in the same order as by the kernel for any sizes
(`gemm`), so the bits are equal.
"""

from typing import Any

from llvmlite import ir

from ..codegen.llvm_builder import word
from ..compile.compiler import Code
from .gemm import Geometry
from .unrolled import UnrolledKernel


def product(geometry: Geometry, core: tuple[int, int, int], symbol: str) -> Code:
    """Compile the kernel of products of the sizes ``core``, under the name ``symbol``.

    A row of the result is a vector. The elements of a row of the right factor are loaded as one
    vector if they are contiguous, and one by one otherwise. An outer product, of a column and a
    row, is computed a whole register at a time instead, if all its operands are contiguous.
    """
    kernel = UnrolledKernel(geometry, core[2], 3, 5, symbol)
    builder, column = kernel.builder, kernel.strides[3]
    is_outer = core[1] == 1
    whole = is_outer and core[0] * core[2] >= geometry.lanes
    contiguous = _are_contiguous(kernel, core) if whole else None
    if contiguous is None:
        contiguous = builder.icmp_signed("==", column, word(kernel.itemsize))
    with builder.if_else(contiguous) as branches:
        for branch, is_contiguous in zip(branches, (True, False), strict=True):
            with branch, kernel.loop() as places:
                if whole and is_contiguous:
                    _emit_outer(kernel, core, places)
                else:
                    _emit_pair(kernel, core, places, None if is_contiguous else column)
    return kernel.compile()


def _are_contiguous(kernel: UnrolledKernel, core: tuple[int, int, int]) -> ir.Value:
    """Emit whether the operands of an outer product are contiguous."""
    builder, (left, _, _, right, row) = kernel.builder, kernel.strides
    wanted = [(left, 1), (right, 1), (row, core[2])]
    each = [builder.icmp_signed("==", x, word(n * kernel.itemsize)) for x, n in wanted]
    return builder.and_(builder.and_(each[0], each[1]), each[2])


def _emit_outer(kernel: UnrolledKernel, core: tuple[int, int, int], places: Any) -> None:
    """Emit the outer product of one pair, as many elements at a time as a register holds.

    The last register may overlap the one before.
    """
    builder, (a, b, c), (rows, _, columns) = kernel.builder, places, core
    lanes, size = kernel.geometry.lanes, kernel.itemsize
    right = kernel.load(b, kernel.vector)
    last = rows * columns - lanes
    for begin in (*range(0, last, lanes), last):
        elements = [divmod(begin + lane, columns) for lane in range(lanes)]
        first, count = elements[0][0], elements[-1][0] - elements[0][0] + 1
        left = kernel.load(kernel.at(a, (size, first)), ir.VectorType(kernel.scalar, count))
        x = kernel.chosen(left, [row - first for row, _ in elements])
        y = kernel.chosen(right, [column for _, column in elements])
        kernel.store(builder.fmul(x, y), kernel.at(c, (size, begin)))


def _emit_pair(
    kernel: UnrolledKernel, core: tuple[int, int, int], places: Any, column: ir.Value | None
) -> None:
    """Emit the product ``C = A B`` of one pair; ``column`` is the stride of a row of B, if needed.
    """
    (a, b, c), (am, ak, bk, _, cm), (rows, terms, _) = places, kernel.strides, core
    starts = [kernel.at(b, (bk, term)) for term in range(terms)]
    factors = [
        kernel.load(start, kernel.vector) if column is None else kernel.gathered(start, column)
        for start in starts
    ]
    for row in range(rows):
        total: Any = None if terms == 1 else ir.Constant(kernel.vector, [0.0] * kernel.columns)
        for term, factor in enumerate(factors):
            one = kernel.repeated(kernel.load(kernel.at(a, (am, row), (ak, term))))
            if total is None:  # a single product may be -0.0, a sum that begins with 0.0 never
                total = kernel.builder.fmul(one, factor)
            else:
                total = kernel.multiply_add(one, factor, total)
        kernel.store(total, kernel.at(c, (cm, row)))
