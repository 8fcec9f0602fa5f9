"""Values: arrays, computed or still to be computed, with their place in the graph.

Every recorded operation makes a value, so the attributes that few values need are made on demand: a
`Storage` when writes are counted, a `LeafState` when a leaf gets hooks or a gradient.
"""

import itertools
from collections.abc import Callable, Sequence
from operator import attrgetter
from threading import get_ident
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...process.fork_locks import fork_safe_lock
from ...process.gc_pace import pace_by
from .callsite import Site
from .spec import CPU as CPU
from .spec import Shape as Shape
from .spec import Spec as Spec
from .spec import device_of as device_of
from .spec import is_movable_spec as is_movable_spec
from .spec import recent_specs
from .spec import spec_of as spec_of
from .view import Alias as Alias
from .view import Element as Element
from .view import View as View

if TYPE_CHECKING:
    from .node import Edge, Node

_numbers = itertools.count(1)
next_number = _numbers.__next__  # nodes and expressions are numbered as they are made
pace_by(_numbers)

_first_use = fork_safe_lock()  # held while a storage or a `LeafState` is made

def is_movable(value: "Value") -> bool:
    """Whether an operand is moved to the device of the other operands implicitly.

    Numbers, positions and masks (see `is_movable_spec`) and arrays of the user are moved, unless
    they require grad. So are values of the CPU that were made while a function is captured: they
    may come from arrays of the user, and the end of the capture checks whether they do.
    """
    is_free = is_movable_spec(value.spec) or type(value._storage) in (
        ForeignStorage,
        CapturedStorage,
    )
    is_free = is_free or (value.array is None and value.spec.device == CPU)
    return is_free and not value.requires_grad


class Storage:
    """The state that all values in one memory share.

    Attributes
    ----------
    version : int
        The number of writes into the memory.
    kept : bool
        Whether nodes may have saved the user's own values of this memory, before the first write;
        see `saved`.
    past : EarlierElements or None
        Copies of overwritten elements; see `saved`.
    """

    __slots__ = ("kept", "past", "version")

    def __init__(self) -> None:
        self.version = 0
        self.kept = False
        self.past: Any = None


class CapturedStorage(Storage):
    """The storage of a value that was made while a function was captured.

    ``token`` is an object that stands for the capture.
    """

    __slots__ = ("token",)

    def __init__(self, token: object) -> None:
        super().__init__()
        self.token = token


# For each thread that captures a function the token of the capture; mostly empty.
capturing: dict[int, object] = {}


def _captured_storage() -> Storage | None:
    """Return a new `CapturedStorage` if this thread is capturing a function, else None."""
    token = capturing.get(get_ident())
    return None if token is None else CapturedStorage(token)


class ForeignStorage(Storage):
    """The storage of a user's array, which the user may write at any time: nodes save a copy."""

    __slots__ = ()


class Expr:
    """An application of an operator that is still to be computed.

    An expression is also an operand: it stands for its first output, with the attributes of a value
    that other expressions read. That saves making a value, and is safe, as an expression cannot be
    written in place.

    Attributes
    ----------
    kind : object or None
        The kind, equal for expressions that differ in their inputs alone; None if it is unknown.
    results : list or None
        The array of each output, None for an output that is not computed yet. The list is missing
        as long as no output is computed.
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
    """The attributes that only some leaves need.

    Attributes
    ----------
    number : int
        The creation number of the leaf among nodes and leaves, 0 until `Value.as_leaf` sets it.
    is_variable : bool
        Whether a transform, such as `grad`, has made the leaf to differentiate by it.
    accumulator : callable or None
        Returns the accumulator, or None if that is gone. As a rule this is a weak reference.
    mark : tuple of int
        The hash and the creation number of the latest accumulator. A `SecondAccumulator` takes them
        over, so that tables of edges find it in the place of the first.
    grad : object
        The gradient that passes have accumulated.
    hooks, post_accumulate : dict or None
        The hooks that see a gradient of the leaf, and the hooks that are called once the gradient
        is accumulated.
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
    is that of one row, and its array has a leading batch axis.
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

    if TYPE_CHECKING:  # the class of values that operations make has such a method

        def astype(self, *args: Any, **options: Any) -> Any:
            """Return the value converted to a dtype."""

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
        spec = recent_specs.get((shape, dtype, False, device))
        self.spec = spec or spec_of(shape, dtype, False, device)
        self._requires_grad = requires_grad
        self._storage = storage or (_captured_storage() if capturing else None)
        self.node = self.expr = self._view = self._leaf = None
        self._kept = False
        self.slot = self.expr_slot = 0

    @classmethod
    def deferred(cls, expr: Expr, slot: int, spec: Spec) -> "Value":
        """Return a value for output ``slot`` of an expression, still to be computed."""
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

    @classmethod
    def of_spec(cls, array: np.ndarray, spec: Spec) -> Self:
        """Return a value for a new array of a spec, with no place in the graph."""
        value = cls.__new__(cls)
        value.array, value.spec = array, spec
        value._storage = _captured_storage() if capturing else None
        value._requires_grad = value._kept = False
        value.node = value.expr = value._view = value._leaf = None
        value.slot = value.expr_slot = 0
        return value

    def snapshot(self) -> "Value | Expr":
        """Return a value or expression that will always stand for the present elements of this
        value.

        A later write in place gives this value another expression; the snapshot keeps the present
        one.
        """
        expr = self.expr
        if expr is None:
            return self.detached()
        slot = self.expr_slot
        return expr if slot == 0 else self.deferred(expr, slot, self.spec)

    def reshape_spec(self, shape: Shape, rows: bool) -> None:
        """Give the value's spec another shape, and set whether the value has rows; the array stays.

        So the batch axis becomes the first axis of the shape, or the first axis becomes the batch
        axis.
        """
        self.spec = spec_of(shape, self.dtype, rows, self.spec.device)
        self.as_array()

    def as_array(self) -> Self:
        """Turn a scalar into an array without axes, which can be written in place; return the
        value."""
        self._view = None if self.is_scalar else self._view
        return self

    @property
    def is_scalar(self) -> bool:
        """Whether NumPy would have a scalar in place of this value, and no array that can be
        written."""
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

    @classmethod
    def new_variable(cls, array: np.ndarray) -> Self:
        """Return a new leaf with an array, as the variable of a transform."""
        value = cls(array, True)
        state = value._leaf = LeafState()  # without a lock: no other thread knows the value
        state.is_variable, state.number = True, next_number()
        return value

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
        """The gradient, which is kept in the leaf itself, or for any other value in its node."""
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
        """Give the value another node and slot; a gradient that passes have kept for the value
        moves along."""
        grad = self._grad
        if grad is not None:
            self._grad = None
        self.node, self.slot, self._requires_grad = node, slot, requires_grad
        if grad is not None:
            self._grad = grad

    @property
    def edge(self) -> "Edge":
        """The edge of this value: its node and slot, or the accumulator of a leaf."""
        if not self.requires_grad:
            return nodes.NO_EDGE
        if self.node is not None:
            return nodes.Edge(self.node, self.slot)
        return nodes.Edge(nodes.accumulator_of(self), 0)


from . import node as nodes  # noqa: E402  last, as that module imports this one
