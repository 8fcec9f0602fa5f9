"""Operators of users: a gufunc signature, and kernels written with ``@njit``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import DeclarationError, OperatorCallError
from .._settings import settings
from .._signature import Signature, parse_signature
from .._specs import LoopSpec
from . import statics
from .kernel import KernelOperator, _contiguous_core
from .operator import Specs, door
from .promotion import promote
from .replay import replay
from .source import Source, split_parameters

if TYPE_CHECKING:
    from .derivative import Derivative


class UserOperator(KernelOperator):
    """An operator that a user declared; see `declaration.operator`."""

    def __init__(
        self,
        function: Any,
        signature: str | Signature,
        name: str | None = None,
        static: Sequence[str] = (),
        nondifferentiable: Sequence[str] = (),
        results: Sequence[Any] | None = None,
    ) -> None:
        self.source = source = Source(
            function, f"operator {name or getattr(function, '__name__', '')}"
        )
        self.label = self._label(name or source.name)
        parsed = self._parsed(signature)
        self.static = self._check_parameters(parsed, tuple(static))
        super().__init__(
            source.function, str(parsed), name or source.name, self._result_dtypes(parsed, results),
            register=False, may_raise=True,
        )  # fmt: skip
        self.inputs = source.parameters[: len(parsed.inputs)]
        self.nondifferentiable = self._check_names(nondifferentiable)
        self.differentiable = bool(self.gradient_inputs())
        self._kernel_specs: dict[Any, LoopSpec] = {}
        self.derivative: Derivative | None = None
        self.forward_kernel: Any = None  # the operator of the forward-mode kernel
        self.__doc__ = source.plain.__doc__
        self.__signature__ = self._python_signature()
        self.__module__, self.__qualname__ = source.plain.__module__, source.plain.__qualname__

    # The declaration

    def _label(self, name: str) -> str:
        return f"operator {name}" + (
            f" (kernel {self.source.name})" if self.source.name != name else ""
        )

    def _parsed(self, signature: str | Signature) -> Signature:
        if isinstance(signature, Signature):
            return signature
        try:
            return parse_signature(signature)
        except ValueError as error:
            raise DeclarationError(f"{self.label}: {error}") from None

    def _check_parameters(self, signature: Signature, static: tuple[str, ...]) -> tuple[str, ...]:
        """Return the static parameters that the kernel takes."""
        trailing = split_parameters(self.source, self.label, self._groups(signature), static)
        if missing := [name for name in static if name not in trailing]:
            raise DeclarationError(
                f"{self.label}: the static parameter {missing[0]!r} is no parameter of the "
                f"kernel, which takes ({', '.join(self.source.parameters)})"
            )
        return trailing

    def _groups(self, signature: Signature) -> list[tuple[int, str]]:
        """Return the parameters that the kernel takes before the static ones."""
        groups = [(len(signature.inputs), "input")]
        return groups if signature.scalar else [*groups, (len(signature.outputs), "array to write")]

    def _result_dtypes(self, signature: Signature, results: Sequence[Any] | None) -> Sequence[Any]:
        count = len(signature.outputs)
        if results is None:
            return (None,) * count
        if isinstance(results, str) or not isinstance(results, Sequence) or len(results) != count:
            raise DeclarationError(
                f"{self.label}: results must be a sequence of {count} dtypes (or None), got "
                f"{results!r}"
            )
        try:
            return tuple(r if r is None else np.dtype(r) for r in results)
        except TypeError as error:
            raise DeclarationError(f"{self.label}: results: {error}") from None

    def _check_names(self, names: Sequence[str]) -> frozenset[str]:
        for name in names:
            if name not in self.inputs:
                raise DeclarationError(
                    f"{self.label}: nondifferentiable names {name!r}, but the inputs are "
                    f"{', '.join(self.inputs)}"
                )
        return frozenset(names)

    def gradient_inputs(self) -> list[int]:
        """Return the positions of the inputs for which a backward kernel writes a gradient."""
        return [n for n, name in enumerate(self.inputs) if name not in self.nondifferentiable]

    def cotangent_outputs(self) -> list[int]:
        """Return the positions of the outputs whose cotangents a backward kernel gets."""
        return [n for n, dtype in enumerate(self.results) if dtype is None or dtype.kind in "fc"]

    def backward(self, function: Any) -> Any:
        """Declare the derivative: an ``@njit`` kernel, or a Python function that works on tensors.

        Both take the cotangents of the outputs, then the inputs, then the outputs. A kernel then
        takes the arrays to write, one for each input (a kernel of scalars returns the gradients);
        a Python function takes static parameters by keyword and returns the gradients as tensors.

        Returns
        -------
        operator or function
            A backward kernel is an operator itself: declare its own ``backward`` for the next
            order.
        """
        from .derived import declare_backward

        return declare_backward(self, function)

    def jvp(self, function: Any) -> Any:
        """Declare a forward-mode kernel ``(tx..., x..., y..., ty...)``; scalars: it returns ``ty``.

        It is the derivative of the backward kernel with respect to its cotangents, which is what
        ``ng.func.jvp`` and ``jacfwd`` need.
        """
        from .derived import declare_jvp

        return declare_jvp(self, function)

    # Calls

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Apply the operator: arrays by position, static parameters by keyword."""
        values = statics.bind(self.label, self.static, self.source.defaults, static)
        inputs, is_half = self._promoted(args)
        outputs = door.apply(self, inputs, values)
        if is_half:
            half = np.dtype(np.float16)
            outputs = [
                o.astype(half, copy=False) if declared is None else o
                for o, declared in zip(outputs, self.results, strict=True)
            ]
        return outputs[0] if self.nout == 1 else tuple(outputs)

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Promote the floating inputs together; integers stay what they are."""
        return self._promoted(args)[0]

    def _promoted(self, args: Sequence[Any]) -> tuple[tuple[Any, ...], bool]:
        """Return the inputs as values of aligned ranks, and whether they were of half precision."""
        values, is_half = promote(args, self.inputs, self.label)
        for value, core in zip(values, self.ncore, strict=False):
            if len(value.shape) < core:
                self.infer(values, {})  # raises: it has fewer axes than core dimensions
        return self.align(values), is_half

    # Kernels

    def kernel_spec(
        self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]
    ) -> tuple[LoopSpec, list[np.ndarray]]:
        """Return the spec of the kernel and the arrays of its static operands."""
        common = self._common(dtypes)
        values = [static[name] for name in self.static]
        numbers = [
            np.asarray(v, statics.dtype_of(v, common)) for v in values if statics.is_number(v)
        ]
        trailing = statics.trailing(values)
        key = (*dtypes, *(a.dtype for a in numbers), trailing, settings.debug)
        if key not in self._kernel_specs:
            self._kernel_specs[key] = LoopSpec(
                self.label,
                self.function,
                str(self.signature).replace("->", ",()" * len(numbers) + "->"),
                (*dtypes, *(a.dtype for a in numbers)),
                tuple(d for _, d in self._output_specs([((), d) for d in dtypes])),
                may_raise=True,
                trailing=trailing,
                checked=settings.debug,
            )
        return self._kernel_specs[key], numbers

    def _common(self, dtypes: Sequence[np.dtype]) -> np.dtype:
        floating = [d for d in dtypes if d.kind in "fc"]
        return np.result_type(*floating) if floating else np.dtype(np.float64)

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        try:
            return super().infer(specs, static)
        except ValueError as error:
            raise OperatorCallError(f"{self.label}: {_without_name(error, self.name)}") from None

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        spec, numbers = self.kernel_spec(tuple(a.dtype for a in arrays), static)
        try:
            operands = [_contiguous_core(a, n) for a, n in zip(arrays, self.ncore, strict=False)]
            results, status = target.kernel(spec).call(*operands, *numbers)
        except ValueError:
            self.infer(
                arrays, static
            )  # says which shapes do not match, in the words of the declaration
            raise
        if status:
            site = door.site()
            raise self.replay(
                spec, target, [*arrays, *numbers], f", called at {site}" if site else ""
            )
        return [np.asarray(r) for r in (results if self.nout > 1 else (results,))]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        spec, numbers = self.kernel_spec(tuple(o.dtype for o in inputs), static)
        sizes = self.core_sizes([o.shape for o in inputs])
        operands = [builder.contiguous(o, n) for o, n in zip(inputs, self.ncore, strict=False)]
        outputs = [builder.new(s.shape, s.dtype, s.rows) for s in specs]
        ncore = (*self.ncore[: len(inputs)], *(0,) * len(numbers), *self.ncore[len(inputs) :])
        loop = specs[0].shape[: len(specs[0].shape) - self.ncore[len(inputs)]]
        core = tuple(sizes[name] for name in self.signature.names)
        operands += [builder.constant(number) for number in numbers]
        builder.emit(
            spec, operands, outputs, ncore, core, loop, self.name, replay=partial(self.replay, spec)
        )
        return outputs

    def replay(
        self, spec: LoopSpec, target: Any, inputs: Sequence[np.ndarray], where: str
    ) -> Exception:
        """Return the error for a kernel that failed, after calling it again on this thread."""
        ncore = (*self.ncore[: len(self.inputs)], *(0,) * (len(inputs) - len(self.inputs)))
        outputs = self.source.parameters[len(self.inputs) :]
        return replay(target, spec, inputs, ncore, self.label, where, outputs)

    # Derivatives

    def saves(self, needs: Sequence[bool]) -> Sequence[bool]:
        rule = self.rule(needs)
        return rule.reads if rule is not None else super().saves(needs)

    def rule(self, wanted: Sequence[bool]) -> Derivative | None:
        """Return how the gradients of the wanted inputs are computed, if it was declared."""
        return self.derivative

    @property
    def is_twice(self) -> bool:
        """Whether a node of this operator can be differentiated."""
        return self.derivative is not None

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        rule = self.rule(context.wanted)
        if rule is None:
            return super().differentiate(backward_pass, context, cotangents)
        return rule.apply(context, cotangents)

    # Python

    def _python_signature(self) -> inspect.Signature:
        positional = [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in self.inputs
        ]
        defaults = self.source.defaults
        keyword = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, inspect.Parameter.empty),
            )
            for name in self.static
        ]
        return inspect.Signature([*positional, *keyword])

    def __reduce__(self) -> str:
        return self.__qualname__  # by reference, like a function

    def __repr__(self) -> str:
        return f"<operator {self.name} {self.signature}>"


def _without_name(error: Exception, name: str) -> str:
    return str(error).removeprefix(f"{name}: ")
