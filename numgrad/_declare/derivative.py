"""How the gradients of a user's operator are computed: by a kernel, or by a function of tensors.

Kernels of derivatives are operators themselves, so that each can have a derivative of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from .._errors import CustomGradError, DeclarationError, NotDifferentiableError
from .._lazy import lazy
from .._signature import Signature
from .operator import door, zeros_of
from .partial import bind_operators
from .source import Source, split_parameters
from .user import UserOperator


def refuse(kernel: UserOperator, context: Any) -> NoReturn:
    """Raise for a derivative of an order that nobody declared."""
    name, owner = kernel.name, getattr(kernel, "owner", kernel)
    raise NotDifferentiableError(
        f"create_graph: the {kernel.label}{context.node.where()}, has no derivative; declare one "
        f"with @{name}.backward, or declare @{owner.name}.backward as a Python function of "
        f"tensors (without @njit)"
    )


class Derivative:
    """How the cotangents of an operator's inputs follow from those of its outputs."""

    def __init__(self, owner: UserOperator, source: Source) -> None:
        self.owner = owner
        self.source = source

    @lazy
    def reads(self) -> list[bool]:
        """Which inputs and outputs the derivative reads."""
        first = len(self.owner.cotangent_outputs())
        count = len(self.owner.inputs) + self.owner.nout
        return [self.source.reads(name) for name in self.source.parameters[first : first + count]]

    def values(self, context: Any) -> list[Any]:
        """Return inputs and outputs; zeros of one core stand for those that are not read."""
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
        """Return the cotangents of the floating outputs, zeros where none arrived."""
        first = len(self.owner.inputs)
        return [
            core_zeros(context.output_specs[n], self.owner.ncore[first + n])
            if cotangents[n] is None
            else cotangents[n]
            for n in self.owner.cotangent_outputs()
        ]

    def spread(self, context: Any, gradients: Sequence[Any]) -> list[Any]:
        """Return one gradient for each input: ``None`` where there is none."""
        result: list[Any] = [None] * len(context.input_specs)
        for n, gradient in zip(self.owner.gradient_inputs(), gradients, strict=True):
            if context.input_specs[n].dtype.kind in "fc":
                result[n] = gradient
        return result

    def static(self, context: Any) -> dict[str, Any]:
        return {
            name: context.static[name] for name in self.source.parameters if name in context.static
        }

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        raise NotImplementedError


class KernelDerivative(Derivative):
    """A backward kernel; for the next derivative the source of a scalar one runs on tensors."""

    def __init__(self, owner: UserOperator, kernel: DerivedOperator) -> None:
        super().__init__(owner, kernel.source)
        self.kernel = kernel
        self._traced: Callable[..., Any] | None = None

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        inputs = [*self.cotangents(context, cotangents), *self.values(context)]
        if context.create_graph and not self.kernel.is_twice:
            return self.spread(context, self._trace(context, inputs))
        gradients = self.kernel(*inputs, **self.static(context))
        return self.spread(context, _as_tuple(gradients))

    def _trace(self, context: Any, inputs: list[Any]) -> Sequence[Any]:
        """Run the source of the kernel on tensors."""
        if not self.owner.signature.scalar:
            refuse(self.kernel, context)
        if self._traced is None:
            self._traced = bind_operators(self.source.plain)
        try:
            gradients = self._traced(*inputs, **self.static(context))
        except Exception as error:
            raise NotDifferentiableError(
                f"create_graph: the {self.kernel.label}{context.node.where()}, does not run on "
                f"tensors ({type(error).__name__}: {error}); declare its derivative with "
                f"@{self.kernel.name}.backward"
            ) from error
        return [_as_value(g, context.input_specs[0].dtype) for g in _as_tuple(gradients)]


class Transposed(Derivative):
    """The derivative of a linear kernel in its linear inputs: the transposed kernel."""

    owner: DerivedOperator

    def __init__(self, owner: DerivedOperator, kernel: DerivedOperator) -> None:
        super().__init__(owner, kernel.source)
        self.kernel = kernel

    @lazy
    def reads(self) -> list[bool]:
        """The kernel's other inputs are those of the transposed one; its outputs are not read."""
        names = self.source.parameters[self.kernel.linear : len(self.kernel.inputs)]
        other = [self.source.reads(name) for name in names]
        return [False] * self.owner.linear + other + [False] * self.owner.nout

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        count = len(self.owner.inputs)
        values = self.values(context)[self.owner.linear : count]
        inputs = [*self.cotangents(context, cotangents), *values]
        results = _as_tuple(self.kernel(*inputs, **self.static(context)))
        return [*results, *(None,) * (count - self.owner.linear)]


class TensorDerivative(Derivative):
    """A Python function of tensors: differentiable like anything else that is made of operators."""

    def __init__(self, owner: UserOperator, source: Source) -> None:
        super().__init__(owner, source)
        self.label = f"the backward of {owner.label}, function {source.name},"
        self._bound: Callable[..., Any] | None = None

    def apply(self, context: Any, cotangents: Sequence[Any]) -> list[Any]:
        if self._bound is None:
            self._bound = bind_operators(self.source.plain)
        arriving = [
            zeros_of(context.output_specs[n]) if cotangents[n] is None else cotangents[n]
            for n in self.owner.cotangent_outputs()
        ]
        gradients = self._bound(*arriving, *self.values(context), **self.static(context))
        gradients = gradients if isinstance(gradients, list) else _as_tuple(gradients)
        expected = self.owner.gradient_inputs()
        if len(gradients) != len(expected):
            raise CustomGradError(
                f"{self.label} returned an incorrect number of gradients: "
                f"expected {len(expected)}, "
                f"got {len(gradients)}"
            )
        checked = [self._checked(context, n, g) for n, g in zip(expected, gradients, strict=True)]
        return self.spread(context, checked)

    def _checked(self, context: Any, position: int, gradient: Any) -> Any:
        spec = context.input_specs[position]
        if gradient is None or spec.dtype.kind not in "fc":
            return None
        value = _as_value(gradient, spec.dtype)
        name = f"{self.label} returned an invalid gradient at index {position}"
        if not isinstance(value, door.value):
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
    """Return zeros of one core, which broadcast along the loop."""
    return door.constant(np.zeros(spec.shape[len(spec.shape) - ncore :], spec.dtype))


def _as_tuple(results: Any) -> Sequence[Any]:
    """Return what a function returned, one result or a tuple of several, as a tuple."""
    return results if isinstance(results, tuple) else (results,)


def _as_value(gradient: Any, dtype: np.dtype) -> Any:
    if isinstance(gradient, door.value):  # first: some stand for numbers of Python
        return gradient
    if isinstance(gradient, (int, float, complex, np.ndarray, np.number)):
        return door.constant(np.asarray(gradient, dtype))
    return gradient


class DerivedOperator(UserOperator):
    """A kernel of a derivative, which is an operator itself.

    It is linear in its first ``linear`` inputs. ``transpose`` finds the kernel of the transposed
    linear map: that of a backward kernel is the forward-mode kernel, and the other way round.
    """

    def __init__(
        self,
        owner: UserOperator,
        source: Source,
        signature: Signature,
        what: str,
        kinds: Sequence[tuple[int, str]],
    ) -> None:
        self.what = what
        self.owner = owner
        self._kinds = kinds
        first = kinds[0][0]
        constant = [
            first + n for n, name in enumerate(owner.inputs) if name in owner.nondifferentiable
        ]
        differentiable = owner.cotangent_outputs()
        constant += [
            first + len(owner.inputs) + n for n in range(owner.nout) if n not in differentiable
        ]
        names = [source.parameters[n] for n in constant if n < len(source.parameters)]
        super().__init__(source.function, signature, None, owner.static, names)
        self.linear = kinds[0][0]
        self.transpose: Callable[[], DerivedOperator | None] = lambda: None

    def _label(self, name: str) -> str:
        return f"{self.what} of {self.owner.label}, kernel {name}"

    def _groups(self, signature: Signature) -> list[tuple[int, str]]:
        kinds = list(self._kinds)
        return kinds if signature.scalar else [*kinds, (len(signature.outputs), "array to write")]

    def _check_parameters(self, signature: Signature, static: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return split_parameters(self.source, self.label, self._groups(signature), static)
        except DeclarationError as error:
            raise DeclarationError(f"{error}. {self._hint()}") from None

    def _hint(self) -> str:
        return (
            f"An input of {self.owner.name} that has no gradient is named by "
            f"nondifferentiable=(...); "
            f"an integer input that is not named gets an array that nobody reads"
        )

    def rule(self, wanted: Sequence[bool]) -> Derivative | None:
        if self.derivative is not None:
            return self.derivative
        transposed = self.transpose()
        if transposed is None or any(wanted[self.linear :]):
            return None
        return Transposed(self, transposed)

    def saves(self, needs: Sequence[bool]) -> Sequence[bool]:
        """Save what the transposed kernel reads: a later pass may want the linear inputs only."""
        only_linear = [n < self.linear for n in range(len(needs))]
        return super().saves(needs if self.derivative is not None else only_linear)

    @property
    def is_twice(self) -> bool:
        return self.derivative is not None or self.transpose() is not None

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        if self.rule(context.wanted) is None:
            refuse(self, context)
        return super().differentiate(backward_pass, context, cotangents)


# Declarations


def declare_backward(owner: UserOperator, function: Any) -> Any:
    """Declare the derivative of an operator; see `UserOperator.backward`."""
    what = f"the backward of {owner.label}"
    if owner.derivative is not None:
        raise DeclarationError(f"{what} was declared already, as {owner.derivative.source.name}")
    source = Source(function, what)
    if not source.is_kernel:
        _check_body(owner, source, what)
        owner.derivative = TensorDerivative(owner, source)
        return function
    inputs, outputs = owner.signature.inputs, owner.signature.outputs
    arriving = owner.cotangent_outputs()
    kernel = _derived(
        owner, source, "backward", "cotangent",
        [outputs[n] for n in arriving], [inputs[n] for n in owner.gradient_inputs()],
    )  # fmt: skip
    kernel.transpose = lambda: owner.forward_kernel
    owner.derivative = KernelDerivative(owner, kernel)
    owner.has_rule = True
    return kernel


def declare_jvp(owner: UserOperator, function: Any) -> DerivedOperator:
    """Declare the forward-mode kernel of an operator; see `UserOperator.jvp`."""
    what = f"the jvp of {owner.label}"
    if owner.forward_kernel is not None:
        raise DeclarationError(f"{what} was declared already, as {owner.forward_kernel.name}")
    source = Source(function, what)
    if not source.is_kernel:
        raise DeclarationError(f"{what}, {source.name}, must be a kernel: decorate it with @njit")
    inputs, outputs = owner.signature.inputs, owner.signature.outputs
    kernel = _derived(
        owner, source, "jvp", "tangent",
        [inputs[n] for n in owner.gradient_inputs()],
        [outputs[n] for n in owner.cotangent_outputs()],
    )  # fmt: skip
    kernel.transpose = lambda: getattr(owner.derivative, "kernel", None)
    owner.forward_kernel = kernel
    return kernel


def _derived(
    owner: UserOperator,
    source: Source,
    what: str,
    kind: str,
    first: Sequence[tuple[str, ...]],
    results: Sequence[tuple[str, ...]],
) -> DerivedOperator:
    """Return the operator of a kernel of (co)tangents, inputs and outputs."""
    cores = (*first, *owner.signature.inputs, *owner.signature.outputs)
    names = tuple(dict.fromkeys(name for core in (*cores, *results) for name in core))
    signature = Signature(cores, tuple(results), names)
    kinds = _groups(owner, len(first), kind)
    return DerivedOperator(owner, source, signature, f"{what} kernel", kinds)


def _check_body(owner: UserOperator, source: Source, what: str) -> None:
    kinds = _groups(owner, len(owner.cotangent_outputs()), "cotangent")
    split_parameters(source, f"{what}, function {source.name}", kinds, owner.static)


def _groups(owner: UserOperator, count: int, kind: str) -> list[tuple[int, str]]:
    """Return the parameters of a derivative: so many (co)tangents, the inputs and the outputs."""
    return [(count, kind), (len(owner.inputs), "input"), (owner.nout, "output")]
