"""The recorded graph: values, the nodes that produced them, and the expressions still to be
computed.

A `Value` is an array with a place in the graph. A `Node` remembers one application of an operator
for differentiation: the edges to the nodes above it, and the values that the derivative reads. An
`Expr` is an application that has not been computed yet; ``engine.program`` lowers expressions to a
program.
"""

import itertools
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._errors import FreedGraphError, InplaceError
from .handles import Handle, register
from .site import Site

Shape = tuple[int, ...]

_numbers = itertools.count(1)


class Spec(NamedTuple):
    """Shape and dtype of a value; ``rows`` says that a leading batch axis is not in the shape."""

    shape: Shape
    dtype: np.dtype
    rows: bool = False


class Storage:
    """What all views of one array share: the number of in-place writes so far."""

    __slots__ = ("version",)

    def __init__(self) -> None:
        self.version = 0


class ForeignStorage(Storage):
    """The storage of an array that belongs to the user, who may write to it: nodes save a copy of
    it."""

    __slots__ = ()


class Expr:
    """An application of an operator that is still to be computed."""

    __slots__ = ("inputs", "number", "operator", "results", "site", "specs", "static")

    def __init__(
        self,
        operator: Any,
        static: dict[str, Any],
        inputs: tuple["Value", ...],
        specs: tuple[Spec, ...],
    ) -> None:
        self.operator = operator
        self.static = static
        self.inputs = inputs
        self.specs = specs
        self.number = next(_numbers)
        self.results: list[np.ndarray | None] = [None] * len(specs)
        self.site: Site | None = None


class Value:
    """An array, computed or still to be computed, with its place in the graph.

    ``rows`` marks a value of a batched pass: its ``shape`` is that of one row, its array has the
    batch in front.
    """

    __slots__ = (
        "__weakref__",
        "_accumulator",
        "_requires_grad",
        "array",
        "dtype",
        "expr",
        "expr_slot",
        "hooks",
        "node",
        "rows",
        "shape",
        "slot",
        "storage",
        "view",
    )  # fmt: skip

    array: np.ndarray | None
    shape: Shape
    dtype: np.dtype

    def __init__(
        self, array: np.ndarray, requires_grad: bool = False, storage: Storage | None = None
    ):
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self._requires_grad = requires_grad
        self.storage = storage or Storage()
        self.node: Node | None = None
        self.slot = 0
        self.expr: Expr | None = None
        self.expr_slot = 0
        self.rows = False
        self.view: View | Alias | None = None
        self.hooks: dict[int, Any] | None = None
        self._accumulator: Callable[[], Node | None] | None = None

    @classmethod
    def deferred(cls, expr: Expr, slot: int, spec: Spec) -> "Value":
        """Return the value that ``expr`` will have in ``slot``."""
        value = cls.__new__(cls)
        value.array = None
        value.shape, value.dtype, value.rows = spec
        value.storage = Storage()
        value.expr, value.expr_slot = expr, slot
        value._unconnected()
        return value

    def _unconnected(self) -> None:
        self._requires_grad = False
        self.node, self.slot = None, 0
        self.view = self.hooks = self._accumulator = None
        self._start()

    def _start(self) -> None:
        """Initialise what subclasses add; called for deferred values, which skip ``__init__``."""

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this value; a view asks its base, which may have been
        written."""
        if self.view is not None:
            self.view.refresh(self)
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self._requires_grad = flag

    @property
    def spec(self) -> Spec:
        return Spec(self.shape, self.dtype, self.rows)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_leaf(self) -> bool:
        return self.node is None

    @property
    def edge(self) -> "Edge":
        """Where a gradient of this value goes: its node and slot, or its own accumulator for a
        leaf."""
        if not self.requires_grad:
            return NO_EDGE
        if self.node is not None:
            return Edge(self.node, self.slot)
        node = self._accumulator() if self._accumulator is not None else None
        if node is None:
            node = Accumulator(self)
            self._accumulator = weakref.ref(node)
        return Edge(node, 0)

    def detached(self) -> "Value":
        """Return a value with the same array and no place in the graph."""
        value = type(self).__new__(type(self))
        value.array, value.storage = self.array, self.storage
        value.shape, value.dtype, value.rows = self.shape, self.dtype, self.rows
        value.expr, value.expr_slot = self.expr, self.expr_slot
        value._unconnected()
        return value


class View:
    """How a value views another one: the base, and the operations that lead from it to the view.

    ``node`` and ``expr`` are those of the base on which the view hangs; a write in place gives it
    others.
    """

    __slots__ = ("base", "chain", "expr", "node")

    def __init__(self, base: Value, chain: tuple[tuple[Any, dict[str, Any]], ...]) -> None:
        self.base = base
        self.chain = chain
        self.node = base.node
        self.expr = base.expr

    def refresh(self, value: Value) -> None:
        """Record the view again when its base was written since, so that it sees the write."""
        base = self.base
        if base.expr is self.expr and (base.node is self.node or base.node is None):
            return
        from .inplace import replay_view  # the recorder needs this module

        self.node, self.expr = base.node, base.expr
        replay_view(self, value)


class Alias:
    """A value that shares memory with others, outside the graph: writes through it cannot be
    tracked.

    ``owners`` are the values whose gradients would miss a write; ``strict`` refuses constants too.
    """

    __slots__ = ("owners", "reason", "strict")

    def __init__(self, owner: Value, reason: str, strict: bool) -> None:
        self.owners: tuple[weakref.ref[Value], ...] = (weakref.ref(owner),)
        if isinstance(owner.view, Alias):
            self.owners += owner.view.owners
        elif owner.view is not None:
            self.owners += (weakref.ref(owner.view.base),)
        self.reason = reason
        self.strict = strict

    def refresh(self, value: Value) -> None:
        """Do nothing: the value is not in the graph of its owners."""


class Edge(NamedTuple):
    """A node and one of its output slots; ``Edge(None, 0)`` leads nowhere."""

    node: "Node | None"
    slot: int


NO_EDGE = Edge(None, 0)


def connect(value: Value, edge: Edge) -> None:
    """Put ``value`` at the place in the graph where ``edge`` leads."""
    value.requires_grad = True
    if isinstance(edge.node, Accumulator):
        value._accumulator = partial(_itself, edge.node)  # strong: it stands for the leaf
    else:
        value.node, value.slot = edge


def _itself(node: "Node") -> "Node":
    return node


class Node:
    """One recorded application of an operator.

    ``saved`` holds the values that the derivative reads, ``None`` where it reads none; it is
    ``None`` itself once a pass has freed it. ``needs`` says which inputs require grad.
    """

    __slots__ = (
        "__weakref__", "_metadata", "edges", "inputs", "live", "number", "operator", "outputs",
        "post_hooks", "pre_hooks", "retained", "saved", "site", "stack", "static", "tensor_hooks",
        "versions",
    )  # fmt: skip

    def __init__(
        self,
        operator: Any,
        static: dict[str, Any],
        edges: tuple[Edge, ...],
        inputs: Sequence[Spec],
        outputs: Sequence[Spec],
    ) -> None:
        self.operator = operator
        self.static = static
        self.edges = edges
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.number = next(_numbers)
        self.saved: tuple[Any, ...] | None = ()
        self.versions: tuple[int, ...] = ()
        self.live: tuple[weakref.ref[Value], ...] = ()
        self.site: Site | None = None
        self.stack: str | None = None
        self.tensor_hooks: dict[int, dict[int, Any]] | None = None
        self.pre_hooks: dict[int, Any] | None = None
        self.post_hooks: dict[int, Any] | None = None
        self.retained: dict[int, weakref.ref[Value]] | None = None
        self._metadata: dict[Any, Any] | None = None

    def name(self) -> str:
        """Return the name of the operator whose gradient this node computes."""
        return self.operator.name

    @property
    def next_functions(self) -> tuple[tuple["Node | None", int], ...]:
        """The nodes that this one sends gradients to, each with the slot it sends them to."""
        return tuple((edge.node, edge.slot) for edge in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for whatever the user wants to attach to this node."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    def register_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node ran.

        Both are tuples: the gradients that the node computed, which the hook may replace by
        returning a tuple, and those it received; ``None`` stands where there is none.
        """
        if self.post_hooks is None:
            self.post_hooks = {}
        return register(self.post_hooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(grad_outputs)`` before this node runs; it may return a tuple of
        replacements."""
        if self.pre_hooks is None:
            self.pre_hooks = {}
        return register(self.pre_hooks, hook)

    @property
    def needs(self) -> tuple[bool, ...]:
        return tuple(edge.node is not None for edge in self.edges)

    @property
    def is_accumulator(self) -> bool:
        return False

    def save(self, values: Sequence[Value | None]) -> None:
        """Keep the values that the derivative reads, with the versions they have now."""
        self.saved = tuple(values)
        self.versions = tuple(0 if v is None else v.storage.version for v in self.saved)

    def unpack(self) -> tuple[Any, ...]:
        """Return the saved values, after checking that nothing overwrote them."""
        if self.saved is None:
            raise FreedGraphError(
                f"Trying to backward through the graph a second time: the values saved by "
                f"{self.name()}{self.where()} were freed by an earlier pass. "
                f"Pass retain_graph=True to the earlier call."
            )
        for position, (value, version) in enumerate(zip(self.saved, self.versions, strict=True)):
            if value is not None and value.storage.version != version:
                raise InplaceError(
                    f"a value needed by the derivative of {self.name()}{self.where()} has been "
                    f"modified "
                    f"by an inplace operation: saved value {position} of shape {value.shape} is "
                    f"at version "
                    f"{value.storage.version}; expected version {version} instead. "
                    f"Write to a copy (x.clone()) instead."
                )
        return self.saved

    def free(self) -> None:
        """Drop the saved values; a node that saved nothing stays usable."""
        if self.saved:
            self.saved = None

    def where(self) -> str:
        """Return " recorded at FILE:LINE in FUNCTION", or nothing when that is unknown."""
        return f" recorded at {self.site}" if self.site is not None else ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name()}{self.where()}>"


class _AccumulateGrad:
    """Stands in for the operator of a leaf's accumulator."""

    name = "accumulate_grad"


class Accumulator(Node):
    """Where the gradient of a leaf ends; it keeps the leaf alive, the leaf knows it weakly."""

    __slots__ = ("variable",)

    def __init__(self, variable: Value) -> None:
        super().__init__(_AccumulateGrad, {}, (), (), (variable.spec,))
        self.variable = variable

    @property
    def is_accumulator(self) -> bool:
        return True
