"""Reductions of many elements, in stages: of leaves, of blocks, and of the results of blocks.

The order is that of `numgrad.ir.pairwise`, so the bits are those of the CPU. In a leaf the
second half of the elements is joined to the first half, then the second quarter to the first, until
one element is left. The results of a block's leaves are joined in the same way. The sums of blocks
are added one after the other, with compensation. Extrema, and sums of integers, do not depend on
how neighbours are grouped, so there the results of blocks are elements of another reduction. Each
kernel reads an element once, and neighbouring threads read neighbouring elements:

- `halves`: a thread joins up to 32 elements at any distance, which it holds in registers.
- `of_blocks`: for contiguous rows. A warp reduces blocks of elements, which its threads exchange by
  shuffles.
- `of_parts`: a block of threads adds up the sums of all blocks of a few rows. One thread of a row
  makes the additions that wait for one another, another one adds the rounding errors, and all
  others read the sums and compute these errors.
"""

from collections.abc import Iterator
from textwrap import indent
from typing import Any

import numpy as np

from ....ir import pairwise
from ....ir.pairwise import BLOCK, LEAF, LEAVES, corrected, lost
from ..compile.kernel import Function, Kernel, Word
from .element_walk import Lines
from .elementwise import ElementWalk, index_type, indices, place, signature, storage_dtype

WARP = 32
"""The threads of a warp: as many as a leaf has elements, and a block leaves."""

EACH = 8
"""The threads for each row in `of_parts`: one that adds, one that adds rounding errors, and six
that do the rest. With fewer threads for a row there would be too few blocks of threads; with more,
a read would cover too few neighbouring rows."""

_PIECE = 4 << 10
"""The bytes of sums that a block of threads holds at each stage of `of_parts`. The shared memory is
six times as large."""

_TURNS = 8
"""The number of sums that a thread reads before it adds the first, so that no addition waits for
memory. Fewer at the end of a row are filled up with zeros, which change no bit."""

_BLOCKS = """
def kernel({listed}):
    lane = cuda.laneid
    per_row = index_type(blocks)
    items = index_type(n * per_row)
    first = index_type(cuda.grid(1) // {warp} * {group})
    step = index_type(cuda.gridsize(1) // {warp} * {group})
    while first < items:
        few = cuda.local.array({warp}, dtype)
        for each in range({group}):
            item = index_type(first + each)
            item = index_type(item if item < items else items - 1)
{split}
{indices}
            base = {x} + block * BLOCK + lane
            left = count - block * BLOCK - lane
            if left > {last} * LEAF:
                for leaf in range({leaves}):
                    few[each * {leaves} + leaf] = cast(x[base + leaf * LEAF])
            else:
                for leaf in range({leaves}):
                    element = neutral
                    if leaf * LEAF < left:
                        element = cast(x[base + leaf * LEAF])
                    few[each * {leaves} + leaf] = element
{rounds}
        item = index_type(first + lane // {leaves})
        if lane % {leaves} == 0 and item < items:
{split}
{indices}
            out[{out} + block * between] = {result}
        first = index_type(first + step)
"""

_PARTS = """
def kernel({listed}):
    parts = cuda.shared.array(4 * {piece}, dtype)
    totals = cuda.shared.array(2 * ({piece} + {across}), dtype)
    thread = cuda.threadIdx.x
    begin = int64(cuda.blockIdx.x) * {across}
    pieces = (count + {deep} - 1) // {deep}
    while begin < n:
        total = correction = zero
        number = int64(0)
        while number < pieces + 3:
            if thread < {across} and 0 < number <= pieces:
                size = {size_1}
                own = (number - 1) % 4 * {piece} + thread
                into = (number - 1) % 2 * ({piece} + {across}) + thread
{totals}
                totals[uint64(into + size * {across})] = total
            row = thread - {rows}
            if 0 <= row < {across} and 2 < number:
                size = {size_3}
                own = (number - 3) % 4 * {piece} + row
{corrections}
            helper = thread - 2 * {rows}
            if helper >= 0 and number < pieces:
                own, first, k = number % 4 * {piece}, number * {deep}, helper
                many = {size_0} * {across}
                few = cuda.local.array({reads}, dtype)
                for turn in range({reads}):
                    k = helper + turn * {helpers}
                    i, part = begin + k % {across}, first + k // {across}
                    few[turn] = zero
                    if k < many and i < n and part < count:
{indices}
                        few[turn] = x[{x} + part * along]
                for turn in range({reads}):
                    k = helper + turn * {helpers}
                    if k < many:
                        parts[uint64(own + k)] = few[turn]
            if helper >= 0 and 1 < number < pieces + 2:
                own, at = (number - 2) % 4 * {piece}, (number - 2) % 2 * ({piece} + {across})
                many = {size_2} * {across}
                k = helper
                while k < many:
                    before, after = totals[uint64(at + k)], totals[uint64(at + k + {across})]
                    parts[uint64(own + k)] = loss(before, parts[uint64(own + k)], after)
                    k += {helpers}
            cuda.syncthreads()
            number += 1
        row = thread - {rows}
        i = begin + row
        if 0 <= row < {across} and i < n:
            number = pieces - 1
            at = number % 2 * ({piece} + {across}) + row + {size_0} * {across}
{of_row}
            out[{out}] = finish(totals[uint64(at)], correction)
        begin += int64(cuda.gridDim.x) * {across}
"""

_SERIES = """
few = cuda.local.array({turns}, dtype)
later = cuda.local.array({turns}, dtype)
for turn in range({turns}):
    few[turn] = parts[uint64(own + turn * {across})]
k = {turns}
while k < size:
    for turn in range({turns}):
        later[turn] = parts[uint64(own + (k + turn) * {across})]
    for turn in range({turns}):
        {line}
    for turn in range({turns}):
        few[turn] = later[turn]
    k += {turns}
for turn in range({turns}):
    {line}
"""
"""The lines of a thread that adds ``size`` parts one after the other. It reads the next ones before
it adds those at hand. Indices are unsigned, as Numba looks whether others are negative."""


def add(a: Any, b: Any) -> Any:
    """Return the sum of two numbers."""
    return a + b


def finish_of(dtype: np.dtype) -> Any:
    """Return the function that adds rounding errors to a sum of numbers of a dtype."""
    return _corrected_parts if dtype.kind == "c" else corrected


def _corrected_parts(total: Any, correction: Any) -> Any:
    """Return a compensated complex sum, in which one part may be infinite and the other is not."""
    real = corrected(total.real, correction.real)
    return complex(real, corrected(total.imag, correction.imag))


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
    name: str, join: Any, dtypes: Any, walk: ElementWalk, leaves: int, threads: int, is_last: bool
) -> Kernel:
    """Return the kernel that reduces each block of elements of contiguous rows to one element.

    ``leaves``, a power of two, is the most leaves that a block has. A warp takes 32 leaves at a
    time, of one or several blocks: each of its threads reads one element of each leaf. A missing
    element is replaced by one that changes nothing when it is joined. Then each pair of threads
    exchanges half of its elements five times, and at last a thread has the result of one leaf.
    """
    dtype = storage_dtype(dtypes[1])
    parameters, listed = signature(("x", "out"), dtypes, walk)
    text = _BLOCKS.format(
        listed=", ".join([*listed, "count", "blocks", "between"]),
        split=indent("\n".join(_split(leaves)), " " * 12),
        warp=WARP, group=WARP // leaves, leaves=leaves, last=leaves - 1,
        indices=indent("\n".join(indices(walk)), " " * 12),
        x=place("x", walk), out=place("out", walk), result=_result(is_last),
        rounds=indent("\n".join(_rounds(join, dtype, leaves)), " " * 8),
    )  # fmt: skip
    scope = _scope(join, dtype) | {"index_type": index_type(walk), "everyone": 0xFFFFFFFF}
    scope |= {"neutral": _neutral(join, dtype)}
    scope |= {"word": np.int64 if dtype.kind in "iu" else dtype.type}
    return Kernel(name, text, (*parameters, *[Word()] * 3), scope, warps_of(threads) * WARP)


def _split(leaves: int) -> list[str]:
    """Return the lines that split the number of an item into a row and a block of this row.

    A row with a smaller block than the largest has no other one.
    """
    if leaves < LEAVES:
        return ["i, block = item, int64(0)"]
    return ["i = index_type(item // per_row)", "block = int64(item % per_row)"]


def warps_of(threads: int) -> int:
    """Return the number of warps in a block of ``threads`` threads, at least one."""
    return max(threads // WARP, 1)


def rows_of(threads: int) -> int:
    """Return the most rows of which a block of threads adds up the parts, a power of two."""
    return max(threads // EACH, 2)


def of_parts(name: str, dtypes: Any, walk: ElementWalk, across: int, threads: int) -> Kernel:
    """Return the kernel that adds up the sums of all blocks of a row, one after the other.

    A block of ``threads`` threads takes ``across`` rows at a time, a power of two. Their parts go
    through four stages, piece by piece: they are read, added to the totals, replaced by the
    rounding errors of these additions, and added to the corrections. At any moment each stage works
    on another piece.
    """
    dtype = storage_dtype(dtypes[1])
    parameters, listed = signature(("x", "out"), dtypes, walk)
    rows, piece = rows_of(threads), _PIECE // dtype.itemsize
    deep, helpers = piece // across, threads - 2 * rows
    sizes = {
        f"size_{late}": f"min({deep}, (count - (number - {late}) * {deep} + {_TURNS - 1})"
        f" // {_TURNS} * {_TURNS})"
        for late in range(4)
    }
    added = f"totals[uint64(into + (k - {_TURNS} + turn) * {across})] = total; total += few[turn]"
    text = _PARTS.format(
        listed=", ".join([*listed, "count", "along"]), across=across, rows=rows, piece=piece,
        deep=deep, helpers=helpers, reads=-(-piece // helpers),
        totals=_series(added, across), corrections=_series("correction += few[turn]", across),
        indices=indent("\n".join(indices(walk)), " " * 24),
        of_row=indent("\n".join(indices(walk)), " " * 12),
        x=place("x", walk), out=place("out", walk), **sizes,
    )  # fmt: skip
    scope = _scope(add, dtype)
    return Kernel(name, text, (*parameters, *[Word()] * 2), scope, threads)


def _series(line: str, across: int) -> str:
    return indent(_SERIES.format(turns=_TURNS, across=across, line=line).strip(), " " * 16)


def _rounds(join: Any, dtype: np.dtype, leaves: int) -> Iterator[str]:
    """Yield the lines in which a warp joins 32 leaves, then leaves of a block, to ``few[0]``.

    All threads of a warp have to shuffle at the same instruction. So values are chosen by ``selp``,
    and no loop contains a shuffle: the compiler would make two loops, one for each choice.
    """

    def chosen(a: str, b: str) -> str:
        return _by_words(dtype, "cuda.selp(is_low, {}, {})", a, b)

    half = LEAF // 2
    while half:
        yield f"is_low = lane & {half} == 0"
        for k in range(half):
            yield f"low, high = few[{k}], few[{k + half}]"
            yield f"mine, other = {chosen('low', 'high')}, {chosen('high', 'low')}"
            yield f"other = {_shuffled('xor', dtype, 'other', half)}"
            if join is not add:  # in the order of the threads
                yield f"mine, other = {chosen('mine', 'other')}, {chosen('other', 'mine')}"
            yield f"few[{k}] = join(mine, other)"
        half //= 2
    half = leaves // 2
    while half:
        yield "mine = few[0]"
        yield f"few[0] = join(mine, {_shuffled('down', dtype, 'mine', half)})"
        half //= 2


def _shuffled(way: str, dtype: np.dtype, value: str, distance: int) -> str:
    """Return the expression for the ``value`` of another thread of the warp."""
    return _by_words(dtype, f"cuda.shfl_{way}_sync(everyone, {{}}, {distance})", value)


def _by_words(dtype: np.dtype, call: str, *values: str) -> str:
    """Return an expression that calls a function of words for values, or for parts of complex ones.
    """
    if dtype.kind == "c":
        real = call.format(*[f"{value}.real" for value in values])
        imag = call.format(*[f"{value}.imag" for value in values])
        return f"cast(complex({real}, {imag}))"
    return f"cast({call.format(*[f'word({value})' for value in values])})"


def _neutral(join: Any, dtype: np.dtype) -> Any:
    """Return the element that changes no other one when it is joined to it."""
    is_larger = join is pairwise.larger
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(0 if join is add else limits.min if is_larger else limits.max)
    if join is add:
        return dtype.type(complex(-0.0, -0.0) if dtype.kind == "c" else -0.0)
    return dtype.type(-np.inf if is_larger else np.inf)


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


def is_rounded(join: Any, dtype: np.dtype) -> bool:
    """Whether a reduction rounds its results, so that they depend on the groups that are joined."""
    return join is add and dtype.kind in "fc"


def _scope(join: Any, dtype: np.dtype) -> dict[str, Any]:
    finish = finish_of(dtype) if is_rounded(join, dtype) else _without
    return {
        "BLOCK": BLOCK, "LEAF": LEAF, "dtype": dtype, "cast": dtype.type, "zero": dtype.type(0),
        "int64": np.int64, "uint64": np.uint64, "join": Function(join, dtype=dtype),
        "loss": Function(lost, dtype=dtype), "finish": Function(finish, dtype=dtype),
    }  # fmt: skip
