"""Kernels made of a few lines of text, which are run for each element of a loop.

The loop around the lines, and the indices of an element in each operand, are added here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....ir.program import Shape
from ..compile.kernel import Kernel, Pointer, Word, in_elements
from ..launch.steps import Launch, Place, loop_over
from .elementwise import ElementWalk, index_type, known_strides, loop, place, signature, unknown

WIDE = 1 << 31


class Operand(NamedTuple):
    """An operand of a kernel, by its name in the lines; ``strides``, one for each axis, are bytes.

    Without a place and a dtype the operand is a counter: a number that grows along each axis by the
    stride of the axis, and no memory.
    """

    name: str
    place: Place | None
    dtype: np.dtype | None
    strides: Shape


class Lines(NamedTuple):
    """Lines of a kernel that are run for each element, and the values of the names in them.

    In a line ``{x}`` stands for the index of the element in operand ``x``.
    """

    name: str
    lines: tuple[str, ...]
    scope: tuple[tuple[str, Any], ...] = ()


COPY = Lines("copy", ("out[{out}] = x[{x}]",))
FILL = Lines("fill", ("out[{out}] = zero",))


def launch(
    what: Lines,
    sizes: Shape,
    operands: Sequence[Operand],
    target: Any,
    numbers: Mapping[str, int] = {},  # never changed
) -> Launch:
    """Return the launch of a kernel that runs lines for each element of a loop over axes.

    ``numbers`` are integer parameters by their names in the lines. The name ``zero`` in the lines
    is a zero of the last operand's dtype.
    """
    along = zip(*[operand.strides for operand in operands], strict=True)
    over = loop_over(list(zip(sizes, along, strict=True)), len(operands))
    lies = [
        strides if dtype is None else in_elements(strides, dtype.itemsize)
        for (_, _, dtype, _), strides in zip(operands, over.strides, strict=True)
    ]
    known = tuple([known_strides(strides) for strides in lies])
    walk = ElementWalk(len(over.sizes), over.elements >= WIDE, known)
    arguments: list[Any] = [over.elements, *over.sizes]
    for operand, strides, one in zip(operands, lies, known, strict=True):
        given = [s for s, known in zip(strides, one, strict=True) if known is None]
        arguments += given if operand.dtype is None else [operand.place, *given]
    dtypes = tuple([operand.dtype for operand in operands])
    kernel = target.prepared(
        ("walk", what, dtypes, tuple(numbers), walk), lambda: _kernel(what, operands, numbers, walk)
    )
    return Launch.of(kernel, over.elements, (*arguments, *numbers.values()), target)


def _kernel(what: Lines, operands: Sequence[Operand], numbers: Any, walk: ElementWalk) -> Kernel:
    parameters, listed = signature((), (), walk)
    indices = {}
    for number, (name, _, dtype, _) in enumerate(operands):
        given = unknown(name, walk, number)
        parameters += (*(() if dtype is None else (Pointer(dtype),)), *[Word()] * len(given))
        listed += [*([] if dtype is None else [name]), *given]
        indices[name] = f"int64({place(name, walk, number)})"
    body = [line.format_map(indices) for line in what.lines]
    scope: dict[str, Any] = {"index_type": index_type(walk)}
    scope |= {"int64": np.int64, "zero": (operands[-1].dtype or np.dtype(int)).type(0)}
    scope |= dict(what.scope)
    text = loop([*listed, *numbers], walk, body)
    return Kernel(what.name, text, (*parameters, *[Word()] * len(numbers)), scope)
