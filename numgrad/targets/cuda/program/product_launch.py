"""Products of matrices as steps of a program: calls of cuBLAS, or launches of kernels."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...._settings import settings
from ....ir.kernel_spec import LibrarySpec
from ....ir.program import contiguous_strides
from ..compile.kernel import in_elements
from ..kernels import product
from ..kernels.product import Tile
from ..kernels.tiles import (  # fmt: skip
    Matrix,
    Product,
    along_lines,
    folded,
    number_of_blocks,
    number_of_tiles,
    planned,
)
from ..launch.steps import Blocks, Launch, LaunchSequence, Loop, Place
from ..libraries import blas


class LibraryProduct(NamedTuple):
    """A step in which cuBLAS computes a product of matrices."""

    gemm: blas.Gemm

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> None:
        """Let cuBLAS compute the product on a stream, by default the current one."""
        stream = stream or runtime.current()
        begins = [(blocks[place.slot], place.offset) for place in self.gemm.places]
        pointers = [(m.used_by(stream), first + offset) for (m, first), offset in begins]
        runtime.driver.blas.multiply(self.gemm, pointers, stream.handle)


def of_product(
    pattern: Any, loop: Loop, begins: Sequence[Place], target: Any
) -> Launch | LaunchSequence | LibraryProduct:
    """Return the step that computes a product of matrices.

    The step calls cuBLAS only if the spec leaves the product to a library, or the user all of them:
    with cuBLAS the bits of a row may depend on other rows. Otherwise the step launches kernels,
    with which no row depends on others.
    """
    driver, dtype = target.runtime.driver, pattern.layouts[0].dtype
    found = _product_of(pattern, loop, begins, dtype)
    if driver.blas is not None and _is_for_library(pattern.spec):
        gemm = blas.gemm(found, dtype)
        if gemm is not None:
            return LibraryProduct(gemm)
    found, tile, is_apart = planned(folded(found), driver.tiles(dtype), driver.PROCESSORS)
    return (_in_parts if is_apart else _at_once)(found, tile, dtype, target)


def _is_for_library(spec: Any) -> bool:
    """Whether a product is left to cuBLAS, as the setting ``cublas`` says."""
    if settings.cublas == "auto":
        return isinstance(spec, LibrarySpec)
    return settings.cublas == "always"


def _product_of(pattern: Any, loop: Loop, begins: Sequence[Place], dtype: np.dtype) -> Product:
    matrices = []
    for k, (place, strides) in enumerate(zip(begins, loop.strides, strict=True)):
        core = pattern.core_strides[2 * k : 2 * k + 2]
        *along, row, col = in_elements((*strides, *core), dtype.itemsize)
        matrices.append(Matrix(place, tuple(along), *((col, row) if k == 1 else (row, col))))
    return Product(loop.sizes, *pattern.core, *matrices)


def _at_once(
    found: Product, tile: Tile, dtype: np.dtype, target: Any, out_block: int = 0
) -> Launch:
    """Return the launch that computes all tiles of a product.

    If ``out_block`` is not 0, each block of terms is multiplied apart and has a result of its own:
    these results are ``out_block`` elements apart, and are to be added up.
    """
    loop, rows, inner, cols, left, right, out = found
    blocks, axes = number_of_blocks(found, tile), max(len(loop), 1)
    run = 1 if out_block else blocks
    arguments: list[Any] = [prod(loop), blocks, run, inner, *(loop or (1,)), rows, cols]
    for matrix, lines in ((left, rows), (right, cols)):
        along = int(along_lines(matrix, lines, inner))
        arguments += [matrix.place, *(matrix.loop or (0,)), matrix.line, matrix.step, along]
    arguments += [out.place, *(out.loop or (0,)), out.line, out.step, out_block]
    kernel = target.prepared(
        ("product", dtype, axes, tile), lambda: product.product(dtype, axes, tile)
    )
    number = number_of_tiles(found, tile) * blocks // run
    return Launch.of(kernel, number, arguments, target)


def _in_parts(found: Product, tile: Tile, dtype: np.dtype, target: Any) -> LaunchSequence:
    """Return two launches: one computes a product for each block of terms, one adds these up."""
    out, blocks = found.out, number_of_blocks(found, tile)
    sizes = (*found.loop, found.rows, found.cols)
    count, axes = prod(sizes), len(sizes)
    *loop, line, step = contiguous_strides(sizes, 1)
    parts = found._replace(out=Matrix(Place(-1, 0), tuple(loop), line, step))
    kernel = target.prepared(("joined", dtype, axes), lambda: product.joined(dtype, axes))
    strides = (*out.loop, out.line, out.step)
    arguments = (count, *sizes, out.place, *strides, blocks, Place(-1, 0))
    join = Launch.of(kernel, count, arguments, target)
    launches = _at_once(parts, tile, dtype, target, count), join
    return LaunchSequence(blocks * count * dtype.itemsize, launches)
