"""Sorting as a step of a program: launches that sort tiles, and merge sorted runs."""

from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...._declare import registry
from ....ir.kernel_spec import LoopSpec
from ....ir.program import Shape, contiguous_strides
from ..compile.kernel import Kernel, in_elements
from ..kernels import sorting
from ..kernels.element_walk import WIDE, Lines, Operand, launch
from ..kernels.elementwise import ElementWalk
from ..launch.steps import Launch, LaunchSequence, Loop, Place, cores_of

_MINE = -1  # the last slot, which `LaunchSequence` adds for the memory of the step
_ALIGNMENT = 256
_POSITION = np.dtype(np.int64)
_MOVES = {
    "permute": Lines("permute", ("out[{out}] = x[{x} + order[{order}] * each]",)),
    "unpermute": Lines("unpermute", ("out[{out} + order[{order}] * each] = x[{x}]",)),
}


def moves(spec: Any) -> bool:
    """Whether a kernel spec is that of elements that are put in an order, or back."""
    return isinstance(spec, LoopSpec) and any(_is(spec, name) for name in _MOVES)


def sorts(spec: Any) -> bool:
    """Whether a kernel spec is that of the order of elements."""
    return isinstance(spec, LoopSpec) and _is(spec, "argsort")


def _is(spec: LoopSpec, name: str) -> bool:
    operator: Any = registry[name]
    return spec.function in (operator.function, getattr(operator, "complex_function", None))


def moved(pattern: Any, loop: Loop, begins: list[Place], target: Any) -> Launch:
    """Return the launch of an instruction that puts elements in an order, one for each thread."""
    x, order, out = cores_of(pattern, pattern.spec.signature, (0, 0, 0))
    name = pattern.spec.name
    along = {"x": x.strides[0][0], "order": order.strides[0][0], "out": out.strides[0][0]}
    far = "x" if name == "permute" else "out"
    operands, each = list[Operand](), 0
    for k, one in enumerate(along):
        dtype, step = pattern.layouts[k].dtype, along[one]
        if one == far:
            (each,), step = in_elements((step,), dtype.itemsize), 0
        operands.append(Operand(one, begins[k], dtype, (*loop.strides[k], step)))
    sizes = (*loop.sizes, *order.sizes)
    return launch(_MOVES[name], sizes, operands, target, {"each": each})


def sorted_by_merging(pattern: Any, loop: Loop, begins: list[Place], target: Any) -> Any:
    """Return the step of an instruction that finds the order of the elements of rows."""
    x, out = cores_of(pattern, pattern.spec.signature, (0, 0))
    (length,), dtype = x.sizes, pattern.layouts[0].dtype
    rows = Rows(begins[0], dtype, loop.strides[0], x.strides[0][0])
    result = Rows(begins[1], _POSITION, loop.strides[1], out.strides[0][0])
    return _Sort(loop.sizes, length, target).step(rows, result)


class Rows(NamedTuple):
    """Rows of elements: ``strides`` from row to row, ``along`` between neighbours, in bytes."""

    place: Place
    dtype: np.dtype
    strides: Shape
    along: int


class _Sort:
    """The launches that sort rows of a length, and the memory that they work in."""

    def __init__(self, sizes: Shape, length: int, target: Any) -> None:
        self._sizes, self._length, self._target = sizes, length, target
        self._threads = target.runtime.driver.REDUCING
        self._tile = sorting.tile_of(self._threads)
        self._nbytes = 0
        is_wide = max(prod(sizes), length) >= WIDE
        self._walk = ElementWalk(len(sizes), is_wide)

    def step(self, x: Rows, out: Rows) -> Launch | LaunchSequence:
        """Return the step that writes the order of the elements of ``x`` to ``out``."""
        if self._length <= self._tile:
            return self._sorted(x, out, None)
        key, number = sorting.key_type(x.dtype), sorting.place_type(self._walk)
        pairs = [(self._own(key), self._own(number)) for _ in range(2)]
        launches, run = [self._sorted(x, pairs[0][1], pairs[0][0])], self._tile
        while run < self._length:
            is_last = 2 * run >= self._length
            into = (None, out) if is_last else pairs[1]
            launches.append(self._merged(pairs[0], into, run))
            pairs.reverse()
            run *= 2
        return LaunchSequence(self._nbytes, tuple(launches))

    def _own(self, dtype: np.dtype) -> Rows:
        """Return rows in the step's own memory, one after the other, with bytes reserved."""
        place = Place(_MINE, self._nbytes)
        *strides, along = contiguous_strides((*self._sizes, self._length), dtype.itemsize)
        nbytes = prod(self._sizes) * self._length * dtype.itemsize
        self._nbytes += -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        return Rows(place, dtype, tuple(strides), along)

    def _sorted(self, x: Rows, out: Rows, keys: Rows | None) -> Launch:
        """Return the launch that sorts tiles of ``x``; ``keys`` gets the sorted elements."""
        deep = max(min(self._length, self._tile), 1)
        group = self._tile // deep if keys is None else 1
        numbers = (self._length, self._along(x), self._along(out), deep, group)
        tiles = -(-prod(self._sizes) // group) * -(-self._length // deep)
        dtypes = x.dtype, out.dtype

        def make() -> Kernel:
            return sorting.of_tiles(dtypes, self._walk, self._threads, keys is None)

        pointers = () if keys is None else (keys.place,)
        identity = ("sort", dtypes, keys is None)
        return self._launch(identity, make, tiles, (x, out), (*numbers, *pointers))

    def _merged(
        self, source: tuple[Rows, Rows], into: tuple[Rows | None, Rows], run: int
    ) -> Launch:
        """Return the launch that merges runs of elements, and of their positions."""
        (keys, numbers), (keys_out, out) = source, into
        words = (self._length, self._along(out), run)
        tiles = prod(self._sizes) * -(-self._length // self._tile)
        dtypes, is_last = (keys.dtype, out.dtype), keys_out is None

        def make() -> Kernel:
            return sorting.of_runs(dtypes, self._walk, self._threads, is_last)

        pointers = (keys.place, numbers.place, *(() if keys_out is None else (keys_out.place,)))
        identity = ("merge runs", dtypes, is_last)
        return self._launch(identity, make, tiles, (out,), (*words, *pointers))

    def _launch(
        self, key: Any, make: Any, tiles: int, walked: tuple[Rows, ...], others: Any
    ) -> Launch:
        arguments: list[Any] = [prod(self._sizes), *self._sizes]
        for rows in walked:
            arguments += [rows.place, *in_elements(rows.strides, rows.dtype.itemsize)]
        kernel = self._target.prepared((*key, self._walk), make)
        return Launch.of(kernel, tiles, (*arguments, *others), self._target)

    def _along(self, rows: Rows) -> int:
        return in_elements((rows.along,), rows.dtype.itemsize)[0]
