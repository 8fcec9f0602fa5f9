"""Assembly of fused programs: elementwise instructions become few kernels with values in registers.

`materialize` chooses the values that are stored; such a value, with the expression that computes
its elements, is a *root*. `grouping` chooses the roots that one kernel computes. A kernel depends
on its scalar functions, outputs and dtypes, not on buffers: so all stages of an integrator share
kernels, whatever the number of its steps.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from ...ir.kernel_spec import FusedSpec, Table
from ...ir.program import Instruction, Layout, Pattern, Program, contiguous_strides, layout_of
from ..graph.value import Shape
from .expression import Leaf, Step, Term, boxes
from .grouping import grouped
from .halo import Halos
from .materialize import Root
from .short_sums import written_out
from .tables import tables_of

LONG_ROW, LONG_STRIDED_ROW = 64, 256
"""From this number of elements on a row is long: where its elements are side by side in all
operands, and where they are not. A target must leave a long last axis of a loop innermost."""


def fuse(
    program: Program, joins: Callable[[Any], bool] = bool, reads_rings: bool = False,
    reads_tables: bool = True,
) -> Program:
    """Return a program with the same results and bits whose elementwise instructions are fused.

    Nothing is compiled: kernels are looked up when the program is bound.

    Parameters
    ----------
    program : Program
    joins : callable, optional
        Says whether the target can fuse the scalar function of a kernel spec with others; by
        default it can fuse all.
    reads_rings : bool
        Whether kernels of the target read an axis from the middle to the end, and then on from the
        beginning. Else there are copies of the ends, or a kernel is called for each side.
    reads_tables : bool
        Whether kernels of the target are faster where they know which operands are columns of
        tables.
    """
    program = written_out(program, joins, reads_tables)
    ordered = [i for i in program.instructions if not i.rows]
    ordered += [i for i in program.instructions if i.rows]
    grouping, groups = grouped(program, ordered, joins)
    result = Program(program.batch)
    result.nbytes, result.rows = [*program.nbytes], [*program.rows]
    result.row_strides, result.arrays = [*program.row_strides], program.arrays
    result.arguments, result.results = program.arguments, program.results
    result.uses_blas, result.given = program.uses_blas, program.given
    together = [[grouping.values.roots[number] for number in group] for group in groups]
    has_halos = grouping.values.has_rings and not reads_rings
    halos = Halos(result, together if has_halos else ())
    assembler = Assembler(halos, reads_rings, reads_tables)
    for group, roots in zip(groups, together, strict=True):
        if roots[0].unit is None:
            result.instructions.append(roots[0].instruction)
            continue
        members = set(group)
        outside = [grouping.is_read_outside(number, members) for number in group]
        site = roots[0].instruction.site
        result.instructions += _on_stream(halos.before(roots), site)
        result.instructions += assembler.calls(roots, outside)
        result.instructions += _on_stream(halos.after(roots), site)
    return result


def _on_stream(copies: Iterable[Instruction], site: Any) -> Iterator[Instruction]:
    """Yield copies of the ends of arrays, with the site of the kernel beside them if that has a
    stream: what the kernel reads may be ready on this stream alone."""
    for copy in copies:
        if site is not None and site.stream is not None:
            copy.site = site
        yield copy


class Assembler:
    """Makes the instructions that call fused kernels.

    Equal kernel specs are one object, and so are equal patterns.

    Parameters
    ----------
    halos : Halos
        The halos (copies of the ends of arrays) of the program that is made.
    reads_rings, reads_tables : bool
        As for `fuse`.
    """

    def __init__(self, halos: Halos, reads_rings: bool, reads_tables: bool) -> None:
        self._halos, self._reads_rings, self._reads_tables = halos, reads_rings, reads_tables
        self._specs: dict[Any, Any] = {}
        self._patterns: dict[Any, Pattern] = {}

    def calls(self, roots: Sequence[Root], outside: Sequence[bool]) -> list[Instruction]:
        """Return the instructions that compute a group of stored values (roots) with one kernel.

        ``outside`` says for each root whether its value is needed outside of the group; any other
        value stays in a register. There are several instructions if the loop of the kernel has to
        be cut where a view comes to the end of an axis and continues at the beginning.
        """
        first = roots[0]
        assert first.unit is not None
        whole = first.unit.loop
        alone = len(roots) == 1 and _is_original(first) and not self._halos.touch(first)
        if alone and not any(self._layout_of_rows(first.leaves, [first.unit.output], whole)):
            return [first.instruction]
        assembly = _Assembly(roots, outside)
        if not assembly.outputs:
            return []
        views = [self._halos.view(leaf, whole) for leaf in (*assembly.inputs, *assembly.outputs)]
        parts = [(whole, views)] if self._reads_rings else list(boxes(whole, views))
        spec = self._spec(assembly, self._layout_in_all(parts, len(assembly.inputs)))
        calls = []
        for loop, operands in parts:
            pattern = self._pattern(spec, len(assembly.inputs), loop, operands)
            buffers = tuple([leaf.buffer for leaf in operands])
            offsets = tuple([leaf.offset for leaf in operands])
            calls.append(Instruction(pattern, buffers, offsets, first.instruction.site))
        return calls

    def _layout_in_all(
        self, parts: Sequence[tuple[Shape, Sequence[Leaf]]], nin: int
    ) -> "_RowLayout":
        """Return what the last axis of a loop is to the operands of a kernel.

        ``parts`` has the loop and the operands of each call of the kernel. Where there are several,
        some may have rows so short that a target changes the order of the axes: then nothing is
        known.
        """
        (loop, operands), *others = parts
        if others:
            return _RowLayout()
        return self._layout_of_rows(operands[:nin], operands[nin:], loop)

    def _layout_of_rows(
        self, inputs: Sequence[Leaf], outputs: Sequence[Leaf], loop: Shape
    ) -> "_RowLayout":
        tables = tables_of(inputs, outputs, loop) if self._reads_tables else ()
        return _RowLayout(_repeated(inputs, outputs, loop), tables)

    def _spec(self, assembly: "_Assembly", rows: "_RowLayout") -> Any:
        """Return the kernel spec of an assembly (the parts of a kernel), one object if equal."""
        key = assembly.structure(), rows
        known = self._specs.get(key)
        if known is None:
            known = self._specs[key] = assembly.spec(rows)
        return known

    def _pattern(self, spec: Any, nin: int, loop: Shape, operands: Sequence[Leaf]) -> Pattern:
        """Return the pattern of an instruction that calls the kernel of ``spec`` over a loop.

        ``operands`` has the views of the ``nin`` inputs, then those of the outputs.
        """
        program = self._halos.program
        sizes = [-1 if program.is_outside(x.buffer) else program.nbytes[x.buffer] for x in operands]
        views = [
            (leaf.strides, leaf.dtype, leaf.rows, -1 if leaf.turns else size)
            for leaf, size in zip(operands, sizes, strict=True)
        ]
        turns = tuple([leaf.turns or (0,) * len(loop) for leaf in operands])
        turns = turns if any(leaf.turns for leaf in operands) else ()
        key = (spec, loop, turns, *views)
        known = self._patterns.get(key)
        if known is None:
            layouts = tuple([_layout(loop, *view) for view in views])
            strides = [leaf.strides for leaf in operands]
            known = Pattern(spec, layouts, nin, loop, (), strides, (), spec.name, turns=turns)
            self._patterns[key] = known
        return known


def _is_original(root: Root) -> bool:
    """Whether a stored value comes from a single instruction, with nothing fused into it."""
    assert root.unit is not None
    whole = _sizes(root.unit.loop) == _sizes(root.instruction.pattern.loop)
    return whole and len(root.steps) == 1 and not any(leaf.turns for leaf in root.leaves)


def _sizes(loop: Shape) -> list[int]:
    """Return the sizes of the axes of more than one element, or none."""
    return [size for size in loop if size != 1]


class _RowLayout(NamedTuple):
    """What the last axis of a loop is to the operands: see `FusedSpec`, which has the same parts.
    """

    repeated: tuple[bool, ...] = ()
    tables: tuple[Table, ...] = ()


def _repeated(inputs: Sequence[Leaf], outputs: Sequence[Leaf], loop: Shape) -> tuple[bool, ...]:
    """Return for each input whether a kernel is to read one element of the input for each row.

    A row is the last axis of the loop. The input is repeated along the row, and differs from row to
    row. Where rows are short, or an operand that is not side by side along the row needs a buffer
    anyway, several rows are computed together from buffers that have the element many times. The
    empty tuple stands for no such input.
    """
    size = loop[-1] if loop else 0
    if size < LONG_ROW:
        return ()
    moving = [leaf for leaf in (*inputs, *outputs) if leaf.strides[-1]]
    if size < LONG_STRIDED_ROW and any([x.strides[-1] != x.dtype.itemsize for x in moving]):  # noqa: C419
        return ()
    found = tuple([not leaf.strides[-1] and not leaf.is_number for leaf in inputs])
    return found if any(found) else ()


def _layout(loop: Shape, strides: Shape, dtype: Any, rows: bool, nbytes: int) -> Layout:
    """Return the layout of a view of a buffer along a loop.

    The layout says whether the view is the whole buffer, of ``nbytes`` bytes. With ``nbytes`` -1
    the answer is always no: the memory is not the program's own.
    """
    dense = contiguous_strides(loop, dtype.itemsize)
    strides = tuple([s if n != 1 else d for s, d, n in zip(strides, dense, loop, strict=True)])
    whole = strides == dense and prod(loop) * dtype.itemsize == nbytes
    return layout_of(loop, strides, dtype, rows, whole)


class _Assembly:
    """Collects the inputs, scalar functions (steps) and outputs of one fused kernel.

    The kernel computes stored values (roots). Inputs and steps are numbered in the order in which a
    root first needs them.
    """

    def __init__(self, roots: Sequence[Root], outside: Sequence[bool]) -> None:
        self.own: dict[Leaf, Step] = {}
        self.inputs: list[Leaf] = []
        self.outputs: list[Leaf] = []
        for root, is_read in zip(roots, outside, strict=True):
            assert root.unit is not None
            assert root.term is not None
            self.own[root.unit.output] = root.term
            if is_read:
                self.outputs.append(root.unit.output)
        self._marks: dict[Leaf | int, int] = {}  # their numbers: inputs, and steps by key
        self._steps: list[tuple[Any, tuple[int, ...]]] = []
        self._stored = [self._visit(self.own[output]) for output in self.outputs]

    def _visit(self, term: Term) -> int:
        """Return the number of an input or a scalar function in the kernel; add it if it is new.

        The numbers of scalar functions (steps) are 0, 1, ..., those of inputs -1, -2, ...
        """
        name = term if type(term) is Leaf else term.key
        mark = self._marks.get(name)
        if mark is not None:
            return mark
        if type(term) is Leaf:
            inner = self.own.get(term)
            if inner is not None:
                return self._visit(inner)
            self.inputs.append(term)
            mark = -len(self.inputs)
        else:
            args = tuple([self._visit(arg) for arg in term.args])
            mark = len(self._steps)
            self._steps.append((term.spec, args))
        self._marks[name] = mark
        return mark

    def structure(self) -> Hashable:
        """Return a key that is equal for assemblies of the same kernel."""
        return tuple(self._steps), tuple(self._stored), self._dtypes(), self._scalars()

    def _dtypes(self) -> tuple[Any, Any]:
        """Return the dtypes of the inputs, and the dtypes of the outputs."""
        views = (self.inputs, self.outputs)
        inputs, outputs = (tuple([leaf.dtype for leaf in leaves]) for leaves in views)
        return inputs, outputs

    def _scalars(self) -> tuple[bool, ...]:
        return tuple([leaf.is_number for leaf in self.inputs])

    def spec(self, rows: _RowLayout) -> Any:
        """Return the kernel spec: values are numbered, first the inputs, then results of steps.

        A kernel of a single step has the spec of that step's operator, unless something is known of
        the ``rows`` of the loop.
        """
        first = len(self.inputs)
        if len(self._steps) == 1 and len(self._steps[0][1]) == first and not any(rows):
            return self._steps[0][0]

        def numbers(marks: Sequence[int]) -> tuple[int, ...]:
            return tuple([first + mark if mark >= 0 else -1 - mark for mark in marks])

        steps = tuple([(spec, numbers(args)) for spec, args in self._steps])
        names = list(dict.fromkeys([spec.name for spec, _ in steps]))
        shown = " ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        name = f"fused[{len(steps)}: {shown}]"
        stored = numbers(self._stored)
        return FusedSpec(name, steps, *self._dtypes(), stored, self._scalars(), *rows)
