"""Traces: the outputs of a captured function as expressions of its arguments.

The function is run once on placeholders, which stand for the arguments.
"""

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
from ...engine.differentiate.backward import BackwardPass
from ...engine.differentiate.request import Request
from ...engine.graph.node import Edge, Expr, Node, Spec, Value, new_node
from ...engine.graph.traversal import depending_on, number_of, reachable
from ...engine.graph.value import View, next_number
from ...engine.lower.lower import pending_exprs
from ...engine.lower.placeholder import ARGUMENT
from ...engine.record.apply import (  # fmt: skip
    attach,
    deferring,
    mode,
    pack,
    require_deferring,
    runtime,
    with_stream,
)
from ...process.cached_attribute import lazy
from ...process.gc_pause import paused
from ..guards.device_check import comes_back
from .call_operator import CallOperator
from .closure_snapshot import ClosureSnapshot
from .partition import ProgramSequence, in_order


class Trace:
    """A trace: the outputs of a function as expressions of its arguments.

    Parameters
    ----------
    name : str
        Its name in errors.
    function : callable
        Takes the placeholders and returns tensors.
    arguments : list of Tensor
        The placeholders, in order.
    fuse : str
        When its programs are fused; see `jit`.
    above : Trace, optional
        The trace whose derivative this one is.

    Attributes
    ----------
    outer : list of Tensor
        The tensors from outside that require grad and that the outputs depend on.
    edges : list of Edge
        The edges of the arguments and of ``outer`` in the graph of the function.
    storages : dict
        The storages of the arrays from outside, by the ids of the arrays. A storage counts the
        writes into its array. Values that nodes of the trace have saved have other storages.
    spans : list of (int, int)
        Ranges of the numbers of nodes and leaves that the function has made.
    is_last : bool
        Whether the trace is a derivative that has no derivative itself, as that of a kernel without
        a second derivative. The rules in such a trace are for values without rows alone.
    copies_are_views : bool
        Where an index is a symbolic integer, elements are copied, while NumPy would make a view.
        ``copies_are_views`` says whether the copies still have the elements of such views: no write
        to one of the two arrays is missing in the other.
    """

    is_last = False

    def __init__(
        self,
        name: str,
        function: Callable[[list[Tensor]], list[Tensor]],
        arguments: list[Tensor],
        fuse: str,
        above: "Trace | None" = None,
    ) -> None:
        self.name = name
        self.fuse = fuse
        self.arguments = arguments
        capture, first = self._capture(arguments), next_number()
        with paused(), capture.running():
            try:
                self.outputs = list(map(_without_aliasing, function(arguments)))
            except (ValueError, SystemError) as error:
                raise_hidden(error)
                raise
        capture.require_unwritten()
        self.spans = [*(() if above is None else above.spans), (first, next_number())]
        self.storages = {} if above is None else above.storages.copy()
        for value in capture.used.values():  # values from outside come before saved copies of them
            self.storages.setdefault(id(value.array), value.storage)
        found = self._closed_over(capture, above)
        self.guards = capture.guards()
        self.copies_are_views = capture.copies_are_views()
        self.outer: list[Any] = list(found.values())
        self.edges = [*(a.edge for a in arguments), *found]
        self.live = self.reaching(self.outputs)
        self.snapshot = ClosureSnapshot(self)
        self.operator = CallOperator(self)
        self._derivatives: dict[Any, Trace] = {}

    def _capture(self, arguments: list[Tensor]) -> Capture:
        return Capture(arguments)

    def _closed_over(self, capture: Capture, above: "Trace | None") -> dict[Edge, Any]:
        """Return the tensors from outside that require grad and that the function has read, by
        their edges."""
        inner = {a.edge for a in self.arguments if a.requires_grad}
        used = [(v.edge, v) for v in capture.used.values() if v.requires_grad]
        # A tensor from outside that is read behind the gate of a branch has an edge inside, and is
        # left out. So is a value that the function computes from its own leaves, or from those of
        # a transform: leaves that the user keeps are made before the function is captured.
        used = [
            (edge, v) for edge, v in used
            if edge.node not in capture.gates and not self._has_made(edge.node)
        ]  # fmt: skip
        if above is not None:  # its tensors may have been written since, and have other edges now
            inner_nodes = above.inner_nodes()
            used = [*above.outer_edges(), *((e, v) for e, v in used if e.node not in inner_nodes)]
        found: dict[Edge, Any] = {}
        for edge, value in used:
            if edge not in inner:
                found.setdefault(edge, value)
        return found

    def reaching(self, values: Sequence[Value]) -> list[int]:
        """Return the numbers of those values that depend on an argument that requires grad or on
        ``outer``.

        Leaves that the function has made do not count.
        """
        return depending_on(values, self._input_nodes())

    def outer_edges(self) -> list[tuple[Edge, Any]]:
        """Return pairs of the tensors from outside that require grad: the edge of each, and the
        tensor."""
        return list(zip(self.edges[len(self.arguments) :], self.outer, strict=True))

    def boundary_nodes(self) -> set[Node]:
        """Return the nodes of the tensors from outside, at which passes through the function end.

        From these nodes on towards the leaves, the pass of the caller computes derivatives.
        """
        nodes = {edge.node for edge, _ in self.outer_edges()}
        return {node for node in nodes if node is not None and not node.is_accumulator}

    def _has_made(self, node: Node | None) -> bool:
        """Whether a node and all nodes that it leads to, leaves included, were made while the
        function ran.

        A stale view of a tensor from outside gets a new node while the function runs, so the number
        of the node alone does not tell.
        """
        waiting = [node]
        while waiting:
            node = waiting.pop()
            number = 0 if node is None else number_of(node)
            if not any(first < number < last for first, last in self.spans):
                return False
            waiting += [] if node is None else [p for p in node.parents if p is not None]
        return True

    def _input_nodes(self) -> set[Node]:
        return {edge.node for edge in self.edges if edge.node is not None}

    def inner_nodes(self) -> set[Node]:
        """Return the nodes between the outputs and the arguments.

        A derivative may read a value that such a node has made; the value is none from outside.
        """
        ends = self._input_nodes()
        roots = [o.edge.node for o in self.outputs if o.requires_grad]
        return set(reachable([node for node in roots if node is not None], (), ends)) - ends

    @lazy
    def stages(self) -> ProgramSequence:
        """The programs that compute the outputs."""
        with paused():
            return ProgramSequence(self.outputs, self.arguments, self.fuse, self.storages)

    def drop_expressions(self) -> None:
        """Make the programs now, and drop the expressions, which nothing else needs."""
        self.stages  # noqa: B018  the attribute is computed when it is first read
        self.outputs, self.arguments = [], []

    @lazy
    def exprs(self) -> list[Expr]:
        """The expressions of the outputs, in the order of their creation."""
        exprs = pending_exprs(self.outputs)
        require_own_placeholders(exprs, self.arguments)
        return exprs

    @lazy
    def has_passages(self) -> bool:
        """Whether the trace takes several programs, or copies values from a device.

        Several programs are needed for a batched pass inside. A value that is copied from a device
        stays there until all is computed.
        """
        return any(expr.operator in (TO_ROWS, TO_AXIS) or comes_back(expr) for expr in self.exprs)

    def has_rules(self) -> bool:
        """Whether the derivatives of the trace are made of rules alone, and work for values with
        rows.

        A trace with a function of a user, or with a batched pass inside that splits it, has no such
        derivatives.
        """
        ruled = [e.operator is ARGUMENT or e.operator.has_rule for e in self.exprs]
        for node in self.inner_nodes():
            plain = node.extras is None
            if node.is_accumulator:  # its leaf was made by the function
                ruled.append(plain and not node.variable.hooks)  # type: ignore[attr-defined]
            else:
                ruled.append(plain and node.operator.has_rule and node.operator.has_second)
        return all(ruled)

    def operators(self) -> list[Operator]:
        """Return the operators of the nodes that record calls of the trace and of its derivatives.
        """
        above = [d.operators() for d in list(self._derivatives.values())]
        return [self.operator, *chain(*above)]

    def is_guarded(self) -> bool:
        """Whether guards have to be checked at each call; drop those whose tensor no longer exists.
        """
        self.guards = [
            g for g in self.guards if not (isinstance(g, UnchangedTensor) and g.is_over())
        ]
        return bool(self.guards)

    def is_valid(self) -> bool:
        """Whether all guards hold: the values from outside are as they were at the capture."""
        return all([guard() for guard in self.guards])  # noqa: C419  a list is faster

    def call(
        self, inputs: Sequence[Tensor], outer: Sequence[Value] | None = None
    ) -> list[Tensor]:
        """Return the outputs for other inputs, connected to the graph if gradients are recorded.

        ``outer`` has values in place of the tensors from outside, which are read as they are by
        default.
        """
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
        """Record a call of the trace as one node, if gradients are recorded and an input requires
        grad.

        ``outer`` has values in place of the tensors from outside, as for `call`.
        """
        sources = [*inputs, *(self.outer if outer is None else outer)]
        if mode.grad and self.live and any(value.requires_grad for value in sources):
            self._record(sources, outputs)

    def _record(self, inputs: Sequence[Value], outputs: list[Tensor]) -> None:
        edges = [value.edge for value in inputs]
        specs = [v.spec for v in inputs], [v.spec for v in outputs]
        node = new_node(self.operator, {}, edges, *specs)
        past = self.snapshot.now() if mode.capture is None else ()
        node.save([*[pack(value) for value in inputs], *past])
        attach(node, outputs, [n for n in range(len(outputs)) if n not in self.live])

    def inline(
        self, inputs: Sequence[Tensor], past: Mapping[int, Value] = MappingProxyType({})
    ) -> Callable[[Value], Value]:
        """Copy the expressions of the trace, with ``inputs`` in place of the arguments.

        Return a function that takes a value of the trace and returns its copy. The inputs may have
        rows. ``past`` has values to be read in place of arrays from outside that have changed since
        a call, as `ClosureSnapshot.changed` returns them.
        """
        known: dict[Expr, Expr] = {}

        def replaced(value: Value) -> Value:
            if value.array is not None or value.expr is None:
                return past.get(id(value.array), value)
            if value.expr.operator is ARGUMENT:
                return inputs[value.expr.static["index"]]
            if value.expr not in known:  # only a derivative reads it
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
            rows = rows and expr.operator is not TO_AXIS  # where rows end
            specs = tuple([Spec(s.shape, s.dtype, s.rows or rows, s.device) for s in expr.specs])
            copy = Expr(expr.operator, expr.static, operands, specs)
            copy.site = with_stream(expr.site)
            return copy

        copy_of(self.exprs)
        return replaced

    def derivative(self, wanted: tuple[bool, ...], create_graph: bool) -> "Trace":
        """Return the trace of the vector-Jacobian product.

        The arguments of that trace are those of the function and a cotangent for each
        differentiable output; its outputs are the gradients of the wanted inputs, arguments first,
        then ``outer``. With ``create_graph`` the trace can be differentiated itself; otherwise only
        if all operators have a second derivative.
        """
        key = (wanted, settings.recorded)
        known = self._derivatives.get(key)
        # Backward functions of the user may have read arrays from outside.
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

    def _differentiated(self, wanted: tuple[bool, ...], create_graph: bool) -> "Trace":
        outputs = [self.outputs[n] for n in self.live]
        first = len(self.arguments)
        cotangents = [placeholder(Tensor, first + n, o.spec, True) for n, o in enumerate(outputs)]
        edges = [edge for edge, want in zip(self.edges, wanted, strict=True) if want]

        def pull(arguments: list[Tensor]) -> list[Tensor]:
            pairs = zip(outputs, arguments[first:], strict=True)
            seeds: list[Any] = [(output.edge, g) for output, g in pairs]
            request = Request(
                seeds, edges, create_graph=create_graph, retain_graph=True,
                ends=self.boundary_nodes(), silent={edge for edge, _ in self.outer_edges()},
            )
            found = BackwardPass(request).run().grads
            return [found[e] if e in found else zeros_at(e) for e in edges]  # type: ignore[misc]

        arguments = [*self.arguments, *cotangents]
        name = f"the gradient of {self.name}"
        return type(self)(name, pull, arguments, self.fuse, self)


def zeros_at(edge: Edge) -> Tensor:
    """Return zeros of the spec of an edge: the gradient of an input on which no output depends."""
    return zeros(edge.spec, None)


def _without_aliasing(output: Tensor) -> Tensor:
    """Return an output of a captured function; copy a tensor from outside, or a view of one.

    The tensor may be written later, and without the copy the output would then have other elements.
    A view of a value that the function has written is recorded anew, as a part of the function.
    """
    if output._view is not None:
        output._view.refresh(output)
    base = output._view.base if isinstance(output._view, View) else output
    is_outside = base.array is not None and output.requires_grad
    return registry["copy"](output) if is_outside else output


def placeholder(kind: type[Tensor], index: int, spec: Spec, requires_grad: bool) -> Any:
    """Return the placeholder for an argument of a trace, a tensor of class ``kind``."""
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
    kind: type[Trace] = Trace,
) -> Any:
    """Capture a function in the present grad mode; return its trace."""
    with deferring(False):
        return kind(name, function, arguments, fuse)


__all__ = ["Trace", "in_order", "placeholder", "record"]
