"""Indexing with arrays: a thread for each element of what is written.

What is added or overwritten at positions of which some may be equal is put in order first. A key is
a position times the number of positions, plus the place among them: so all keys differ, the sorted
ones are always the same, and what has one position stands side by side, in its first order. Sums
are added in the order of the processor, so they have the same bits, and no two threads write the
same element.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..._program import Shape, contiguous_strides
from ..._specs import LoopSpec, core_dimensions
from ..._target import Failure
from .steps import Blocks, HostCall, Launch, Loop, Place, cores_of
from .walks import Lines, Operand, launch

_WORD = np.dtype(np.int64)

RUN = 32
"""Neighbouring keys that are sorted by one kernel, in which every thread looks at all of them."""


class Staged(NamedTuple):
    """Several launches in a row, with memory of their own.

    Attributes
    ----------
    nbytes : int
        Of that memory, which is the last of the blocks that the launches are given.
    launches : tuple of Launch
    """

    nbytes: int
    launches: tuple[Launch, ...]

    def run(self, runtime: Any, blocks: Blocks) -> Failure | None:
        """Launch the kernels, in order."""
        memory = runtime.allocate(self.nbytes)
        try:
            for one in self.launches:
                one.run(runtime, [*blocks, (memory, 0)])
        finally:
            runtime.free(memory)
        return None


class Checked(NamedTuple):
    """A launch whose threads set the program's flag where something is wrong.

    Attributes
    ----------
    launch : Launch
    host : HostCall
        Does the same and says what is wrong, once the flag was found set.
    """

    launch: Launch
    host: HostCall

    def run(self, runtime: Any, blocks: Blocks) -> Failure | None:
        """Launch the kernel."""
        return self.launch.run(runtime, blocks)


class Work(NamedTuple):
    """An instruction, as the functions below see it: sizes by the names of core dimensions, and
    for each operand where it begins, its dtype, and its strides along the loop and its core."""

    loop: Loop
    sizes: dict[str, int]
    begins: Sequence[Place]
    dtypes: Sequence[np.dtype]
    cores: Sequence[Shape]
    target: Any

    def operand(self, name: str, number: int, *core: int) -> Operand:
        """Return an operand with its strides along the axes of the core that is walked over."""
        strides = (*self.loop.strides[number], *core)
        return Operand(name, self.begins[number], self.dtypes[number], strides)

    def counted(self, name: str, *core: int) -> Operand:
        """Return a number that counts along axes of the core."""
        return Operand(name, None, None, (*(0,) * len(self.loop.sizes), *core))

    def launch(
        self, what: Lines, core: Shape, operands: Sequence[Operand], **numbers: int
    ) -> Launch:
        """Return the launch of lines over the loop and axes of the core."""
        zero = {"zero": operands[-1].dtype.type(0)} if operands[-1].dtype is not None else {}
        sizes = (*self.loop.sizes, *core)
        return launch(what, sizes, operands, numbers, self.target, zero)

    def rows(self, number: int) -> int:
        """Return how many elements lie from one row of an operand to the next."""
        return self.cores[number][0] // self.dtypes[number].itemsize


def is_of_positions(spec: Any) -> bool:
    """Whether the kernels for a spec are here."""
    return isinstance(spec, LoopSpec) and spec.name in _STEPS


def lowered(
    pattern: Any, loop: Loop, begins: Sequence[Place], target: Any
) -> "Launch | Staged":
    """Return the step of an instruction that moves elements to or from positions, or finds these;
    behind the operands ``begins`` has the place of the program's flag."""
    spec = pattern.spec
    cores = [core.strides[0] for core in cores_of(pattern, spec.signature, (0,) * len(pattern.layouts))]
    names = dict.fromkeys(name for core in core_dimensions(spec.signature) for name in core)
    sizes = dict(zip(names, pattern.core, strict=True))
    dtypes = [layout.dtype for layout in pattern.layouts]
    return _STEPS[spec.name](Work(loop, sizes, begins, dtypes, cores, target))


# Positions that may be equal are not in the way --------------------------------------------------

_GATHER = Lines("gather", ("out[{out}] = x[{x} + index[{index}] * x_row]",))
_FILL = Lines("fill", ("out[{out}] = zero",))
_COPY = Lines("copy", ("out[{out}] = x[{x}]",))
_PLACE = Lines("place", ("out[{out} + index[{index}] * out_row] = g[{g}]",))


def _gather(work: Work) -> Launch:
    (_, x_col), (step,), (out_row, out_col) = work.cores
    operands = [
        work.operand("x", 0, 0, x_col), work.operand("index", 1, step, 0),
        work.operand("out", 2, out_row, out_col),
    ]  # fmt: skip
    return work.launch(_GATHER, (work.sizes["m"], work.sizes["k"]), operands, x_row=work.rows(0))


def _place(work: Work) -> Staged:
    (g_row, g_col), (step,), (out_row, out_col) = work.cores
    operands = [
        work.operand("g", 0, g_row, g_col), work.operand("index", 1, step, 0),
        work.operand("out", 2, 0, out_col),
    ]  # fmt: skip
    m, k, n = work.sizes["m"], work.sizes["k"], work.sizes["n"]
    fill = work.launch(_FILL, (n, k), [work.operand("out", 2, out_row, out_col)])
    return Staged(0, (fill, work.launch(_PLACE, (m, k), operands, out_row=work.rows(2))))


# Positions in order -------------------------------------------------------------------------------

_KEYS = Lines("keys", ("keys[{keys}] = index[{index}] * m + {at}",))

_RUNS = Lines("sort_runs", (
    "at = int64(i)",
    "first = at // m * m + at % m // run * run",
    "stop = min(first + run, at // m * m + m)",
    "key = source[at]",
    "place, other = first, first",
    "while other < stop:",
    "    if source[other] < key:",
    "        place += 1",
    "    other += 1",
    "sorted_[place] = key",
))  # fmt: skip

_MERGE = Lines("merge_runs", (
    "at = int64(i)",
    "begin = at // m * m",
    "first = begin + (at - begin) // (2 * run) * (2 * run)",
    "middle = min(first + run, begin + m)",
    "low, high, place = middle, min(first + 2 * run, begin + m), at",
    "if at >= middle:",
    "    low, high, place = first, middle, at - (middle - first)",
    "key = source[at]",
    "place -= low",
    "while low < high:",
    "    mid = (low + high) // 2",
    "    if source[mid] < key:",
    "        low = mid + 1",
    "    else:",
    "        high = mid",
    "sorted_[place + low] = key",
))  # fmt: skip


class Order(NamedTuple):
    """Keys of positions, sorted: what sorts them, the memory for that, and where they are then."""

    launches: tuple[Launch, ...]
    nbytes: int
    keys: Place
    strides: Shape

    def operand(self, *core: int) -> Operand:
        """Return the keys with strides along the loop, and along axes of the core."""
        return Operand("keys", self.keys, _WORD, (*self.strides, *core))


def _in_order(work: Work, number: int) -> Order:
    """Return how the positions that are an operand are put in order, once for each element of the
    loop on which they depend."""
    m, along = work.sizes["m"], work.loop.strides[number]
    sizes = work.loop.sizes if any(along) else ()
    lies = contiguous_strides((*sizes, m), _WORD.itemsize)
    count = prod(sizes) * m
    halves = [Place(-1, 0), Place(-1, count * _WORD.itemsize)]
    index, keys = work.begins[number], Operand("keys", halves[0], _WORD, lies)
    (step,) = work.cores[number]
    given = Operand("index", index, work.dtypes[number], (*along[: len(sizes)], step))
    at = Operand("at", None, None, (*(0,) * len(sizes), 1))
    launches = [launch(_KEYS, (*sizes, m), [given, at, keys], {"m": m}, work.target)]
    what, run = _RUNS, RUN
    while what is _RUNS or run < m:
        operands = [
            Operand(name, half, _WORD, (_WORD.itemsize,))
            for name, half in zip(("source", "sorted_"), halves, strict=True)
        ]
        launches.append(launch(what, (count,), operands, {"m": m, "run": run}, work.target))
        halves.reverse()
        what, run = _MERGE, run if what is _RUNS else 2 * run
    strides = lies[:-1] if sizes else (0,) * len(along)
    return Order(tuple(launches), 2 * count * _WORD.itemsize, halves[0], strides)


_ADD = Lines("add_up", (
    "first = int64({row}) * m",
    "low, high = int64(0), m",
    "while low < high:",
    "    mid = (low + high) // 2",
    "    if keys[{keys} + mid] < first:",
    "        low = mid + 1",
    "    else:",
    "        high = mid",
    "total = zero",
    "while low < m and keys[{keys} + low] < first + m:",
    "    total = total + g[{g} + (keys[{keys} + low] - first) * g_row]",
    "    low += 1",
    "out[{out}] = total",
))  # fmt: skip

_OVERWRITE = Lines("overwrite", (
    "key = keys[{keys} + {at}]",
    "row = key // m",
    "if {at} + 1 == m or keys[{keys} + {at} + 1] // m != row:",
    "    out[{out} + row * out_row] = v[{v} + key % m * v_row]",
))  # fmt: skip

_REMAINS = Lines("remains", (
    "key = keys[{keys} + {at}]",
    "is_last = {at} + 1 == m or keys[{keys} + {at} + 1] // m != key // m",
    "out[{out} + key % m * out_row] = is_last",
))  # fmt: skip


def _scatter(work: Work) -> Staged:
    (_, g_col), _, (out_row, out_col) = work.cores
    order, m = _in_order(work, 1), work.sizes["m"]
    operands = [
        order.operand(0, 0), work.counted("row", 1, 0), work.operand("g", 0, 0, g_col),
        work.operand("out", 2, out_row, out_col),
    ]  # fmt: skip
    core = (work.sizes["n"], work.sizes["k"])
    add = work.launch(_ADD, core, operands, m=m, g_row=work.rows(0))
    return Staged(order.nbytes, (*order.launches, add))


def _overwrite(work: Work) -> Staged:
    """The last of the values for a position is written, and no other."""
    (x_row, x_col), (_, v_col), _, (out_row, out_col) = work.cores
    order, sizes = _in_order(work, 2), work.sizes
    whole = [work.operand("x", 0, x_row, x_col), work.operand("out", 3, out_row, out_col)]
    copy = work.launch(_COPY, (sizes["n"], sizes["k"]), whole)
    operands = [
        order.operand(0, 0), work.counted("at", 1, 0), work.operand("v", 1, 0, v_col),
        work.operand("out", 3, 0, out_col),
    ]  # fmt: skip
    rows = {"v_row": work.rows(1), "out_row": work.rows(3)}
    write = work.launch(_OVERWRITE, (sizes["m"], sizes["k"]), operands, m=sizes["m"], **rows)
    return Staged(order.nbytes, (copy, *order.launches, write))


def _remains(work: Work) -> Staged:
    order, m = _in_order(work, 0), work.sizes["m"]
    operands = [order.operand(0), work.counted("at", 1), work.operand("out", 2, 0)]
    mark = work.launch(_REMAINS, (m,), operands, m=m, out_row=work.rows(2))
    return Staged(order.nbytes, (*order.launches, mark))


# The check ----------------------------------------------------------------------------------------

_POSITIONS = Lines("positions", (
    "at = int64(index[{index}])",
    "at += size[{size}] & (at >> 63)",
    "fits = at >= 0 and at < size[{size}]",
    "out[{out}] = at * apart[{apart}] if fits else 0",
    "if not fits:",
    "    flag[{flag}] = 1",
))  # fmt: skip


def _positions(work: Work) -> Launch:
    (step,), (out_step,) = work.cores[0], work.cores[3]
    flag = Operand("flag", work.begins[4], _WORD, (0,) * (len(work.loop.sizes) + 1))
    operands = [
        work.operand("index", 0, step), work.operand("size", 1, 0), work.operand("apart", 2, 0),
        flag, work.operand("out", 3, out_step),
    ]  # fmt: skip
    return work.launch(_POSITIONS, (work.sizes["m"],), operands)


def cleared(flag: Place, target: Any) -> Launch:
    """Return the launch that clears the flag of a program."""
    word = Operand("out", flag, _WORD, (0,))
    return launch(_FILL, (1,), [word], {}, target, {"zero": np.int64(0)})


_STEPS: dict[str, Callable[[Work], Launch | Staged]] = {
    "gather": _gather, "scatter": _scatter, "place": _place, "overwrite": _overwrite,
    "remains": _remains, "positions": _positions,
}  # fmt: skip
