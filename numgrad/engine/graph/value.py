"""Values: arrays, computed or still to be computed, with their place in the graph.

Every recorded operation makes a value, so the attributes that few values need are made on demand: a
`Storage` when writes are counted, a `LeafState` when a leaf gets hooks or a gradient.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from math import prod
from operator import attrgetter
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ...process.bounded_dict import Bounded
from ...process.fork_locks import fork_safe_lock
from .callsite import Site
from .view import Alias as Alias
from .view import Element as Element
from .view import View as View

if TYPE_CHECKING:
    from .node import Edge, Node

Shape = tuple[int, ...]

next_number = itertools.count(1).__next__  # nodes and expressions are numbered as they are made

_specs: dict[tuple[Shape, np.dtype, bool, str], "Spec"] = Bounded(4096)
_first_use = fork_safe_lock()  # while a storage or a `LeafState` is made

CPU = "cpu"
"""The device of NumPy's arrays."""


class Spec(NamedTuple):
    """Shape, dtype and device of a value; ``rows`` says that a leading batch axis is not in the
    shape."""

    shape: Shape
    dtype: np.dtype
    rows: bool = False
    device: str = CPU


def spec_of(shape: Shape, dtype: np.dtype, rows: bool = False, device: str = CPU) -> Spec:
    """Return the spec with these fields: mostly the same object for equal fields.

    Its dtype is NumPy's own one, without what an array's dtype of its own may have, as metadata.
    """
    key = (shape, dtype, rows, device)
    spec = _specs.get(key)
    if spec is None:
        spec = _specs[key] = Spec(shape, np.dtype(dtype.str), rows, device)
    return spec


def device_of(specs: Iterable[Spec]) -> str:
    """Return the device on which an operation on values with these specs takes place: the first
    device that is not the CPU, as constants of the CPU are used on every device."""
    for spec in specs:
        if spec.device != CPU:
            return spec.device
    return CPU


def is_movable_spec(spec: Spec) -> bool:
    """Whether a value of the CPU may be moved to another device implicitly: a number, or integers
    and booleans, which are positions and masks as a rule."""
    return spec.device == CPU and (prod(spec.shape) == 1 or spec.dtype.kind not in "fc")


def is_movable(value: "Value") -> bool:
    """Whether an operand is moved implicitly to the device of the other operands.

    That holds for values that go anywhere and for a user's array, if they do not require grad.
    While a function is captured, its own values of the CPU may stem from such arrays, which is
    checked at the end of the capture.
    """
    is_free = is_movable_spec(value.spec) or type(value._storage) in (
        ForeignStorage,
        CapturedStorage,
    )
    is_free = is_free or (value.array is None and value.spec.device == CPU)
    return is_free and not value.requires_grad


class Storage:
    """The state that all views of one array share: ``version`` counts the writes in place; ``kept``
    says that nodes may have saved values before the first write; ``past`` has copies of earlier
    elements. See `saved`."""

    __slots__ = ("kept", "past", "version")

    def __init__(self) -> None:
        self.version = 0
        self.kept = False
        self.past: Any = None


class CapturedStorage(Storage):
    """The storage of a value that was made while a function was captured."""

    __slots__ = ("token",)

    def __init__(self, token: object) -> None:
        super().__init__()
        self.token = token


# The token of the capture that each thread is in; mostly empty.
capturing: dict[int, object] = {}


def _captured_storage() -> Storage | None:
    """Return a `CapturedStorage` for a value that this thread makes while it captures a function;
    else None."""
    token = capturing.get(get_ident())
    return None if token is None else CapturedStorage(token)


class ForeignStorage(Storage):
    """The storage of a user's array, which the user may write at any time: nodes save a copy."""

    __slots__ = ()


class Expr:
    """An application of an operator that is still to be computed.

    Other expressions read an expression in place of the value in slot 0, which saves making a
    value: an expression cannot be written in place.

    Attributes
    ----------
    kind : object or None
        The kind that expressions share which differ in their inputs alone, where it is known.
    strides : tuple or None
        The strides of each output in memory, once they are worked out; see `memory_order`.
    token : object or None
        The token of the capture in which the expression was made.
    """

    __slots__ = (
        "inputs", "kind", "number", "operator", "results", "site", "specs", "static", "strides",
        "token",
    )  # fmt: skip

    array = _view = None
    expr_slot = 0

    def __init__(
        self,
        operator: Any,
        static: dict[str, Any],
        inputs: Sequence[Any],
        specs: tuple[Spec, ...],
    ) -> None:
        self.operator = operator
        self.static = static
        self.inputs = inputs
        self.specs = specs
        self.number = next_number()
        self.results: list[np.ndarray | None] | None = None
        self.strides: tuple[Shape | None, ...] | None = None
        self.site: Site | None = None
        self.kind: Any = None
        self.token = capturing.get(get_ident()) if capturing else None

    def result(self, slot: int) -> np.ndarray | None:
        """Return the array of an output; None if it is not computed yet."""
        return None if self.results is None else self.results[slot]

    def keep(self, slot: int, array: np.ndarray) -> None:
        """Keep the computed array of an output for later readers."""
        results = self.results
        if results is None:
            results = self.results = list[Any](itertools.repeat(None, len(self.specs)))
        results[slot] = array

    @property
    def expr(self) -> "Expr":
        return self

    @property
    def spec(self) -> Spec:
        return self.specs[0]

    @property
    def shape(self) -> Shape:
        return self.specs[0].shape

    @property
    def dtype(self) -> np.dtype:
        return self.specs[0].dtype

    @property
    def rows(self) -> bool:
        return self.specs[0].rows


class LeafState:
    """The attributes that some leaves need: hooks, an accumulator, a gradient, hooks for it.

    ``number`` is the place of the leaf in the order of nodes, 0 until `Value.as_leaf` sets it.
    ``is_variable`` marks the variables of transforms. ``mark`` has hash and number of the
    accumulator that was made last.
    """

    __slots__ = ("accumulator", "grad", "hooks", "is_variable", "mark", "number", "post_accumulate")

    def __init__(self) -> None:
        self.number = 0
        self.mark: tuple[int, int] = (0, 0)
        self.is_variable = False
        self.accumulator: Callable[[], Node | None] | None = None
        self.grad: Any = None
        self.hooks: dict[int, Any] | None = None
        self.post_accumulate: dict[int, Any] | None = None


class Value:
    """An array, computed or still to be computed, with its place in the graph.

    ``spec`` has shape, dtype, rows and device. ``rows`` marks a value of a batched pass: its shape
    is that of one row, its array has the batch in front.
    """

    __slots__ = (
        "__weakref__", "_kept", "_leaf", "_requires_grad", "_storage", "_view", "array", "expr",
        "expr_slot", "node", "slot", "spec",
    )  # fmt: skip

    array: np.ndarray | None
    spec: Spec
    shape: Shape = property(attrgetter("spec.shape"))  # type: ignore[assignment]
    dtype: np.dtype = property(attrgetter("spec.dtype"))  # type: ignore[assignment]
    rows: bool = property(attrgetter("spec.rows"))  # type: ignore[assignment]
    node: "Node | None"
    slot: int
    expr: Expr | None
    expr_slot: int
    _view: View | Alias | Element | None
    weak: float | complex | None = None  # the Python number as which this is promoted
    _requires_grad: bool
    _storage: Storage | None
    _kept: bool  # whether a node has saved this value while it had no storage
    _leaf: LeafState | None

    def __init__(
        self, array: np.ndarray, requires_grad: bool = False, storage: Storage | None = None
    ):
        self.array = array
        try:
            shape, dtype, device = array.shape, array.dtype, array.device
        except AttributeError:
            kind = type(array).__name__
            what = f"Tensor: its first argument is the memory itself, an array, not {kind}"
            raise TypeError(f"{what}; write ng.tensor(...)") from None
        spec = _specs.get((shape, dtype, False, device))
        self.spec = spec or spec_of(shape, dtype, False, device)
        self._requires_grad = requires_grad
        self._storage = storage or (_captured_storage() if capturing else None)
        self.node = self.expr = self._view = self._leaf = None
        self._kept = False
        self.slot = self.expr_slot = 0

    @classmethod
    def deferred(cls, expr: Expr, slot: int, spec: Spec) -> "Value":
        """Return the value for output ``slot`` of an expression, without an array."""
        value = cls.__new__(cls)
        value.array = None
        value.spec = spec
        value.expr, value.expr_slot = expr, slot
        value._requires_grad = value._kept = False
        value._storage = value.node = value._view = value._leaf = None
        value.slot = 0
        return value

    def detached(self) -> "Value":
        """Return a value with the same array and no place in the graph."""
        cls = type(self)
        value = cls.__new__(cls)
        value.array, value.spec, value._storage = self.array, self.spec, self.storage
        value.expr, value.expr_slot = self.expr, self.expr_slot
        value._requires_grad = value._kept = False
        value.node = value._view = value._leaf = None
        value.slot = 0
        return value

    def snapshot(self) -> "Value | Expr":
        """Return a detached value, or the expression, with the present elements: a later write in
        place gives this value another expression."""
        expr = self.expr
        if expr is None:
            return self.detached()
        slot = self.expr_slot
        return expr if slot == 0 else self.deferred(expr, slot, self.spec)

    def reshape_spec(self, shape: Shape, rows: bool) -> None:
        """Change the spec where the batch becomes the first axis of the array, or the first axis
        becomes the batch."""
        self.spec = spec_of(shape, self.dtype, rows, self.spec.device)
        self.as_array()

    def as_array(self) -> Self:
        """Treat the value as an array even without axes, so that it can be written in place."""
        self._view = None if self.is_scalar else self._view
        return self

    @property
    def is_scalar(self) -> bool:
        """Whether NumPy would have a scalar here, which cannot be written, and not an array."""
        return type(self._view) is Element

    @property
    def storage(self) -> Storage:
        """The storage, which counts the writes into the array; made when first asked for."""
        if self._storage is None:
            with _first_use:
                if self._storage is None:
                    token = None if self.expr is None else self.expr.token
                    storage = Storage() if token is None else CapturedStorage(token)
                    storage.kept = self._kept
                    self._storage = storage
        return self._storage

    @storage.setter
    def storage(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def version(self) -> int:
        """The number of writes into the array so far."""
        return 0 if self._storage is None else self._storage.version

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this value; a view is refreshed first, as its base may have
        been written."""
        if self._view is not None:
            self._view.refresh(self)
        return self._requires_grad

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_leaf(self) -> bool:
        return self.node is None

    @property
    def leaf(self) -> LeafState:
        """The hooks, accumulator and gradient of a leaf; made when first asked for."""
        if self._leaf is None:
            with _first_use:
                if self._leaf is None:
                    self._leaf = LeafState()
        return self._leaf

    def as_leaf(self) -> Self:
        """Let this leaf require grad from now on."""
        self._requires_grad = True
        self.leaf.number = self.leaf.number or next_number()
        return self

    def as_variable(self) -> Self:
        """Let this leaf require grad, as the variable of a transform."""
        self.leaf.is_variable = True
        return self.as_leaf()

    @property
    def hooks(self) -> dict[int, Any] | None:
        """The hooks of a leaf; hooks of other values belong to their nodes."""
        return None if self._leaf is None else self._leaf.hooks

    @property
    def _grad(self) -> Any:
        """The gradient: kept by a leaf itself, for other values by their node."""
        if self.node is not None:
            return self.node.grads.get(self.slot) if self.node.extras is not None else None
        return None if self._leaf is None else self._leaf.grad

    @_grad.setter
    def _grad(self, grad: Any) -> None:
        if self.node is not None:
            self.node.grads[self.slot] = grad
        elif grad is not None or self._leaf is not None:
            self.leaf.grad = grad

    def move(self, node: "Node | None", slot: int, requires_grad: bool) -> None:
        """Give the value another node and slot; its gradient, if it has one, moves along."""
        grad = self._grad
        if grad is not None:
            self._grad = None
        self.node, self.slot, self._requires_grad = node, slot, requires_grad
        if grad is not None:
            self._grad = grad

    @property
    def edge(self) -> "Edge":
        """The edge of this value: its node and slot, or the accumulator of a leaf."""
        from .node import NO_EDGE, Edge, accumulator_of  # that module imports this one

        if not self.requires_grad:
            return NO_EDGE
        if self.node is not None:
            return Edge(self.node, self.slot)
        return Edge(accumulator_of(self), 0)
