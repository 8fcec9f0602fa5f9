"""How values view others: as part of a graph, outside of it, or as an element that was read."""

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
    """Return the view of an array to which a chain of view operators leads."""
    for operator, static in chain:
        array = operator.function(array, **static)
    return array


class View:
    """How a value views another one: the base, and the operations that lead from it to the view.

    ``node`` and ``expr`` are the node and expression of the base when the view was recorded; a
    write in place gives the base new ones.
    """

    __slots__ = ("base", "chain", "expr", "node")

    base: "Value"
    chain: Chain
    node: "Node | None"
    expr: "Expr | None"
    replay: ClassVar[Callable[["View", "Value", bool], None]]
    """Records a view again; set by the module for writes in place."""

    @classmethod
    def of(cls, base: "Value", chain: Chain) -> "View":
        """Return a view of ``base`` by a chain of operators; no ``__init__``, which takes time."""
        view = cls()
        view.base, view.chain = base, chain
        view.node, view.expr = base.node, base.expr
        return view

    def refresh(self, value: "Value") -> None:
        """Record the view again when its base was written since, so that it sees the write."""
        base = self.base
        stays = base.node is self.node or base.node is None
        if base.expr is self.expr and stays:
            return
        self.node, self.expr = base.node, base.expr
        self.replay(value, stays)

    def forget(self) -> None:
        """Forget the state of the base, so that the next refresh records the view again."""
        self.node, self.expr = _NOWHERE, None


class Alias:
    """A value that shares memory with others, outside the graph: writes through it cannot be
    tracked.

    ``owners`` are the values whose gradients would miss a write; ``strict`` refuses constants too.
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
        """Do nothing: the value is not in the graph of its owners."""


class Element:
    """Marks a value that is a scalar in NumPy: an element that was read, or a result without
    axes."""

    __slots__ = ()

    def refresh(self, value: "Value") -> None:
        """Do nothing: a scalar does not follow writes into the array that it was read from."""


ELEMENT = Element()
"""An element that was read. It is not written: some would expect a write to where it was read."""
RESULT = Element()
"""A result without axes. An assignment to its elements makes it an array."""
