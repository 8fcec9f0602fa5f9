"""Drawings of graphs and programs in the DOT language of Graphviz."""

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

from .._errors import ArgTypeError, NoGradError
from .._tensor import Tensor
from ..engine.graph.node import Accumulator, Node
from ..engine.graph.traversal import reachable
from ..graph import GradientEdge
from ..graph.drawing import LEAF, Box, Drawing, uses
from ..ir.program import Program, Ref


class Dot(str):
    """Text in the DOT language; notebooks show a picture when the package graphviz is installed."""

    __slots__ = ()

    def _repr_image_svg_xml(self) -> str | None:
        try:
            from graphviz import Source  # type: ignore[import-not-found]
        except ImportError:
            return None
        return Source(str(self)).pipe(format="svg", encoding="utf-8")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        picture = self._repr_image_svg_xml()
        return {"text/plain": str(self)} | ({"image/svg+xml": picture} if picture else {})


def dot(thing: Any) -> Dot:
    """Return a drawing of the graph that computed a tensor, or of a program, in the DOT language.

    Parameters
    ----------
    thing : Tensor, GradientEdge, Node, iterable of tensors, or Program
        Of a graph the boxes are operations and leaves, the arrows follow the computation and bear
        dtype and shape. Of a program the boxes are instructions, constants and results.

    Returns
    -------
    str
        Text for the program ``dot``; a notebook shows the picture.

    Raises
    ------
    NoGradError
        If a tensor has no graph.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> print(ng.display.dot(x * x), end="")  # doctest: +ELLIPSIS
    digraph G {
    node_0[label="multiply" ...]
    node_1[label="leaf\\nfloat64[2]" ...]
    node_1->node_0[label="float64[2]"]
    node_1->node_0[label="float64[2]"]
    } // end G
    """
    drawing = _program(thing) if isinstance(thing, Program) else _graph(_roots(thing))
    return Dot(drawing)


@singledispatch
def _roots(thing: Any) -> list[Node]:
    if isinstance(thing, str) or not isinstance(thing, Iterable):
        raise ArgTypeError(
            f"dot: expected a tensor, a node or a program, got {type(thing).__name__}"
        )
    return [node for item in thing for node in _roots(item)]


@_roots.register
def _(thing: Tensor) -> list[Node]:
    if not thing.requires_grad:
        raise NoGradError("dot: the tensor does not require grad, so it has no graph")
    return [thing.edge.node]  # type: ignore[list-item]


@_roots.register
def _(thing: GradientEdge) -> list[Node]:
    return [thing.node]


@_roots.register
def _(thing: Node) -> list[Node]:
    return [thing]


def _graph(roots: Iterable[Node]) -> Drawing:
    nodes = reachable(roots, ())
    numbers = {node: number for number, node in enumerate(nodes)}
    boxes = {number: _node_box(node) for node, number in numbers.items()}
    arrows = [
        (numbers[use.source], numbers[use.consumer], f"{use.spec.dtype}{list(use.spec.shape)}")
        for use in uses(nodes)
    ]
    return Drawing(boxes, arrows)


def _node_box(node: Node) -> Box:
    if isinstance(node, Accumulator):
        spec = node.variable.spec
        return Box(f"leaf\n{spec.dtype}{list(spec.shape)}", LEAF)
    return Box(node.name())


def _program(program: Program) -> Drawing:
    """Draw instructions and constants; an arrow is an operand."""
    drawing = Drawing()
    writers: dict[int, int] = {}

    def new_box(label: str, color: str | None = None) -> int:
        number = len(drawing.boxes)
        drawing.boxes[number] = Box(label) if color is None else Box(label, color)
        return number

    def draw(operand: Ref, reader: int) -> None:
        index = operand.buffer
        if index not in writers:
            writers[index] = new_box(f"constant {index}", LEAF)
        drawing.arrows.append((writers[index], reader, _label(operand)))

    for instruction in program.instructions:
        number = new_box(instruction.name)
        for operand in instruction.inputs:
            draw(operand, number)
        for operand in instruction.outputs:
            _draw_earlier_writer(drawing, writers, operand, number)
            writers[operand.buffer] = number
    for position, operand in enumerate(program.results):
        draw(operand, new_box(f"result {position}", LEAF))
    return drawing


def _draw_earlier_writer(
    drawing: Drawing, writers: dict[int, int], operand: Ref, number: int
) -> None:
    """Connect the instructions that write parts of one buffer, in their order."""
    earlier = writers.get(operand.buffer)
    if earlier is not None:
        drawing.arrows.append((earlier, number, "then"))


def _label(operand: Ref) -> str:
    layout = operand.layout
    rows = "rows x " if layout.rows else ""
    return f"{rows}{layout.dtype}{list(layout.shape)}"
