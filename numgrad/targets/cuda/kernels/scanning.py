"""Cumulative sums, products and extrema, and linear recurrences, along rows.

Each element follows from the one before, in the order of the processor, so the bits are the same. A
block of threads takes a few rows, tile by tile. One thread of a row goes along the tile, in shared
memory; all others read the next tile meanwhile and write the one before, neighbours in memory by
neighbouring threads.
"""

from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from ..compile.kernel import Kernel, Word
from .elementwise import ElementWalk, index_type, indices, place, signature

EACH = 8
"""A block of threads has this many times as many threads as threads that go along rows."""

_TILE = 4 << 10
"""The bytes of a tile of all rows of a block of threads. Shared memory has three of each input."""

TURNS = 8
"""The elements that a thread reads before it uses the first, so that none waits for memory."""

_SCAN = """
def kernel({listed}):
{tiles}
    thread = cuda.threadIdx.x
    begin = int64(cuda.blockIdx.x) * {across}
    pieces = (count + {deep} - 1) // {deep}
    while begin < n:
        total, is_first = first, True
        number = int64(0)
        while number < pieces + 2:
            if thread < {across} and 0 < number <= pieces:
                own = (number - 1) % 3 * {tile} + thread
                left = min({deep}, count - (number - 1) * {deep})
                size = (left + {later}) // {turns} * {turns}
{series}
            helper = thread - {rows}
            if helper >= 0 and number < pieces:
                own = number % 3 * {tile}
{reads}
            if helper >= 0 and number > 1:
                own, k = (number - 2) % 3 * {tile}, helper
                while k < {many}:
                    row, part = k // {deep}, k % {deep}
                    i, at = begin + row, (number - 2) * {deep} + part
                    if i < n and at < count:
{indices_of_results}
                        out[{out} + at * out_along] = x_tiles[uint64(own + part * {apart} + row)]
                    k += {helpers}
            cuda.syncthreads()
            number += 1
        begin += int64(cuda.gridDim.x) * {across}
"""

_SERIES = """
{few}
for turn in range({turns}):
    {read}
k = {turns}
while k < size:
    for turn in range({turns}):
        {read_later}
    for turn in range({turns}):
        {line}
    for turn in range({turns}):
        {shift}
    k += {turns}
for turn in range({turns}):
    {line}
"""

_READS = """
few = cuda.local.array({each}, dtype)
for turn in range({each}):
    k = helper + turn * {helpers}
    row, part = k // {deep}, k % {deep}
    i, at = begin + row, number * {deep} + part
    few[turn] = zero
    if k < {many} and i < n and {least} <= at < count:
{indices}
        few[turn] = {name}[{base} + at * {name}_along]
for turn in range({each}):
    k = helper + turn * {helpers}
    row, part = k // {deep}, k % {deep}
    if k < {many}:
        {name}_tiles[uint64(own + part * {apart} + row)] = few[turn]
"""


class Scan(NamedTuple):
    """What a thread does with each element of a row.

    Attributes
    ----------
    first : int
        The total before the first element.
    line : str
        How the total follows from ``x``, the element, and from ``a``, that of the other input.
    is_before : bool
        Whether the result is the total before the element.
    has_factors : bool
        Whether there is another input, in front, of which the first element is not used.
    """

    first: int
    line: str
    is_before: bool = False
    has_factors: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return ("a", "x") if self.has_factors else ("x",)


_SUM, _PRODUCT = Scan(0, "total = total + {x}"), Scan(1, "total = total * {x}")
_RECURRENCE = Scan(
    0, "total, is_first = {x} if is_first else {a} * total + {x}, False", has_factors=True
)

_RESTARTING = Scan(
    0, "total, is_first = {x} if is_first or {a} == 0 else {a} * total + {x}, False",
    has_factors=True,
)  # fmt: skip


def _extremum(sign: str) -> Scan:
    here = f"is_first or {{x}} {sign} total or {{x}} != {{x}}"
    return Scan(0, f"total, is_first = {{x}} if {here} else total, False")


SCANS = {
    "cumulative_sum": _SUM, "cumulative_sum_reversed": _SUM, "cumulative_prod": _PRODUCT,
    "products_before": _PRODUCT._replace(is_before=True), "recurrence": _RECURRENCE,
    "recurrence_reversed": _RECURRENCE, "running_max": _extremum(">"),
    "running_min": _extremum("<"), "restarting_sum": _RESTARTING,
    "restarting_sum_reversed": _RESTARTING,
}  # fmt: skip
"""By the names of operators what they do along a row, from its end if they are reversed."""


def rows_of(threads: int) -> int:
    """Return the most rows that a block of threads takes, a power of two for those of a GPU."""
    return max(threads // EACH, 1)


def of_rows(
    name: str, dtype: np.dtype, walk: ElementWalk, across: int, threads: int
) -> Kernel:
    """Return the kernel of an operator along rows, of which a block of threads takes ``across``."""
    scan = SCANS[name]
    names = (*scan.inputs, "out")
    parameters, listed = signature(names, (dtype,) * len(names), walk)
    deep = max(_TILE // dtype.itemsize // across, TURNS)
    apart = across if across == 1 else across + 1  # so that no two threads use one bank
    helpers, many = threads - rows_of(threads), deep * across
    sizes = {"deep": deep, "across": across, "apart": apart, "many": many, "helpers": helpers}
    reads = [
        _READS.format(
            name=one, base=place(one, walk), each=-(-many // helpers), least=int(one == "a"),
            indices=_indented(indices(walk), 8), **sizes,
        )
        for one in scan.inputs
    ]  # fmt: skip
    text = _SCAN.format(
        listed=", ".join([*listed, "count", *[f"{one}_along" for one in names]]),
        tiles="\n".join(f"    {one}_tiles = cuda.shared.array({3 * deep * apart}, dtype)"
                        for one in scan.inputs),
        tile=deep * apart, rows=rows_of(threads), turns=TURNS, later=TURNS - 1,
        series=_indented(_series(scan, apart).splitlines(), 16),
        reads=_indented("".join(reads).splitlines(), 16),
        indices_of_results=_indented(indices(walk), 24), out=place("out", walk), **sizes,
    )  # fmt: skip
    scope = {
        "dtype": dtype, "zero": dtype.type(0), "first": dtype.type(scan.first),
        "int64": np.int64, "uint64": np.uint64, "index_type": index_type(walk),
    }  # fmt: skip
    return Kernel(name, text, (*parameters, *[Word()] * (1 + len(names))), scope, threads)


def _series(scan: Scan, apart: int) -> str:
    """Return the lines of a thread that goes along a tile, and replaces elements by results."""

    def each(template: str) -> str:
        return "; ".join(template.format(one=one) for one in scan.inputs)

    few = [f"{when}_{one}" for when in ("few", "later") for one in scan.inputs]
    kept = f"x_tiles[uint64(own + (k - {TURNS} + turn) * {apart})] = total"
    step = scan.line.format(**{one: f"few_{one}[turn]" for one in scan.inputs})
    return _SERIES.format(
        few="\n".join(f"{one} = cuda.local.array({TURNS}, dtype)" for one in few), turns=TURNS,
        read=each(f"few_{{one}}[turn] = {{one}}_tiles[uint64(own + turn * {apart})]"),
        read_later=each(f"later_{{one}}[turn] = {{one}}_tiles[uint64(own + (k + turn) * {apart})]"),
        shift=each("few_{one}[turn] = later_{one}[turn]"),
        line="; ".join([kept, step] if scan.is_before else [step, kept]),
    ).strip()  # fmt: skip


def _indented(lines: Any, spaces: int) -> str:
    return indent("\n".join(lines), " " * spaces)


__all__ = ["SCANS", "Scan", "of_rows", "rows_of"]
