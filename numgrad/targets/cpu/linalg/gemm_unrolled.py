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
    vector if they are contiguous, and one by one otherwise.
    """
    kernel = UnrolledKernel(geometry, core[2], 3, 5, symbol)
    builder, column = kernel.builder, kernel.strides[3]
    contiguous = builder.icmp_signed("==", column, word(kernel.itemsize))
    with builder.if_else(contiguous) as branches:
        for branch, is_contiguous in zip(branches, (True, False), strict=True):
            with branch, kernel.loop() as places:
                _emit_pair(kernel, core, places, None if is_contiguous else column)
    return kernel.compile()


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
        total: Any = ir.Constant(kernel.vector, [0.0] * kernel.columns)
        for term, factor in enumerate(factors):
            one = kernel.load(kernel.at(a, (am, row), (ak, term)))
            total = kernel.multiply_add(kernel.repeated(one), factor, total)
        kernel.store(total, kernel.at(c, (cm, row)))
