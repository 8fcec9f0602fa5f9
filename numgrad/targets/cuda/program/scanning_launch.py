"""Cumulative sums and products as steps of a program, if several threads are to go along a row."""

from collections.abc import Sequence
from typing import Any

from ...._declare import registry
from ....ir.kernel_spec import LoopSpec
from ....ir.pairwise import LEAF
from ....ir.program import Layout, Pattern, layout_of
from ..compile.kernel import Kernel, in_elements
from ..kernels import scanning
from ..kernels.element_walk import WIDE
from ..kernels.elementwise import ElementWalk
from ..launch.steps import Launch, Loop, Place

_DTYPES = "fdFDilqILQ"


def lowered(
    pattern: Any, loop: Loop, begins: Sequence[Place], target: Any
) -> Launch | None:
    """Return the launch of an instruction that goes along rows.

    The result is None for other instructions, for short rows, and for so many rows that a thread
    for each of them keeps the device busy.
    """
    spec, driver = pattern.spec, target.runtime.driver
    if not isinstance(spec, LoopSpec) or not _is_scan(spec) or pattern.core[0] <= LEAF:
        return None
    dtypes = {layout.dtype for layout in pattern.layouts}
    if len(dtypes) > 1 or not 0 < loop.elements < driver.RESIDENT:
        return None
    (dtype,) = dtypes
    return _launch(pattern, loop, begins, target) if dtype.char in _DTYPES else None


def by_columns(pattern: Any, loop: Loop) -> tuple[Pattern, Loop]:
    """Return the pattern and the loop of an instruction over matrices, over each of their columns.

    The kernels of a device take rows of any strides, a column for instance.
    """
    count, width = pattern.core
    along, across = pattern.core_strides[::2], pattern.core_strides[1::2]
    each = Pattern(
        pattern.spec.each, tuple(map(_turned, pattern.layouts)), pattern.nin,
        (*pattern.loop, width), (count,),
        [(*s, step) for s, step in zip(pattern.strides, across, strict=True)], along, pattern.name,
    )  # fmt: skip
    strides = tuple([(*s, step) for s, step in zip(loop.strides, across, strict=True)])
    return each, Loop((*loop.sizes, width), strides)


def _turned(layout: Layout) -> Layout:
    """Return the layout of matrices with their columns as rows."""
    (*lead, n, m), (*steps, along, across) = layout.shape, layout.strides
    shape, strides = (*lead, m, n), (*steps, across, along)
    return layout_of(shape, strides, layout.dtype, layout.rows)


def _is_scan(spec: LoopSpec) -> bool:
    operators: list[Any] = [registry[name] for name in scanning.SCANS]
    return any(spec.function is operator.function for operator in operators)


def _launch(pattern: Any, loop: Loop, begins: Sequence[Place], target: Any) -> Launch:
    name, dtype, (length,) = pattern.spec.name, pattern.layouts[0].dtype, pattern.core
    driver = target.runtime.driver
    threads = driver.REDUCING
    across = _at_once(loop.elements // driver.PROCESSORS, scanning.rows_of(threads))
    walk = ElementWalk(len(loop.sizes), loop.elements >= WIDE)
    arguments: list[Any] = [loop.elements, *loop.sizes]
    along: list[int] = []
    for k, (place, strides) in enumerate(zip(begins, loop.strides, strict=True)):
        stride = pattern.core_strides[k]
        if name.endswith("reversed"):  # from the end; factors are those of the element behind
            is_factor = scanning.SCANS[name].has_factors and k == 0
            place = Place(place.slot, place.offset + (length - 1 + is_factor) * stride)
            stride = -stride
        arguments += [place, *in_elements(strides, dtype.itemsize)]
        along += in_elements((stride,), dtype.itemsize)
    form = name, dtype, walk, across, threads

    def make() -> Kernel:
        return scanning.of_rows(*form)

    kernel = target.prepared(("scan", *form), make)
    blocks = -(-loop.elements // across)
    return Launch.of(kernel, blocks, (*arguments, length, *along), target)


def _at_once(rows: int, most: int) -> int:
    """Return how many rows a block of threads takes: a power of two, ``rows`` at most if there are
    any."""
    return min(1 << max(rows.bit_length() - 1, 0), most)
