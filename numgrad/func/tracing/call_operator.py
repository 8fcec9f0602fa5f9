"""The operator of a captured function: a call is one node, and the derivative of the call a trace.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._declare import Operator
from ..._declare.operator import arrived
from ..._errors import InplaceError
from ...engine.differentiate import hooks
from ...engine.graph.node import NO_EDGE, Value
from ...process.cached_attribute import lazy
from . import inline

if TYPE_CHECKING:
    from .trace import Trace


class CallOperator(Operator):
    """A whole trace as one operator, so that a call of the captured function is one node."""

    is_replay = True

    def __init__(self, trace: "Trace") -> None:
        super().__init__(trace.name, register=False)
        self.trace = trace
        del self.has_rule  # which says what is below

    @lazy
    def has_rule(self) -> bool:  # type: ignore[override]
        """Whether the derivatives of the trace are rules, found out when first asked: a trace
        without derivatives drops its expressions before."""
        return self.trace.has_rules()

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the gradients of a call, by the trace of the function's derivative.

        The expressions of that trace become a part of the backward pass if all derivatives are
        rules, or if the seeds have rows. Otherwise the trace is run at once.

        In two cases the pass goes through the nodes of the function instead. One is a recorded pass
        whose seeds have rows, since a call has no rule for rows. In the other, an array that the
        function closes over was written since the call.
        """
        trace = self.trace
        derivative = trace.derivative(context.wanted, context.create_graph)
        inputs = [context.input(n) for n in range(len(trace.arguments))]
        seeds = arrived(context, cotangents, trace.live)
        if self.has_rule and not context.create_graph:
            return self._inline(derivative, context, inputs, seeds)
        first = len(inputs)
        past = {id(v): context.input(first + n) for n, v in enumerate(trace.outer)}
        outer = [past.get(id(v), v) for v in derivative.outer]
        wanted = [n for n, want in enumerate(context.wanted) if want]

        def pull(*gs: Any) -> Sequence[Any]:
            return derivative.call([*inputs, *gs], outer)

        changed = trace.snapshot.changed(context.saved_after_inputs())
        with_rows = any(g.rows for g in seeds)
        is_open = bool(changed) or (with_rows and context.create_graph)
        if is_open and not derivative.has_passages:
            return inline.pull(backward_pass, context.node, trace, inputs, seeds, changed)
        if changed:
            raise InplaceError(
                f"what {trace.name} closes over has been written since it was called, and its "
                f"derivative, which has passes with rows inside or values that come back from a "
                f"device, cannot be computed with what was there. Write after the pass, or give "
                f"the function the array as an argument."
            )
        if with_rows and not derivative.has_passages and not derivative.is_last:
            found: Sequence[Any] = pull(*seeds)
        else:
            specs = [context.input_specs[n] for n in wanted]
            found = hooks.by_row(backward_pass, pull, seeds, specs, writes=False)
            backward_pass.note_owned(found)  # gradients in arrays that the program has made
        gradients: list[Any] = [None] * len(context.wanted)
        for n, gradient in zip(wanted, found, strict=True):
            gradients[n] = gradient
        return gradients

    def _inline(
        self, derivative: "Trace", context: Any, inputs: list[Any], seeds: Sequence[Any]
    ) -> list[Any]:
        """Return the gradients as expressions of the values that the node has saved."""
        replaced = derivative.inline([*inputs, *seeds], self._saved(context))
        found = iter([replaced(value).detached() for value in derivative.outputs])
        return [next(found) if want else None for want in context.wanted]

    def _saved(self, context: Any) -> dict[int, Value]:
        """Return the values that the node of the call has saved of what the trace reads from
        outside.

        The keys are the ids of the arrays from outside.
        """
        first = len(self.trace.arguments)
        outer = {id(v.array): n for n, v in enumerate(self.trace.outer, first)}
        first += len(self.trace.outer)
        rest = {id(v.array): n for n, v in enumerate(self.trace.snapshot.constants, first)}
        saved = {key: context.restore(n, NO_EDGE) for key, n in rest.items() if key not in outer}
        return saved | {key: context.input(n) for key, n in outer.items()}

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the outputs, computed node by node in the graph of the function.

        Return None if the derivative of the function can be differentiated: the forward pass then
        gets the tangents by transposing the backward rule.
        """
        trace = self.trace
        if self.has_rule:
            past = self._saved(context)
        elif trace.derivative(context.wanted, context.create_graph).is_last:
            past = trace.snapshot.changed(context.saved_after_inputs())
        else:
            return None
        inputs = [context.input(n) for n in range(len(trace.arguments))]
        return inline.push(forward_pass, context.node, trace, inputs, tangents, past)
