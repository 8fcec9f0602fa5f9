"""Derivatives of a user's operator: computed by a kernel, or by a function of tensors.

The kernel of a derivative is an operator itself, so that it can have a derivative of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..._errors import CustomGradError, NotDifferentiableError
from ...engine.graph.runtime import runtime
from ...process.cached_attribute import lazy
from ..operands import constant
from ..operator import arrived
from ..partial import bind_operators
from ..source import Source
from .operator import UserOperator

if TYPE_CHECKING:
    from .derived import DerivedOperator


def refuse(kernel: UserOperator, context: Any) -> NoReturn:
    """Raise the error for a kernel of a derivative that has no derivative itself."""
    name, owner = kernel.name, getattr(kernel, "owner", kernel)
    raise NotDifferentiableError(
        f"create_graph: the {kernel.label}{context.node.where()}, has no derivative; declare one "
        f"with @{name}.backward, or declare @{owner.name}.backward as a Python function of "
        f"tensors (without @njit)"
    )


class Derivative:
    """The derivative of an operator: from the cotangents of its outputs to those of its inputs.

    The first ``linear`` parameters of the source are cotangents, or tangents.
    """

    def __init__(self, owner: UserOperator, source: Source, linear: int) -> None:
        self.owner = owner
        self.source = source
        self.linear = linear

    @property
    def reads(self) -> list[bool]:
        """For each input and output of the operator, whether the derivative reads it."""
        return self._mentioned

    @lazy
    def _mentioned(self) -> list[bool]:
        last = self.linear + len(self.owner.inputs) + self.owner.nout
        return [self.source.reads(name) for name in self.source.parameters[self.linear : last]]

    def values(self, context: Any) -> list[Any]:
        """Return the inputs and outputs of a node, as the source takes them.

        A value that the source does not read is replaced by zeros with the axes of one core.
        """
        specs = [*context.input_specs, *context.output_specs]
        count = len(context.input_specs)
        values = []
        for n, (read, spec) in enumerate(zip(self.reads, specs, strict=True)):
            if read:
                values.append(context.input(n) if n < count else context.output(n - count))
            else:
                values.append(core_zeros(spec, self.owner.ncore[n]))
        return values

    def cotangents(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        """Return the cotangents of the floating outputs, zeros where none has arrived."""
        first = len(self.owner.inputs)
        return [
            core_zeros(context.output_specs[n], self.owner.ncore[first + n])
            if cotangents[n] is None
            else cotangents[n]
            for n in self.owner.cotangent_outputs()
        ]

    def by_input(self, context: Any, gradients: Sequence[Any]) -> list[Any]:
        """Return one gradient for each input, ``None`` for an input without one."""
        result: list[Any] = [None] * len(context.input_specs)
        for n, gradient in zip(self.owner.gradient_inputs(), gradients, strict=True):
            if context.input_specs[n].dtype.kind in "fc":
                result[n] = gradient
        return result

    def static(self, context: Any) -> dict[str, Any]:
        """Return the static parameters of a node that the source takes."""
        return {
            name: context.static[name] for name in self.source.parameters if name in context.static
        }

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        """Return the cotangents of the inputs of a node, None for an input without one."""
        raise NotImplementedError


class KernelBacked(Derivative):
    """A derivative computed by a kernel."""

    def __init__(self, owner: UserOperator, kernel: DerivedOperator) -> None:
        super().__init__(owner, kernel.source, kernel.linear)
        self.kernel = kernel


class KernelDerivative(KernelBacked):
    """The derivative of an operator by a backward kernel.

    For the next derivative, the source of a kernel of scalars runs on tensors, unless the kernel
    has a derivative of its own.
    """

    def __init__(self, owner: UserOperator, kernel: DerivedOperator) -> None:
        super().__init__(owner, kernel)
        self._traced: Callable[..., Any] | None = None

    @property
    def reads(self) -> list[bool]:
        """For each input and output, whether the kernel or the forward-mode kernel reads it."""
        return self.owner.with_tangent(self._mentioned)

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        inputs = [*self.cotangents(context, cotangents), *self.values(context)]
        if context.create_graph and not self.kernel.has_derivative:
            return self.by_input(context, self._trace(context, inputs))
        gradients = self.kernel(*inputs, **self.static(context))
        return self.by_input(context, as_tuple(gradients))

    def _trace(self, context: Any, inputs: list[Any]) -> Sequence[Any]:
        """Run the source of the kernel on tensors, so that operators are recorded; return the
        gradients."""
        if not self.owner.signature.scalar:
            refuse(self.kernel, context)
        if self._traced is None:
            self._traced = bind_operators(self.source.plain)
        try:
            gradients = self._traced(*inputs, **self.static(context))
        except MemoryError:
            raise
        except Exception as error:
            raise NotDifferentiableError(
                f"create_graph: the {self.kernel.label}{context.node.where()}, does not run on "
                f"tensors ({type(error).__name__}: {error}); declare its derivative with "
                f"@{self.kernel.name}.backward"
            ) from error
        return [_as_value(g, context.input_specs[0].dtype) for g in as_tuple(gradients)]


class KernelTangent(KernelBacked):
    """The forward-mode derivative of an operator by a kernel."""

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        """Return the tangents of the outputs from those of the inputs; a missing one counts as
        zeros."""
        tangents = [
            core_zeros(context.input_specs[n], self.owner.ncore[n])
            if cotangents[n] is None
            else cotangents[n]
            for n in self.owner.gradient_inputs()
        ]
        found = self.kernel(*tangents, *self.values(context), **self.static(context))
        made: list[Any] = [None] * self.owner.nout
        for n, tangent in zip(self.owner.cotangent_outputs(), as_tuple(found), strict=True):
            made[n] = tangent
        return made


class TransposedKernel(KernelBacked):
    """The derivative of a derivative's kernel to its linear inputs: the transposed kernel.

    ``owner`` is the kernel that is differentiated, and ``kernel`` the transposed one.
    """

    owner: DerivedOperator

    @lazy
    def _mentioned(self) -> list[bool]:
        """For each input and output of the owner, whether the transposed kernel reads it.

        It reads none of the linear inputs and none of the outputs.
        """
        names = self.source.parameters[self.kernel.linear : len(self.kernel.inputs)]
        other = [self.source.reads(name) for name in names]
        return [False] * self.owner.linear + other + [False] * self.owner.nout

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        count = len(self.owner.inputs)
        values = self.values(context)[self.owner.linear : count]
        results = self._products(context, cotangents, values)
        return [*results, *(None,) * (count - self.owner.linear)]

    def _products(
        self, context: Any, cotangents: Sequence[Any], values: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the products of the transposed map with cotangents, one for each linear input."""
        inputs = [*self.cotangents(context, cotangents), *values]
        return as_tuple(self.kernel(*inputs, **self.static(context)))


class TensorDerivative(Derivative):
    """A derivative given by a Python function of tensors, which is differentiable itself."""

    def __init__(self, owner: UserOperator, source: Source) -> None:
        super().__init__(owner, source, len(owner.cotangent_outputs()))
        self.label = f"the backward of {owner.label}, function {source.name},"
        self._bound: Callable[..., Any] | None = None

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        if self._bound is None:
            self._bound = bind_operators(self.source.plain)
        seeds = arrived(context, cotangents, self.owner.cotangent_outputs())
        gradients = self._bound(*seeds, *self.values(context), **self.static(context))
        gradients = gradients if isinstance(gradients, list) else as_tuple(gradients)
        expected = self.owner.gradient_inputs()
        if len(gradients) != len(expected):
            raise CustomGradError(
                f"{self.label} returned an incorrect number of gradients: "
                f"expected {len(expected)}, "
                f"got {len(gradients)}"
            )
        checked = [self._checked(context, n, g) for n, g in zip(expected, gradients, strict=True)]
        return self.by_input(context, checked)

    def _checked(self, context: Any, position: int, gradient: Any) -> Any:
        """Return a gradient that the function returned as a value, None without one; raise if it is
        wrong."""
        spec = context.input_specs[position]
        if gradient is None or spec.dtype.kind not in "fc":
            return None
        value = _as_value(gradient, spec.dtype)
        name = f"{self.label} returned an invalid gradient at index {position}"
        if not isinstance(value, runtime.value):
            raise CustomGradError(f"{name}: expected a tensor, got {type(value).__name__}")
        core = value.shape[len(value.shape) - len(spec.shape) :] if spec.shape else ()
        if len(value.shape) < len(spec.shape) or any(
            s not in (1, c) for s, c in zip(spec.shape, core, strict=True)
        ):
            raise CustomGradError(
                f"{name}: its shape is {value.shape}, that of the input is {spec.shape}"
            )
        if value.dtype.kind not in "fc":
            raise CustomGradError(
                f"{name}: its dtype is {value.dtype}, that of the input is {spec.dtype}"
            )
        return value


def core_zeros(spec: Any, ncore: int) -> Any:
    """Return zeros with the core axes of a value alone, which broadcast along the loop."""
    return constant(np.zeros(spec.shape[len(spec.shape) - ncore :], spec.dtype))


def as_tuple(results: Any) -> Sequence[Any]:
    """Return the results of a function as a tuple, even if there is a single one."""
    return results if isinstance(results, tuple) else (results,)


def _as_value(gradient: Any, dtype: np.dtype) -> Any:
    """Return an array or a number as a value of a dtype; any other object is returned as it is."""
    if isinstance(gradient, runtime.value):  # tested first: some values stand for Python numbers
        return gradient
    if isinstance(gradient, (int, float, complex, np.ndarray, np.number)):
        return constant(np.asarray(gradient, dtype))
    return gradient
