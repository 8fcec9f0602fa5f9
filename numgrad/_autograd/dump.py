"""Dumps of a backward pass: its graph, the forward graph, and the call stacks of its nodes."""

import itertools
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from .._errors import ArgTypeError
from ..engine.differentiate.request import Outcome
from ..engine.graph.node import Edge, Node
from ..graph.drawing import BOUNDARY, LEAF, OPERATOR, Box, Drawing, Use, uses

_numbers = itertools.count()
NOTE = (
    "numgrad.set_flags(call_stack_level=3) records the Python stack of the operations that follow."
)


def prepare(path: Any) -> "Writer | None":
    """Return the writer of dumps to a directory, which is made if it is missing.

    Return None if ``path`` is None.

    Raises
    ------
    ArgTypeError
        If the path is no string.
    NotADirectoryError
        If the path exists and is no directory.
    OSError
        If the directory cannot be made.
    """
    if path is None:
        return None
    if not isinstance(path, str):
        raise ArgTypeError(
            f"dump_backward_graph_path: the path must be string type, got {type(path).__name__}"
        )
    if os.path.exists(path):
        if not os.path.isdir(path):
            raise NotADirectoryError(f"dump_backward_graph_path: path:'{path}' must be directory ")
    else:
        try:
            os.makedirs(path)
        except OSError as error:
            raise OSError(f"Create '{path}' failed : {error}") from error
    return Writer(Path(path))


class Writer:
    """Writes the three files of one dump into a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def write(self, seeds: Sequence[Edge], outcome: Outcome) -> None:
        """Write the three files about a pass that started at ``seeds``."""
        nodes = set(outcome.nodes) | {edge.node for edge in seeds if edge.node is not None}
        picture = _Picture(sorted(nodes, key=lambda node: node.number, reverse=True), outcome)
        contents = {
            "backward_graph.dot": str(picture.backward()),
            "call_stack.log": picture.call_stacks(),
            "ref_forward_graph.dot": str(picture.forward()),
        }
        prefix = self._free_prefix()
        for name, content in contents.items():
            (self.directory / f"{prefix}_{name}").write_text(content, encoding="utf-8")

    def _free_prefix(self) -> str:
        """Return a prefix of file names that no other dump has: the local time, to the microsecond.
        """
        colon = "-" if os.name == "nt" else ":"  # no colons in file names of Windows
        while True:
            prefix = datetime.now().strftime(f"%Y-%m-%d_%H{colon}%M{colon}%S.%f")
            if not (self.directory / f"{prefix}_backward_graph.dot").exists():
                return prefix


class _Picture:
    """The nodes that a pass has visited, the newest first, as drawings and a list of call stacks.
    """

    def __init__(self, nodes: Sequence[Node], outcome: Outcome) -> None:
        self.numbers = {node: next(_numbers) for node in nodes}
        self.uses = uses(nodes, outcome.wanted)
        self.boundary = {
            n for n in outcome.nodes if n not in outcome.wanted and not n.is_accumulator
        }

    def backward(self) -> Drawing:
        """Return the drawing of the graph in the direction in which gradients flow."""
        boxes = {
            number: Box(f"{_grad_name(node)}\nPtr: {hex(id(node))}", self._color(node))
            for node, number in self.numbers.items()
        }
        arrows = [
            (a, b, f"Place(cpu)\n{use.spec.dtype}{list(use.spec.shape)}")
            for use, a, b in self._ends()
        ]
        return Drawing(boxes, arrows)

    def forward(self) -> Drawing:
        """Return the drawing of the graph in the direction of the computation."""
        boxes = {
            number: Box(f"{_forward_name(node)}\nGradNode: {hex(id(node))}", self._color(node))
            for node, number in self.numbers.items()
        }
        arrows = [(b, a, f"{use.spec.dtype} {list(use.spec.shape)}") for use, a, b in self._ends()]
        return Drawing(boxes, arrows)

    def call_stacks(self) -> str:
        """Return the call stacks with which the nodes were recorded, as a text."""
        entries = [
            f"GradNodeBase {_grad_name(node)} ptr : {hex(id(node))} call stack: \n"
            f"{node.stack or ''}"
            for node in self.numbers
        ]
        return "\n".join([NOTE, *entries, ""])

    def _color(self, node: Node) -> str:
        if node.is_accumulator:
            return LEAF
        return BOUNDARY if node in self.boundary else OPERATOR

    def _ends(self) -> list[tuple[Use, int, int]]:
        """Return each use of a value by a node, with the numbers of the two nodes: consumer and
        source."""
        return [(u, self.numbers[u.consumer], self.numbers[u.source]) for u in self.uses]


def _grad_name(node: Node) -> str:
    return "GradNodeAccumulation" if node.is_accumulator else f"{node.name()}GradNode"


def _forward_name(node: Node) -> str:
    return "Node" if node.is_accumulator else node.name()
