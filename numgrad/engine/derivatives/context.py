"""The context of a node's derivative: saved values, static parameters, specs, wanted gradients."""

from collections.abc import Sequence
from typing import Any

from ..graph.node import NO_EDGE, Edge, Node, Spec, Value, connect, own_edge
from ..record.apply import Packed, mode, other_modes
from ..record.plan import was_met_before
from .rules import Rule, make_rule, placeholder, rule_key, rules_of


class Context:
    """The context of one node's derivative: saved values, static parameters, specs, and for each
    input whether its gradient is wanted."""

    __slots__ = ("_saved", "create_graph", "node", "static", "wanted")

    def __init__(
        self, node: Node, saved: tuple[Any, ...], wanted: tuple[bool, ...], create_graph: bool
    ):
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
        """Return the saved input ``index``, connected to the graph as it was when recorded."""
        return self.restore(index, self.node.edge(index))

    def output(self, index: int = 0) -> Value:
        """Return the saved output ``index``, connected to this node by an edge past its hooks.

        If the pass is recorded and differentiated, the derivative sends a cotangent to the output
        by this edge. The node's hooks do not see that cotangent.
        """
        spec = self.node.outputs[index]
        edge = own_edge(self.node, index) if spec.dtype.kind in "fc" else NO_EDGE
        return self.restore(len(self.node.inputs) + index, edge)

    def at(self, position: int) -> Value:
        """Return the saved value at a position: inputs come first, then outputs.

        For the replay of a captured function the inputs are followed by the values from outside
        that the function has read.
        """
        count = len(self.node.inputs)
        if position >= count and self.node.operator.is_replay:
            return self.restore(position, NO_EDGE)
        return self.input(position) if position < count else self.output(position - count)

    def saved_after_inputs(self) -> list[Value]:
        """Return the saved values that follow the inputs, not connected to the graph."""
        return [self.restore(n, NO_EDGE) for n in range(len(self.node.inputs), len(self._saved))]

    def values(self) -> list[Value]:
        """Return the saved values, except for those packed by a user's saved-tensor hooks."""
        return [saved for saved in self._saved if isinstance(saved, Value)]

    def restore(self, position: int, edge: Edge) -> Value:
        """Return the saved value at ``position``; connect the value to ``edge`` if the pass is
        recorded."""
        saved = self._saved[position]
        if isinstance(saved, Packed):
            saved = saved.restore()
        value = saved.detached()
        if self.create_graph and edge.node is not None:
            connect(value, edge)
        if other_modes and mode.trace is not None:
            mode.trace.restored(value, self.node, position, edge)
        return value


class OpenContext(Context):
    """The context of a kind's derivative: placeholders stand for saved values.

    ``used`` holds the placeholders of the saved values that were read, by position.
    """

    __slots__ = ("used",)

    def __init__(
        self, node: Node, saved: tuple[Any, ...], wanted: tuple[bool, ...], create_graph: bool
    ):
        super().__init__(node, saved, wanted, create_graph)
        self.used: dict[int, Value] = {}

    def restore(self, position: int, edge: Edge) -> Value:
        """Return the placeholder of the saved value at ``position``."""
        if position not in self.used:
            saved = self._saved[position]
            specs = (*self.node.inputs, *self.node.outputs)
            spec = saved.spec if isinstance(saved, Value) else specs[position]
            self.used[position] = placeholder(spec)
        return self.used[position]


def restored(saved: Any) -> Value:
    """Return a saved value: unpacked, if a saved-tensor hook of the user has packed the value.

    If the value is still to be computed, return a snapshot, which later writes do not change.
    """
    if type(saved) is Packed:
        saved = saved.restore()
    return saved if saved.expr is None else saved.snapshot()


def rule_of(
    backward_pass: Any,
    node: Any,
    wanted: tuple[bool, ...],
    saved: tuple[Any, ...],
    cotangents: Sequence[Value | None],
    when_met_again: bool = False,
) -> Rule | None:
    """Return the rule of a node in a pass that is not recorded; None for a node without a kind.

    A rule that does not exist yet is made. With ``when_met_again`` the first request for a rule
    returns None, and the second one makes the rule, as many rules are needed only once.
    """
    kind = node.kind
    if kind is None:
        return None
    key = rule_key(wanted, cotangents)
    rule = rules_of(kind).get(key)
    if rule is None and (not when_met_again or was_met_before(kind.family or kind, key)):
        context = OpenContext(node, saved, wanted, False)
        rule = make_rule(key, backward_pass, node, context, cotangents)
    return rule
