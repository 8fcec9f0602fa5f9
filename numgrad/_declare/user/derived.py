"""Derived operators: kernels of derivatives as operators, and the functions that declare them."""

from collections.abc import Callable, Sequence
from typing import Any

from ..._errors import DeclarationError
from ...ir.gufunc_signature import Signature
from ..source import Source, split_parameters
from .derivative import (
    Derivative,
    KernelDerivative,
    KernelTangent,
    TensorDerivative,
    TransposedKernel,
    refuse,
)
from .operator import UserOperator
from .transposed import TransposedByUnitVectors


class DerivedOperator(UserOperator):
    """The kernel of a derivative as an operator itself.

    The kernel is linear in its first ``linear`` inputs, cotangents or tangents. ``transpose``
    returns the kernel of the transposed map, if that was declared: the forward-mode kernel for a
    backward kernel, and the backward kernel for a forward-mode kernel.
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

    is_derived = False  # type: ignore[assignment]

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
        if any(wanted[self.linear :]):
            return None
        transposed = self.transpose()
        if transposed is None:
            return TransposedByUnitVectors(self, self)
        return TransposedKernel(self, transposed)

    def saves(self, needs: Sequence[bool]) -> Sequence[bool]:
        """Return for each value whether a node saves it.

        All that the transposed kernel reads is saved, even if other inputs are needed: a later pass
        may want the cotangents of the linear inputs alone.
        """
        only_linear = [n < self.linear for n in range(len(needs))]
        return super().saves(needs if self.derivative is not None else only_linear)

    @property
    def has_derivative(self) -> bool:
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
        owner.has_rule = False  # the function may look at numbers
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
    owner.forward_rule = KernelTangent(owner, kernel)
    owner.kinds.clear()
    return kernel


def _derived(
    owner: UserOperator,
    source: Source,
    what: str,
    kind: str,
    first: Sequence[tuple[str, ...]],
    results: Sequence[tuple[str, ...]],
) -> DerivedOperator:
    """Return the kernel of a derivative as an operator.

    Its inputs are cotangents or tangents, with the core dimensions ``first``, then the owner's
    inputs and outputs.
    """
    cores = (*first, *owner.signature.inputs, *owner.signature.outputs)
    names = tuple(dict.fromkeys(name for core in (*cores, *results) for name in core))
    signature = Signature(cores, tuple(results), names)
    kinds = _groups(owner, len(first), kind)
    return DerivedOperator(owner, source, signature, f"{what} kernel", kinds)


def _check_body(owner: UserOperator, source: Source, what: str) -> None:
    """Raise unless a function of tensors has the parameters of a backward."""
    kinds = _groups(owner, len(owner.cotangent_outputs()), "cotangent")
    split_parameters(source, f"{what}, function {source.name}", kinds, owner.static)


def _groups(owner: UserOperator, count: int, kind: str) -> list[tuple[int, str]]:
    """Return the numbers and kinds of a derivative's parameters: (co)tangents, inputs and outputs.
    """
    return [(count, kind), (len(owner.inputs), "input"), (owner.nout, "output")]
