"""The operator of a custom function: it stops a pass to call Python, and checks the results."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._declare import Operator
from .._errors import CustomGradError
from .._tensor import Tensor, placed
from ..engine.derivatives.context import Context
from ..engine.derivatives.rules import fit
from ..engine.differentiate import hooks
from ..engine.graph.node import Node
from ..engine.graph.value import Spec, spec_of
from ..engine.record.apply import mode
from ..ir.broadcasting import broadcast_shapes
from .custom_context import FunctionContext, count_of


class PythonOperator(Operator):
    """The operator of a class derived from `Function`; the ``ctx`` of a call is a static parameter.
    """

    is_python = True

    def __init__(self, function: Any) -> None:
        super().__init__(function.__name__, register=False)
        self.function = function

    def __reduce__(self) -> Any:
        return operator_of, (self.function,)

    def differentiate(
        self, backward_pass: Any, context: Context, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the gradients that the backward function returns, called on computed tensors."""
        ctx = context.static["ctx"].during(context)
        if not backward_pass.evaluator.computes:
            backward_pass.force(context.values())  # some are pending after an inlined captured call
        has_rows = _have_rows(cotangents)
        lead = (backward_pass.request.batch,) if has_rows and self.function.takes_batch else ()

        def backward(*gs: Any) -> list[Any]:
            returned = self.function.backward(ctx, *self._arguments(ctx, context, gs, lead))
            return self._checked(ctx, context, returned, lead)

        try:
            if self.function.takes_batch:
                return hooks.by_block(backward_pass, backward, cotangents)
            specs: Sequence[Any] = ()
            if has_rows:
                pairs = zip(context.input_specs, context.wanted, strict=True)
                specs = [spec if wanted else None for spec, wanted in pairs]
            return hooks.by_row(backward_pass, backward, cotangents, specs)
        except Exception as error:
            error.add_note(f"in the backward of {self.name}{context.node.where()}")
            raise

    def computed(
        self, backward_pass: Any, node: Node, wanted: tuple[bool, ...], cotangents: Sequence[Any]
    ) -> list[Any]:
        """Return what `differentiate` does, from arrays and as arrays, in a pass that computes each
        operation at once: no array has rows, and nothing is captured."""
        context = Context(node, backward_pass.saved[node], wanted, False)
        ctx = context.static["ctx"].during(context)
        backward_pass.watch_saved()
        pairs = zip(cotangents, context.output_specs, strict=True)
        given = [None if g is None else hooks.copy_of_array(g, spec) for g, spec in pairs]
        before, mode.site = mode.site, node.site
        try:
            returned = self.function.backward(ctx, *self._arguments(ctx, context, given, ()))
            gradients = self._checked(ctx, context, returned, ())
        except Exception as error:
            error.add_note(f"in the backward of {self.name}{node.where()}")
            raise
        finally:
            mode.site = before
        backward_pass.foreign += [g for g in gradients if g is not None]
        return [None if g is None else g.array for g in gradients]

    def tangent(
        self, forward_pass: Any, context: Context, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents that ``jvp`` returns, called on computed tensors.

        Return None if the class has no ``jvp``: the forward pass then transposes the backward
        function.
        """
        if not self.function.has_jvp():
            return None
        ctx = context.static["ctx"].during(context)
        forward_pass.force(context.values())
        lead = self._lead(forward_pass, tangents)

        def along(*ts: Any) -> list[Any]:
            given: list[Any] = [None] * count_of(ctx)
            for position, t in zip(ctx.positions, ts, strict=True):
                given[position] = t
            return self._outputs(ctx, context, self.function.jvp(ctx, *given), lead)

        try:
            if self.function.takes_batch:
                return hooks.by_block(forward_pass, along, tangents)
            specs = [s if s.dtype.kind in "fc" else None for s in context.output_specs]
            return hooks.by_row(forward_pass, along, tangents, specs)
        except Exception as error:
            error.add_note(f"in the jvp of {self.name}{context.node.where()}")
            raise

    def _outputs(
        self, ctx: FunctionContext, context: Context, returned: Any, lead: tuple[int, ...]
    ) -> list[Any]:
        """Return the tangents that ``jvp`` has returned for tensors, checked, in the dtypes of the
        outputs."""
        tangents = returned if isinstance(returned, tuple) else (returned,)
        if len(tangents) != len(ctx.slots):
            raise CustomGradError(
                f"{self.name}.jvp returned an incorrect number of tangents "
                f"(expected {len(ctx.slots)}, got {len(tangents)})"
            )
        result: list[Any] = [None] * len(context.output_specs)
        for index, (slot, tangent) in enumerate(zip(ctx.slots, tangents, strict=True)):
            if slot is None or tangent is None:
                continue
            spec = _behind(lead, context.output_specs[slot])
            if not isinstance(tangent, Tensor) or tangent.shape != spec.shape:
                found = getattr(tangent, "shape", type(tangent).__name__)
                raise CustomGradError(
                    f"{self.name}.jvp returned an invalid tangent at index {index}: expected a "
                    f"tensor of shape {spec.shape}, got {found}"
                )
            result[slot] = fit(tangent, spec) if spec.dtype.kind in "fc" else None
        return result

    def _lead(self, backward_pass: Any, cotangents: Sequence[Any]) -> tuple[int, ...]:
        """Return the leading axes of the gradients: the batch, if the function takes a whole batch
        at once."""
        has_rows = _have_rows(cotangents)
        return (backward_pass.request.batch,) if self.function.takes_batch and has_rows else ()

    def _arguments(
        self, ctx: FunctionContext, context: Context, gs: Sequence[Any], lead: tuple[int, ...]
    ) -> list[Any]:
        """Return the arguments of ``backward``: for each output of forward its cotangent, zeros, or
        None."""
        arguments: list[Any] = []
        for slot in ctx.slots:
            g = None if slot is None else gs[slot]
            if g is None and slot is not None and ctx.materialize:
                spec = context.output_specs[slot]
                g = placed(np.zeros((*lead, *spec.shape), spec.dtype), spec.device)
            arguments.append(g)
        return arguments

    def _checked(
        self, ctx: FunctionContext, context: Context, returned: Any, lead: tuple[int, ...]
    ) -> list[Any]:
        """Return the gradients of the arguments that are tensors, checked, in their shapes and
        dtypes."""
        grads = returned if isinstance(returned, tuple) else (returned,)
        count, positions = count_of(ctx), ctx.positions
        if len(grads) != count:
            self._require_count(grads, count)
        if len(positions) != count:
            self._require_none(grads[:count], positions)
        places = zip(positions, context.input_specs, context.wanted, strict=True)
        return [
            self._fitted(index, grads[index], _behind(lead, spec)) if wanted else None
            for index, spec, wanted in places
        ]

    def _require_count(self, grads: Sequence[Any], count: int) -> None:
        """Raise if ``backward`` has returned too few gradients, or too many."""
        if len(grads) < count or any([g is not None for g in grads[count:]]):  # noqa: C419
            raise CustomGradError(
                f"{self.name}.backward returned an incorrect number of gradients "
                f"(expected {count}, got {len(grads)})"
            )

    def _require_none(self, grads: Sequence[Any], positions: Sequence[int]) -> None:
        """Raise if there is a gradient for an argument that is no tensor."""
        for index, g in enumerate(grads):
            if g is not None and index not in positions:
                raise CustomGradError(
                    f"{self.name}.backward returned an invalid gradient at index {index}: "
                    f"it must be None, because that argument of forward is no tensor"
                )

    def _fitted(self, index: int, g: Any, spec: Spec) -> Any:
        if g is None or (type(g) is Tensor and g.spec is spec):
            return g
        if isinstance(g, (np.ndarray, np.generic)) and g.dtype.kind in "biufc" and not mode.grad:
            g = placed(np.asarray(g), spec.device)
        if not isinstance(g, Tensor):
            raise CustomGradError(
                f"{self.name}.backward returned an invalid gradient at index {index}: expected a "
                f"tensor or None, or an array where no graph is made of the gradients, got "
                f"{type(g).__name__}; wrap numbers with ng.tensor"
            )
        if not _reducible(g.shape, spec.shape):
            raise CustomGradError(
                f"{self.name}.backward returned an invalid gradient at index {index}: "
                f"got shape {g.shape}, but expected a shape compatible with {spec.shape}"
            )
        if g.spec.device != spec.device:
            raise CustomGradError(
                f"{self.name}.backward returned an invalid gradient at index {index}: it is on "
                f"{g.spec.device}, and the argument of forward on {spec.device}; make it there, "
                f"or move it with .to({spec.device!r})"
            )
        return fit(g, spec)


def operator_of(cls: Any) -> PythonOperator:
    """Return the operator of a class, made once and kept on it."""
    operator = cls.__dict__.get("_operator")
    if operator is None:
        operator = cls._operator = PythonOperator(cls)
    return operator


def _have_rows(values: Sequence[Any]) -> bool:
    return any([g is not None and g.rows for g in values])  # noqa: C419  a list is faster


def _behind(lead: tuple[int, ...], spec: Spec) -> Spec:
    return spec_of((*lead, *spec.shape), spec.dtype, False, spec.device) if lead else spec


def _reducible(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether ``wanted`` broadcasts to ``shape``, so that sums along axes lead back to it."""
    try:
        return broadcast_shapes(shape, wanted) == shape
    except ValueError:
        return False
