"""Recordings: what a function did once, ready to be done again with other arguments."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

from ..._autograd.delivery import zeros
from ..._declare import Operator, registry
from ..._errors import NotDifferentiableError
from ..._settings import settings
from ..._tensor import Tensor
from ...engine.capture.capture import (
    TO_AXIS,
    TO_ROWS,
    Capture,
    UnchangedTensor,
    argument,
    require_own_placeholders,
)
from ...engine.capture.escapes import raise_hidden
from ...engine.differentiate.backward import Pass
from ...engine.differentiate.request import Request
from ...engine.graph.node import Edge, Expr, Node, Spec, Value, new_node
from ...engine.graph.traversal import depending_on, number_of, reachable
from ...engine.graph.value import View, next_number
from ...engine.lower.lower import pending_exprs
from ...engine.lower.placeholder import ARGUMENT
from ...engine.record.apply import attach, deferring, mode, pack, require_deferring, runtime
from ...process.cached_attribute import lazy
from ...process.gc_pause import paused
from ..guards.device_check import comes_back
from .call_operator import Replay
from .closure_snapshot import Past
from .partition import Stages, in_order


class Recording:
    """The outputs of a function as expressions of its arguments.

    Parameters
    ----------
    name : str
        What errors call it.
    function : callable
        Takes the placeholders and returns tensors.
    arguments : list of Tensor
        The placeholders, in order.
    fuse : str
        When its programs are fused; see `jit`.
    above : Recording, optional
        That of the function that this is the derivative of.

    Attributes
    ----------
    outer : list of Tensor
        The tensors from outside that require grad and take part.
    edges : list of Edge
        Where the gradients of the arguments and of ``outer`` go in the graph of the function.
    storages : dict
        What counts the writes into the arrays from outside, by the ids of these: what a node inside
        has saved does not know.
    spans : list of (int, int)
        Between which numbers are those of the nodes and leaves that the function has made.
    is_last : bool
        Whether it is a derivative of which there is none, as of a kernel without one. It is made of
        rules, which are those of values without rows.
    copies_are_views : bool
        Whether what was copied by integers that are known later may as well have been a view.
    """

    is_last = False

    def __init__(
        self,
        name: str,
        function: Callable[[list[Tensor]], list[Tensor]],
        arguments: list[Tensor],
        fuse: str,
        above: "Recording | None" = None,
    ) -> None:
        self.name = name
        self.fuse = fuse
        self.arguments = arguments
        capture, first = self._capture(arguments), next_number()
        with paused(), capture.running():
            try:
                self.outputs = list(map(_made_here, function(arguments)))
            except (ValueError, SystemError) as error:
                raise_hidden(error)
                raise
        capture.require_unwritten()
        self.spans = [*(() if above is None else above.spans), (first, next_number())]
        self.storages = {} if above is None else above.storages.copy()
        for value in capture.used.values():  # first what is from outside, then what was saved of it
            self.storages.setdefault(id(value.array), value.storage)
        found = self._taken(capture, above)
        self.guards = capture.guards()
        self.copies_are_views = capture.copies_are_views()
        self.outer: list[Any] = list(found.values())
        self.edges = [*(a.edge for a in arguments), *found]
        self.live = self.reaching(self.outputs)
        self.past = Past(self)
        self.operator = Replay(self)
        self._derivatives: dict[Any, Recording] = {}

    def _capture(self, arguments: list[Tensor]) -> Capture:
        return Capture(arguments)

    def _taken(self, capture: Capture, above: "Recording | None") -> dict[Edge, Any]:
        """Return the tensors from outside that require grad, by where their gradients go."""
        inner = {a.edge for a in self.arguments if a.requires_grad}
        used = [(v.edge, v) for v in capture.used.values() if v.requires_grad]
        # Behind the gates of a choice a tensor from outside has a place inside. What the function
        # computes of its own leaves, or those of a transform, is none: leaves that are kept are
        # made before the function is recorded.
        used = [
            (edge, v) for edge, v in used
            if edge.node not in capture.gates and not self._has_made(edge.node)
        ]  # fmt: skip
        if above is not None:  # whose tensors may have been written, and so moved, since
            inside = above.inside()
            used = [*above.outside(), *((e, v) for e, v in used if e.node not in inside)]
        found: dict[Edge, Any] = {}
        for edge, value in used:
            if edge not in inner:
                found.setdefault(edge, value)
        return found

    def reaching(self, values: Sequence[Value]) -> list[int]:
        """Return which values depend on an argument that requires grad or on ``outer``; leaves that
        the function has made are nobody's outside."""
        return depending_on(values, self._ends())

    def outside(self) -> list[tuple[Edge, Any]]:
        """Return the tensors from outside that require grad, with their places in the graph of the
        function."""
        return list(zip(self.edges[len(self.arguments) :], self.outer, strict=True))

    def above_outside(self) -> set[Node]:
        """Return the nodes at which derivatives end: the pass of the caller does what is above."""
        nodes = {edge.node for edge, _ in self.outside()}
        return {node for node in nodes if node is not None and not node.is_accumulator}

    def _has_made(self, node: Node | None) -> bool:
        """Whether a node and all that it leads to, leaves included, were made while the function
        ran: a view of what is outside, that was out of date, has a new node too."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            number = 0 if node is None else number_of(node)
            if not any(first < number < last for first, last in self.spans):
                return False
            waiting += [] if node is None else [p for p in node.parents if p is not None]
        return True

    def _ends(self) -> set[Node]:
        return {edge.node for edge in self.edges if edge.node is not None}

    def inside(self) -> set[Node]:
        """Return the nodes between the outputs and what the function is differentiated to: where a
        derivative reads a value there, it is not one from outside."""
        ends = self._ends()
        roots = [o.edge.node for o in self.outputs if o.requires_grad]
        return set(reachable([node for node in roots if node is not None], (), ends)) - ends

    @lazy
    def stages(self) -> Stages:
        """The programs that compute the outputs."""
        with paused():
            return Stages(self.outputs, self.arguments, self.fuse, self.storages)

    def settle(self) -> None:
        """Make the programs now, and forget the expressions: they were all that is wanted."""
        self.stages  # noqa: B018  made when it is first asked for
        self.outputs, self.arguments = [], []

    @lazy
    def exprs(self) -> list[Expr]:
        exprs = pending_exprs(self.outputs)
        require_own_placeholders(exprs, self.arguments)
        return exprs

    @lazy
    def has_passages(self) -> bool:
        """Whether batched passes inside cut it into several programs, or values come back from a
        device, where they stay until all is computed."""
        return any(expr.operator in (TO_ROWS, TO_AXIS) or comes_back(expr) for expr in self.exprs)

    def has_rules(self) -> bool:
        """Whether its derivatives are made of expressions alone, for any rows: no function of a
        user takes part, and no batched pass cuts it."""
        ruled = [e.operator is ARGUMENT or e.operator.has_rule for e in self.exprs]
        for node in self.inside():
            plain = node.extras is None
            if node.is_accumulator:  # of a leaf that the function has made
                ruled.append(plain and not node.variable.hooks)  # type: ignore[attr-defined]
            else:
                ruled.append(plain and node.operator.has_rule and node.operator.has_second)
        return all(ruled)

    def operators(self) -> list[Operator]:
        """Return what stands for it, and for its derivatives, in graphs."""
        above = [d.operators() for d in list(self._derivatives.values())]
        return [self.operator, *chain(*above)]

    def is_guarded(self) -> bool:
        """Whether anything that it has taken from outside may change."""
        self.guards = [
            g for g in self.guards if not (isinstance(g, UnchangedTensor) and g.is_over())
        ]
        return bool(self.guards)

    def is_valid(self) -> bool:
        """Whether what it has taken from outside is as it was."""
        return all([guard() for guard in self.guards])  # noqa: C419  a list is faster

    def call(
        self, inputs: Sequence[Tensor], outer: Sequence[Value] | None = None
    ) -> list[Tensor]:
        """Return the outputs for inputs, connected to their graph, and to that of the tensors from
        outside as they are now or as they are given, where gradients are recorded."""
        outer = self.outer if outer is None else outer
        if mode.capture is not None:
            mode.capture.adopt(outer, self.guards)
        if mode.deferring or any(value.array is None for value in inputs):
            require_deferring()
            replaced = self.inline(inputs)
            outputs: Any = [replaced(value).detached() for value in self.outputs]
        else:
            arrays = [in_order(value.array) for value in inputs]
            outputs = [Tensor(array) for array in self.stages(arrays)]
        self.connect(inputs, outputs, outer)
        return outputs

    def connect(
        self, inputs: Sequence[Tensor], outputs: list[Tensor], outer: Sequence[Value] | None = None
    ) -> None:
        """Record the replay as one operation, where gradients are recorded."""
        sources = [*inputs, *(self.outer if outer is None else outer)]
        if mode.grad and self.live and any(value.requires_grad for value in sources):
            self._record(sources, outputs)

    def _record(self, inputs: Sequence[Value], outputs: list[Tensor]) -> None:
        edges = [value.edge for value in inputs]
        specs = [v.spec for v in inputs], [v.spec for v in outputs]
        node = new_node(self.operator, {}, edges, *specs)
        past = self.past.now() if mode.capture is None else ()
        node.save([*[pack(value) for value in inputs], *past])
        attach(node, outputs, [n for n in range(len(outputs)) if n not in self.live])

    def inline(
        self, inputs: Sequence[Tensor], past: Mapping[int, Value] = MappingProxyType({})
    ) -> Callable[[Value], Value]:
        """Return what says which value stands for one of the recording when its arguments are these
        inputs, which may have rows, and what `Past.changed` has found is read from outside."""
        known: dict[Expr, Expr] = {}

        def replaced(value: Value) -> Value:
            if value.array is not None or value.expr is None:
                return past.get(id(value.array), value)
            if value.expr.operator is ARGUMENT:
                return inputs[value.expr.static["index"]]
            if value.expr not in known:  # what only a derivative reads
                copy_of(pending_exprs([value]))
            copy = known[value.expr]
            return runtime.value.deferred(copy, value.expr_slot, copy.specs[value.expr_slot])

        def copy_of(exprs: Sequence[Expr]) -> None:
            for expr in exprs:
                if expr.operator is not ARGUMENT and expr not in known:
                    known[expr] = copied(expr)

        def copied(expr: Expr) -> Expr:
            operands = tuple([replaced(value) for value in expr.inputs])
            rows = any([value.rows for value in operands])  # noqa: C419  a list is faster
            rows = rows and expr.operator is not TO_AXIS  # which is where they end
            specs = tuple([Spec(s.shape, s.dtype, s.rows or rows, s.device) for s in expr.specs])
            copy = Expr(expr.operator, expr.static, operands, specs)
            copy.site = expr.site
            return copy

        copy_of(self.exprs)
        return replaced

    def derivative(self, wanted: tuple[bool, ...], create_graph: bool) -> "Recording":
        """Return the recording of the vector-Jacobian product, which can be differentiated itself
        if ``create_graph`` asks for it, or if it can be.

        Its arguments are those of the function and a cotangent for each differentiable output; its
        outputs are the gradients of the wanted inputs, arguments first, then ``outer``.
        """
        key = (wanted, settings.recorded)
        known = self._derivatives.get(key)
        # Functions of the user may have read arrays.
        if known is None or not known.is_valid() or (create_graph and known.is_last):
            try:
                known = self._differentiated(wanted, create_graph=True)
            except NotDifferentiableError:
                if create_graph:
                    raise
                known = self._differentiated(wanted, create_graph=False)
                known.is_last = True
            self._derivatives[key] = known
        return known

    def _differentiated(self, wanted: tuple[bool, ...], create_graph: bool) -> "Recording":
        outputs = [self.outputs[n] for n in self.live]
        first = len(self.arguments)
        cotangents = [placeholder(Tensor, first + n, o.spec, True) for n, o in enumerate(outputs)]
        edges = [edge for edge, want in zip(self.edges, wanted, strict=True) if want]

        def pull(arguments: list[Tensor]) -> list[Tensor]:
            pairs = zip(outputs, arguments[first:], strict=True)
            seeds: list[Any] = [(output.edge, g) for output, g in pairs]
            request = Request(
                seeds, edges, create_graph=create_graph, retain_graph=True,
                ends=self.above_outside(), silent={edge for edge, _ in self.outside()},
            )
            found = Pass(request).run().grads
            return [found[e] if e in found else zeros_at(e) for e in edges]  # type: ignore[misc]

        arguments = [*self.arguments, *cotangents]
        name = f"the gradient of {self.name}"
        return type(self)(name, pull, arguments, self.fuse, self)


def zeros_at(edge: Edge) -> Tensor:
    """Return zeros for an input on which no output depends."""
    return zeros(edge.spec, None)


def _made_here(output: Tensor) -> Tensor:
    """Return an output, a copy of what is a tensor from outside or a view of one: that may be
    written later, and the view would be of what it is then. A view of what the function has written
    is recorded again here, as a part of the function."""
    if output._view is not None:
        output._view.refresh(output)
    base = output._view.base if isinstance(output._view, View) else output
    is_outside = base.array is not None and output.requires_grad
    return registry["copy"](output) if is_outside else output


def placeholder(kind: type[Tensor], index: int, spec: Spec, requires_grad: bool) -> Any:
    """Return the stand-in for an argument of a recording."""
    expr = argument(index, spec).expr
    assert expr is not None
    value = kind.deferred(expr, 0, spec)
    value.move(None, 0, requires_grad)
    return value


def record(
    name: str,
    function: Callable[[list[Tensor]], list[Tensor]],
    arguments: list[Tensor],
    fuse: str,
    kind: type[Recording] = Recording,
) -> Any:
    """Capture a function in the present grad mode."""
    with deferring(False):
        return kind(name, function, arguments, fuse)


__all__ = ["Recording", "in_order", "placeholder", "record"]
