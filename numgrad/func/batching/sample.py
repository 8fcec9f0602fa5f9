"""A function of one sample as an operator on all samples, with derivatives of any order."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from ..._declare import Operator, registry
from ..._declare.operator import arrived
from ..._settings import settings
from ..._tensor import Tensor
from ...engine.capture.capture import Capture
from ...engine.derivatives.rules import place_of
from ...engine.differentiate.forward import ForwardPass
from ...engine.differentiate.request import TangentRequest
from ...engine.graph.node import Edge, Expr, Node, Spec, Value, new_node
from ...engine.graph.traversal import number_of
from ...engine.lower.lower import force, pending_exprs
from ...engine.record.apply import attach, changing, mode, pack, runtime
from ...ir.broadcasting import broadcast_shapes
from ...process.cached_attribute import lazy
from ..tracing.trace import Trace, placeholder, zeros_at
from .batch_expressions import NONE, BatchedValue, batch_exprs, with_all_axes
from .hoist_sums import hoisted_sum


class _SampleCapture(Capture):
    """A capture of a function of one sample; the code around it may be captured itself."""

    what = "ng.func.vmap is calling a function for one sample"
    ways_out = (
        "and every sample has its own. Choose by value with ng.where or ng.cond, or give the "
        "argument to all samples alike (in_axes=None for it, with a value that is known)."
    )


class SampleTrace(Trace):
    """The trace of a function for one sample, whose arguments are placeholders.

    A value that the function closes over may belong to an outer function that is being captured or
    mapped itself.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.mapped = MapOperator(self)

    def _capture(self, arguments: list[Tensor]) -> Capture:
        return _SampleCapture(arguments, mode.capture)

    def _closed_over(self, capture: Capture, above: Trace | None) -> dict[Edge, Any]:
        """Return the edges outside of the function to which the graph of the outputs leads."""
        ends = {a.edge for a in self.arguments if a.requires_grad}
        waiting = [o.edge for o in self.outputs if o.requires_grad]
        found: dict[Edge, Any] = {}
        seen: set[Node] = set()
        while waiting:
            edge = waiting.pop()
            node = edge.node
            if node is None or edge in ends:
                continue
            if not self._is_inside(number_of(node)):
                found.setdefault(edge)
            elif node not in seen:
                seen.add(node)
                waiting += node.edges
        return found

    def _is_inside(self, number: int) -> bool:
        """Whether the node with a number was made while the function ran."""
        return any(first < number < last for first, last in self.spans)

    @lazy
    def exprs(self) -> list[Expr]:
        """The expressions that the outputs are made of, without those from before the call."""
        return [e for e in pending_exprs(self.outputs) if self._is_inside(e.number)]

    @lazy
    def closed(self) -> list[Value]:
        """The closed-over values that are not computed yet, as they belong to an outer function
        that is being captured."""
        read: list[Any] = [value for expr in self.exprs for value in expr.inputs]
        read += self.outputs
        known = {*self.exprs, *(a.expr for a in self.arguments)}
        found = {place_of(v): v for v in read if v.array is None and v.expr not in known}
        return [runtime.value.deferred(v.expr, v.expr_slot, v.spec) for v in found.values()]

    def tangent_trace(self, wanted: tuple[bool, ...], create_graph: bool) -> "SampleTrace":
        """Return the trace that computes the tangents of the outputs.

        The arguments of that trace are those of the function, followed by a tangent for each input
        that has one, as ``wanted`` says. The trace is kept, and made once for each ``wanted``.
        """
        key = ("tangents", wanted, create_graph, settings.recorded)
        known: Any = self._derivatives.get(key)
        if known is None or not known.is_valid():
            known = self._derivatives[key] = self._pushed(wanted, create_graph)
        return known

    def _pushed(self, wanted: tuple[bool, ...], create_graph: bool) -> "SampleTrace":
        first = len(self.arguments)
        specs = [x.spec for x in (*self.arguments, *self.edges[first:])]
        some = [(e, s) for e, s, want in zip(self.edges, specs, wanted, strict=True) if want]
        tangents = [placeholder(Tensor, first + n, s, True) for n, (_, s) in enumerate(some)]
        outputs = [self.outputs[n] for n in self.live]

        def push(arguments: list[Tensor]) -> list[Tensor]:
            seeds: Any = [(e, t) for (e, _), t in zip(some, arguments[first:], strict=True)]
            ends = [output.edge for output in outputs]
            request = TangentRequest(
                seeds, ends, create_graph=create_graph, retain_graph=True,
                ends=self.boundary_nodes(),
            )  # fmt: skip
            found: Any = ForwardPass(request).run().grads
            return [found[e] if e in found else zeros_at(e) for e in ends]

        name = f"the tangents of {self.name}"
        return SampleTrace(name, push, [*self.arguments, *tangents], self.fuse, self)

    def varying(self, mapped: Collection[int]) -> list[bool]:
        """Return which outputs differ from sample to sample if the arguments in ``mapped`` do."""
        found = {self.arguments[n].expr for n in mapped}
        for expr in self.exprs:
            if any([getattr(value, "expr", None) in found for value in expr.inputs]):  # noqa: C419
                found.add(expr)
        return [output.array is None and output.expr in found for output in self.outputs]

    def sizes(self, inputs: Sequence[Value]) -> tuple[int, ...]:
        """Return the lengths of the axes of samples of all inputs, broadcast together."""
        pairs = zip(inputs, self.leads(inputs), strict=True)
        return broadcast_shapes(*[x.shape[:lead] for x, lead in pairs])

    def leads(self, inputs: Sequence[Any]) -> list[int]:
        """Return the number of axes of samples of each input."""
        pairs = zip(inputs, self.arguments, strict=True)
        return [len(x.shape) - len(a.shape) for x, a in pairs]


class MapOperator(Operator):
    """A function of one sample as an operator on any number of leading axes.

    Its derivative is the derivative of the function, captured for one sample and applied to all of
    them.
    """

    def __init__(self, sample: SampleTrace) -> None:
        super().__init__(sample.name, register=False)
        self.sample = sample

    def apply(
        self,
        inputs: Sequence[Value],
        instead: Mapping[Hashable, Value] = NONE,
        moved: Mapping[Edge, Edge] = NONE,
        shared: Mapping[int, int] = NONE,
    ) -> list[Tensor]:
        """Return the outputs for inputs with axes of samples, connected to the graph of the inputs.

        Each output has all axes of samples. ``shared`` says, by the number of an output, over how
        many of these axes the output is summed. ``instead`` has values to be read in place of
        values that the function closes over, and ``moved`` edges in place of the edges of these.
        """
        sample = self.sample
        inputs = _aligned(inputs, sample.leads(inputs))
        pairs = zip(sample.arguments, inputs, sample.leads(inputs), strict=True)
        wide = {a.expr: BatchedValue(x.detached(), lead) for a, x, lead in pairs}
        if mode.deferring or mode.capture is not None:
            outputs = self._batched(wide, sample.sizes(inputs), instead, shared)
        else:
            with changing(home=mode.stream):  # the program is one operation of this stream
                outputs = self._batched(wide, sample.sizes(inputs), instead, shared)
                force(outputs)
        outer = [moved.get(edge, edge) for edge in sample.edges[len(sample.arguments) :]]
        if mode.grad and sample.live and (outer or any(x.requires_grad for x in inputs)):
            closed = [instead.get(place_of(value), value) for value in sample.closed]
            past = sample.snapshot.now(instead) if mode.capture is None or instead else ()
            self._record(inputs, outputs, outer, [*map(pack, closed), *past], shared)
        return outputs

    def _batched(
        self,
        wide: Mapping[Any, BatchedValue],
        sizes: tuple[int, ...],
        instead: Mapping[Hashable, Value],
        shared: Mapping[int, int],
    ) -> list[Any]:
        """Return the outputs as expressions, for arguments with axes of samples; see `apply`."""
        sample = self.sample
        found = batch_exprs(sample.exprs, sample.outputs, wide, instead)  # type: ignore[arg-type]
        outputs = [with_all_axes(output, sizes) for output in found]
        for n, count in shared.items():
            outputs[n] = hoisted_sum(outputs[n], len(sizes), count)
        given = {id(w.value) for w in wide.values()}
        for n, o in enumerate(outputs):  # results share no memory with arguments
            if o.array is not None or id(o) in given:
                outputs[n] = registry["copy"](o)
        return outputs

    def _record(
        self,
        inputs: Sequence[Value],
        outputs: list[Tensor],
        outer: Sequence[Edge],
        read: Sequence[Value],
        shared: Mapping[int, int],
    ) -> None:
        edges = [*(x.edge for x in inputs), *outer]
        specs = [x.spec for x in (*inputs, *outer)]
        static = {"shared": tuple(shared.items())}
        node = new_node(self, static, edges, specs, [o.spec for o in outputs])
        node.save([*map(pack, inputs), *(None for _ in outer), *read])
        attach(node, outputs, [n for n in range(len(outputs)) if n not in self.sample.live])

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the gradients of the inputs: the derivative of the function, applied to all
        samples.

        The gradient of an input that all samples share is summed over the samples.
        """
        sample, wanted = self.sample, context.wanted
        seeds = arrived(context, cotangents, sample.live)
        derivative: Any = sample.derivative(wanted, context.create_graph)
        places = [n for n, want in enumerate(wanted) if want]
        count = self._count(context.input_specs)
        shared = {
            k: count for k, n in enumerate(places)
            if count and self._is_shared(n, context.input_specs[n])
        }  # fmt: skip
        found = iter(self._apply_derivative(derivative, context, seeds, shared))
        return [next(found) if want else None for want in wanted]

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the outputs: those of one sample (`SampleTrace.tangent_trace`),
        computed for all samples."""
        sample = self.sample
        wanted = tuple([t is not None for t in tangents])
        given = [t for t in tangents if t is not None]
        along = sample.tangent_trace(wanted, context.create_graph)
        sums = dict(context.static["shared"])
        shared = {k: sums[n] for k, n in enumerate(sample.live) if n in sums}
        found = self._apply_derivative(along, context, given, shared)
        made: list[Any] = [None] * len(sample.outputs)
        for n, tangent in zip(sample.live, found, strict=True):
            made[n] = tangent
        return made

    def _count(self, specs: Sequence[Spec]) -> int:
        """Return the greatest number of axes of samples of an input."""
        return max(self.sample.leads(specs[: len(self.sample.arguments)]), default=0)

    def _is_shared(self, number: int, spec: Spec) -> bool:
        """Whether an input is the same for all samples: it has no axes of samples, or all have
        length 1."""
        arguments = self.sample.arguments
        own = len((arguments[number] if number < len(arguments) else spec).shape)
        return all(size == 1 for size in spec.shape[: len(spec.shape) - own])

    def _apply_derivative(
        self,
        derivative: SampleTrace,
        context: Any,
        vectors: Sequence[Any],
        shared: Mapping[int, int],
    ) -> list[Tensor]:
        """Apply the trace of a derivative to the inputs of the function and to cotangents or
        tangents."""
        sample = self.sample
        inputs = [context.input(n) for n in range(len(sample.arguments))]
        further, count = context.saved_after_inputs(), len(sample.closed)
        instead: dict[Any, Value] = {**sample.snapshot.changed(further[count:])}
        instead |= {place_of(v): now for v, now in zip(sample.closed, further, strict=False)}
        moved = dict(zip(sample.edges, context.node.edges, strict=True))
        return derivative.mapped.apply([*inputs, *vectors], instead, moved, shared)


def _aligned(inputs: Sequence[Value], leads: Sequence[int]) -> list[Any]:
    """Return values with equally many axes of samples in front, where missing ones have length 1.

    A later batched pass adds an axis in front of all others. That axis is then the first one of all
    operands, as operators expect.
    """
    expand, most = registry["expand_dims"], max(leads, default=0)
    ranks = [most - lead + len(x.shape) for x, lead in zip(inputs, leads, strict=True)]
    missing = [tuple(range(-r, -r + most - n)) for r, n in zip(ranks, leads, strict=True)]
    return [expand(x, axes=m) if m else x for x, m in zip(inputs, missing, strict=True)]


def sample_placeholder(index: int, value: Value, lead: int) -> Tensor:
    """Return the placeholder for one sample of a value with leading axes."""
    spec, grad = value.spec, mode.grad and value.requires_grad
    sample = Spec(spec.shape[lead:], spec.dtype, False, spec.device)
    return placeholder(Tensor, index, sample, grad)
