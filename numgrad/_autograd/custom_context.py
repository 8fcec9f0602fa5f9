"""The ``ctx`` of a custom function: saved values and attributes, from forward to backward."""

import weakref
from collections.abc import Sequence
from typing import Any

from .._errors import ArgTypeError, FreedGraphError, NotDifferentiableError
from .._tensor import Tensor
from ..engine.derivatives.context import Context
from ..engine.graph.node import NO_EDGE, Node, Value, own_edge


class FunctionContext:
    """The tensors and attributes that one call of forward leaves for the backward function.

    Users may set attributes on the context. Each call of backward gets a context of its own that
    shares these attributes, so that passes in several threads do not disturb each other.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_call", "_constant", "_node", "_plain", "_saved", "_sources",
        "_takes_part", "materialize", "positions", "slots",
    )  # fmt: skip

    def __init__(self, args: Sequence[Any]) -> None:
        self.positions = tuple([n for n, arg in enumerate(args) if isinstance(arg, Tensor)])
        self._takes_part = tuple([isinstance(arg, Tensor) and arg.requires_grad for arg in args])
        self.slots: tuple[int | None, ...] = ()
        self.materialize = True
        self._saved: tuple[Tensor | None, ...] = ()
        self._sources: list[Any] = []
        self._constant: tuple[Tensor, ...] = ()
        self._node: weakref.ref[Node] | None = None
        self._call: Context | None = None
        self._plain = False

    # In forward -----------------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``backward``, which finds them in ``saved_tensors``.

        The tensors are arguments, outputs, others, or ``None``, and are freed with the graph. Later
        writes do not change what ``backward`` finds; later writes where gradients are switched off
        are an error.
        """
        for index, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise ArgTypeError(
                    f"save_for_backward can only save tensors, but argument {index} is of type "
                    f"{type(tensor).__name__}; set it as an attribute of ctx"
                )
        self._saved = tensors

    def mark_non_differentiable(self, *outputs: Tensor) -> None:
        """Declare outputs that have no gradient; ``backward`` gets zeros for them."""
        self._constant = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Choose what ``backward`` gets for an output without gradient: zeros, or ``None``."""
        self.materialize = bool(value)

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Refuse: a function must return new tensors.

        Raises
        ------
        NotDifferentiableError
            Always.
        """
        raise NotDifferentiableError(
            "mark_dirty: forward may not write to its arguments; return a new tensor instead"
        )

    # In backward ----------------------------------------------------------------------------------

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """Whether each argument needs a gradient; in ``backward``, whether the present pass wants
        it."""
        if self._call is None:
            return self._takes_part
        wanted = dict(zip(self.positions, self._call.wanted, strict=True))
        return tuple(wanted.get(n, False) for n in range(len(self._takes_part)))

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors given to ``save_for_backward``.

        Raises
        ------
        FreedGraphError
            If a pass has freed the tensors.
        """
        if self._node is None:
            return self._saved
        call = self._call
        if call is None:
            node = self.node
            call = Context(node, node.unpack(), node.needs, create_graph=False)
        return tuple([
            None if source is None else self._restore(call, position, source)
            for position, source in enumerate(self._sources)
        ])  # fmt: skip

    def _restore(self, call: Context, position: int, source: Any) -> Tensor:
        if self._plain or not call.create_graph:
            source = NO_EDGE
        elif isinstance(source, int):
            source = own_edge(call.node, source) if source >= 0 else call.node.edge(~source)
        return call.restore(position, source)  # type: ignore[return-value]

    @property
    def node(self) -> Node:
        """The node that records this call of the function."""
        node = self._node() if self._node is not None else None
        if node is None:
            raise FreedGraphError("the node of this ctx is gone, and what it saved with it")
        return node

    # For the machinery ----------------------------------------------------------------------------

    def during(self, call: Context) -> "FunctionContext":
        """Return a context for one call of backward that shares the attributes of this one."""
        copy = object.__new__(FunctionContext)
        copy.__dict__ = self.__dict__
        copy.positions, copy._takes_part, copy.slots = self.positions, self._takes_part, self.slots
        copy.materialize, copy._plain, copy._node = self.materialize, self._plain, self._node
        copy._saved, copy._sources, copy._constant = self._saved, self._sources, self._constant
        copy._call = call
        return copy

    def without_graph(self) -> "FunctionContext":
        """Return a copy of this context whose saved tensors are not connected to the graph."""
        assert self._call is not None
        copy = self.during(self._call)
        copy._plain = True
        return copy

    def settle(
        self,
        node: Node,
        inputs: Sequence[Tensor],
        results: Sequence[Any],
        originals: Sequence[Any],
        outputs: Sequence[Any],
    ) -> list[Value | None]:
        """Note the node, the slot of each result, and the edge of each saved tensor; return the
        values that the node saves.

        ``results`` are what ``forward`` has returned, ``originals`` the tensors among them, and
        ``outputs`` the tensors that users get in their place. If the user has set such a tensor as
        an attribute, the attribute becomes the output, too. An output is saved as a detached copy,
        as otherwise the node would keep itself alive.
        """
        self._node = weakref.ref(node)
        if len(originals) == len(results):
            self.slots = tuple(range(len(results)))
        else:
            slots = iter(range(len(originals)))
            self.slots = tuple([next(slots) if isinstance(r, Tensor) else None for r in results])
        saved, self._saved = self._saved, ()
        if not saved and not self.__dict__:
            return []
        known = {id(result): slot for slot, result in enumerate(originals)}
        for place, tensor in enumerate(inputs):
            known[id(tensor)] = ~place  # numbers of inputs are negative
        for key, value in self.__dict__.items():
            slot = known.get(id(value), -1)
            if slot >= 0:
                self.__dict__[key] = outputs[slot]
        values: list[Value | None] = []
        for value in saved:
            source: Any = known.get(id(value))
            if source is not None:
                value = outputs[source].detached() if source >= 0 else value
            elif value is not None:
                source = value.edge
            self._sources.append(source)
            values.append(value)
        return values

    def constant_slots(self, originals: Sequence[Any]) -> set[int]:
        """Return the slots of the outputs that are marked as non-differentiable, and drop the
        marks."""
        if not self._constant:
            return _NO_SLOTS
        marked = {id(tensor) for tensor in self._constant}
        self._constant = ()
        return {slot for slot, original in enumerate(originals) if id(original) in marked}


_NO_SLOTS: set[int] = set()


def count_of(ctx: FunctionContext) -> int:
    """Return the number of arguments of ``forward``, without the context.

    As an attribute it would take a name from users, who set attributes on the context.
    """
    return len(ctx._takes_part)
