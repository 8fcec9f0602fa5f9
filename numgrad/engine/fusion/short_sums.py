"""Short reductions: sums and extrema of a few elements become elementwise instructions.

A reduction is a kernel of its own, which reads its operand from memory. A sum of a few slices,
`x[0] + x[2] + (x[1] + x[3])`, is elementwise: fusion computes such a sum in the kernel of its
readers, and the elements of the slices with it. The additions are those of the reduction's kernel
in the same order, see `numgrad.ir.pairwise`, so the bits are the same.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.pairwise import LEAF
from ...ir.program import Instruction, Layout, Pattern, Program, Ref, contiguous_strides, layout_of
from ..graph.runtime import runtime
from ..graph.value import Shape
from .sliced_loops import Axis, sliced_patterns
from .tables import LONG_COLUMN

MOST_SLICES, MOST_ROWS = 8, 16
"""Longer reductions stay kernels of their own: a fused kernel reads each slice as an operand. Of
rows of a matrix, whose elements are side by side, there may be more than of single elements, unless
kernels read these as columns of tables."""

FEWEST_SUMS = 64
"""With fewer results a kernel call takes longer than the additions."""

JOINED = {"sum": "add", "max": "maximum", "min": "minimum"}
"""The elementwise operator that joins two elements of a reduction, by the reduction's name."""


def written_out(
    program: Program, joins: Callable[[Any], bool], reads_tables: bool = True
) -> Program:
    """Return a program with its short reductions written as elementwise instructions.

    The program itself is returned where it has none. Elementwise instructions over the elements of
    a reduced array are written slice by slice, too, if the target reads tables, and can fuse them
    with others, of which ``joins`` tells.
    """
    patterns = {id(p): p for p in program.patterns()}
    found = {key: _slices(pattern, reads_tables) for key, pattern in patterns.items()}
    if not any(found.values()):
        return program
    axes = {slices.axis for slices in found.values() if slices is not None}
    sliced = sliced_patterns(program, axes, joins) if reads_tables else {}
    result = Program(program.batch)
    result.nbytes, result.rows = [*program.nbytes], [*program.rows]
    result.row_strides, result.arrays = [*program.row_strides], program.arrays
    result.arguments, result.results = program.arguments, program.results
    result.uses_blas, result.given = program.uses_blas, program.given
    for instruction in program.instructions:
        slices = found[id(instruction.pattern)]
        parts = sliced.get(id(instruction.pattern))
        if slices is not None:
            result.instructions += slices.additions(result, instruction)
        elif parts is not None:
            result.instructions += parts.instructions(instruction)
        else:
            result.instructions.append(instruction)
    return result


class _Slices:
    """The slices of a short reduction's operand, and the pattern of an addition of two of them.

    Attributes
    ----------
    loop : tuple of int
        The shape of a slice, and of the result.
    count, step : int
        The number of slices, and the distance between them in bytes.
    axis : tuple
        The shape of the operand, and the axis along which slices are cut.
    """

    def __init__(self, pattern: Pattern, loop: Shape, strides: Sequence[Shape]) -> None:
        self.pattern, self.loop = pattern, loop
        self.axis: Axis = (*pattern.loop, *pattern.core), len(pattern.loop)
        self.count, self.step = pattern.core[0], pattern.layouts[0].strides[-len(pattern.core)]
        source, target = pattern.layouts
        whole = contiguous_strides(loop, source.dtype.itemsize)
        self._slice = layout_of(loop, strides[0], source.dtype, source.rows)
        self._sum = layout_of(loop, whole, source.dtype, target.rows, whole=True)
        self._result = layout_of(loop, strides[1], target.dtype, target.rows, target.whole)
        operator: Any = getattr(runtime.roles, JOINED[pattern.name])
        self._spec = operator.spec(source.dtype)
        self._patterns: dict[tuple[Layout, ...], Pattern] = {}

    def additions(self, program: Program, instruction: Instruction) -> list[Instruction]:
        """Return the instructions that join the slices by halves; sums on the way are buffers."""
        buffer, first = instruction.buffers[0], instruction.offsets[0]
        refs = [Ref(buffer, first + n * self.step, self._slice) for n in range(self.count)]
        made: list[Instruction] = []
        width = LEAF // 2
        while width:
            for n in range(max(min(len(refs) - width, width), 0)):
                is_last = width == 1
                buffer, first = instruction.buffers[1], instruction.offsets[1]
                to = Ref(buffer, first, self._result) if is_last else self._between(program)
                made.append(self._addition(refs[n], refs[n + width], to, instruction.site))
                refs[n] = to
            refs, width = refs[:width], width // 2
        return made

    def _between(self, program: Program) -> Ref:
        """Return an operand in a new buffer, for a sum of some of the slices."""
        return Ref(program.new_buffer(self._sum.nbytes, self._sum.rows), 0, self._sum)

    def _addition(self, a: Ref, b: Ref, to: Ref, site: Any) -> Instruction:
        layouts = (a.layout, b.layout, to.layout)
        pattern = self._patterns.get(layouts)
        if pattern is None:
            strides = [layout.strides for layout in layouts]
            pattern = Pattern(self._spec, layouts, 2, self.loop, (), strides, (), self._spec.name)
            self._patterns[layouts] = pattern
        buffers, offsets = (a.buffer, b.buffer, to.buffer), (a.offset, b.offset, to.offset)
        return Instruction(pattern, buffers, offsets, site)


def _slices(pattern: Pattern, reads_tables: bool) -> _Slices | None:
    """Return the slices of a short reduction of real numbers; None for any other pattern."""
    core, known = pattern.core, pattern.name in JOINED and len(pattern.layouts) == 2
    if not known or len(core) not in (1, 2) or pattern.block:
        return None
    are_columns = reads_tables and pattern.loop[-1:] >= (LONG_COLUMN,)
    if not 1 < core[0] <= (MOST_ROWS if len(core) == 2 or are_columns else MOST_SLICES):
        return None
    source, target = pattern.layouts
    if source.dtype.kind != "f" or source.dtype != target.dtype or source.rows != target.rows:
        return None
    loop, strides = pattern.loop, [*pattern.strides]
    if len(core) == 2:
        loop = (*loop, core[1])
        strides = [(*s, x.strides[-1]) for s, x in zip(strides, pattern.layouts, strict=True)]
    slices = _Slices(pattern, loop, strides)
    return slices if slices._sum.nbytes >= FEWEST_SUMS * source.dtype.itemsize else None
