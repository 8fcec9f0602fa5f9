"""Assembling: values that are computed together become one kernel, and the calls of it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

from .._specs import FusedSpec
from .expand import Leaf, Step, Term, ring_ends
from .graph import Shape
from .halos import Halos
from .program import Instruction, Layout, Pattern, Program, contiguous_strides, layout_of
from .storing import Root


def kernel_calls(
    halos: Halos, roots: Sequence[Root], outside: Sequence[bool], target: Any
) -> list[Instruction]:
    """Return the instructions that compute some roots of one loop; ``outside`` says which of them
    anything else reads."""
    first = roots[0]
    assert first.unit is not None
    if len(roots) == 1 and _is_original(first) and not halos.touch(first):
        return [first.instruction]
    assembly = _Assembly(roots, outside)
    if not assembly.outputs:
        return []
    spec, inputs = assembly.spec(), len(assembly.inputs)
    kernel = target.kernel(spec)
    site = first.instruction.site
    calls = []
    whole = first.unit.loop
    views = [halos.view(leaf, whole) for leaf in (*assembly.inputs, *assembly.outputs)]
    for loop, operands in _boxes(whole, views):
        pattern = Pattern(
            kernel, spec, tuple(_layout(halos.program, leaf, loop) for leaf in operands),
            inputs, loop, (), [leaf.strides for leaf in operands], (), spec.name,
        )  # fmt: skip
        buffers = tuple(leaf.buffer for leaf in operands)
        offsets = tuple(leaf.offset for leaf in operands)
        calls.append(Instruction(pattern, buffers, offsets, site))
    return calls


def _is_original(root: Root) -> bool:
    """Whether a root is no more than the instruction that it comes from."""
    assert root.unit is not None
    whole = root.unit.loop == root.instruction.pattern.loop
    return whole and len(root.steps) == 1 and not any(leaf.turns for leaf in root.leaves)


def _boxes(loop: Shape, leaves: Sequence[Leaf]) -> Iterator[tuple[Shape, list[Leaf]]]:
    """Yield the parts of a loop, with the views there, within which no ring comes to its end."""
    cuts = [
        pairwise([0, *ring_ends(leaves, axis, size), size]) for axis, size in enumerate(loop)
    ]
    for box in product(*cuts):
        views = leaves
        for axis, (low, high) in enumerate(box):
            size = loop[axis]
            if high - low < size:
                views = [leaf.box(axis, low, high - low, size) for leaf in views]
        yield tuple([high - low for low, high in box]), list(views)


def _layout(program: Program, leaf: Leaf, loop: Shape) -> Layout:
    dense = contiguous_strides(loop, leaf.dtype.itemsize)
    strides = tuple([s if n != 1 else d for s, d, n in zip(leaf.strides, dense, loop, strict=True)])
    layout = layout_of(loop, strides, leaf.dtype, leaf.rows)
    nbytes = program.nbytes[leaf.buffer]
    whole = strides == dense and layout.nbytes == nbytes and not program.is_outside(leaf.buffer)
    return layout_of(loop, strides, leaf.dtype, leaf.rows, whole) if whole else layout


class _Assembly:
    """The steps of a kernel in order, numbered as they are first needed."""

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
        self._numbers: dict[Leaf, int] = {}
        self._positions: dict[int, int] = {}
        self._steps: list[tuple[Any, tuple[Any, ...]]] = []
        self._stored = [self._visit(self.own[output]) for output in self.outputs]

    def _visit(self, term: Term) -> Any:
        """Return the mark of a value: a leaf, or the position of a step."""
        if isinstance(term, Leaf):
            inner = self.own.get(term)
            if inner is not None:
                return self._visit(inner)
            if term not in self._numbers:
                self._numbers[term] = len(self.inputs)
                self.inputs.append(term)
            return term
        number = self._positions.get(term.key)
        if number is None:
            args = tuple([self._visit(arg) for arg in term.args])
            number = self._positions[term.key] = len(self._steps)
            self._steps.append((term.spec, args))
        return number

    def spec(self) -> Any:
        """Return the kernel's spec: inputs are numbered first, then the steps. One step alone is
        the operator that it was."""
        first = len(self.inputs)
        if len(self._steps) == 1 and len(self._steps[0][1]) == first:
            return self._steps[0][0]

        def number(mark: Any) -> int:
            return self._numbers[mark] if isinstance(mark, Leaf) else first + mark

        steps = tuple((s, tuple([number(arg) for arg in args])) for s, args in self._steps)
        names = list(dict.fromkeys(s.name for s, _ in self._steps))
        shown = " ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        return FusedSpec(
            f"fused[{len(steps)}: {shown}]",
            steps,
            tuple(leaf.dtype for leaf in self.inputs),
            tuple(leaf.dtype for leaf in self.outputs),
            tuple(number(mark) for mark in self._stored),
            tuple(leaf.is_number for leaf in self.inputs),
        )
