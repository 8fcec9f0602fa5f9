"""The recorded graph: the nodes that produced values, and the edges between them.

A `Node` records one application of an operator for differentiation: its parents, which are the
nodes of the inputs, and the saved values that the derivative reads. `Node.unpack` returns the saved
values, and checks by their versions that none has been overwritten. Hooks and call stacks, which
few nodes have, are in `Extras`.
"""

import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from ..._errors import FreedGraphError, InplaceError
from ...process.bounded_dict import Bounded
from ...process.gc_pause import collector
from .callsite import Site
from .hook_table import Handle, register
from .kind import Kind, interned, kind_of, loose_kind
from .saved import before_writes, freeing
from .value import Expr as Expr
from .value import Spec as Spec
from .value import Value as Value
from .value import View as View
from .value import next_number
from .value import spec_of as spec_of


class Edge(NamedTuple):
    """A node and the number of one of its outputs; ``Edge(None, 0)`` leads nowhere."""

    node: "Node | None"
    slot: int

    @property
    def spec(self) -> Spec:
        """The spec of the output to which the edge leads."""
        assert self.node is not None
        return self.node.outputs[self.slot]


NO_EDGE = Edge(None, 0)


class OwnSlot(int):
    """The number of an output in an edge that leads from the node's own derivative back to that
    output.

    The recorded derivative of `exp`, for example, reads the output of its node. So differentiating
    the derivative sends a cotangent to that output. Hooks on the output do not see this cotangent:
    they are on the tensor that the user holds, and the derivative has read the computed value
    instead.

    An own slot is equal to the plain number; a pass over a node with hooks tells them apart by
    their types.
    """

    __slots__ = ()


def own_edge(node: "Node", slot: int) -> Edge:
    """Return the edge by which the derivative of ``node`` reads the node's own output; see
    `OwnSlot`."""
    return Edge(node, OwnSlot(slot))


def connect(value: Value, edge: Edge) -> None:
    """Put ``value`` into the graph at ``edge``, so that its cotangents arrive there.

    If the node of ``edge`` is an accumulator, ``value`` becomes a leaf with this accumulator.
    """
    value._requires_grad = True
    if isinstance(edge.node, Accumulator):
        value.leaf.accumulator = partial(_itself, edge.node)  # strong, unlike in `accumulator_of`
    else:
        value.node, value.slot = edge


def _itself(node: "Node") -> "Node":
    return node


class Extras:
    """The attributes that few nodes have: hooks, retained gradients, a stack, a stream, metadata of
    the user."""

    __slots__ = (
        "grads", "metadata", "post_hooks", "pre_hooks", "retained", "stack", "stream",
        "tensor_hooks",
    )  # fmt: skip

    def __init__(self) -> None:
        self.stack: str | None = None
        self.stream: Any = None
        self.tensor_hooks: dict[int, dict[int, Any]] = {}
        self.pre_hooks: dict[int, Any] = {}
        self.post_hooks: dict[int, Any] = {}
        self.retained: dict[int, weakref.ref[Value]] = {}
        self.grads: dict[int, Any] = {}
        self.metadata: dict[Any, Any] = {}

    @property
    def are_seen(self) -> bool:
        """Whether there is more than a stream, such as a hook."""
        seen = self.tensor_hooks or self.pre_hooks or self.post_hooks or self.retained
        return bool(seen or self.grads or self.metadata or self.stack or self.stream is None)


_NONE: Any = MappingProxyType({})


class Node:
    """One recorded application of an operator; made by `new_node`, `record.apply` and
    `record.dispatch`.

    Attributes
    ----------
    operator, static, inputs, outputs
        The operator, its static parameters, and the specs of the operands and of the results: those
        of ``_kind``, which `kind` may replace by one that other nodes share.
    parents, slots : tuple
        For each input the node to which its cotangent is sent, and the number of that node's
        output. The node is ``None`` for an input that does not require grad.
    number : int
        The creation number: nodes and expressions are numbered in the order in which they are made.
    saved : tuple or None
        The saved values, with ``None`` for each input or output that the derivative does not read;
        ``None`` itself once a pass has freed them.
    versions : tuple of int
        The versions of the saved values when they were saved.
    code, instruction
        The user's line that recorded the node: a code object and the offset of an instruction.
    extras : Extras or None
        Hooks and other attributes that few nodes have.
    apart : bool
        Whether `detach_saved_values` has been here: no saved value of this node, or of a node on
        which this node depends, refers to a node.
    """

    __slots__ = (
        "__weakref__", "_kind", "apart", "code", "extras", "instruction", "number", "parents",
        "saved", "slots", "versions",
    )  # fmt: skip

    operator: Any = property(attrgetter("_kind.operator"))
    static: dict[str, Any] = property(attrgetter("_kind.static"))  # type: ignore[assignment]
    inputs: tuple[Spec, ...] = property(attrgetter("_kind.inputs"))  # type: ignore[assignment]
    outputs: tuple[Spec, ...] = property(attrgetter("_kind.outputs"))  # type: ignore[assignment]
    parents: "tuple[Node | None, ...]"
    slots: tuple[int, ...]
    number: int
    saved: tuple[Any, ...] | None
    versions: tuple[int, ...]
    code: Any
    instruction: int
    extras: Extras | None
    _kind: Kind
    apart: bool

    def blank(self) -> None:
        """Give a new node the next creation number, and set all attributes that do not depend on
        the operation to those of a fresh node."""
        self.number = next_number()
        self.saved = self.versions = ()
        self.code = self.extras = None
        self.instruction = 0
        self.apart = False

    def name(self) -> str:
        """Return the name of the operator whose gradient this node computes."""
        return self.operator.name

    @property
    def kind(self) -> Kind | None:
        """The kind, which nodes with the same rule share; None if the rule holds for this node
        alone."""
        kind = self._kind
        if not kind.is_settled:
            found = kind_of(kind.operator, kind.static, kind.inputs, kind.outputs)
            kind.is_settled = True
            self._kind = kind = found or kind
        return kind if kind.is_shared else None

    def change_specs(self, inputs: tuple[Spec, ...], outputs: tuple[Spec, ...]) -> None:
        """Give the node a kind with other specs of its inputs and outputs."""
        self._kind = loose_kind(self.operator, self.static, inputs, outputs)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """For each input the edge to which a pass sends the input's cotangent."""
        return tuple(map(self.edge, range(len(self.parents))))

    def edge(self, index: int) -> Edge:
        """Return the edge to which a pass sends the cotangent of an input."""
        node = self.parents[index]
        return NO_EDGE if node is None else Edge(node, self.slots[index])

    @property
    def next_functions(self) -> tuple[tuple["Node | None", int], ...]:
        """The nodes to which this node sends gradients, each with the slot that receives them."""
        return tuple((edge.node, edge.slot) for edge in self.edges)

    @property
    def site(self) -> Site | None:
        """The line of user code that recorded the node, and the device stream that was chosen
        there; None if neither is known."""
        if self.extras is not None and self.extras.stream is not None:
            return Site(self.code, self.instruction, self.extras.stream)
        return Site(self.code, self.instruction) if self.code is not None else None

    @property
    def stream(self) -> Any:
        """The device stream on which the operation ran; None if the user had chosen none."""
        return None if self.extras is None else self.extras.stream

    def own_extras(self) -> Extras:
        """Return the extras of the node, made when they are first asked for."""
        extras = self.extras
        if extras is None:
            extras = self.extras = Extras()
        return extras

    @property
    def stack(self) -> str | None:
        """The Python stack when the node was recorded, as text; None if nobody asked for stacks."""
        return None if self.extras is None else self.extras.stack

    @property
    def tensor_hooks(self) -> dict[int, dict[int, Any]]:
        """The hooks on the tensors that are the node's outputs, by slot."""
        return _NONE if self.extras is None else self.extras.tensor_hooks

    @property
    def pre_hooks(self) -> dict[int, Any]:
        """The hooks that are called before a pass runs the derivative of the node."""
        return _NONE if self.extras is None else self.extras.pre_hooks

    @property
    def post_hooks(self) -> dict[int, Any]:
        """The hooks that are called after a pass ran the derivative of the node."""
        return _NONE if self.extras is None else self.extras.post_hooks

    @property
    def retained(self) -> "dict[int, weakref.ref[Value]]":
        """The outputs whose gradients a pass has to keep (`retain_grad`), by slot."""
        return _NONE if self.extras is None else self.extras.retained

    @property
    def is_watched(self) -> bool:
        """Whether hooks or `retain_grad` look at the cotangents that the node receives or sends."""
        extras = self.extras
        return extras is not None and bool(
            any(extras.tensor_hooks.values()) or extras.pre_hooks or extras.post_hooks
            or extras.retained
        )  # fmt: skip

    @property
    def grads(self) -> dict[int, Any]:
        """The gradients that passes have kept for outputs (`retain_grad`), by slot."""
        return self.own_extras().grads

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for whatever the user wants to attach to this node."""
        return self.own_extras().metadata

    def register_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node ran.

        Both are tuples: the gradients that the node computed, which the hook may replace by
        returning a tuple, and those it received; ``None`` stands where there is none.
        """
        return register(self.own_extras().post_hooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(grad_outputs)`` before this node runs; it may return a tuple of
        replacements."""
        return register(self.own_extras().pre_hooks, hook)

    @property
    def needs(self) -> tuple[bool, ...]:
        """For each input whether it requires grad."""
        return tuple([node is not None for node in self.parents])

    @property
    def is_accumulator(self) -> bool:
        return False

    def save(self, values: Sequence[Value | None]) -> None:
        """Keep the values that the derivative reads, with the versions they have now."""
        self.saved = tuple(values)
        self.versions = tuple([0 if v is None else v.version for v in values])

    def unpack(self) -> tuple[Any, ...]:
        """Return the saved values, as the derivative reads them now.

        A saved value may have been overwritten since. If the module `saved` has copied its
        elements, a value with the elements from before the first write replaces it; else an error
        is raised.
        """
        saved = self.saved
        if saved is None:
            raise FreedGraphError(
                f"Trying to backward through the graph a second time: the values saved by "
                f"{self.name()}{self.where()} were freed by an earlier pass. "
                f"Pass retain_graph=True to the earlier call."
            )
        now = self.as_saved(saved)
        if now is not saved and self.saved is not None:
            self.saved = now
        return now

    def as_saved(self, saved: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return saved values with the elements that they had when they were saved; see `unpack`.

        ``saved`` is what the node has saved, or had saved until a pass freed its values.
        """
        for position, value in enumerate(saved):
            if value is not None and value.version != self.versions[position]:
                before = None if self.versions[position] else before_writes(value)
                if before is None:
                    raise self._overwritten(position, value)
                saved = (*saved[:position], before, *saved[position + 1 :])
        return saved

    def _overwritten(self, position: int, value: Value) -> InplaceError:
        return InplaceError(
            f"a value needed by the derivative of {self.name()}{self.where()} has been modified "
            f"by an inplace operation: saved value {position} of shape {value.shape} is at version "
            f"{value.version}; expected version {self.versions[position]} instead. It was written "
            f"where gradients are switched off, and what it held is not kept there. Write to a "
            f"copy (x.clone()) instead."
        )

    def free(self) -> None:
        """Drop the saved values, so that the derivative cannot be computed again.

        A node without saved values stays usable.
        """
        if self.saved:
            self.saved = None

    def where(self) -> str:
        """Return " recorded at FILE:LINE in FUNCTION", or an empty text when the line is
        unknown."""
        return f" recorded at {self.site}" if self.code is not None else ""

    def __repr__(self) -> str:
        kind = type(self).__name__ if self.is_accumulator else "Node"
        return f"<{kind} {self.name()}{self.where()}>"


def new_node(
    operator: Any,
    static: dict[str, Any],
    edges: Sequence[Edge],
    inputs: Sequence[Spec],
    outputs: Sequence[Spec],
) -> Node:
    """Return a node without saved values (``Node`` has no ``__init__``, which would take time)."""
    node = Node()
    node._kind = loose_kind(operator, static, tuple(inputs), tuple(outputs))
    node.parents = tuple([edge.node for edge in edges])
    node.slots = tuple([edge.slot for edge in edges])
    node.blank()
    return node


class Call(Node):
    """The node of one call of a function whose derivative is Python code of the user.

    Calls of one function on operands of the same specs share their kind, although the kind has no
    rule, so that graphs with such calls can be compared. The static parameters are those of the
    call.
    """

    __slots__ = ("given",)

    static: dict[str, Any] = property(attrgetter("given"))  # type: ignore[assignment]


def new_call(
    operator: Any,
    static: dict[str, Any],
    parents: tuple[Node | None, ...],
    slots: tuple[int, ...],
    inputs: tuple[Spec, ...],
    outputs: tuple[Spec, ...],
) -> Node:
    """Return the node of a call, without saved values."""
    node = Call()
    node._kind = interned(operator, _NOTHING, inputs, outputs)  # type: ignore[assignment]
    node.given, node.parents, node.slots = static, parents, slots
    node.blank()
    return node


_NOTHING: dict[str, Any] = {}


def are_unwritten(saved: Sequence[Any], versions: Sequence[int]) -> bool:
    """Whether saved values still have the versions with which they were saved."""
    for value, version in zip(saved, versions, strict=False):
        if value is None:
            continue
        storage = value._storage
        if version != (0 if storage is None else storage.version):
            return False
    return True


def restore_saved(nodes: Iterable[Node]) -> None:
    """Put the elements from before a write in the place of each saved value that was written.

    A value of which there is no copy stays as it is.
    """
    with freeing:
        for node in nodes:
            saved = node.saved
            if saved and not are_unwritten(saved, node.versions):
                with suppress(InplaceError):
                    node.saved = node.as_saved(saved)


class _AccumulateGrad:
    """The operator of an accumulator, which has no rule."""

    name = "accumulate_grad"
    by_position = None


_leaf_kinds: dict[Spec, Kind] = Bounded(4096)


def _leaf_kind(spec: Spec) -> Kind:
    """Return the kind of the accumulators of leaves with a spec."""
    kind = _leaf_kinds.get(spec)
    if kind is None:
        kind = _leaf_kinds[spec] = loose_kind(_AccumulateGrad, {}, (), (spec,))
        kind.is_settled = True
    return kind


class Accumulator(Node):
    """The node that stands for a leaf, where the cotangents of the leaf are summed.

    The accumulator keeps its leaf (``variable``) alive; the leaf refers to the accumulator weakly.
    """

    __slots__ = ("variable",)

    def __init__(self, variable: Value) -> None:
        self.variable = variable
        self._kind = _leaf_kind(variable.spec)
        self.parents = self.slots = self.saved = self.versions = ()
        self.number = next_number()
        self.code = self.extras = None
        self.instruction = 0
        self.apart = True

    @property
    def is_accumulator(self) -> bool:
        return True


class SecondAccumulator(Accumulator):
    """A stand-in for the accumulator of a leaf while the garbage collector is at work.

    When a finalizer runs, the collector may have cleared the leaf's weak reference to its
    accumulator, while a graph that the finalizer uses still has edges to the accumulator. The
    stand-in is equal to the accumulator and has its hash, so in tables of edges the two are one.
    """

    __slots__ = ("mark",)

    def __init__(self, variable: Value) -> None:
        super().__init__(variable)
        self.mark, self.number = variable.leaf.mark

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Accumulator) and other.variable is self.variable

    def __hash__(self) -> int:
        return self.mark


def accumulator_of(leaf: Value) -> Node:
    """Return the accumulator of a leaf; a new one if the former accumulator is gone, as no graph
    referred to it any more."""
    state = leaf._leaf or leaf.leaf
    node = state.accumulator() if state.accumulator is not None else None
    if node is None:
        if collector.is_at_work and state.accumulator is not None:
            node = SecondAccumulator(leaf)
        else:
            node = Accumulator(leaf)
            state.mark = hash(node), node.number
        state.accumulator = weakref.ref(node)
    return node
