"""Indexing with integer arrays: kernels that read, add or write elements at given positions.

Each thread writes one element, and no two threads write the same one. If positions may be equal,
they are sorted before elements are added or overwritten there. The keys of the sort are a position
times the number of positions, plus the index of the position. So all keys differ, and equal
positions become neighbours in their original order. Sums of few terms are added in the same order
as on the CPU, and have the same bits. In sums of many terms the rounding error of each addition is
added to the next term.
"""

import re
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ....ir.kernel_spec import LoopSpec, core_dimensions
from ....ir.pairwise import LEAF
from ....ir.program import contiguous_strides
from ..launch.steps import Launch, LaunchSequence, Loop, Place, cores_of
from .element_walk import COPY, FILL, Lines, Operand, launch

_WORD = np.dtype(np.int64)


# Kernels ------------------------------------------------------------------------------------------

_GATHER = Lines("gather", ("out[{out}] = x[{x} + index[{index}] * x_row]",))
_PLACE = Lines("place", ("out[{out} + index[{index}] * out_row] = g[{g}]",))
_ADD = Lines("add_up", (
    "first = int64({n}) * m",
    "low, high = int64(0), m",
    "while low < high:",
    "    mid = (low + high) // 2",
    "    if keys[{keys} + mid] < first:",
    "        low = mid + 1",
    "    else:",
    "        high = mid",
    "few, total, rest, start = zero, zero, zero, low",
    "while low < m and keys[{keys} + low] < first + m:",
    "    term = g[{g} + (keys[{keys} + low] - first) * g_row]",
    "    few = few + term",
    "    term = term + rest",
    "    new = total + term",
    "    moved = new - total",
    "    rest = (total - (new - moved)) + (term - moved)",
    "    rest = rest if rest == rest else zero",
    "    total = new",
    "    low += 1",
    f"out[{{out}}] = few if low - start <= {LEAF} else total",
))  # fmt: skip
_OVERWRITE = Lines("overwrite", (
    "key = keys[{keys} + {m}]",
    "if {m} + 1 == m or keys[{keys} + {m} + 1] // m != key // m:",
    "    out[{out} + key // m * out_row] = v[{v} + (key % m - {m}) * v_row]",
))  # fmt: skip
_REMAINS = Lines("remains", (
    "key = keys[{keys} + {m}]",
    "is_last = {m} + 1 == m or keys[{keys} + {m} + 1] // m != key // m",
    "out[{out} + (key % m - {m}) * out_row] = is_last",
))  # fmt: skip
_POSITIONS = Lines("positions", (
    "at = int64(index[{index}])",
    "at += size[{size}] & (at >> 63)",
    "fits = at >= 0 and at < size[{size}]",
    "out[{out}] = at * apart[{apart}] if fits else 0",
    "if not fits:",
    "    flag[{flag}] = 1",
))  # fmt: skip

_COUNTABLE = Lines("countable", (
    "at = int64(index[{index}])",
    "fits = at >= 0 and at < size[{size}]",
    "out[{out}] = at if fits else 0",
    "if not fits:",
    "    flag[{flag}] = 1",
))  # fmt: skip

_KEYS = Lines("keys", ("keys[{keys}] = index[{index}] * m + {at}",))
_MERGE = Lines("merge", (
    "at = int64(i)",
    "begin = at // m * m",
    "first = begin + (at - begin) // (2 * run) * (2 * run)",
    "middle = min(first + run, begin + m)",
    "low, high, place = middle, min(first + 2 * run, begin + m), at - middle",
    "if at >= middle:",
    "    low, high, place = first, middle, at - middle",
    "while low < high:",
    "    mid = (low + high) // 2",
    "    if source[mid] < source[at]:",
    "        low = mid + 1",
    "    else:",
    "        high = mid",
    "out[place + low] = source[at]",
))  # fmt: skip


# From instructions to launches --------------------------------------------------------------------

_SORTED = "sorted"
_STEPS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "gather": ("x index out", (("mk", _GATHER),)),
    "place": ("g index out", (("nk", FILL), ("mk", _PLACE))),
    **dict.fromkeys(
        ("scatter", "scatter_single", "scatter_complex", "scatter_double"),
        ("g index out", (_SORTED, ("nk", _ADD))),
    ),
    "overwrite": ("x v index out", (("nk", COPY), _SORTED, ("mk", _OVERWRITE))),
    "remains": ("index size out", (_SORTED, ("m", _REMAINS))),
    "positions": ("index size apart out", (("m", _POSITIONS),)),
    "countable": ("index size out", (("m", _COUNTABLE),)),
}
"""For the name of each spec the names of its operands, and its kernels in order. A kernel has the
core dimensions of its loop in front; `_SORTED` stands for the launches that sort positions."""

CHECKED = ("positions", "countable")
"""The names of the specs whose kernels set the flag for wrong numbers."""


def is_of_positions(spec: Any) -> bool:
    """Whether a kernel spec is one of indexing with arrays, which this module has kernels for."""
    return isinstance(spec, LoopSpec) and spec.name in _STEPS


def lowered(
    pattern: Any, loop: Loop, begins: Sequence[Place], flag: Place, target: Any
) -> LaunchSequence:
    """Return the step of an instruction that indexes with arrays.

    Such an instruction checks positions, or reads or writes elements at positions. ``flag`` is the
    place of the program's flag, which is set if a position is out of bounds.
    """
    called, kernels = _STEPS[pattern.spec.name]
    named = core_dimensions(pattern.spec.signature)
    cores = cores_of(pattern, pattern.spec.signature, (0,) * len(named))
    sizes = dict(zip(dict.fromkeys(sum(named, ())), pattern.core, strict=True))
    numbers, operands = {"m": sizes["m"]}, list[tuple[Operand, dict[str, int]]]()
    for k, name in enumerate(called.split()):
        dtype = pattern.layouts[k].dtype
        strides = dict(zip(named[k], cores[k].strides[0], strict=True)) if named[k] else {}
        operands.append((Operand(name, begins[k], dtype, loop.strides[k]), strides))
        numbers[f"{name}_row"] = strides[named[k][0]] // dtype.itemsize if strides else 0
    still = (0,) * len(loop.sizes)
    operands.insert(0, (Operand("flag", flag, _WORD, still), {}))
    operands[:0] = [(Operand(axis, None, None, still), {axis: 1}) for axis in sizes]
    launches, nbytes = list[Launch](), 0
    for kernel in kernels:
        if kernel == _SORTED:
            index, core = next(one for one in operands if one[0].name == "index")
            sorting, nbytes, keys = _in_order(index, core, loop, sizes["m"], target)
            launches += sorting
            operands.insert(0, (keys, {}))
        else:
            launches.append(_launch(kernel, loop, sizes, operands, numbers, target))
    return LaunchSequence(nbytes, tuple(launches))


def _launch(
    kernel: Any, loop: Loop, sizes: Any, operands: Any, numbers: Any, target: Any
) -> Launch:
    """Return the launch of a kernel of `_STEPS`, with those operands and numbers that it names."""
    axes, what = kernel
    text = "\n".join(what.lines)
    used = [
        operand._replace(strides=(*operand.strides, *[core.get(axis, 0) for axis in axes]))
        for operand, core in operands
        if f"{{{operand.name}}}" in text
    ]
    named = {name: number for name, number in numbers.items() if re.search(rf"\b{name}\b", text)}
    return launch(what, (*loop.sizes, *[sizes[axis] for axis in axes]), used, target, named)


def _in_order(
    index: Operand, core: dict[str, int], loop: Loop, m: int, target: Any
) -> tuple[list[Launch], int, Operand]:
    """Return the launches that sort positions, the bytes of memory for that, and the sorted keys.

    The sort is a merge sort, with one launch for each doubling of the sorted runs. Positions that
    are the same for all elements of the loop are sorted once.
    """
    sizes = loop.sizes if any(index.strides) else ()
    lies = contiguous_strides((*sizes, m), _WORD.itemsize)
    count = prod(sizes) * m
    source, into = Place(-1, 0), Place(-1, count * _WORD.itemsize)
    given = index._replace(strides=(*index.strides[: len(sizes)], core["m"]))
    at = Operand("at", None, None, (*(0,) * len(sizes), 1))
    operands = [given, at, Operand("keys", source, _WORD, lies)]
    launches = [launch(_KEYS, (*sizes, m), operands, target, {"m": m})]
    run, each = 1, (_WORD.itemsize,)
    while run < m:
        operands = [Operand("source", source, _WORD, each), Operand("out", into, _WORD, each)]
        launches.append(launch(_MERGE, (count,), operands, target, {"m": m, "run": run}))
        source, into, run = into, source, 2 * run
    keys = Operand("keys", source, _WORD, lies[:-1] if sizes else (0,) * len(loop.sizes))
    return launches, 2 * count * _WORD.itemsize, keys


def cleared(flag: Place, target: Any) -> Launch:
    """Return the launch that sets the flag of a program to zero."""
    return launch(FILL, (1,), [Operand("out", flag, _WORD, (0,))], target)
