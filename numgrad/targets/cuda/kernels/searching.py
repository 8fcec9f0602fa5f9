"""Kernels in which several threads go through a row: for counts, truth and positions of extrema.

A team of threads takes a piece of a row, each of them every so many elements, and joins what its
threads have found in shared memory. What is found in the pieces of a long row is joined by a second
launch. All of that is exact, so the result does not depend on the order.
"""

from textwrap import indent
from typing import Any

import numpy as np

from ..compile.kernel import Function, Kernel, Pointer, Word
from .elementwise import ElementWalk, index_type, indices, place, signature, storage_dtype

PIECE = 4096
"""The elements of a row that a team goes through."""

AHEAD = 8
"""The elements that a thread reads before it uses the first, to keep memory busy."""

_ROWS = """
def kernel({listed}):
    found = cuda.shared.array(THREADS, int64)
    {shared}
    thread = int64(cuda.threadIdx.x)
    team, lane, group = thread // lanes, thread % lanes, THREADS // lanes
    pieces = (length + PIECE - 1) // PIECE if length > PIECE else int64(1)
    begin = int64(cuda.blockIdx.x) * group
    while begin < int64(n) * pieces:
        item = begin + team
        is_busy = team < group and item < int64(n) * pieces
        total, best = int64({none}), zero
        if is_busy:
            i, piece = index_type(item // pieces), item % pieces
{indices}
            base = int64({x})
            k, end = piece * PIECE + lane, min(piece * PIECE + PIECE, length)
            while k < end:
                if k + {later} * lanes < end:
                    few = cuda.local.array({ahead}, dtype)
                    for turn in range({ahead}):
                        few[turn] = {element_ahead}
                    for turn in range({ahead}):
                        value, at = few[turn], {position_ahead}
{take_ahead}
                    k += {ahead} * lanes
                else:
                    at = {position}
                    value = {element}
{take}
                    k += lanes
        found[thread] = total
        {share}
        cuda.syncthreads()
        width = lanes
        while width > 1:
            half = (width + 1) // 2
            if is_busy and lane + half < width:
{join}
            cuda.syncthreads()
            width = half
        if is_busy and lane == 0:
            i = index_type(item // pieces)
{indices}
            out[{out} + item % pieces * between] = {result}
        cuda.syncthreads()
        begin += int64(cuda.gridDim.x) * group
"""

_COUNTED = ("total += {added}",)
_COUNTS_JOINED = ("found[thread] += found[thread + half]",)
_PLACED = ("if total < 0 or is_better(value, best):", "    total, best = at, value")
_PLACES_JOINED = (
    "there, here = found[thread + half], found[thread]",
    "mine, other = values[thread], values[thread + half]",
    "if there >= 0:",
    "    is_first = there < here and not is_better(mine, other)",
    "    if here < 0 or is_first or is_better(other, mine):",
    "        found[thread], values[thread] = there, other",
)

RESULTS = {"any": "found[thread] != 0", "all": "found[thread] == whole"}
"""By the names of operators what a count of elements that are not zero says about a row; the other
operators give what was found."""


def larger_or_nan(value, best):
    """Whether a value behind ``best`` is the maximum so far; a NaN is kept."""
    return best == best and (value > best or value != value)


def smaller_or_nan(value, best):
    """Whether a value behind ``best`` is the minimum so far; a NaN is kept."""
    return best == best and (value < best or value != value)


BETTER = {"argmax": larger_or_nan, "argmin": smaller_or_nan}


def of_rows(
    name: str, dtypes: tuple[np.dtype, np.dtype], walk: ElementWalk, threads: int,
    is_joining: bool, is_last: bool,
) -> Kernel:  # fmt: skip
    """Return the kernel of an operator that goes through rows of ``x``, piece by piece.

    With ``is_joining`` the elements of a row are what was found in the pieces of another: counts,
    which are ``x``, or positions in the row of ``x``, which are ``places``. Unless it ``is_last``
    the kernel writes such counts or positions.
    """
    parameters, listed = signature(("x", "out"), dtypes, walk)
    is_place = name in BETTER
    reads_places = is_place and is_joining
    names = ["length", "along", "between", "whole", "lanes", *(["places"] if reads_places else [])]
    pointers = (Pointer(np.dtype(np.int64)),) if reads_places else ()
    where = "places[int64(i) * length + {}]" if reads_places else "{}"
    position, position_ahead = where.format("k"), where.format("k + turn * lanes")
    element = "x[base + {} * along]"
    added = "value" if is_joining else "1 if value != zero else 0"
    take = _PLACED if is_place else [line.format(added=added) for line in _COUNTED]
    text = _ROWS.format(
        listed=", ".join([*listed, *names]), none=-1 if is_place else 0, later=AHEAD - 1,
        ahead=AHEAD, indices=_indented(indices(walk), 12), x=place("x", walk),
        out=place("out", walk), position=position, position_ahead=position_ahead,
        element=element.format("at"), element_ahead=element.format(f"({position_ahead})"),
        take=_indented(take, 20), take_ahead=_indented(take, 24),
        join=_indented(_PLACES_JOINED if is_place else _COUNTS_JOINED, 16),
        shared="values = cuda.shared.array(THREADS, dtype)" if is_place else "",
        share="values[thread] = best" if is_place else "",
        result=RESULTS.get(name, "found[thread]") if is_last else "found[thread]",
    )  # fmt: skip
    parameters = (*parameters, *[Word()] * 5, *pointers)
    return Kernel(name, text, parameters, _scope(name, dtypes[0], walk, threads), threads)


def _indented(lines: Any, spaces: int) -> str:
    return indent("\n".join(lines), " " * spaces)


def _scope(name: str, dtype: np.dtype, walk: ElementWalk, threads: int) -> dict[str, Any]:
    dtype = storage_dtype(dtype)
    scope: dict[str, Any] = {
        "THREADS": threads, "PIECE": PIECE, "dtype": dtype, "zero": dtype.type(0),
        "int64": np.int64, "index_type": index_type(walk),
    }  # fmt: skip
    if name in BETTER:
        scope["is_better"] = Function(BETTER[name], dtype=dtype)
    return scope
