"""Strides of the matrices of a product, and the choice of its tiles."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from .product import Tile


class Matrix(NamedTuple):
    """A matrix for each element of a loop: the place of the first matrix, and its strides.

    The strides, in elements, are those along the loop, from line to line, and within a line. Lines
    are rows, but columns of a right factor, so that the lines of both factors consist of terms.
    """

    place: Any
    loop: tuple[int, ...]
    line: int
    step: int


class Product(NamedTuple):
    """Products of matrices over a loop of these sizes."""

    loop: tuple[int, ...]
    rows: int
    inner: int
    cols: int
    left: Matrix
    right: Matrix
    out: Matrix


def transposed(product: Product) -> Product:
    """Return the product of the transposes."""
    loop, rows, inner, cols, left, right, out = product
    return Product(loop, cols, inner, rows, right, left, out._replace(line=out[3], step=out[2]))


def folded(product: Product) -> Product:
    """Return a product with axes of the loop folded into rows or columns, where strides allow it.

    An axis along which the right factor stays the same becomes rows, and an axis along which the
    left factor stays the same becomes columns: vectors that share a matrix are one product.
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
    """Return a product, its tile, and whether blocks of terms are computed apart and joined later.

    A product with few rows or columns is turned, so that rows are few. Blocks are computed apart if
    there are fewer tiles than multiprocessors, and the results of all blocks need no more memory
    than the factors. The large tile is chosen if results fill half of it, and tiles keep half of
    the multiprocessors busy.
    """
    large, small, flat = tiles
    rows, cols = product.rows, product.cols
    blocks = number_of_blocks(product, large)
    can_part = blocks > 1 and rows * cols <= large.terms * (rows + cols)
    if min(rows, cols) <= flat.rows:
        product = product if rows <= cols else transposed(product)
        tile = flat
    else:
        number = number_of_tiles(product, large)
        is_full = 2 * prod(product.loop) * rows * cols >= number * large.rows * large.cols
        is_enough = 2 * number * (blocks if can_part else 1) >= processors
        tile = large if is_full and is_enough else small
    return product, tile, can_part and number_of_tiles(product, tile) < processors


def number_of_tiles(product: Product, tile: Tile) -> int:
    """Return the number of tiles of all results."""
    return prod(product.loop) * -(-product.rows // tile.rows) * -(-product.cols // tile.cols)


def number_of_blocks(product: Product, tile: Tile) -> int:
    """Return the number of blocks of terms, at least 1: an empty block makes zeros."""
    return max(1, -(-product.inner // tile.terms))


def along_lines(factor: Matrix, lines: int, terms: int) -> bool:
    """Whether neighbouring threads should read neighbours of a line, not neighbouring lines.

    They should if elements of a line are closer together than lines, or there is only one line.
    """
    return lines == 1 or (terms != 1 and abs(factor.step) <= abs(factor.line))
