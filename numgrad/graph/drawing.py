"""Drawings of nodes and edges in the DOT language: boxes and arrows as data, and their text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..engine.graph.node import Node, Spec

OPERATOR, LEAF, BOUNDARY = "#999999", "#148b97", "orange"


@dataclass
class Box:
    """A box of a drawing: its label and its colour."""

    label: str
    color: str = OPERATOR


@dataclass
class Drawing:
    """Boxes by number, and arrows between boxes with labels."""

    boxes: dict[int, Box] = field(default_factory=dict)
    arrows: list[tuple[int, int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        lines = ["digraph G {"]
        lines += [_box(number, box) for number, box in self.boxes.items()]
        lines += [f'node_{a}->node_{b}[label="{_escaped(label)}"]' for a, b, label in self.arrows]
        return "\n".join([*lines, "} // end G", ""])


def _box(number: int, box: Box) -> str:
    return (
        f'node_{number}[label="{_escaped(box.label)}" style="rounded,filled,bold" shape="box" '
        f'color="{box.color}" fontcolor="#ffffff" width="1.3" height="0.84" fontname="Arial"]'
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Use(NamedTuple):
    """The use of an output of ``source`` by ``consumer``, with the spec of its gradient."""

    consumer: Node
    source: Node
    spec: Spec


def uses(nodes: Sequence[Node], wanted: Mapping[Node, Sequence[bool]] | None = None) -> list[Use]:
    """Return the uses among nodes: all, or, with the masks ``wanted`` of a pass, the edges along
    which it sends gradients."""
    present = set(nodes)
    found = []
    for node in nodes:
        mask = node.needs if wanted is None else wanted.get(node, (False,) * len(node.edges))
        for edge, spec, want in zip(node.edges, node.inputs, mask, strict=True):
            if want and edge.node is not None and edge.node in present:
                found.append(Use(node, edge.node, spec))
    return found
