"""Reductions of many elements, in stages: of leaves, of blocks, and of the results of blocks.

The order is that of `numgrad.ir.pairwise`, so the bits are those of the CPU. In a leaf the
second half of the elements is joined to the first half, then the second quarter to the first, until
one element is left. The results of a block's leaves are joined in the same way. Blocks are joined
one after the other, sums with compensation. Each kernel reads an element once, and neighbouring
threads read neighbouring elements:

- `halves`: a thread joins up to 32 elements at any distance, which it holds in registers.
- `of_blocks`: for contiguous rows. Threads copy a block of a row to shared memory, and each thread
  joins a leaf there.
- `of_parts`: a thread joins the results of all blocks of a row; several threads read them together.
"""

from collections.abc import Iterator
from textwrap import indent
from typing import Any

import numpy as np

from ....ir import pairwise
from ....ir.pairwise import BLOCK, LEAF, LEAVES, lost
from ..compile.kernel import Function, Kernel, Word
from .element_walk import Lines
from .elementwise import ElementWalk, index_type, indices, place, signature, storage_dtype

EACH = 8
"""The threads for each row in `of_parts`. All of them read the results of blocks, and one of them
joins. With fewer threads for a row there would be too few blocks of threads; with more, a read
would cover too few neighbouring rows."""

_SHARED = 32 << 10
"""The bytes of shared memory for the elements of a block of threads: few enough for several blocks
of threads to run on a multiprocessor at once."""

_APART = LEAF + 1
"""The elements from one leaf to the next in shared memory: one more than a leaf has, so that
threads that read neighbouring leaves access different banks."""

_SLOT = LEAVES * _APART + 1

_TURNS = 8
"""The number of elements that a thread reads before it uses the first, to keep memory busy."""

_BLOCKS = """
def kernel({listed}):
    values = cuda.shared.array({words}, dtype)
    team, lane = cuda.threadIdx.x // {lanes}, cuda.threadIdx.x % {lanes}
    own = team * SLOT
    per_row = index_type(blocks)
    items = index_type(n * per_row)
    begin = index_type(cuda.blockIdx.x * {group})
    step = index_type(cuda.gridDim.x * {group})
    while begin < items:
        item = index_type(begin + team)
        is_busy = team < {group} and item < items
        block, size = index_type(0), int64(0)
        if is_busy:
            i = index_type(item // per_row)
            block = index_type(item % per_row)
            size = min(BLOCK, count - int64(block) * BLOCK)
{indices}
            base = {x} + int64(block) * BLOCK
            k = lane
            while k < size:
                if k + {later} * {lanes} < size:
                    few = cuda.local.array({turns}, dtype)
                    for turn in range({turns}):
                        few[turn] = cast(x[base + k + turn * {lanes}])
                    for turn in range({turns}):
                        at = k + turn * {lanes}
                        values[own + at + at // LEAF] = few[turn]
                    k += {turns} * {lanes}
                else:
                    values[own + k + k // LEAF] = cast(x[base + k])
                    k += {lanes}
        cuda.syncthreads()
        k = lane
        while k * LEAF < size:
            left, at = size - k * LEAF, own + k * APART
{leaf}
            values[at] = few[0]
            k += {lanes}
        cuda.syncthreads()
        if is_busy and lane == 0:
            i = index_type(item // per_row)
            left, at = (size + LEAF - 1) // LEAF, own
{block}
{indices}
            out[{out} + block * between] = {result}
        cuda.syncthreads()
        begin = index_type(begin + step)
"""

_PARTS = """
def kernel({listed}):
    values = cuda.shared.array(BLOCK, dtype)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    begin = int64(cuda.blockIdx.x) * across
    while begin < n:
        rows = min(across, n - begin)
        total = correction = zero
        first = 0
        while first < count:
            deep = min(BLOCK // across, count - first)
            k = thread
            while k < deep * rows:
                i = begin + k % rows
{indices}
                values[k] = x[{x} + (first + k // rows) * along]
                k += threads
            cuda.syncthreads()
            if thread < rows:
                k = 0
                if first == 0:
                    total = values[thread]
                    k = 1
                while k < deep:
                    if k + {later} < deep:
                        few = cuda.local.array({turns}, dtype)
                        for turn in range({turns}):
                            few[turn] = values[(k + turn) * rows + thread]
                        for turn in range({turns}):
                            after = join(total, few[turn])
                            correction += loss(total, few[turn], after)
                            total = after
                        k += {turns}
                    else:
                        part = values[k * rows + thread]
                        after = join(total, part)
                        correction += loss(total, part, after)
                        total = after
                        k += 1
            cuda.syncthreads()
            first += deep
        if thread < rows:
            i = begin + thread
{of_row}
            out[{out}] = finish(total, correction)
        begin += int64(cuda.gridDim.x) * across
"""


def add(a: Any, b: Any) -> Any:
    """Return the sum of two numbers."""
    return a + b


def _no_loss(total: Any, part: Any, after: Any) -> Any:
    return part - part


def _without(total: Any, correction: Any) -> Any:
    return total


def halves(join: Any, dtype: np.dtype, width: int, is_last: bool) -> Lines:
    """Return the lines of a kernel in which a thread joins up to ``width`` elements of a row.

    The lines name ``count``, the elements of the row, ``along``, their distance, and ``first``, the
    number of the first one to join. In the last stage of a reduction, ``is_last``, the lines also
    apply ``finish`` to the result.
    """
    lines = ("left, at = count - {first}, {x}", *_joined("x", "along", width))
    scope = _scope(join, dtype)
    scope = {name: scope[name] for name in ("join", "cast", "finish", "dtype")}
    return Lines("halves", (*lines, f"out[{{out}}] = {_result(is_last)}"), tuple(scope.items()))


def of_blocks(
    name: str, join: Any, dtypes: Any, walk: ElementWalk, threads: int, is_last: bool
) -> Kernel:
    """Return the kernel that reduces each block of elements of contiguous rows to one element.

    A block of ``threads`` threads is divided into teams; see `group_of`. A team reduces a block of
    elements.
    """
    dtype = storage_dtype(dtypes[1])
    group = group_of(dtype, threads)
    parameters, listed = signature(("x", "out"), dtypes, walk)
    text = _BLOCKS.format(
        listed=", ".join([*listed, "count", "blocks", "between"]),
        group=group, words=group * _SLOT, lanes=threads // group, turns=_TURNS, later=_TURNS - 1,
        indices=indent("\n".join(indices(walk)), " " * 12),
        x=place("x", walk), out=place("out", walk), result=_result(is_last),
        leaf=indent("\n".join(_joined("values", "1", LEAF)), " " * 12),
        block=indent("\n".join(_joined("values", "APART", LEAVES)), " " * 12),
    )  # fmt: skip
    scope = _scope(join, dtype) | {"index_type": index_type(walk)}
    return Kernel(name, text, (*parameters, *[Word()] * 3), scope, threads)


def group_of(dtype: np.dtype, threads: int) -> int:
    """Return the number of teams into which the kernel of `of_blocks` divides a block of threads.
    """
    return max(min(_SHARED // (BLOCK * dtype.itemsize), threads // 2), 1)


def of_parts(name: str, join: Any, dtypes: Any, walk: ElementWalk, threads: int) -> Kernel:
    """Return the kernel that joins the results of all blocks of a row, one after the other."""
    parameters, listed = signature(("x", "out"), dtypes, walk)
    text = _PARTS.format(
        listed=", ".join([*listed, "count", "along", "across"]), turns=_TURNS, later=_TURNS - 1,
        indices=indent("\n".join(indices(walk)), " " * 16),
        of_row=indent("\n".join(indices(walk)), " " * 12),
        x=place("x", walk), out=place("out", walk),
    )  # fmt: skip
    scope = _scope(join, storage_dtype(dtypes[1]))
    return Kernel(name, text, (*parameters, *[Word()] * 3), scope, threads)


def _joined(source: str, along: str, width: int) -> list[str]:
    """Return the lines that join up to ``width`` elements of ``source`` by halves, to ``few[0]``.

    Before these lines, ``at`` must be the index of the first element in ``source``, and ``left``
    the number of elements from there on. ``along`` is the text of the elements' distance.
    """
    return [
        f"few = cuda.local.array({width}, dtype)",  # in registers, as these loops are unrolled
        f"if left >= {width}:",
        *[f"    {line}" for line in _halving(source, along, width, is_whole=True)],
        "else:",
        *[f"    {line}" for line in _halving(source, along, width, is_whole=False)],
    ]


def _halving(source: str, along: str, width: int, is_whole: bool) -> Iterator[str]:
    """Yield the lines that read ``width`` elements of ``source`` and join them by halves.

    Unless ``is_whole``, fewer elements may be left. In place of a missing one the last one is read
    again, which needs no branch, and is not joined.
    """
    element = "each" if is_whole else "min(each, left - 1)"
    yield f"for each in range({width}):"
    yield f"    few[each] = cast({source}[at + {element} * {along}])"
    half = width // 2
    while half:
        yield f"for each in range({half}):"
        if is_whole:
            yield f"    few[each] = join(few[each], few[each + {half}])"
        else:
            yield f"    if each + {half} < left:"
            yield f"        few[each] = join(few[each], few[each + {half}])"
        half //= 2


def _result(is_last: bool) -> str:
    return "finish(few[0], zero)" if is_last else "few[0]"


def _scope(join: Any, dtype: np.dtype) -> dict[str, Any]:
    is_rounded = join is add and dtype.kind in "fc"
    return {
        "BLOCK": BLOCK, "LEAF": LEAF, "LEAVES": LEAVES, "APART": _APART, "SLOT": _SLOT,
        "dtype": dtype, "cast": dtype.type, "zero": dtype.type(0), "int64": np.int64,
        "index_type": np.int64, "join": Function(join, dtype=dtype),
        "loss": Function(lost if is_rounded else _no_loss, dtype=dtype),
        "finish": Function(pairwise.corrected if is_rounded else _without, dtype=dtype),
    }  # fmt: skip
