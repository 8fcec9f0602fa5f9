"""Kernels that sort rows by merging: the stable order of their elements.

First a block of threads sorts a tile in shared memory: a piece of a row, or several short rows.
Then runs of sorted elements are merged in pairs, one launch for each doubling of the runs. A block
of threads makes a tile of the result: a binary search finds which parts of the two runs the tile
consists of (Green, McColl and Bader 2012), and the parts are merged in shared memory. An element
that is merged goes as far behind its place in its own run as there are elements of the other run
before it. Of equal elements those of the first run are before those of the second, so that the
order is stable. The order of a row does not depend on the tiles.
"""

from textwrap import indent
from typing import Any

import numpy as np

from ....ir.sorted_order import before, complex_before
from ..compile.kernel import Function, Kernel, Pointer, Word
from .elementwise import ElementWalk, index_type, indices, place, signature, storage_dtype

EACH = 4
"""The elements of a tile for each thread."""

_RANKED = """
low, high = middle, right
if e >= middle:
    low, high = left, middle
while low < high:
    half = (low + high) >> 1
    other = values[here + half]
    is_before = before(other, value)
    if e >= middle:
        is_before = not before(value, other)
    if is_before:
        low = half + 1
    else:
        high = half
at = e + low - middle
"""
"""Lines that find the place ``at`` of element ``e``, which is ``value``, among two sorted runs of a
tile: ``left`` to ``middle`` and ``middle`` to ``right``. The lines for an element of the second run
count the elements of the first run that are not behind it."""

_TILES = """
def kernel({listed}):
    values = cuda.shared.array(TWICE, dtype)
    numbers = cuda.shared.array(TWICE, int32)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    per_row = (length + deep - 1) // deep
    tiles = (int64(n) + group - 1) // group * per_row
    tile = int64(cuda.blockIdx.x)
    while tile < tiles:
        first, start = tile // per_row * group, tile % per_row * deep
        count = min(group, int64(n) - first) * min(deep, length - start)
        e = int64(thread)
        while e < count:
            row = int64(word(word(e) // word(deep)))
            i = index_type(first + row)
{indices}
            values[e] = cast(x[{x} + (start + e - row * deep) * along])
            numbers[e] = int32(e - row * deep)
            e += threads
        cuda.syncthreads()
        here, there, run = int64(0), int64(TILE), int64(1)
        while run < deep:
            e = int64(thread)
            while e < count:
                begin = int64(word(word(e) // word(deep))) * deep
                end = min(begin + deep, count)
                left = begin + ((e - begin) & -(2 * run))
                middle, right = min(left + run, end), min(left + 2 * run, end)
                value = values[here + e]
{ranked}
                values[there + at] = value
                numbers[there + at] = numbers[here + e]
                e += threads
            cuda.syncthreads()
            here, there, run = there, here, 2 * run
        e = int64(thread)
        while e < count:
            row = int64(word(word(e) // word(deep)))
            k = start + e - row * deep
            i = index_type(first + row)
{indices}
            out[{out} + k * between] = start + numbers[here + e]
{keys}
            e += threads
        cuda.syncthreads()
        tile += cuda.gridDim.x
"""

_KEYS = "keys[int64(i) * length + k] = values[here + e]"

_MERGED = """
def kernel({listed}):
    values = cuda.shared.array(TILE, dtype)
    cuts = cuda.shared.array(2, int64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    here = 0
    per_row = (length + TILE - 1) // TILE
    tile = int64(cuda.blockIdx.x)
    while tile < int64(n) * per_row:
        i = index_type(tile // per_row)
{indices}
        base, start = int64(i) * length, tile % per_row * TILE
        stop = min(start + TILE, length)
        first = start // (2 * run) * (2 * run)
        second, end = min(first + run, length), min(first + 2 * run, length)
        if thread < 2:
            wanted = (start if thread == 0 else stop) - first
            low, high = max(int64(0), wanted - (end - second)), min(wanted, second - first)
            while low < high:
                half = (low + high) >> 1
                if before(keys[base + second + wanted - 1 - half], keys[base + first + half]):
                    high = half
                else:
                    low = half + 1
            cuts[thread] = low
        cuda.syncthreads()
        left, middle, right = int64(0), cuts[1] - cuts[0], stop - start
        second += start - first - cuts[0] - middle
        first += cuts[0]
        e = int64(thread)
        while e < right:
            values[e] = keys[base + e + (first if e < middle else second)]
            e += threads
        cuda.syncthreads()
        e = int64(thread)
        while e < right:
            value = values[e]
{ranked}
            number = numbers[base + e + (first if e < middle else second)]
            at += start
            out[{out} + at * between] = number
{keys}
            e += threads
        cuda.syncthreads()
        tile += cuda.gridDim.x
"""

_MERGED_KEYS = "keys_out[base + at] = value"


def of_tiles(
    dtypes: tuple[np.dtype, np.dtype], walk: ElementWalk, threads: int, is_last: bool
) -> Kernel:
    """Return the kernel that sorts each tile of the rows of ``x``.

    The kernel writes the positions of the sorted elements to ``out`` and, unless it ``is_last``,
    the elements to ``keys``, row after row.
    """
    parameters, listed = signature(("x", "out"), dtypes, walk)
    names = ["length", "along", "between", "deep", "group"]
    text = _TILES.format(
        listed=", ".join([*listed, *names, *([] if is_last else ["keys"])]),
        indices=_indented(indices(walk), 12), x=place("x", walk), out=place("out", walk),
        ranked=_indented(_RANKED.strip().splitlines(), 16),
        keys="" if is_last else _indented([_KEYS], 12),
    )  # fmt: skip
    words = (*[Word()] * len(names), *(() if is_last else (Pointer(key_type(dtypes[0])),)))
    return Kernel("sort", text, (*parameters, *words), _scope(dtypes[0], walk, threads), threads)


def of_runs(
    dtypes: tuple[np.dtype, np.dtype], walk: ElementWalk, threads: int, is_last: bool
) -> Kernel:
    """Return the kernel that merges each pair of runs of ``run`` elements in ``keys``.

    ``keys`` and ``numbers`` have the elements and their positions, row after row; the kernel writes
    the positions to ``out`` and, unless it ``is_last``, the elements to ``keys_out``.
    """
    key, out = dtypes
    parameters, listed = signature(("out",), (out,), walk)
    names = ["length", "between", "run"]
    text = _MERGED.format(
        listed=", ".join(
            [*listed, *names, "keys", "numbers", *([] if is_last else ["keys_out"])]
        ),
        indices=_indented(indices(walk), 8), out=place("out", walk),
        ranked=_indented(_RANKED.strip().splitlines(), 12),
        keys="" if is_last else _indented([_MERGED_KEYS], 12),
    )  # fmt: skip
    pointers = (Pointer(key), Pointer(place_type(walk)), *(() if is_last else (Pointer(key),)))
    words = (*[Word()] * len(names), *pointers)
    return Kernel("merge", text, (*parameters, *words), _scope(key, walk, threads), threads)


def tile_of(threads: int) -> int:
    """Return the number of elements that a block of threads sorts in shared memory."""
    return EACH * threads


def key_type(dtype: np.dtype) -> np.dtype:
    """Return the dtype in which elements are compared; GPUs have no order of half precision."""
    return np.dtype(np.float32) if dtype == np.float16 else storage_dtype(dtype)


def place_type(walk: ElementWalk) -> np.dtype:
    """Return the dtype of positions between the launches of a sort."""
    return np.dtype(np.int64 if walk.is_wide else np.int32)


def _indented(lines: Any, spaces: int) -> str:
    return indent("\n".join(lines), " " * spaces)


def _scope(dtype: np.dtype, walk: ElementWalk, threads: int) -> dict[str, Any]:
    tile, key = tile_of(threads), key_type(dtype)
    return {
        "TILE": tile, "TWICE": 2 * tile, "dtype": key, "cast": key.type, "int64": np.int64,
        "int32": np.int32, "word": np.uint32, "index_type": index_type(walk),
        "before": Function(complex_before if dtype.kind == "c" else before, dtype=key),
    }  # fmt: skip
