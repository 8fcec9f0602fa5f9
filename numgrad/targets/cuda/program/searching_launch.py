"""Counts, truth and positions of extrema in long rows, as steps of a program."""

from math import prod
from typing import Any

import numpy as np

from ...._declare import registry
from ....ir.kernel_spec import LoopSpec
from ....ir.pairwise import LEAF
from ..compile.kernel import Kernel, in_elements
from ..kernels import searching
from ..kernels.element_walk import WIDE
from ..kernels.elementwise import ElementWalk
from ..launch.steps import Launch, LaunchSequence, Loop, Place

_MINE = -1  # the last slot, which `LaunchSequence` adds for the memory of the step
_FOUND = np.dtype(np.int64)
_NAMES = ("any", "all", "count_nonzero", *searching.BETTER)


def searches(pattern: Any) -> bool:
    """Whether an instruction goes through rows that are long enough for several threads."""
    spec = pattern.spec
    if not isinstance(spec, LoopSpec) or len(pattern.core) != 1 or pattern.core[0] <= LEAF:
        return False
    operators: list[Any] = [registry[name] for name in _NAMES]
    return any(spec.function is operator.function for operator in operators)


def lowered(
    pattern: Any, loop: Loop, begins: list[Place], target: Any
) -> Launch | LaunchSequence:
    """Return the step of an instruction that counts elements, or finds an extremum, in rows."""
    return _Search(pattern, loop, begins, target).step()


class _Search:
    """The launches that go through the rows of an instruction."""

    def __init__(self, pattern: Any, loop: Loop, begins: list[Place], target: Any) -> None:
        self._name, self._target = pattern.spec.name, target
        self._x, self._out = (
            (place, layout.dtype, strides)
            for place, layout, strides in zip(begins, pattern.layouts, loop.strides, strict=True)
        )
        self._sizes, (self._length,) = loop.sizes, pattern.core
        (self._along,) = in_elements(pattern.core_strides, self._x[1].itemsize)
        self._threads = target.runtime.driver.REDUCING
        self._walk = ElementWalk(len(self._sizes), loop.elements >= WIDE)

    def step(self) -> Launch | LaunchSequence:
        """Return one launch, or two where rows have several pieces."""
        pieces = -(-self._length // searching.PIECE)
        if pieces == 1:
            return self._launch(self._x, self._out, (self._length, self._along, 0), False, True)
        rows, each = prod(self._sizes), pieces * _FOUND.itemsize
        strides = [each * prod(self._sizes[n + 1 :]) for n in range(len(self._sizes))]
        found = Place(_MINE, 0), _FOUND, tuple(strides)
        first = self._launch(self._x, found, (self._length, self._along, 1), False, False)
        is_place = self._name in searching.BETTER
        source, along = (self._x, self._along) if is_place else (found, 1)
        places = (found[0],) if is_place else ()
        last = self._launch(source, self._out, (pieces, along, 0), True, True, places)
        return LaunchSequence(rows * each, (first, last))

    def _launch(
        self, x: Any, out: Any, numbers: tuple[int, int, int], is_joining: bool, is_last: bool,
        places: tuple[Place, ...] = (),
    ) -> Launch:  # fmt: skip
        """Return a launch; ``numbers`` are the elements of a row, their distance, and that of the
        results for the pieces of a row."""
        length, piece = numbers[0], searching.PIECE
        each = -(-min(length, piece) // searching.AHEAD)  # threads, if all read so many elements
        lanes = min(self._threads, 1 << (each - 1).bit_length())
        arguments: list[Any] = [prod(self._sizes), *self._sizes]
        for place, dtype, strides in (x, out):
            arguments += [place, *in_elements(strides, dtype.itemsize)]
        dtypes = x[1], out[1]

        def make() -> Kernel:
            form = self._walk, self._threads, is_joining, is_last
            return searching.of_rows(self._name, dtypes, *form)

        key = ("search", self._name, dtypes, self._walk, is_joining, is_last)
        kernel = self._target.prepared(key, make)
        items = prod(self._sizes) * -(-length // piece)
        words = (*arguments, *numbers, self._length, lanes, *places)
        return Launch.of(kernel, -(-items // (self._threads // lanes)), words, self._target)
