"""Derivatives, derived from the source, for kernels that were declared without any."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._adjoint.frontend.reading import Known
from .._adjoint.ssa.ir import Type
from .._declare.operands import constant
from .._declare.operator import registry, zeros_of
from .._declare.user.arguments import is_number
from .derivation import Derivation


class OfOperator:
    """The derivative of an operator of a user, for inputs of certain dtypes.

    A kernel of a signature with core dimensions takes the inputs and the arrays that it writes; an
    output without core dimensions is an array of one element. A kernel of scalars returns its
    results. Numbers among the static parameters are further arguments.
    """

    def __init__(self, owner: Any, dtypes: Sequence[np.dtype], static: dict[str, Any]) -> None:
        self.owner = owner
        count, ncore = len(owner.inputs), owner.ncore
        types: list[Any] = [
            Type(dtype.name, n or None) for dtype, n in zip(dtypes, ncore[:count], strict=True)
        ]
        results = owner.result_dtypes(dtypes)
        self._has_arrays = not owner.signature.scalar
        if self._has_arrays:
            pairs = zip(results, ncore[count:], strict=True)
            types += [Type(dtype.name, n or 1) for dtype, n in pairs]
        self.numbers = [name for name in owner.static if is_number(static[name])]
        types += [
            Type(np.asarray(static[name]).dtype.name) if name in self.numbers else
            Known(static[name]) for name in owner.static
        ]  # fmt: skip
        written = {count + n: n for n in range(owner.nout)} if self._has_arrays else {}
        advice = f"\nDeclare the derivative of {owner.label} with @{owner.name}.backward"
        self._derivation = Derivation(owner.function, types, owner.name, written, advice)

    def gradients(self, context: Any, grads: Sequence[Any]) -> list[Any]:
        """Return a gradient for each input of the operator; None for an input without one."""
        wanted = tuple([n for n in self._differentiable(context) if context.wanted[n]])
        specs = context.output_specs
        given = [zeros_of(s) if g is None else g for g, s in zip(grads, specs, strict=True)]
        lifted = [self._lifted(n, g) for n, g in enumerate(given)]
        found = self._derivation.gradients(self._arguments(context), wanted, lifted)
        return list(found[: len(self.owner.inputs)])

    def tangents(self, context: Any, tangents: Sequence[Any]) -> list[Any]:
        """Return a tangent for each output of the operator; None for an output without one."""
        places = self._differentiable(context)
        along = {n: tangents[n] for n in places if tangents[n] is not None}
        if not along:
            return [None] * self.owner.nout
        specs = [self._lifted(n, zeros_of(s)) for n, s in enumerate(context.output_specs)]
        found = self._derivation.tangents(self._arguments(context), specs, along)
        return [
            registry["squeeze"](t, axes=(-1,)) if t is not None and self._is_lifted(n) else t
            for n, t in enumerate(found)
        ]

    def _differentiable(self, context: Any) -> list[int]:
        kinds = [spec.dtype.kind for spec in context.input_specs]
        return [n for n in self.owner.gradient_inputs() if kinds[n] in "fc"]

    def _arguments(self, context: Any) -> list[Any]:
        """Return the arguments of the kernel; the arrays that the kernel writes are zeros."""
        owner = self.owner
        count = len(owner.inputs)
        given = [context.input(n) for n in range(count)]
        for n, spec in enumerate(context.output_specs if self._has_arrays else ()):
            ncore = owner.ncore[count + n]
            core = spec.shape[len(spec.shape) - ncore :] if ncore else (1,)
            given.append(constant(np.zeros(core, spec.dtype)))
        given += [constant(np.asarray(context.static[name])) for name in self.numbers]
        return given

    def _is_lifted(self, output: int) -> bool:
        return self._has_arrays and not self.owner.ncore[len(self.owner.inputs) + output]

    def _lifted(self, output: int, value: Any) -> Any:
        """Return a value of an output in the shape that it has in the kernel.

        A number that the kernel writes is an array of one element there.
        """
        if not self._is_lifted(output):
            return value
        return registry["expand_dims"](value, axes=(-1,))


def derivative_of(owner: Any, context: Any) -> OfOperator:
    """Return the derivative of an operator that declares none, for the inputs of a node."""
    known = vars(owner).setdefault("_derivatives", {})
    dtypes = tuple([spec.dtype for spec in context.input_specs])
    static = tuple([
        type(v) if is_number(v) else (type(v), repr(v))
        for v in [context.static[name] for name in owner.static]
    ])  # fmt: skip
    found = known.get((dtypes, static))
    if found is None:
        found = known[dtypes, static] = OfOperator(owner, dtypes, context.static)
    return found
