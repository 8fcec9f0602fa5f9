"""Reductions as steps of a program: launches of one kernel for each stage.

Elements are joined in stages, as in `numgrad.ir.pairwise`: `LEAF` elements to one value of a
leaf, the values of a block's leaves to one value, and at last the values of all blocks.
"""

import dis
import inspect
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import prod
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ...._declare import registry
from ....ir import pairwise
from ....ir.pairwise import BLOCK, LEAF, LEAVES, larger, smaller, sum_all
from ....ir.program import Shape, contiguous_strides
from ..compile.kernel import in_elements
from ..kernels import reduction
from ..kernels.element_walk import FILL, WIDE, Operand, launch
from ..kernels.elementwise import ElementWalk, storage_dtype
from ..launch.steps import Launch, LaunchSequence, Loop, Place, loop_over

_MINE = -1  # the last slot, which `LaunchSequence` adds for the memory of the step
_ELEMENTS, _LEAVES, _BLOCKS, _ALL = range(4)
_JOINS = {"sum": reduction.add, "max": larger, "min": smaller}


class Role(NamedTuple):
    """What a core function does in a reduction.

    ``stage`` says what its inputs are: elements, values of leaves or values of blocks. ``join`` is
    the function that joins two of them into one.
    """

    stage: int
    join: Callable[..., Any]


class Values(NamedTuple):
    """Rows of ``length`` values to be reduced, or the values to which they are reduced.

    ``strides`` are those from row to row, and ``along`` is the distance of neighbours in a row, in
    bytes.
    """

    place: Place
    dtype: np.dtype
    strides: Shape
    along: int
    length: int


def role_of(function: Callable[..., Any]) -> Role | None:
    """Return what a core function does in a reduction; None if it is no plain reduction.

    A plain reduction is a function of numgrad for sums or extrema of integers, or a function whose
    only statement calls a reduction of `pairwise`.
    """
    function = getattr(function, "py_func", function)
    if function in _of_integers():
        return Role(_ELEMENTS, _of_integers()[function])
    if _opnames(function.__code__) not in _calls():
        return None
    called = inspect.getclosurevars(function)
    (one,) = {**called.globals, **called.nonlocals}.values()
    return _roles().get(one)


def lowered(
    pattern: Any, role: Role, loop: Loop, begins: Sequence[Place], target: Any
) -> Launch | LaunchSequence:
    """Return the step that reduces the first core axis of an instruction's input.

    A second core axis is taken as one more axis of the loop. If the pattern has blocks, which may
    be leaves, the result has one value for each of them.
    """
    steps = _Steps(role.join, pattern.spec.name, target)
    x, out = pattern.layouts
    if pattern.block:
        lies = contiguous_strides(pattern.core, x.dtype.itemsize)
        sizes, ways = pattern.core[1:], (lies[1:], out.strides[1:])
        source = Values(begins[0], x.dtype, ways[0], lies[0], pattern.core[0])
        result = Values(begins[1], out.dtype, ways[1], out.strides[0], out.shape[0])
        end = _LEAVES if pattern.block == LEAF else _BLOCKS
    else:
        split = len(pattern.core) - 1
        along, *own = pattern.core_strides
        sizes = (*loop.sizes, *pattern.core[1:])
        ways = (*loop.strides[0], *own[:split]), (*loop.strides[1], *own[split:])
        source = Values(begins[0], x.dtype, ways[0], along, pattern.core[0])
        result, end = Values(begins[1], out.dtype, ways[1], 0, 1), _ALL
    steps.reduce(sizes, source, result, role.stage, end)
    return steps.made()


class _Steps:
    """The launches of a reduction, collected stage by stage."""

    def __init__(self, join: Callable[..., Any], name: str, target: Any) -> None:
        self._join, self._name, self._target = join, name, target
        self._threads = target.runtime.driver.REDUCING
        self._launches: list[Launch] = []
        self._nbytes = 0

    def made(self) -> Launch | LaunchSequence:
        """Return the collected launches as one step."""
        if self._nbytes:
            return LaunchSequence(self._nbytes, tuple(self._launches))
        (one,) = self._launches
        return one

    def reduce(self, sizes: Shape, x: Values, out: Values, stage: int, end: int) -> None:
        """Add the launches that reduce each row of ``x``, from one stage to another, to ``out``.

        ``sizes`` are those of the loop over the rows.
        """
        if not x.length:
            return self._empty(sizes, out)
        while stage < end:
            if stage == _BLOCKS:
                if reduction.is_rounded(self._join, out.dtype):
                    return self._parts(sizes, x, out)
                stage = _ELEMENTS
            is_piece = x.along == x.dtype.itemsize and x.length > LEAF
            to = _BLOCKS if stage == _ELEMENTS and is_piece and end != _LEAVES else stage + 1
            count = -(-x.length // (BLOCK if to - stage == 2 else LEAF))
            is_last = to == end or (count == 1 and end == _ALL)
            into = out if is_last else self._own(sizes, out.dtype, count)
            step = self._blocks if to - stage == 2 else self._halves
            step(sizes, x, into, is_last and end == _ALL)
            if is_last:
                return None
            x, stage = into, to
        return None

    def _empty(self, sizes: Shape, out: Values) -> None:
        operands = [Operand("out", out.place, out.dtype, out.strides)]
        self._launches.append(launch(FILL, sizes, operands, self._target))

    def _own(self, sizes: Shape, dtype: np.dtype, count: int) -> Values:
        """Return values in the step's own memory, ``count`` for each row, with bytes reserved.

        Values of neighbouring rows are neighbours in memory, as neighbouring threads access them.
        """
        place = Place(_MINE, self._nbytes)
        along = prod(sizes) * dtype.itemsize
        self._nbytes += -(-along * count // 16) * 16
        return Values(place, dtype, contiguous_strides(sizes, dtype.itemsize), along, count)

    def _halves(self, sizes: Shape, x: Values, out: Values, is_last: bool) -> None:
        width = min(1 << max(x.length - 1, 0).bit_length(), LEAF)
        what = reduction.halves(self._join, storage_dtype(out.dtype), width, is_last)
        groups = -(-x.length // LEAF)
        operands = [
            Operand("x", x.place, x.dtype, (LEAF * x.along, *x.strides)),
            Operand("first", None, None, (LEAF, *[0] * len(sizes))),
            Operand("out", out.place, out.dtype, (out.along, *out.strides)),
        ]
        numbers = {"count": x.length, "along": in_elements((x.along,), x.dtype.itemsize)[0]}
        self._launches.append(launch(what, (groups, *sizes), operands, self._target, numbers))

    def _blocks(self, sizes: Shape, x: Values, out: Values, is_last: bool) -> None:
        blocks = -(-x.length // BLOCK)
        (between,) = in_elements((out.along,), out.dtype.itemsize)
        leaves = min(1 << (-(-x.length // LEAF) - 1).bit_length(), LEAVES)

        def make(walk: ElementWalk, dtypes: Any) -> Any:
            name, threads = self._name, self._threads
            return reduction.of_blocks(name, self._join, dtypes, walk, leaves, threads, is_last)

        each = reduction.warps_of(self._threads) * (LEAVES // leaves)
        items = -(-prod(sizes) * blocks // each)
        key, numbers = ("blocks", leaves, is_last), (x.length, blocks, between)
        self._launch(key, make, sizes, x, out, items, numbers)

    def _parts(self, sizes: Shape, x: Values, out: Values) -> None:
        (along,) = in_elements((x.along,), x.dtype.itemsize)
        rows = prod(sizes)
        across = min(1 << max(rows - 1, 0).bit_length(), reduction.rows_of(self._threads))

        def make(walk: ElementWalk, dtypes: Any) -> Any:
            return reduction.of_parts(self._name, dtypes, walk, across, self._threads)

        key, groups = ("parts", across), -(-rows // across)
        self._launch(key, make, sizes, x, out, groups, (x.length, along))

    def _launch(
        self, key: Any, make: Any, sizes: Shape, x: Values, out: Values, blocks: int, numbers: Any
    ) -> None:
        along = zip(x.strides, out.strides, strict=True)
        over = loop_over(list(zip(sizes, along, strict=True)), 2)
        walk, dtypes = ElementWalk(len(over.sizes), over.elements >= WIDE), (x.dtype, out.dtype)
        arguments: list[Any] = [over.elements, *over.sizes]
        for values, strides in zip((x, out), over.strides, strict=True):
            arguments += [values.place, *in_elements(strides, values.dtype.itemsize)]
        identity = ("reduction", *key, self._join, dtypes, walk)
        kernel = self._target.prepared(identity, lambda: make(walk, dtypes))
        self._launches.append(Launch.of(kernel, blocks, (*arguments, *numbers), self._target))


@cache
def _roles() -> dict[Any, Role]:
    stages = (
        (pairwise.REDUCE, _ELEMENTS), (pairwise.REDUCE_ROWS, _ELEMENTS),
        (pairwise.JOIN_ROWS, _LEAVES), (pairwise.JOIN, _BLOCKS),
    )  # fmt: skip
    return {
        function: Role(stage, _JOINS[name])
        for functions, stage in stages
        for name, function in functions.items()
    }


@cache
def _of_integers() -> dict[Any, Callable[..., Any]]:
    """Return for each core function that reduces integers the function that joins two of them.

    Integers may be joined in any order without a change of the result.
    """
    found = {}
    for name, join in _JOINS.items():
        operator: Any = registry[name]
        found |= {operator.integer_function: join, operator.integer_columns: join}
    return found


def _calling(x: Any, out: Any) -> None:
    sum_all(x, out)


def _calling_of(core: Any) -> Callable[..., Any]:
    def reduce(x: Any, out: Any) -> None:
        core(x, out)

    return reduce


@cache
def _calls() -> tuple[list[str], ...]:
    return _opnames(_calling.__code__), _opnames(_calling_of(None).__code__)


@lru_cache(1024)
def _opnames(code: CodeType) -> list[str]:
    return [instruction.opname for instruction in dis.get_instructions(code)]
