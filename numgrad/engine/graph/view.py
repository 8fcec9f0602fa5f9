"""How values share memory with others: in one graph, outside of it, or not at all, as scalars.

A *chain* is a sequence of view operators with their static parameters, which are applied one after
the other.
"""

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from .node import Node
    from .value import Expr, Value


Chain = tuple[tuple[Any, dict[str, Any]], ...]

_NOWHERE: Any = object()


def view_through(chain: Chain, array: np.ndarray) -> np.ndarray:
    """Apply a chain of view operators to an array, and return the view that results."""
    for operator, static in chain:
        array = operator.function(array, **static)
    return array


class View:
    """How a value views another value, its base: by a chain of view operators.

    ``node`` and ``expr`` are the node and expression that the base had when the view was recorded.
    A write in place gives the base new ones, so they tell whether the base was written since.
    """

    __slots__ = ("base", "chain", "expr", "node")

    base: "Value"
    chain: Chain
    node: "Node | None"
    expr: "Expr | None"
    replay: ClassVar[Callable[["View", "Value", bool], None]]
    """Records a view anew after a write into its base; set by the module for writes in place."""

    @classmethod
    def of(cls, base: "Value", chain: Chain) -> "View":
        """Return the view of ``base`` by ``chain`` (an ``__init__`` would take more time)."""
        view = cls()
        view.base, view.chain = base, chain
        view.node, view.expr = base.node, base.expr
        return view

    def refresh(self, value: "Value") -> None:
        """Record the view ``value`` anew if its base was written, or requires grad only now, so
        that gradients and expressions of the view include it."""
        base = self.base
        if base.node is None:
            stays = value._requires_grad or not base._requires_grad
        else:
            stays = base.node is self.node
        if base.expr is self.expr and stays:
            return
        self.node, self.expr = base.node, base.expr
        self.replay(value, stays)

    def forget(self) -> None:
        """Forget the state of the base, so that the next `refresh` records the view anew in any
        case."""
        self.node, self.expr = _NOWHERE, None


class Alias:
    """The mark of a value that shares memory with another value, the owner, but not the graph of
    the owner.

    `detach` returns such a value, for example.

    Attributes
    ----------
    owners : tuple of weakref
        The values in the same memory whose gradients would miss a write into the marked value.
    reason : str
        What errors say about why the graphs differ.
    strict : bool
        Whether all writes are refused, not only those of values that require grad.
    """

    __slots__ = ("owners", "reason", "strict")

    def __init__(self, owner: "Value", reason: str, strict: bool) -> None:
        self.owners: tuple[weakref.ref[Value], ...] = (weakref.ref(owner),)
        if isinstance(owner._view, Alias):
            self.owners += owner._view.owners
        elif isinstance(owner._view, View):
            self.owners += (weakref.ref(owner._view.base),)
        self.reason = reason
        self.strict = strict

    def refresh(self, value: "Value") -> None:
        """Do nothing: a write into an owner does not change the graph of ``value``."""


class Element:
    """The mark of a value that is a scalar in NumPy: an element that was read, or a result without
    axes."""

    __slots__ = ()

    def refresh(self, value: "Value") -> None:
        """Do nothing: a scalar does not follow writes into the array that it was read from."""


ELEMENT = Element()
"""Marks an element that was read. Writes into such a value are refused: some would expect them to
reach the array from which the element was read."""
RESULT = Element()
"""Marks a result without axes, which an assignment to its elements turns into an array."""
