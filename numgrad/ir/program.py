"""Programs: a flat list of instructions over numbered buffers.

A `Pattern` is made once and shared by instructions that differ in their buffers alone; an
`Instruction` adds the buffers. A `Program` can be printed, verified, drawn and compared. The engine
makes programs; a target finds the kernels, places the buffers and runs them, see `target`.
"""

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..process.bounded_dict import Bounded
from .kernel_spec import ElementwiseSpec

Shape = tuple[int, ...]

MANY_ELEMENTS = 1 << 15
"""The number of elements from which on sharing the work of an instruction among threads pays."""

MOST_WORK = 1 << 40
"""The upper bound of `Pattern.work`: the product of several long core dimensions is more than any
kernel does, and may not fit a machine word."""


class Layout:
    """Shape, strides and dtype of an operand without its row axis; equal layouts are one object.

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


# If the table was emptied, layouts in use stay valid; only fewer comparisons by identity succeed.
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
    """An operand made of others side by side, which were not copied together.

    ``key`` has the negative axis along which the parts are joined, and for each part its layout, or
    the key of a part that is made of pieces itself.
    """

    key: tuple[Any, ...]
    leaves: tuple[Ref, ...]


@lru_cache(4096)
def is_contiguous(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether the elements of an array lie in C order without gaps.

    That is always so for no element or one.
    """
    if 0 in shape:
        return True
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != itemsize:
            return False
        itemsize *= size
    return True


def extent(shape: Shape, strides: Shape) -> tuple[int, int]:
    """Return the least and the greatest offset of an element, in bytes.

    Offsets are those from the element with index 0; negative strides make them negative.
    """
    ends = [max(size - 1, 0) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum([end for end in ends if end < 0]), sum([end for end in ends if end > 0])


@lru_cache(4096)
def contiguous_strides(shape: Shape, itemsize: int) -> Shape:
    """Return the strides in bytes of an array in C order."""
    strides = []
    for size in reversed(shape):
        strides.append(itemsize)
        itemsize *= max(size, 1)
    return tuple(reversed(strides))


class Pattern:
    """An instruction without its buffers; instructions that differ only in buffers share one.

    Attributes
    ----------
    layouts : tuple of Layout
        The layouts of the operands, inputs first.
    nin : int
        The number of inputs.
    loop, core : tuple of int
        The sizes of the axes over which the kernel loops, and of its core dimensions.
    strides : list of tuple of int
        For each operand its strides in bytes along the loop, without rows.
    core_strides : tuple of int
        The strides in bytes of all core axes, operand by operand.
    turns : tuple of tuple of int
        For each operand and axis of the loop the element with which the operand begins, if it goes
        on from the first element after the last one, and 0 for any other; empty without such an
        operand.
    error, replay : callable or None
        Return the exception for a kernel that fails; see `Builder.emit`.
    work : int
        The number of elements that the kernel works on, in one row.
    reusable_inputs : tuple of int
        The inputs whose memory the output may take, if no later instruction reads them.
    peers : frozenset of int
        The inputs that may be the same memory as the output.
    codes : dict
        The target's encodings of the pattern, by the other facts on which an encoding depends.
    kernel
        The target's kernel for the spec; None until a program with the pattern is bound.
    block : int
        Where it is not 0, the first core dimension is reduced in blocks of this size.
    row_splits : dict or None
        In how many rows the pattern can be cut, and how; None until the target has found out.
    """

    __slots__ = (
        "block", "codes", "core", "core_strides", "elementwise", "error", "kernel", "layouts",
        "loop", "name", "nin", "peers", "replay", "reusable_inputs", "row_splits", "rows", "spec",
        "strides", "turns", "work",
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
        turns: tuple[Shape, ...] = (),
    ) -> None:
        self.spec, self.name, self.turns = spec, name, turns
        self.kernel: Any = None
        self.layouts, self.nin = layouts, nin
        self.loop, self.core = loop, core
        self.strides, self.core_strides = strides, core_strides
        self.error, self.replay = error, replay
        self.rows = any([x.rows for x in layouts[nin:]])  # noqa: C419  a list is faster
        self.elementwise = not core
        self.work = min(prod(loop) * max(1, prod(core)), MOST_WORK)
        self.codes: dict[Any, Any] = {}
        self.block: int = getattr(spec, "block", 0)
        self.row_splits: Any = None
        self._find_reusable_inputs()

    @property
    def fusible(self) -> bool:
        """Whether an instruction applies, to each element, a scalar function that cannot fail."""
        return (
            isinstance(self.spec, ElementwiseSpec)
            and len(self.layouts) == self.nin + 1
            and self.replay is None
            and self.error is None
        )

    def _find_reusable_inputs(self) -> None:
        reusable_inputs: list[int] = []
        output = self.layouts[-1]
        if len(self.layouts) == self.nin + 1 and output.whole:
            own = range(self.nin) if self.elementwise else getattr(self.spec, "reusable", ())
            reusable_inputs = [n for n in own if self.layouts[n] is output]
        self.reusable_inputs = tuple(reusable_inputs)
        self.peers = frozenset(reusable_inputs)


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
    def stream(self) -> Any:
        """The device stream for the instruction; None for that on which the program runs."""
        return None if self.site is None else self.site.stream

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
    """Instructions in order, the buffers that these use, and the operands that are the results.

    Attributes
    ----------
    instructions : sequence of Instruction
        A list, or `PackedInstructions` where another form of the program runs.
    nbytes, rows, row_strides : lists, by the number of the buffer
        The size of a buffer, or of one row of it; whether it has rows; the distance between rows.
    arrays : dict
        The arrays from outside that are buffers, by the number of the buffer.
    arguments : dict
        For each buffer that a caller supplies its position among the arguments.
    given : dict
        For each buffer that a caller supplies the shape, with the batch, and the dtype of the
        array, and its strides, or None for C order.
    results : list of Ref
        The results, each in a buffer of its own.
    batch : int or None
        The number of rows.
    unrolled : PackedInstructions or None
        Of a program with loops the instructions for which it stands.
    negations : list of int
        The positions of the instructions that negate a buffer; see `lower.peephole`.
    uses_blas : bool
        Whether a kernel may call BLAS or LAPACK, whose threads are then limited.
    """

    __slots__ = (
        "arguments", "arrays", "batch", "given", "instructions", "nbytes", "negations", "results",
        "row_strides", "rows", "unrolled", "uses_blas",
    )  # fmt: skip

    def __init__(self, batch: int | None = None) -> None:
        self.instructions: Any = []
        self.negations: list[int] = []
        self.nbytes: list[int] = []
        self.rows: list[bool] = []
        self.row_strides: list[int] = []
        self.arrays: dict[int, np.ndarray] = {}
        self.arguments: dict[int, int] = {}
        self.given: dict[int, tuple[Shape, np.dtype, Shape | None]] = {}
        self.results: list[Ref] = []
        self.batch = batch
        self.uses_blas = False
        self.unrolled: Any = None

    def new_buffer(self, nbytes: int, rows: bool, row_stride: int | None = None) -> int:
        """Add a buffer and return its number."""
        index = len(self.nbytes)
        self.nbytes.append(nbytes)
        self.rows.append(rows)
        self.row_strides.append((nbytes if rows else 0) if row_stride is None else row_stride)
        return index

    def patterns(self) -> list[Pattern]:
        """Return the pattern of each instruction."""
        packed = getattr(self.instructions, "patterns", None)
        return [i.pattern for i in self.instructions] if packed is None else packed()

    def is_outside(self, buffer: int) -> bool:
        """Whether a buffer is memory that the program does not own."""
        return buffer in self.arrays or buffer in self.arguments

    def __str__(self) -> str:
        return listing(self)


def listing(program: Program) -> str:
    """Return a program as text, an instruction in a line; equal programs give equal texts."""
    lines = [f"program: {len(program.instructions)} instructions, batch {program.batch}"]
    for title, rows in (("prologue", False), ("body", True)):
        part = [i for i in program.instructions if i.rows == rows]
        if part:
            lines.append(f"{title}:")
            lines += [f"  {_line(program, i)}" for i in part]
    lines.append("results: " + ", ".join(_operand(program, ref) for ref in program.results))
    return "\n".join(lines)


def _line(program: Program, instruction: Instruction) -> str:
    outputs = ", ".join(_operand(program, ref) for ref in instruction.outputs)
    inputs = ", ".join(_operand(program, ref) for ref in instruction.inputs)
    pattern = instruction.pattern
    core = f" core{list(pattern.core)}" if pattern.core else ""
    return f"{outputs} = {pattern.name}({inputs}) loop{list(pattern.loop)}{core}"


def _operand(program: Program, ref: Ref) -> str:
    layout = ref.layout
    kind = "c" if ref.buffer in program.arrays else "a" if program.is_outside(ref.buffer) else "v"
    rows = "rows x " if layout.rows else ""
    text = f"{kind}{ref.buffer}:{rows}{_dtype(layout.dtype)}{list(layout.shape)}"
    dense = is_contiguous(layout.shape, layout.strides, layout.dtype.itemsize)
    if not dense or ref.offset:
        text += f"@{ref.offset}/{list(layout.strides)}"
    return text


def _dtype(dtype: Any) -> str:
    return {"float64": "f8", "float32": "f4", "complex64": "c8", "complex128": "c16"}.get(
        str(dtype), str(dtype)
    )
