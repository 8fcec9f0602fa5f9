"""Products of matrices: a block of threads for each tile of the result.

A thread has several elements of a tile in registers. Shared memory has two buffers for tiles of
both factors: while threads multiply tiles of one buffer, the next tiles are read to the other, so
that threads wait for each other only once for each tile.

Each element of the result is computed by the same operations in the same order as on the CPU: the
terms are split into blocks of `TERMS`, the terms of a block are added up by multiply-adds from the
first to the last, and then the sums of blocks are added up. So the bits of an element depend on its
row and its column alone, and not on the sizes of tiles. If the result has too few tiles for all
multiprocessors, blocks of terms are computed apart, and a second kernel adds them up, with the same
bits.
"""

from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from ..compile.kernel import Kernel, Parameter, Pointer, Word
from .elementwise import ElementWalk, indices, loop, place, signature

TERMS = 256
"""The number of terms in a block, the same as in `numgrad.targets.cpu.linalg.gemm`."""

_SPREAD = """
if {name}_along:
    {name}_line, {name}_over = thread // DEPTH, THREADS // DEPTH
    {name}_k, {name}_on = thread % DEPTH, 0
else:
    {name}_line, {name}_over = thread % {name}_lines, 0
    {name}_k, {name}_on = thread // {name}_lines, THREADS // {name}_lines
{name}_step = {name}_over * {name}_line_stride + {name}_on * {name}_term_stride
"""
"""The lines that say which elements of a factor each thread reads. Neighbouring threads read
elements that are neighbours in memory, which are terms of one line or of neighbouring lines."""

_BEGIN = """
{name}_first = {name}_number * {name}_lines
{name}_at, {name}_term = {name}_first + {name}_line, begin + {name}_k
{name}_from = {place} + {name}_at * {name}_line_stride + {name}_term * {name}_term_stride
"""

_FETCH = """
at, line, term = {name}_from, {name}_at, {name}_term
for p in range({name}_each):
    {name}_kept[p] = zero
    if line < {name}_size and term < stop:
        {name}_kept[p] = {name}[at]
    at += {name}_step
    line += {name}_over
    term += {name}_on
{name}_term += DEPTH
{name}_from += DEPTH * {name}_term_stride
"""

_KEEP = """
for p in range({name}_each):
    {name}_tile[stage, {name}_k + p * {name}_on, {name}_line + p * {name}_over] = {name}_kept[p]
"""

_TEXT = """
def kernel({parameters}):
    a_tile = cuda.shared.array(a_shape, dtype, 16)
    b_tile = cuda.shared.array(b_shape, dtype, 16)
    a_kept = cuda.local.array(a_each, dtype)
    b_kept = cuda.local.array(b_each, dtype)
    total = cuda.local.array(elements, dtype)
    thread = cuda.threadIdx.x
    x, y = thread % wide, thread // wide
{spread}
    across, down = (b_size + b_lines - 1) // b_lines, (a_size + a_lines - 1) // a_lines
    stage = taken = 0
    number = cuda.blockIdx.x * run
    while number < across * down * blocks * n:
        block, tile = number % blocks, number // blocks
        i, a_number, b_number = tile // (across * down), tile // across % down, tile % across
        begin = block * TERMS
        stop = min(begin + TERMS, inner)
{begin}
{fetch}
        for p in range(elements):
            total[p] = zero
        while begin < stop:
{keep}
            cuda.syncthreads()
            begin += DEPTH
{fetch_next}
{multiply}
            stage = 1 - stage
        for p in range(DOWN):
            for q in range(ACROSS):
                row, col = a_first + y * DOWN + p, b_first + x + q * wide
                if y < high and row < a_size and col < b_size:
                    at = {out} + block * out_block + row * out_row + col * out_col
                    out[at] = {joined} if taken > 0 else total[p * ACROSS + q]
        number += 1
        taken += 1
        if taken == run:
            number += (cuda.gridDim.x - 1) * run
            taken = 0
"""


_LOOP = """
k = 0
while k < DEPTH and y < high:
{term}
    k += 1
"""

_TERM = """
for q in range(ACROSS):
    factor = b_tile[stage, {k}, x + q * wide]
    for p in range(DOWN):
        {added}
"""
"""The lines that add the products of one term to a thread's elements of a tile."""

_MANY = 32
"""The multiply-adds of a term from which on the terms are written out one by one. The compiler
writes out the terms of fewer, and leaves a loop of many as a loop, in which a third more
instructions count the terms and work out where they are."""


class Tile(NamedTuple):
    """The sizes of a tile: the piece of a result that a block of threads computes at a time.

    The number of threads is a multiple of ``rows``, of ``cols`` and of ``depth``.

    Attributes
    ----------
    rows, cols : int
        The rows and columns of the tile.
    depth : int
        The terms of both factors in shared memory at a time; a divisor of `TERMS`.
    down, across : int
        The rows and columns of the tile's elements that one thread computes.
    threads : int
        The threads of a block. All of them read factors; those that have elements of the tile
        multiply.
    terms : int
        The number of terms in a block of terms, the same for all tiles of a driver.
    """

    rows: int
    cols: int
    depth: int
    down: int
    across: int
    threads: int = 256
    terms: int = TERMS

    @property
    def work(self) -> int:
        """The instructions of all threads for one term: a multiply-add for each element, a read of
        shared memory for each row and column of a thread, and for each row and column of the tile
        a read of the factor and a write to shared memory."""
        each = self.down * self.across + self.down + self.across
        return self.threads * each + 2 * (self.rows + self.cols)


_SMALL = Tile(32, 32, 16, 4, 2, 128)
_FLAT = Tile(4, 32, 64, 4, 1)
_TILES = {
    4: (Tile(128, 128, 8, 8, 8), Tile(64, 64, 8, 8, 4, 128), _SMALL, _FLAT),
    8: (Tile(64, 64, 8, 4, 4), Tile(64, 32, 8, 4, 4, 128), _SMALL, _FLAT),
    16: (Tile(64, 32, 8, 4, 2), Tile(32, 32, 8, 4, 2, 128), Tile(4, 32, 32, 4, 1, 128)),
}


def tiles(dtype: np.dtype) -> tuple[Tile, ...]:
    """Return the sizes of the tiles of a GPU for a dtype, from a large to a small one, and of a
    flat one.

    The large tile has as many elements as registers allow. The smaller ones are for results of
    which large tiles would be half empty, or too few for the multiprocessors. The flat tile is for
    results with few rows: all threads read there, and few multiply.
    """
    return _TILES[max(dtype.itemsize, 4)]


def product(dtype: np.dtype, axes: int, tile: Tile) -> Kernel:
    """Return the kernel that multiplies matrices for each element of a loop.

    The loop has ``axes`` axes, at least one.
    """
    walk = ElementWalk(axes, True)
    sizes = [f"n{axis}" for axis in range(axes)]
    listed = ["n", "blocks", "run", "inner", *sizes, "a_size", "b_size"]
    parameters: list[Parameter] = [Word()] * len(listed)
    for name in ("a", "b"):
        listed += [name, *(f"{name}_{axis}" for axis in range(axes))]
        listed += [f"{name}_line_stride", f"{name}_term_stride", f"{name}_along"]
        parameters += [Pointer(dtype), *[Word()] * (axes + 3)]
    listed += ["out", *(f"out_{axis}" for axis in range(axes)), "out_row", "out_col", "out_block"]
    parameters += [Pointer(dtype), *[Word()] * (axes + 3)]
    fetch = _both(_FETCH, walk)
    text = _TEXT.format(
        parameters=", ".join(listed),
        spread=indent(_both(_SPREAD, walk), " " * 4),
        begin=indent("\n".join([*indices(walk), _both(_BEGIN, walk)]), " " * 8),
        fetch=indent(fetch, " " * 8), fetch_next=indent(fetch, " " * 12),
        keep=indent(_both(_KEEP, walk), " " * 12), out=place("out", walk),
        multiply=indent(_multiplied(dtype, tile), " " * 12),
        joined=f"out[at] {_sum(dtype)} total[p * ACROSS + q]",
    )  # fmt: skip
    return Kernel("matmul", text, tuple(parameters), _scope(dtype, tile), tile.threads, True)


def _multiplied(dtype: np.dtype, tile: Tile) -> str:
    """Return the lines of the kernel that multiply the tiles of both factors in shared memory."""
    all_multiply = tile.threads * tile.down * tile.across == tile.rows * tile.cols
    if all_multiply and tile.down * tile.across >= _MANY:
        return "".join([_TERM.format(k=k, added=_added(dtype, k)) for k in range(tile.depth)])
    term = _TERM.format(k="k", added=_added(dtype, "k"))
    return _LOOP.format(term=indent(term, " " * 4))


def _added(dtype: np.dtype, k: int | str) -> str:
    """Return the line of the kernel that adds the product of two numbers, of the term ``k`` of a
    tile, to a sum.

    The real and the imaginary part of complex numbers are each added by two multiply-adds.
    """
    total, x, y = "total[p * ACROSS + q]", f"a_tile[stage, {k}, y * DOWN + p]", "factor"
    if dtype.kind == "b":
        return f"{total} |= {x} & {y}"
    if dtype.kind != "c":
        return f"{total} += {x} * {y}"
    real = f"{total}.real + {x}.real * {y}.real - {x}.imag * {y}.imag"
    return f"{total} = complex({real}, {total}.imag + {x}.real * {y}.imag + {x}.imag * {y}.real)"


def _sum(dtype: np.dtype) -> str:
    return "|" if dtype.kind == "b" else "+"


def _both(text: str, walk: ElementWalk) -> str:
    return "\n".join(text.format(name=name, place=place(name, walk)) for name in ("a", "b"))


def _scope(dtype: np.dtype, tile: Tile) -> dict[str, Any]:
    rows, cols, depth, down, across, threads, terms = tile
    held = np.dtype(np.uint8) if dtype.kind == "b" else dtype
    aligned = max(16 // held.itemsize, 1)
    return {
        "THREADS": threads, "DEPTH": depth, "DOWN": down, "ACROSS": across, "TERMS": terms,
        "a_lines": rows, "b_lines": cols, "wide": cols // across, "high": rows // down,
        "a_each": rows * depth // threads, "b_each": cols * depth // threads,
        "elements": down * across, "dtype": held, "zero": held.type(0), "index_type": int,
        "a_shape": (2, depth, rows + aligned), "b_shape": (2, depth, cols + 1),
    }  # fmt: skip


def joined(dtype: np.dtype, axes: int) -> Kernel:
    """Return the kernel that adds up the results of blocks of terms, one block after the other.

    The results of each block are an array in C order with ``axes`` axes.
    """
    walk = ElementWalk(axes, True)
    parameters, listed = signature(["out"], [dtype], walk)
    body = [
        "value = parts[i]",
        "p = 1",
        "while p < blocks:",
        f"    value = value {_sum(dtype)} parts[i + p * n]",
        "    p += 1",
        f"out[{place('out', walk)}] = value",
    ]
    text = loop([*listed, "blocks", "parts"], walk, body)
    return Kernel("matmul", text, (*parameters, Word(), Pointer(dtype)), {"index_type": np.int64})
