"""The backward pass: build the backward expressions of a graph, run them as one program, deliver.

The walk goes over the selected nodes in descending creation number. Each node's operator turns the cotangents
of its outputs into expressions for those of its inputs; nothing is computed until the program runs at the end,
or earlier where a hook or a Python function wants to see numbers.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._errors import FreedGraphError
from . import hooks
from .graph import NO_EDGE, Accumulator, Edge, Node, Spec, Value
from .program import force
from .record import Packed, deferring, grad_mode, mode, runtime
from .select import needed, reachable

_freeing = threading.Lock()


@dataclass
class Request:
    """What a pass is asked to do.

    Attributes
    ----------
    seeds : list of (Edge, Value)
        Where the pass starts and with which cotangents; several for one edge are summed.
    targets : list of Edge
        The edges whose gradients are wanted; ``None`` wants every reachable leaf.
    extra_leaves : bool
        Also want every other reachable leaf (``only_inputs=False``).
    initial : dict
        Gradients to be added at an edge (``grad_inputs``).
    cut : set of Edge
        Edges that let nothing pass (``no_grad_vars``).
    batch : int or None
        The number of rows of a batched pass.
    """

    seeds: list[tuple[Edge, Value]]
    targets: list[Edge] | None
    create_graph: bool = False
    retain_graph: bool = False
    extra_leaves: bool = False
    initial: dict[Edge, Value] = field(default_factory=dict)
    cut: Collection[Edge] = frozenset()
    batch: int | None = None
    seeds_last: bool = False
    retain_all: bool = False
    check: Callable[[Node, Sequence[Value | None]], None] | None = None


@dataclass
class Outcome:
    """The gradients that a pass computed, by edge; nothing has been written anywhere."""

    grads: dict[Edge, Value]
    retained: list[tuple[Edge, Value]]
    nodes: list[Node]


class Context:
    """What the derivative of one node sees: saved values, static parameters, specs, and what is wanted."""

    __slots__ = ("_saved", "create_graph", "node", "static", "wanted")

    def __init__(self, node: Node, saved: tuple[Any, ...], wanted: tuple[bool, ...], create_graph: bool):
        self.node = node
        self.static = node.static
        self.wanted = wanted
        self.create_graph = create_graph
        self._saved = saved

    @property
    def input_specs(self) -> tuple[Spec, ...]:
        return self.node.inputs

    @property
    def output_specs(self) -> tuple[Spec, ...]:
        return self.node.outputs

    def input(self, index: int) -> Value:
        """Return the saved input ``index``, connected to the graph as it was when it was recorded."""
        return self._restore(index, self.node.edges[index])

    def output(self, index: int = 0) -> Value:
        """Return the saved output ``index``, connected to this node."""
        spec = self.node.outputs[index]
        edge = Edge(self.node, index) if spec.dtype.kind in "fc" else NO_EDGE
        return self._restore(len(self.node.inputs) + index, edge)

    def _restore(self, position: int, edge: Edge) -> Value:
        saved = self._saved[position]
        if isinstance(saved, Packed):
            saved = saved.restore()
        value = saved.detached()
        if self.create_graph and edge.node is not None:
            _connect(value, edge)
        return value


def _connect(value: Value, edge: Edge) -> None:
    value.requires_grad = True
    if isinstance(edge.node, Accumulator):
        value._accumulator = partial(_itself, edge.node)  # strong: this value is not the leaf that it stands for
    else:
        value.node, value.slot = edge


def _itself(node: Node) -> Node:
    return node


class Pass:
    """One backward pass over the selected nodes."""

    def __init__(self, request: Request) -> None:
        self.request = request
        roots = [edge.node for edge, _ in request.seeds if edge.node is not None]
        order = reachable(roots, request.cut)
        leaves = [Edge(node, 0) for node in order if node.is_accumulator]
        targets = leaves if request.targets is None else list(request.targets)
        self.targets = set(targets) | (set(leaves) if request.extra_leaves else set())
        self.wanted = needed(order, self.targets, request.cut)
        touched = {edge.node for edge in self.targets}
        self.order = [node for node in order if node in self.wanted or node in touched]
        self.pending: dict[Edge, Value] = {}
        self.late: dict[Edge, Value] = {}
        self.grads: dict[Edge, Value] = {}
        self.retained: list[tuple[Edge, Value]] = []
        self.kept: list[Node] = []
        self.saved: dict[Node, tuple[Any, ...]] = {}

    def run(self) -> Outcome:
        """Execute the pass; on an error every node is as it was before."""
        self._take_saved()
        try:
            with grad_mode(self.request.create_graph):
                with deferring(True, self.kept):
                    self._seed()
                    for node in self.order:
                        self._visit(node)
                self._finish()
        except BaseException:
            self._give_back()
            raise
        return Outcome(self.grads, self.retained, self.order)

    def _take_saved(self) -> None:
        """Take references to all saved values at once, so that of two passes that free a graph one loses cleanly."""
        with _freeing:
            for node in self.wanted:
                self.saved[node] = node.unpack()
            if not self.request.retain_graph:
                for node in self.wanted:
                    node.free()

    def _give_back(self) -> None:
        for node, saved in self.saved.items():
            node.saved = saved

    def _seed(self) -> None:
        """Place the seeds and the initial gradients: first in the sums, or last when they are to be sorted."""
        initial = [(edge, value) for edge, value in self.request.initial.items()]
        for edge, value in [*self.request.seeds, *initial]:
            self._add(self.late if self.request.seeds_last else self.pending, edge, value)

    def _add(self, sums: dict[Edge, Value], edge: Edge, value: Value) -> None:
        present = sums.get(edge)
        sums[edge] = value if present is None else runtime.roles["add"](present, value)

    def _visit(self, node: Node) -> None:
        cotangents = [self._arrive(Edge(node, slot)) for slot in range(len(node.outputs))]
        if node not in self.wanted or all(c is None for c in cotangents):
            return
        if node.pre_hooks:
            cotangents = hooks.run_pre_hooks(self, node, cotangents)
        context = Context(node, self.saved[node], self.wanted[node], self.request.create_graph)
        gradients = node.operator.differentiate(self, context, cotangents)
        gradients = [
            None if g is None else fit(g, spec)
            for g, spec in zip(gradients, node.inputs, strict=True)
        ]
        if self.request.check is not None:
            self.force([g for g in gradients if g is not None])
            self.request.check(node, gradients)
        if node.post_hooks:
            gradients = hooks.run_post_hooks(self, node, gradients, cotangents)
        for edge, gradient, want in zip(node.edges, gradients, self.wanted[node], strict=True):
            if want and gradient is not None:
                self._add(self.pending, edge, gradient)

    def _arrive(self, edge: Edge) -> Value | None:
        """Return the total cotangent of an edge after its hooks, and capture it where it is wanted."""
        value = self.pending.pop(edge, None)
        late = self.late.pop(edge, None)
        if late is not None:
            value = late if value is None else runtime.roles["add"](value, late)
        if value is None:
            return None
        value = hooks.run_tensor_hooks(self, edge, value)
        if edge in self.targets:
            self.grads[edge] = value
        self._retain(edge, value)
        return value

    def _retain(self, edge: Edge, value: Value) -> None:
        node = edge.node
        assert node is not None
        if node.retained is not None and edge.slot in node.retained:
            self.retained.append((edge, value))
        elif self.request.retain_all and not node.is_accumulator:
            self.retained.append((edge, value))

    def force(self, values: Sequence[Value]) -> None:
        """Compute values now, with everything that is pending, so that nothing is computed twice."""
        force([*values, *self.pending.values(), *self.late.values(), *self.grads.values()], self.request.batch)

    def _finish(self) -> None:
        results = [*self.grads.values(), *(value for _, value in self.retained)]
        nodes = _kept_by(results, self.kept) if self.request.create_graph else []
        saved = [v for node in nodes for v in (node.saved or ()) if isinstance(v, Value)]
        force([*results, *saved], self.request.batch)
        if self.request.batch is not None:
            _make_rows_explicit(self.request.batch, [*results, *saved], nodes)


def with_rows(value: Value) -> Value:
    """Return a value whose first axis is the batch as a value with rows, at the same place in the graph."""
    result = value.detached()
    result.shape, result.rows = value.shape[1:], True
    if value.requires_grad:
        _connect(result, value.edge)
    return result


def fit(value: Value, spec: Spec) -> Value:
    """Bring a cotangent back to the space of its input: sum over broadcast axes, cast, drop the imaginary part."""
    if value.shape != spec.shape:
        value = runtime.roles["sum_to"](value, spec.shape)
    if value.dtype != spec.dtype:
        value = runtime.roles["cast"](value, spec.dtype)
    return value


def _kept_by(results: Sequence[Value], kept: Sequence[Node]) -> list[Node]:
    """Return the nodes of this pass that the results still reach."""
    candidates = set(kept)
    stack = [v.node for v in results if v.node in candidates]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        stack.extend(edge.node for edge in node.edges if edge.node in candidates)
    return list(seen)


def _make_rows_explicit(batch: int, values: Sequence[Value], nodes: Sequence[Node]) -> None:
    """Turn values and nodes of a batched pass into ordinary ones whose leading axis is the batch."""
    for value in values:
        if value.rows:
            value.shape, value.rows = (batch, *value.shape), False
    for node in nodes:
        node.inputs = tuple(_explicit(spec, batch) for spec in node.inputs)
        node.outputs = tuple(_explicit(spec, batch) for spec in node.outputs)


def _explicit(spec: Spec, batch: int) -> Spec:
    return Spec((batch, *spec.shape), spec.dtype) if spec.rows else spec
