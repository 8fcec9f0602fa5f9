"""Kernels of a few lines of text, run for each element; the walk computes the indices."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....ir.program import Shape
from ..compile.kernel import Kernel, Pointer, Word, in_elements
from ..launch.steps import Launch, Place, loop_over
from .elementwise import ElementWalk, index_type, loop, place, signature

WIDE = 1 << 31


class Operand(NamedTuple):
    """An operand of a kernel, with its name in the text; ``strides`` are in bytes.

    Without place and dtype the operand is a counter, whose strides are its increments.
    """

    name: str
    place: Place | None
    dtype: np.dtype | None
    strides: Shape


class Lines(NamedTuple):
    """Lines of text for an element, with ``{x}`` for the index in operand ``x``; and their scope.
    """

    name: str
    lines: tuple[str, ...]
    scope: tuple[tuple[str, Any], ...] = ()


COPY = Lines("copy", ("out[{out}] = x[{x}]",))


def launch(
    what: Lines,
    sizes: Shape,
    operands: Sequence[Operand],
    target: Any,
    numbers: Mapping[str, int] = {},  # never changed
) -> Launch:
    """Return the launch of lines over axes.

    ``numbers`` are further parameters; ``zero`` in the lines has the dtype of the last operand.
    """
    along = zip(*[operand.strides for operand in operands], strict=True)
    over = loop_over(list(zip(sizes, along, strict=True)), len(operands))
    walk = ElementWalk(len(over.sizes), over.elements >= WIDE)
    arguments: list[Any] = [over.elements, *over.sizes]
    for (_, begin, dtype, _), strides in zip(operands, over.strides, strict=True):
        arguments += strides if dtype is None else [begin, *in_elements(strides, dtype.itemsize)]
    dtypes = tuple([operand.dtype for operand in operands])
    kernel = target.prepared(
        ("walk", what, dtypes, tuple(numbers), walk), lambda: _kernel(what, operands, numbers, walk)
    )
    return Launch.of(kernel, over.elements, (*arguments, *numbers.values()), target)


def _kernel(what: Lines, operands: Sequence[Operand], numbers: Any, walk: ElementWalk) -> Kernel:
    parameters, listed = signature((), (), walk)
    for name, _, dtype, _ in operands:
        parameters += () if dtype is None else (Pointer(dtype),)
        listed += [] if dtype is None else [name]
        parameters += (Word(),) * walk.axes
        listed += [f"{name}_{axis}" for axis in range(walk.axes)]
    indices = {operand.name: f"({place(operand.name, walk)})" for operand in operands}
    body = [line.format_map(indices) for line in what.lines]
    scope: dict[str, Any] = {"index_type": index_type(walk)}
    scope |= {"int64": np.int64, "zero": (operands[-1].dtype or np.dtype(int)).type(0)}
    scope |= dict(what.scope)
    text = loop([*listed, *numbers], walk, body)
    return Kernel(what.name, text, (*parameters, *[Word()] * len(numbers)), scope)
