"""Neighbouring copies of a program as one launch.

To begin a launch takes a device longer than to copy a few thousand elements. A roll is two copies,
and so are the halos of a fused kernel, of which a program of stencils has one after the other.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....ir.program import Instruction, Program, Shape
from ..compile.kernel import Kernel, Parameter, Pointer, Word, in_elements
from ..kernels.elementwise import ROWS
from ..launch.steps import Launch, Place, loop_of

_Axes = list[tuple[int, int]]

_MOST = 16
"""The most copies of a launch: a thread looks for its own copy among them."""


class Copy(NamedTuple):
    """A copy of elements along the axes of a loop; strides are in bytes."""

    dtype: np.dtype
    sizes: Shape
    places: tuple[Place, Place]
    strides: tuple[Shape, Shape]

    @property
    def elements(self) -> int:
        """The number of elements that are copied."""
        return int(np.prod(self.sizes, dtype=np.int64))


def grouped(
    instructions: Sequence[Instruction], program: Program, places: Sequence[Place], driver: Any
) -> Iterator[Instruction | list[Copy]]:
    """Yield the instructions in order; those that one launch can copy together are one list.

    Copies are together if each of them is of few elements, and none writes what another one reads
    or writes.
    """
    group: list[Copy] = []
    first: Instruction | None = None
    for instruction in instructions:
        copy = _copy_of(instruction, program, places, ROWS * driver.RESIDENT)
        if copy is None or not _can_join(group, copy):
            yield from _group(group, first)
            group, first = [], None
        if copy is None:
            yield instruction
        else:
            group, first = [*group, copy], instruction
    yield from _group(group, first)


def _group(group: list[Copy], last: Instruction | None) -> Iterator[Instruction | list[Copy]]:
    if len(group) > 1:
        yield group
    elif last is not None:
        yield last


def _copy_of(
    instruction: Instruction, program: Program, places: Sequence[Place], most: int
) -> Copy | None:
    """Return the copy that an instruction is; None if it is another one or has many elements."""
    pattern = instruction.pattern
    dtypes = {layout.dtype for layout in pattern.layouts}
    if instruction.name != "copy" or len(pattern.layouts) != 2 or len(dtypes) != 1:
        return None
    loop = loop_of(instruction, program)
    if pattern.core or pattern.block or pattern.turns or not 0 < loop.elements <= most:
        return None
    begins = [
        Place(places[b].slot, places[b].offset + offset)
        for b, offset in zip(instruction.buffers, instruction.offsets, strict=True)
    ]
    sizes, strides = loop.sizes or (1,), loop.strides if loop.sizes else ((0,), (0,))
    return Copy(dtypes.pop(), sizes, (begins[0], begins[1]), (strides[0], strides[1]))


def _can_join(group: Sequence[Copy], copy: Copy) -> bool:
    if not group:
        return True
    return (
        len(group) < _MOST
        and copy.dtype == group[0].dtype
        and all(_are_independent(one, copy) for one in group)
    )


def _are_independent(a: Copy, b: Copy) -> bool:
    """Whether neither copy writes what the other one reads or writes."""
    return _are_apart(a, 1, b, 1) and _are_apart(a, 1, b, 0) and _are_apart(a, 0, b, 1)


def _are_apart(a: Copy, m: int, b: Copy, n: int) -> bool:
    """Whether operand ``m`` of one copy and operand ``n`` of another have no byte in common.

    Arguments and results of a program, which have slots other than 0, may share memory.
    """
    first, second = a.places[m], b.places[n]
    if first.slot != second.slot:
        return not (first.slot and second.slot)
    one = [*zip(a.sizes, a.strides[m], strict=True)]
    other = [*zip(b.sizes, b.strides[n], strict=True)]
    return _lie_apart(first.offset, one, second.offset, other, a.dtype.itemsize)


def _lie_apart(
    begin: int, axes: _Axes, other: int, others: _Axes, itemsize: int
) -> bool:
    """Whether elements along axes, given by size and stride, and other ones have no common byte.

    Where both have the same first axis, as columns of a matrix do, and its stride spans what both
    have along all further axes, it is enough that these are apart. The answer may be a wrong no.
    """
    (low, high), (bottom, top) = _span(begin, axes, itemsize), _span(other, others, itemsize)
    if high <= bottom or top <= low:
        return True
    if not axes or not others or axes[0] != others[0]:
        return False
    (low, high), (bottom, top) = (
        _span(begin, axes[1:], itemsize), _span(other, others[1:], itemsize),
    )  # fmt: skip
    if max(high, top) - min(low, bottom) > abs(axes[0][1]):
        return False
    return _lie_apart(begin, axes[1:], other, others[1:], itemsize)


def _span(begin: int, axes: Sequence[tuple[int, int]], itemsize: int) -> tuple[int, int]:
    """Return the first byte of elements along axes, and the end of the last."""
    ends = [(size - 1) * stride for size, stride in axes]
    return (
        begin + sum(min(end, 0) for end in ends),
        begin + sum(max(end, 0) for end in ends) + itemsize,
    )


def launch_of(copies: Sequence[Copy], target: Any) -> Launch:
    """Return the launch of copies that are together."""
    dtype, arguments, end = copies[0].dtype, list[Any](), 0
    for copy in copies:
        end += copy.elements
        arguments += [end, *copy.sizes]
        for place, strides in zip(copy.places, copy.strides, strict=True):
            arguments += [place, *in_elements(strides, dtype.itemsize)]
    axes = tuple([len(copy.sizes) for copy in copies])
    kernel = target.prepared(("copies", dtype, axes), lambda: _kernel(dtype, axes))
    return Launch.of(kernel, end, (end, *arguments), target)


def _kernel(dtype: np.dtype, axes: Sequence[int]) -> Kernel:
    """Return the kernel of copies with so many axes, in which each thread copies one element.

    An element has a number, in which those of all copies are counted in order.
    """
    parameters: list[Parameter] = [Word()]
    listed, lines, begin = ["n"], list[str](), "0"
    for number, count in enumerate(axes):
        sizes = [f"size{number}_{axis}" for axis in range(count)]
        parameters += [Word(), *[Word()] * count]
        listed += [f"end{number}", *sizes]
        places = []
        for name in (f"x{number}", f"out{number}"):
            strides = [f"{name}_{axis}" for axis in range(count)]
            parameters += [Pointer(dtype), *[Word()] * count]
            listed += [name, *strides]
            terms = [f"i{axis} * {stride}" for axis, stride in enumerate(strides)]
            places.append(f"{name}[{' + '.join(terms)}]")
        split = [
            line
            for axis in range(count - 1, 0, -1)
            for line in (f"i{axis} = rest % {sizes[axis]}", f"rest = rest // {sizes[axis]}")
        ]
        body = [f"rest = i - {begin}", *split, "i0 = rest", f"{places[1]} = {places[0]}"]
        lines += [f"{'elif' if number else 'if'} i < end{number}:", *("    " + b for b in body)]
        begin = f"end{number}"
    text = "\n".join([
        f"def kernel({', '.join(listed)}):",
        "    i = int64(cuda.grid(1))",
        "    while i < n:",
        *("        " + line for line in lines),
        "        i += cuda.gridsize(1)",
    ])  # fmt: skip
    return Kernel("copies", text, tuple(parameters), {"int64": np.int64})
