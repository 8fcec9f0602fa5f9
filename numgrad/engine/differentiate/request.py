"""The request of a pass, and its outcome."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..graph.node import Edge, Node, Value
from ..record.apply import is_direct, is_unwatched


@dataclass
class Request:
    """The seeds, targets and options of a pass.

    Attributes
    ----------
    seeds : list of (Edge, Value)
        The edges where the pass starts, with their cotangents; several for one edge are summed.
    targets : list of Edge
        The edges whose gradients are wanted; ``None`` stands for every reachable leaf.
    extra_leaves : bool
        Whether every other reachable leaf is a target too (``only_inputs=False``).
    initial : dict
        Gradients to be added at an edge (``grad_inputs``).
    cut : set of Edge
        Edges that no cotangent passes (``no_grad_vars``).
    ends : set of Node
        Nodes that are not executed: the graph from these nodes to the inputs is left to another
        pass.
    silent : set of Edge
        Edges whose hooks are not called: the pass around this one, which gets the gradients there,
        calls them.
    batch : int or None
        The number of rows of a batched pass.
    seeds_last : bool
        Whether seeds and initial gradients are added after all other cotangents of their edges.
    retain_all : bool
        Whether the gradient of every value that is no leaf is kept.
    accumulate : bool
        Whether the gradients of leaves will be accumulated: hooks of their accumulators run.
    check : GradientCheck, optional
        Sees every gradient (anomaly detection).
    """

    seeds: list[tuple[Edge, Value]]
    targets: list[Edge] | None
    create_graph: bool = False
    retain_graph: bool = False
    extra_leaves: bool = False
    initial: dict[Edge, Value] = field(default_factory=dict)
    cut: Collection[Edge] = frozenset()
    ends: Collection[Node] = frozenset()
    silent: Collection[Edge] = frozenset()
    batch: int | None = None
    seeds_last: bool = False
    retain_all: bool = False
    accumulate: bool = False
    check: "GradientCheck | None" = None

    @property
    def is_special(self) -> bool:
        """Whether an option needs a general pass: a check, initial gradients, cut edges, or
        retained gradients."""
        return bool(self.check or self.initial or self.cut or self.retain_all)

    @property
    def uses_plans(self) -> bool:
        """Whether the plan of an earlier pass may serve this one, as no option and no mode of the
        thread needs a general pass."""
        return not self.is_special and (is_direct() or (is_unwatched() and not self.create_graph))

    direction = "reverse"

    @property
    def records(self) -> bool:
        """Whether derivatives are recorded on the way."""
        return self.create_graph

    @property
    def roots(self) -> tuple[Node, ...]:
        """The nodes where the search for the nodes of the pass begins."""
        return tuple([edge.node for edge, _ in self.seeds if edge.node is not None])

    @property
    def search_ends(self) -> Sequence[Edge] | None:
        """The edges where the search ends: the targets."""
        return self.targets

    @property
    def first(self) -> int:
        """The number below which the search skips nodes, as they are older than all targets.

        So a recorded pass over the end of a long graph does not search the whole graph. 0 if all
        nodes are searched.
        """
        if self.targets is None or self.extra_leaves or not self.create_graph:
            return 0
        return min([edge.node.number for edge in self.targets if edge.node is not None], default=0)


class TangentRequest(Request):
    """The request of a forward pass: its seeds are the tangents of inputs, and its targets the
    outputs whose tangents are wanted."""

    direction = "forward"

    @property
    def roots(self) -> tuple[Node, ...]:
        return tuple([edge.node for edge in self.targets or () if edge.node is not None])

    @property
    def search_ends(self) -> Sequence[Edge] | None:
        return [edge for edge, _ in self.seeds]

    @property
    def first(self) -> int:
        edges = self.search_ends or ()
        return min([edge.node.number for edge in edges if edge.node is not None], default=0)


class GradientCheck(Protocol):
    """Looks at gradients as they are computed, and raises an error for a wrong one."""

    def computed(
        self, node: Node, gradients: Sequence[Value | None], cotangents: Sequence[Value | None]
    ) -> None:
        """Raise an error if a gradient is wrong that a node computed from its cotangents."""

    def delivered(self, edge: Edge, value: Value) -> None:
        """Raise an error if the gradient is wrong that a pass returns for an edge."""


@dataclass
class Outcome:
    """The gradients that a pass computed, by edge; no ``.grad`` has been written yet.

    ``wanted`` holds the executed nodes, each with a mask of the inputs whose gradients it computed.
    """

    grads: dict[Edge, Value]
    retained: list[tuple[Edge, Value]]
    nodes: list[Node]
    wanted: dict[Node, tuple[bool, ...]]
    saved: dict[Node, tuple[Any, ...]]
    has_freed: bool

    def restore_saved(self) -> None:
        """Undo the freeing of saved values, for a call that fails after its pass."""
        if self.has_freed:  # else another pass may have freed the nodes, which stay freed
            for node, saved in self.saved.items():
                node.saved = saved
