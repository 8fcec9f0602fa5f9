"""Loops as launches of one kernel, which takes all steps.

A thread computes one sample, or one column of it. The threads of a warp are one block, so that few
samples are spread over the multiprocessors of the device.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ....ir.device_array import DeviceArray
from ....ir.kernel_spec import HostSpec, core_dimensions
from ....ir.program import is_contiguous
from ....ir.recurrence import Loop, StepLoop
from ..compile.kernel import in_elements
from ..kernels import recurrence as kernels
from ..kernels.element_walk import WIDE
from ..kernels.elementwise import ElementWalk, known_strides
from ..launch import steps
from ..launch.steps import Launch, Place

MOST_WORDS = 480
"""The most parameters of a kernel, which a GPU takes in 4 KiB, and places for what is beside."""


class Operand(NamedTuple):
    """An array that a loop reads or writes.

    Attributes
    ----------
    place : Place
    rows : tuple of int
        The strides in bytes along the axes of the samples.
    step : int or None
        The stride in bytes from one step to the next; None without elements for each step.
    """

    place: Place
    rows: tuple[int, ...]
    step: int | None


def lowered(
    pattern: Any, loop: steps.Loop, begins: Sequence[Place], target: Any
) -> Launch | None:
    """Return the launch of an instruction that is a loop; None if no kernel can have it inside."""
    spec = pattern.spec
    found = spec.as_loop() if isinstance(spec, HostSpec) and spec.as_loop else None
    if found is None:
        return None
    recurrence, outputs = found.of.recurrence, range(len(pattern.layouts) - pattern.nin)
    moving = [*recurrence.per_step[:-1], *[k >= recurrence.carried for k in outputs]]
    operands, left = [], list(pattern.core_strides)
    named = core_dimensions(spec.signature)
    for k, (place, rows, layout) in enumerate(
        zip(begins, loop.strides, pattern.layouts, strict=True)
    ):
        ncore, moves = len(named[k]), int(moving[k])
        core, left = tuple(left[:ncore]), left[ncore:]
        sizes = layout.shape[len(layout.shape) - ncore :]
        if not is_contiguous(sizes[moves:], core[moves:], layout.dtype.itemsize):
            return None
        operands.append(Operand(place, rows, core[0] if moves else None))
    return launch(found, loop.sizes, operands, target)


def launch(
    loop: Loop, sizes: Sequence[int], operands: Sequence[Operand], target: Any
) -> Launch | None:
    """Return the launch of a loop over samples, whose axes have the sizes ``sizes``.

    The result is None if the kernel would have too many parameters.
    """
    of, recurrence = loop.of, loop.of.recurrence
    nin = len(recurrence.per_step) - 1
    dtypes = _dtypes(of, len(operands))
    numbers, constants = _constants(of, nin)
    are_columns = of.columns.number > 1
    sizes = (*sizes, of.columns.number) if are_columns else tuple(sizes)
    strides, begins, moves = [], [], []
    for k, (operand, dtype) in enumerate(zip(operands, dtypes, strict=True)):
        each = (of.columns.strides[k],) if are_columns else ()
        strides.append(in_elements((*operand.rows, *each), dtype.itemsize))
        place, step = operand.place, operand.step
        if step is not None:
            if loop.is_reverse:
                place, step = Place(place.slot, place.offset + (loop.length - 1) * step), -step
            moves += in_elements((step,), dtype.itemsize)
        begins.append(place)
    count = prod(sizes)
    walk = ElementWalk(len(sizes), count >= WIDE, tuple(map(known_strides, strides)))
    arguments: list[Any] = [count, *sizes]
    for k, place in enumerate(begins):
        known = walk.along(k)
        arguments += [place, *[s for s, one in zip(strides[k], known, strict=True) if one is None]]
    arguments += [loop.length, *moves, *numbers]
    if len(arguments) > MOST_WORDS:
        return None
    moving = tuple([operand.step is not None for operand in operands[nin:]])
    form = kernels.Form(recurrence, tuple(dtypes), walk, moving, constants, are_columns)
    threads = target.runtime.driver.NEIGHBOURS
    key = "steps", recurrence.identity, *form[1:]
    kernel = target.prepared(key, lambda: kernels.of_steps(of.name, form, threads))
    return Launch.of(kernel, -(-count // threads), arguments, target)


def of_arrays(
    loop: Loop, arrays: Sequence[DeviceArray], moving: Sequence[bool], leads: Sequence[bool],
    count: int | None, target: Any,
) -> Launch:  # fmt: skip
    """Return the launch of a loop on arrays, whose slots are their numbers.

    The parameters are those of `CUDATarget.runner`.
    """
    operands = []
    for k, (array, moves, lead) in enumerate(zip(arrays, moving, leads, strict=True)):
        along = array.strides[int(moves)] if lead and count is not None else 0
        rows = () if count is None else (along,)
        operands.append(Operand(Place(k, 0), rows, array.strides[0] if moves else None))
    found = launch(loop, () if count is None else (count,), operands, target)
    assert found is not None  # there is one axis of samples at most
    return found


def _dtypes(of: StepLoop, count: int) -> list[np.dtype]:
    """Return the dtypes of the operands; one that no step reads or writes is bytes."""
    nin = len(of.recurrence.per_step) - 1
    found = {p[0]: p[2] for p in of.recurrence.inputs if p[0] < nin}
    found |= {nin + p[0]: p[2] for p in of.recurrence.outputs}
    return [found.get(k, np.dtype(np.uint8)) for k in range(count)]


def _constants(of: StepLoop, nin: int) -> tuple[list[Any], tuple[tuple[np.dtype, int], ...]]:
    """Return the numbers that a kernel is given, and for each constant the dtype and the number of
    its parameter; equal numbers share one."""
    known: dict[Any, int] = {}
    places = []
    for operand, offset, dtype in of.recurrence.inputs:
        if operand == nin:
            content = of.constants[offset : offset + dtype.itemsize]
            places.append((dtype, known.setdefault((dtype, content), len(known))))
    numbers = [np.frombuffer(content, dtype)[0] for dtype, content in known]
    return [x if x.dtype.kind == "f" else int(x) for x in numbers], tuple(places)


__all__ = ["Operand", "launch", "lowered", "of_arrays"]
