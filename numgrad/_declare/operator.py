"""The base class of operators, and the registry of the built-in ones."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .._errors import NotDifferentiableError, OperatorError
from ..engine.graph.kind import MOST_KINDS, forget_plans
from ..engine.record import apply, dispatch
from ..engine.record.deferred import operation
from ..engine.record.dispatch import nary
from ..engine.record.several import several
from ..process.bounded_dict import Bounded
from .operands import as_values, zeros

Specs = Sequence[Any]
Computation = Callable[..., Any] | tuple[Callable[..., Any], Callable[..., Any]] | None


registry: dict[str, "Operator"] = {}


class Operator:
    """A named function of arrays with a derivative.

    Parameters
    ----------
    name : str
        The Array-API name where there is one.
    differentiable : bool
        Whether applications of the operator are recorded as nodes.
    is_view : bool
        Whether the result shares memory with the first input.
    register : bool
        Whether the operator joins the registry of built-in operators, each of which has scenarios.
    """

    nout = 1
    gives_scalars = False  # whether a result without axes is a scalar in NumPy, not an array
    reads_elements = False  # whether such a scalar is an element read from an array
    uses_blas = False
    is_linear = False  # whether the operator applied to tangents gives the tangents of its results
    is_python = False  # whether the derivative is a function of the user, which looks at numbers
    is_replay = False  # whether the operator stands for many operations, recorded as one
    completed: Any = None
    """For a view of a part of each element, such as the real part: a function ``(x, part)`` that
    returns ``x`` with that part replaced."""
    converts = False  # whether the operator may be applied to converted operands
    by_position: Any = None
    """Two functions of an operator that reads or writes a part of its first input, by which graphs
    that differ only in where parts begin share a program: the index becomes an input.

    ``(input specs, static) -> (form, first)`` returns the form of the part, which is equal for
    parts that differ only in where they begin, and the position where the part begins. None stands
    for a part without such a form.

    ``(input specs, form, most) -> (operator, static, positions, unit)`` returns an operator that
    does the same with positions as its last input, its static parameters, the positions of the part
    of this form that begins at 0, and how many elements one position stands for. None stands for
    more than ``most`` positions."""
    ranks: Callable[..., tuple[int, ...]] | None = None
    """``(**static)`` returns the number of axes of each operand without its loop axes. Declared for
    operators whose operands may lack some of the loop axes."""
    reads_pieces = False  # whether `lower` takes operands that consist of several pieces
    reorders = False  # whether results of operands in C order may have another memory order
    memory_order: Any = None
    """``(miniatures of the inputs, static)`` returns an array for each output, whose strides have
    the memory order of the output; see `numgrad.ir.memory_order`. None for results in C order."""

    def __init__(
        self, name: str, differentiable: bool = True, is_view: bool = False, register: bool = True
    ):
        self.name = name
        self.differentiable = differentiable
        self.is_view = is_view
        self.__name__ = name
        # What is known of applications of the operator, by parameters and specs; see
        # `numgrad.engine.graph.kind` and `numgrad.engine.record.plan`.
        self.kinds: dict[Any, Any] = Bounded(MOST_KINDS)
        self._pullback: Callable[..., Any] | None = None
        self._reads: Callable[..., Any] | None = None
        self.is_pure = register  # whether equal applications can be merged into one
        self.has_rule = register  # whether the derivative of a node depends on its kind alone
        if register:
            if name in registry:
                raise ValueError(f"an operator named {name!r} is registered already")
            registry[name] = self

    def __init_subclass__(cls) -> None:
        cls.converts = (cls.prepare, cls.__call__) != (Operator.prepare, Operator.__call__)

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Apply the operator to values, arrays or numbers and record it."""
        if self.nout > 1:
            found = several(self, args, static)
            if found is not None:
                return tuple(found)
        result = nary(self, args, static) if self.nout == 1 else None
        if result is not None:
            return result
        inputs = self.prepare(args, static)
        result = operation(self, inputs, static) if apply.other_modes else None
        if result is not None:
            return result
        outputs = apply.apply(self, inputs, static)
        if self.nout > 1:
            return tuple(outputs)
        dispatch.learn(self, args, inputs, static)
        return outputs[0]

    @property
    def has_second(self) -> bool:
        """Whether the derivative of the operator has a derivative itself.

        A derivative that is made of operators has one; that of a user's operator may be a kernel
        without.
        """
        kernel = getattr(getattr(self, "derivative", None), "kernel", None)
        return kernel is None or kernel.has_derivative

    def covers(self, specs: Specs, static: dict[str, Any]) -> bool:
        """Return whether the whole first input is overwritten, so that no gradient flows to it."""
        return False

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Return the inputs as values, converted as the operator needs them."""
        return tuple(as_values(args))

    # What the engine asks of an operator
    # -------------------------------------------------------------

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        """Return shape and dtype of each output."""
        raise NotImplementedError

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        """Compute the outputs on arrays now."""
        raise NotImplementedError

    def computation(
        self, target: Any, inputs: Specs, static: dict[str, Any]
    ) -> Computation:
        """Return a function that computes the result from arrays with these specs, or None.

        Of several results the function returns a sequence. The function may raise ``ValueError``
        for an array that must be copied first. A pair has a second function, which is faster and
        takes arrays in C order only.
        """
        if self.nout > 1:
            return lambda *arrays: self.run(target, arrays, static)
        return lambda *arrays: self.run(target, arrays, static)[0]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        """Append instructions to a program and return the operands of the outputs."""
        raise NotImplementedError

    def error(self, where: str) -> Exception:
        """Return the exception for a kernel that failed; ``where`` names the row and the index."""
        return OperatorError(f"the kernel of {self.name} raised{where}")

    def saves(self, needs: Sequence[bool]) -> Sequence[bool]:
        """Return for each input and output whether the derivative to the needed inputs reads it."""
        if self._reads is not None:
            return self._reads(needs)
        return (False,) * (len(needs) + self.nout)

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the cotangents of the inputs as values, ``None`` for an input without one."""
        if self._pullback is None:
            raise NotDifferentiableError(
                f"the operator {self.name}{context.node.where()} has no derivative of this order; "
                f"declare one with @{self.name}.backward"
            )
        cotangents = [
            zeros_of(spec) if g is None else g
            for g, spec in zip(cotangents, context.output_specs, strict=True)
        ]
        gradients = self._pullback(context, *cotangents)
        return gradients if isinstance(gradients, tuple) else (gradients,)

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the outputs; those of the inputs are given.

        An output without one has ``None``. ``None`` for all of them lets the engine transpose the
        derivative.
        """
        if not self.is_linear:
            return None
        inputs = [
            (context.input(n) if spec.dtype.kind not in "fc" else zeros_of(spec))
            if tangent is None else tangent
            for n, (tangent, spec) in enumerate(zip(tangents, context.input_specs, strict=True))
        ]  # fmt: skip
        return apply.apply(self, tuple(inputs), context.static)

    # What a declaration adds
    # ---------------------------------------------------------------------------

    def pullback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare the derivative: ``function(context, g...)`` returns the gradients of the inputs.

        The function computes them by operators.
        """
        self._pullback = function
        self.has_rule = registry.get(self.name) is self  # not for a user's function
        self.kinds.clear()
        return function

    def reads(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare which values the pullback reads.

        ``function(needs)`` returns a bool for each input and each output.
        """
        self._reads = function
        self.kinds.clear()
        return function

    def forget_plans(self) -> None:
        """Forget how applications are computed, as settings that kernels depend on have changed."""
        forget_plans(self.kinds)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def zeros_of(spec: Any) -> Any:
    """Return zeros of a spec, such as the cotangent of an output at which none has arrived."""
    return zeros(spec.shape, spec.dtype)


def arrived(context: Any, cotangents: Sequence[Any], outputs: Iterable[int]) -> list[Any]:
    """Return the cotangents of some outputs, zeros where none has arrived."""
    return [
        zeros_of(context.output_specs[n]) if cotangents[n] is None else cotangents[n]
        for n in outputs
    ]
