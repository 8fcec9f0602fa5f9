"""Programs: a flat list of instructions over numbered buffers.

What an instruction has in common with others of its kind, its `Pattern`, is made once and shared:
an `Instruction` only adds which buffers it works on. A `Program` is a value: it can be printed,
verified, drawn and compared; ``engine.schedule`` assigns memory and ``targets`` run it.
"""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._bounded import Bounded
from .graph import Shape


class Layout:
    """Shape, strides and dtype of an operand, rows left out; equal layouts are one object.

    Attributes
    ----------
    whole : bool
        Whether the operand is all of its buffer, in C order.
    rows : bool
        Whether its buffer has a row axis.
    """

    __slots__ = ("dtype", "nbytes", "rows", "shape", "strides", "whole")

    def __init__(self, shape: Shape, strides: Shape, dtype: np.dtype, rows: bool, whole: bool):
        self.shape, self.strides, self.dtype = shape, strides, dtype
        self.rows, self.whole = rows, whole
        self.nbytes = prod(shape) * dtype.itemsize


# Where it was emptied those in use stay valid; only fewer comparisons will hit.
_layouts: dict[tuple[Any, ...], Layout] = Bounded(1 << 16)


def layout_of(
    shape: Shape, strides: Shape, dtype: np.dtype, rows: bool = False, whole: bool = False
) -> Layout:
    """Return the one layout with these properties."""
    key = (shape, strides, dtype, rows, whole)
    known = _layouts.get(key)
    if known is None:
        known = _layouts[key] = Layout(*key)
    return known


class Ref(NamedTuple):
    """An operand in a program: a buffer's number, an offset in bytes, and the layout there."""

    buffer: int
    offset: int
    layout: Layout


class Pieces(NamedTuple):
    """An operand that is put together from others, and never was copied.

    ``key`` says how: a negative axis, and for each part its layout or its own key.
    """

    key: tuple[Any, ...]
    leaves: tuple[Ref, ...]


class Buffer:
    """A block of memory: an array from outside, or one that the schedule places.

    ``nbytes`` is the size of one row where ``rows`` is true, else of the whole.
    """

    __slots__ = ("array", "index", "nbytes", "row_stride", "rows")

    def __init__(
        self,
        index: int,
        nbytes: int,
        rows: bool,
        array: np.ndarray | None = None,
        row_stride: int = 0,
    ):
        self.index = index
        self.nbytes = nbytes
        self.rows = rows
        self.array = array
        self.row_stride = row_stride


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
        self.buffer = buffer
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self._whole = whole

    def view(self, function: Callable[[np.ndarray], np.ndarray]) -> "Operand":
        """Return the operand that a NumPy view function makes of this one; no element is read.

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
        """Return a slice along a negative axis."""
        place = len(self.shape) + axis
        if stop - start == self.shape[place]:
            return self
        shape = (*self.shape[:place], stop - start, *self.shape[place + 1 :])
        offset = self.offset + start * self.strides[place]
        return Operand(self.buffer, offset, shape, self.strides, self.dtype)

    def is_contiguous(self, ncore: int | None = None) -> bool:
        """Whether the last ``ncore`` axes (all of them by default) are C-contiguous, as without
        elements they are."""
        first = 0 if ncore is None else len(self.shape) - ncore
        return is_contiguous(self.shape[first:], self.strides[first:], self.dtype.itemsize)

    @property
    def whole(self) -> bool:
        """Whether this is all of its buffer, in order."""
        if self._whole is None:
            size = prod(self.shape) * self.dtype.itemsize
            self._whole = self.offset == 0 and size == self.buffer.nbytes and self.is_contiguous()
        return self._whole

    @property
    def layout(self) -> Layout:
        return layout_of(self.shape, self.strides, self.dtype, self.buffer.rows, self.whole)


class Joined:
    """Operands side by side along a negative ``axis``, in place of a copy that joins them."""

    __slots__ = ("axis", "dtype", "parts", "shape")

    def __init__(self, axis: int, parts: "tuple[Operand | Joined, ...]") -> None:
        self.axis = axis
        self.parts = parts
        first = parts[0]
        self.dtype = first.dtype
        place = len(first.shape) + axis
        size = sum(part.shape[place] for part in parts)
        self.shape: Shape = (*first.shape[:place], size, *first.shape[place + 1 :])

    @property
    def rows(self) -> bool:
        return any(p.rows if isinstance(p, Joined) else p.buffer.rows for p in self.parts)

    def count(self) -> int:
        """Return the number of operands."""
        return sum(p.count() if isinstance(p, Joined) else 1 for p in self.parts)

    def bounds(self) -> list[int]:
        """Return where the parts begin and end."""
        edges = [0]
        for part in self.parts:
            edges.append(edges[-1] + part.shape[len(part.shape) + self.axis])
        return edges

    def part(self, axis: int, start: int, stop: int) -> "Operand | Joined":
        """Return a slice along a negative axis."""
        if axis != self.axis:
            return Joined(self.axis, tuple(p.part(axis, start, stop) for p in self.parts))
        edges = self.bounds()
        kept = [
            p.part(axis, max(start, low) - low, min(stop, high) - low)
            for p, low, high in zip(self.parts, edges, edges[1:], strict=False)
            if low < stop and high > start
        ]
        return kept[0] if len(kept) == 1 else Joined(axis, tuple(kept))


def is_contiguous(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether elements lie in C order without gaps; none or one always do."""
    if 0 in shape:
        return True
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != itemsize:
            return False
        itemsize *= size
    return True


def contiguous_strides(shape: Shape, itemsize: int) -> Shape:
    """Return the strides of an array in C order."""
    strides = []
    for size in reversed(shape):
        strides.append(itemsize)
        itemsize *= max(size, 1)
    return tuple(reversed(strides))


class Pattern:
    """All of an instruction but its buffers: ``strides[k]`` are operand k's byte strides along the
    loop, rows left out.

    Attributes
    ----------
    heirs : tuple of int
        The inputs over which the output may be written if they end here.
    peers : frozenset of int
        The inputs that may be the very memory that is written.
    codes : dict
        The pattern as the machine's words, by the row strides of the operands.
    kernel
        What the target has for the spec; None until a program of the pattern is bound.
    block : int
        Where it is not 0, the first core dimension is reduced in blocks of this size.
    walks : dict or None
        In how many rows the pattern can be cut, and how; see `stretches`.
    """

    __slots__ = (
        "block", "codes", "core", "core_strides", "elementwise", "error", "heirs", "kernel",
        "layouts", "loop", "name", "nin", "peers", "replay", "rows", "spec", "strides", "walks",
        "work",
    )  # fmt: skip

    def __init__(
        self,
        spec: Any,
        layouts: tuple[Layout, ...],
        nin: int,
        loop: Shape,
        core: Shape,
        strides: list[Shape],
        core_strides: Shape,
        name: str,
        error: Callable[[str], Exception] | None = None,
        replay: Callable[..., Exception] | None = None,
    ) -> None:
        self.spec, self.name = spec, name
        self.kernel: Any = None
        self.layouts, self.nin = layouts, nin
        self.loop, self.core = loop, core
        self.strides, self.core_strides = strides, core_strides
        self.error, self.replay = error, replay
        self.rows = any([x.rows for x in layouts[nin:]])  # noqa: C419  a list is faster
        self.elementwise = not core
        self.work = prod(loop) * max(1, prod(core))
        self.codes: dict[Any, Any] = {}
        self.block: int = getattr(spec, "block", 0)
        self.walks: Any = None
        self._find_heirs()

    def _find_heirs(self) -> None:
        heirs: list[int] = []
        output = self.layouts[-1]
        if self.elementwise and len(self.layouts) == self.nin + 1 and output.whole:
            heirs = [n for n in range(self.nin) if self.layouts[n] is output]
        self.heirs = tuple(heirs)
        self.peers = frozenset(heirs)


class Instruction:
    """One kernel call: a pattern, and for each operand the number of a buffer and an offset."""

    __slots__ = ("buffers", "offsets", "pattern", "site")

    def __init__(
        self, pattern: Pattern, buffers: tuple[int, ...], offsets: tuple[int, ...], site: Any
    ) -> None:
        self.pattern = pattern
        self.buffers = buffers
        self.offsets = offsets
        self.site = site

    @property
    def name(self) -> str:
        return self.pattern.name

    @property
    def rows(self) -> bool:
        return self.pattern.rows

    @property
    def operands(self) -> list[Ref]:
        """All operands, inputs first."""
        layouts = self.pattern.layouts
        return [Ref(*item) for item in zip(self.buffers, self.offsets, layouts, strict=True)]

    @property
    def inputs(self) -> list[Ref]:
        return self.operands[: self.pattern.nin]

    @property
    def outputs(self) -> list[Ref]:
        return self.operands[self.pattern.nin :]


class Program:
    """Instructions in order, the buffers they use, and the operands that are the results.

    Attributes
    ----------
    nbytes, rows, row_strides : lists, by the number of the buffer
        The size (of one row where there are rows), whether there are, and how far apart they are.
    arrays : dict
        The buffers that are arrays from outside.
    arguments : dict
        The buffers that a caller supplies: their position among the arguments.
    given : dict
        Shape, with the batch, and dtype of what is supplied for each of these buffers.
    results : list of Ref
        Each in a buffer of its own.
    batch : int or None
        The number of rows.
    negations : list of int
        The instructions that may not be needed; see `signs`.
    """

    __slots__ = (
        "arguments", "arrays", "batch", "given", "instructions", "nbytes", "negations", "results",
        "row_strides", "rows", "uses_blas",
    )  # fmt: skip

    def __init__(self, batch: int | None = None) -> None:
        self.instructions: list[Instruction] = []
        self.negations: list[int] = []
        self.nbytes: list[int] = []
        self.rows: list[bool] = []
        self.row_strides: list[int] = []
        self.arrays: dict[int, np.ndarray] = {}
        self.arguments: dict[int, int] = {}
        self.given: dict[int, tuple[Shape, np.dtype]] = {}
        self.results: list[Ref] = []
        self.batch = batch
        self.uses_blas = False

    def new_buffer(self, nbytes: int, rows: bool, row_stride: int | None = None) -> int:
        """Add a buffer and return its number."""
        index = len(self.nbytes)
        self.nbytes.append(nbytes)
        self.rows.append(rows)
        self.row_strides.append((nbytes if rows else 0) if row_stride is None else row_stride)
        return index

    def is_outside(self, buffer: int) -> bool:
        """Whether a buffer is memory that the program does not own."""
        return buffer in self.arrays or buffer in self.arguments

    def __str__(self) -> str:
        from .listing import listing

        return listing(self)
