"""Products of matrices as the strides of their factors and result, and the choice of their tiles.

The dimension that a product sums over is called its terms.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from .product import Tile


class Matrix(NamedTuple):
    """A matrix for each element of a loop: the place of the first matrix, and strides in elements.

    ``loop`` has the strides along the axes of the loop, ``line`` is the stride from line to line,
    and ``step`` the one within a line. A line is a row of a left factor or of a result, and a
    column of a right factor. So the lines of both factors run along the terms.
    """

    place: Any
    loop: tuple[int, ...]
    line: int
    step: int


class Product(NamedTuple):
    """A product of matrices for each element of a loop, which has the sizes ``loop``.

    A left factor is ``rows`` times ``inner``, a right factor ``inner`` times ``cols``.
    """

    loop: tuple[int, ...]
    rows: int
    inner: int
    cols: int
    left: Matrix
    right: Matrix
    out: Matrix


def transposed(product: Product) -> Product:
    """Return the same product as one of transposes, whose result is the transposed result."""
    loop, rows, inner, cols, left, right, out = product
    return Product(loop, cols, inner, rows, right, left, out._replace(line=out[3], step=out[2]))


def folded(product: Product) -> Product:
    """Return a product with axes of the loop folded into rows or columns, if strides allow it.

    An axis along which the right factor stays the same becomes rows, and an axis along which the
    left factor stays the same becomes columns. So the products of a matrix with many vectors become
    one product of matrices.
    """
    for axis in reversed(range(len(product.loop))):
        for one, back in ((product, _same), (transposed(product), transposed)):
            if _makes_rows(one, axis):
                return folded(back(_with_rows(one, axis)))
    return product


def _same(product: Product) -> Product:
    return product


def _makes_rows(product: Product, axis: int) -> bool:
    _, rows, _, _, left, right, out = product
    is_even = all(m.loop[axis] == rows * m.line for m in (left, out))
    return right.loop[axis] == 0 and (rows == 1 or is_even)


def _with_rows(product: Product, axis: int) -> Product:
    loop, rows, inner, cols, left, right, out = product
    if rows == 1:
        left, out = (m._replace(line=m.loop[axis]) for m in (left, out))
    rest = loop[:axis] + loop[axis + 1 :]
    left, right, out = (
        m._replace(loop=m.loop[:axis] + m.loop[axis + 1 :]) for m in (left, right, out)
    )
    return Product(rest, rows * loop[axis], inner, cols, left, right, out)


def planned(
    product: Product, tiles: Sequence[Tile], processors: int
) -> tuple[Product, Tile, bool]:
    """Return the product to compute, the tile for it, and whether blocks of terms are split.

    A product with few columns is returned transposed, so that it has few rows, for the flat tile.
    For other products the tile is that of the least `cost`. Blocks of terms are split, so that they
    are computed apart and added up by a second kernel, if there are fewer tiles than
    multiprocessors and the results of all blocks need no more memory than the factors.
    """
    *others, flat = tiles
    rows, cols = product.rows, product.cols
    can_part = number_of_blocks(product, flat) > 1 and rows * cols <= flat.terms * (rows + cols)
    if min(rows, cols) <= flat.rows:
        product = product if rows <= cols else transposed(product)
        tile = flat
    else:
        tile = min(others, key=lambda one: cost(product, one, processors, can_part))
    return product, tile, can_part and number_of_tiles(product, tile) < processors


def cost(product: Product, tile: Tile, processors: int, can_part: bool) -> int:
    """Return the instructions that the busiest multiprocessor issues for a block of terms.

    The multiprocessors compute in waves: each has a tile in each wave, the last of which may leave
    most of them idle. ``can_part`` says whether blocks of terms may be split, so that the blocks of
    all tiles are spread over the waves. To write the sums of blocks and to add them up counts as
    one more block.
    """
    number, blocks = number_of_tiles(product, tile), number_of_blocks(product, tile)
    if can_part and number < processors:
        return -(-number * (blocks + 1) // processors) * tile.work
    return -(-number // processors) * blocks * tile.work


def number_of_tiles(product: Product, tile: Tile) -> int:
    """Return the number of tiles that cover the results of a product, over the whole loop."""
    return prod(product.loop) * -(-product.rows // tile.rows) * -(-product.cols // tile.cols)


def number_of_blocks(product: Product, tile: Tile) -> int:
    """Return the number of blocks of terms: at least 1, as a result without terms is zero."""
    return max(1, -(-product.inner // tile.terms))


def along_lines(factor: Matrix, lines: int, terms: int) -> bool:
    """Whether neighbouring threads should read neighbouring elements of one line of a factor.

    They should if these elements are closer in memory than neighbouring lines, or if there is one
    line only. Otherwise each thread reads a line of its own.
    """
    return lines == 1 or (terms != 1 and abs(factor.step) <= abs(factor.line))
