"""The builder, with which operators append instructions, and the operands of instructions."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...ir import program
from ...ir.program import Layout, Pattern, contiguous_strides, is_contiguous, layout_of
from ..graph.runtime import runtime
from ..graph.value import Shape

# Reading an operand of more parts costs more than a copy that joins them.
MOST_PARTS = 9


class Buffer:
    """A block of memory: an array from outside, or memory that the target allocates.

    ``nbytes`` is the size of the block, or of one row of it where ``rows`` is true.
    """

    __slots__ = ("array", "index", "nbytes", "rows")

    def __init__(
        self, index: int, nbytes: int, rows: bool, array: np.ndarray | None = None
    ) -> None:
        self.index, self.nbytes, self.rows, self.array = index, nbytes, rows, array


class Operand:
    """A strided view of a buffer; shape and strides leave out the row axis."""

    __slots__ = ("_whole", "buffer", "dtype", "offset", "shape", "strides")

    def __init__(
        self,
        buffer: Buffer,
        offset: int,
        shape: Shape,
        strides: Shape,
        dtype: np.dtype,
        whole: bool | None = None,
    ):
        self.buffer, self.offset, self._whole = buffer, offset, whole
        self.shape, self.strides, self.dtype = shape, strides, dtype

    def view(self, function: Callable[[np.ndarray], np.ndarray]) -> "Operand":
        """Apply a NumPy function that makes views; return the view as an operand.

        The function is applied to a dummy array with the operand's shape, strides and dtype, and
        must not read elements.

        Raises
        ------
        ValueError
            When NumPy cannot make the result a view (``reshape(copy=False)``).
        """
        dummy = as_strided(np.empty(1, self.dtype), self.shape, self.strides)
        result = function(dummy)
        offset = 0
        if result.size:
            offset = result.__array_interface__["data"][0] - dummy.__array_interface__["data"][0]
        return Operand(self.buffer, self.offset + offset, result.shape, result.strides, self.dtype)

    def part(self, axis: int, start: int, stop: int) -> "Operand":
        """Return the slice from ``start`` to ``stop`` along a negative axis."""
        place = len(self.shape) + axis
        if stop - start == self.shape[place]:
            return self
        shape = (*self.shape[:place], stop - start, *self.shape[place + 1 :])
        offset = self.offset + start * self.strides[place]
        return Operand(self.buffer, offset, shape, self.strides, self.dtype)

    def is_contiguous(self, ncore: int | None = None) -> bool:
        """Whether the last ``ncore`` axes (by default all) are C-contiguous.

        Axes without elements always are.
        """
        first = 0 if ncore is None else len(self.shape) - ncore
        return is_contiguous(self.shape[first:], self.strides[first:], self.dtype.itemsize)

    @property
    def whole(self) -> bool:
        """Whether the operand is all of its buffer, in C order."""
        if self._whole is None:
            size = prod(self.shape) * self.dtype.itemsize
            self._whole = self.offset == 0 and size == self.buffer.nbytes and self.is_contiguous()
        return self._whole

    @property
    def layout(self) -> Layout:
        return layout_of(self.shape, self.strides, self.dtype, self.buffer.rows, self.whole)


class Joined:
    """Operands side by side along a negative ``axis``, which have not been copied together.

    ``edges`` are the positions at which the parts begin and end.
    """

    __slots__ = ("axis", "dtype", "edges", "parts", "shape")

    def __init__(self, axis: int, parts: "tuple[Operand | Joined, ...]") -> None:
        self.axis = axis
        self.parts = parts
        first = parts[0]
        self.dtype = first.dtype
        place = len(first.shape) + axis
        self.edges = [0, *accumulate([part.shape[place] for part in parts])]
        self.shape: Shape = (*first.shape[:place], self.edges[-1], *first.shape[place + 1 :])

    @property
    def rows(self) -> bool:
        return any(p.rows if isinstance(p, Joined) else p.buffer.rows for p in self.parts)

    def count(self) -> int:
        """Return the number of plain operands in all parts, as parts may be joined themselves."""
        return sum(p.count() if isinstance(p, Joined) else 1 for p in self.parts)

    def part(self, axis: int, start: int, stop: int) -> "Operand | Joined":
        """Return the slice from ``start`` to ``stop`` along a negative axis."""
        if axis != self.axis:
            return Joined(self.axis, tuple(p.part(axis, start, stop) for p in self.parts))
        first = bisect_right(self.edges, start) - 1
        last = bisect_left(self.edges, stop)
        edges = self.edges[first : last + 1]
        kept = [
            p.part(axis, max(start, low) - low, min(stop, high) - low)
            for p, low, high in zip(self.parts[first:last], edges, edges[1:], strict=False)
            if low < stop and high > start
        ]
        return kept[0] if len(kept) == 1 else Joined(axis, tuple(kept))


@dataclass
class Builder:
    """Collects the instructions and new buffers of one application of an operator."""

    batch: int | None = None
    steps: list[tuple[Pattern, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    uses_blas: bool = False
    _constants: dict[int, Operand] = field(default_factory=dict)

    def new(self, shape: Shape, dtype: np.dtype, rows: bool) -> Operand:
        """Return an undefined C-contiguous operand in a buffer of its own."""
        strides = contiguous_strides(shape, dtype.itemsize)
        nbytes = prod(shape) * dtype.itemsize
        return Operand(self.buffer(nbytes, rows), 0, shape, strides, dtype, whole=True)

    def new_along(self, axes: Sequence[int], shape: Shape, dtype: np.dtype, rows: bool) -> Operand:
        """Return an undefined operand in a buffer of its own, whose axes lie in memory in the order
        of ``axes``, the innermost last."""
        laid = self.new(tuple([shape[axis] for axis in axes]), dtype, rows)
        return laid.view(lambda array: array.transpose(np.argsort(axes)))

    def buffer(self, nbytes: int, rows: bool, array: np.ndarray | None = None) -> Buffer:
        """Return a new buffer, which is ``array`` or memory that the target allocates.

        ``nbytes`` is the size of the buffer, or of one row if the buffer has rows.
        """
        buffer = Buffer(len(self.buffers), nbytes, rows, array)
        self.buffers.append(buffer)
        return buffer

    def is_many(self, operand: Operand) -> bool:
        """Whether an operand has so many elements that threads share the work on them."""
        return prod(operand.shape) >= program.MANY_ELEMENTS

    def constant(self, array: np.ndarray) -> Operand:
        """Return the operand that is an array from outside of the program, without rows."""
        known = self._constants.get(id(array))
        if known is None:
            buffer = self.buffer(array.nbytes, False, array)
            known = Operand(buffer, 0, array.shape, array.strides, array.dtype)
            self._constants[id(array)] = known
        return known

    def emit(
        self,
        spec: Any,
        inputs: Sequence[Operand],
        outputs: Sequence[Operand],
        ncore: Sequence[int] | None = None,
        core: Shape = (),
        loop: Shape | None = None,
        name: str = "",
        error: Callable[[str], Exception] | None = None,
        replay: Callable[..., Exception] | None = None,
        work: int | None = None,
    ) -> None:
        """Append an instruction.

        Parameters
        ----------
        spec
            The kernel's spec.
        ncore
            The number of core axes of each operand; none by default.
        core
            The sizes of the core dimensions in the kernel's order.
        loop
            The loop shape; by default the leading axes of the first output.
        error
            A function that returns the exception for a kernel that fails; its argument is a text
            that says where.
        replay
            A function ``replay(target, inputs, where)`` that returns a more exact exception, given
            the inputs in the row that failed.
        work
            The number of elements that the kernel works on, if it is not the product of all sizes.
        """
        operands = [*inputs, *outputs]
        if loop is None:
            shape = outputs[0].shape
            loop = shape if not ncore else shape[: len(shape) - ncore[len(inputs)]]
        if 0 in loop:
            return
        core_strides: Shape = ()
        if not ncore:
            strides = [_loop_strides(o, 0, loop) for o in operands]
        else:
            pairs = list(zip(operands, ncore, strict=True))
            strides = [_loop_strides(o, n, loop) for o, n in pairs]
            core_strides = tuple(s for o, n in pairs for s in o.strides[len(o.strides) - n :])
        pattern = Pattern(
            spec, tuple(o.layout for o in operands), len(inputs), loop, core, strides,
            core_strides, name or spec.name, error, replay,
        )  # fmt: skip
        if work is not None:
            pattern.work = work
        buffers = tuple(o.buffer.index for o in operands)
        self.steps.append((pattern, buffers, tuple(o.offset for o in operands)))

    def map(
        self,
        spec: Any,
        inputs: Sequence[Operand | Joined],
        output: Operand,
        name: str = "",
        replay: Callable[..., Exception] | None = None,
    ) -> None:
        """Append an elementwise instruction, or for joined inputs an instruction for each part."""
        for joined in inputs:
            if isinstance(joined, Joined):
                edges = _edges(inputs, joined.axis)
                for start, stop in pairwise(edges):
                    parts = [_part(o, joined.axis, start, stop) for o in inputs]
                    piece = output.part(joined.axis, start, stop)
                    self.map(spec, parts, piece, name, replay)
                return
        self.emit(spec, inputs, [output], name=name, replay=replay)  # type: ignore[arg-type]

    def join(self, axis: int, parts: Sequence[Operand | Joined]) -> Operand | Joined:
        """Return operands side by side along a negative axis.

        The operands are not copied, and instructions read each part where it is, unless there are
        so many parts that a copy is cheaper.
        """
        parts = [part for part in parts if part.shape[len(part.shape) + axis]] or list(parts[:1])
        if len(parts) == 1:
            return parts[0]
        joined = Joined(axis, tuple(parts))
        return joined if joined.count() <= MOST_PARTS else self.copied(joined, joined.rows)

    def copy(self, source: Operand | Joined, destination: Operand) -> None:
        """Append the instructions that copy ``source``, broadcast, into ``destination``."""
        self.map(runtime.roles.copy_spec(source.dtype), [source], destination, name="copy")

    def contiguous(self, operand: Operand, ncore: int | None = None) -> Operand:
        """Return the operand itself if its last ``ncore`` axes are C-contiguous, else a copy."""
        if operand.is_contiguous(ncore):
            return operand
        return self.copied(operand, operand.buffer.rows)

    def copied(self, operand: Operand | Joined, rows: bool) -> Operand:
        """Append the instructions that copy an operand into a new buffer; return the copy."""
        result = self.new(operand.shape, operand.dtype, rows)
        self.copy(operand, result)
        return result

    def plain(self, operand: Operand | Joined) -> Operand:
        """Return an operand in one piece: itself, or a copy if it is joined."""
        return self.copied(operand, operand.rows) if isinstance(operand, Joined) else operand


def _edges(operands: Sequence[Operand | Joined], axis: int) -> list[int]:
    """Return the edges of all operands that are joined along ``axis``, in ascending order."""
    found: set[int] = set()
    for operand in operands:
        if isinstance(operand, Joined) and operand.axis == axis:
            found.update(operand.edges)
    return sorted(found)


def _part(operand: Operand | Joined, axis: int, start: int, stop: int) -> Operand | Joined:
    """Return a slice of an operand along a negative axis.

    An operand that is broadcast along the axis is returned itself.
    """
    place = len(operand.shape) + axis
    if place < 0 or operand.shape[place] == 1:
        return operand
    return operand.part(axis, start, stop)


def _loop_strides(operand: Operand, ncore: int, loop: Shape) -> Shape:
    """Return an operand's strides along a loop, 0 where it is broadcast.

    The last ``ncore`` axes of the operand are no axes of the loop.
    """
    nloop = len(operand.shape) - ncore
    own, strides = operand.shape[:nloop], operand.strides[:nloop]
    if 1 in own:
        strides = tuple([0 if size == 1 else s for size, s in zip(own, strides, strict=True)])
    return strides if nloop == len(loop) else (0,) * (len(loop) - nloop) + strides
