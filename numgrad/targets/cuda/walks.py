"""Kernels of a few lines around the walk over elements: what is at an index that was computed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._program import Shape
from .elementwise import Walk, in_elements, loop, place, signature
from .kernel import Kernel, Parameter, Pointer, Word
from .steps import Launch, Place, loop_over

WIDE = 1 << 31
"""Elements that 31 bits do not number."""


class Operand(NamedTuple):
    """What a kernel reads or writes, by the name that it has in the text.

    Attributes
    ----------
    name : str
    place : Place or None
        None for a number that is counted along the walk: its strides are what it grows by.
    dtype : dtype or None
    strides : tuple of int
        Along each axis, in bytes.
    """

    name: str
    place: Place | None
    dtype: np.dtype | None
    strides: Shape


class Lines(NamedTuple):
    """What is done for an element: lines in which ``{x}`` is the index of the element of ``x``."""

    name: str
    lines: tuple[str, ...]


def launch(
    what: Lines,
    sizes: Shape,
    operands: Sequence[Operand],
    numbers: Mapping[str, int],
    target: Any,
    scope: Mapping[str, Any] | None = None,
) -> Launch:
    """Return the launch of lines over axes; ``numbers`` are more parameters, ``scope`` constants
    that follow from the dtypes of the operands."""
    along = zip(*[operand.strides for operand in operands], strict=True)
    over = loop_over(list(zip(sizes, along, strict=True)), len(operands))
    walk = Walk(len(over.sizes), over.elements >= WIDE)
    arguments: list[Any] = [over.elements, *over.sizes]
    for (_, begin, dtype, _), strides in zip(operands, over.strides, strict=True):
        if begin is not None and dtype is not None:
            arguments += [begin, *in_elements(strides, dtype.itemsize)]
        else:
            arguments += strides
    dtypes = tuple([operand.dtype for operand in operands])
    kernel = target.prepared(
        ("walk", what.name, dtypes, tuple(numbers), walk),
        lambda: _kernel(what, operands, tuple(numbers), walk, scope or {}),
    )
    return Launch(kernel, over.elements, (*arguments, *numbers.values()))


def _kernel(
    what: Lines, operands: Sequence[Operand], numbers: Sequence[str], walk: Walk, scope: Any
) -> Kernel:
    parameters, listed = signature((), (), walk)
    made: list[Parameter] = list(parameters)
    for operand in operands:
        strides = [f"{operand.name}_{axis}" for axis in range(walk.axes)]
        if operand.dtype is not None:
            made.append(Pointer(operand.dtype))
            listed.append(operand.name)
        made += [Word()] * walk.axes
        listed += strides
    made += [Word()] * len(numbers)
    indices = {operand.name: f"({place(operand.name, walk)})" for operand in operands}
    body = [line.format_map(indices) for line in what.lines]
    index_type = np.int64 if walk.is_wide else np.uint32
    scope = {"index_type": index_type, "int64": np.int64, **scope}
    return Kernel(what.name, loop([*listed, *numbers], walk, body), tuple(made), scope)
