"""Operators of users: a gufunc signature, and kernels written with ``@njit``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import DeclarationError, OperatorCallError
from ..._settings import settings
from ...engine.record import apply
from ...engine.record.apply import user_site
from ...ir.gufunc_signature import Signature, parse_signature
from ...ir.kernel_spec import CUDAKernel, LoopSpec
from ..kernel import KernelOperator, called_again, common_dtype
from ..operator import Specs
from ..source import Source, split_parameters
from .arguments import bind, compiled_in, is_number, number, promote
from .loops import loops

if TYPE_CHECKING:
    from .derivative import Derivative


class UserOperator(KernelOperator):
    """An operator that a user declared; see `operator`."""

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
            source.function, str(parsed), name or source.name, self._results(parsed, results),
            register=False, may_raise=True,
        )  # fmt: skip
        self.inputs = source.parameters[: len(parsed.inputs)]
        self.nondifferentiable = self._check_names(nondifferentiable)
        self.differentiable = self.has_rule = bool(self.gradient_inputs())
        self.derivative: Derivative | None = None
        self.forward_kernel: Any = None  # the operator of the forward-mode kernel
        self.forward_rule: Any = None  # the derivative that applies that operator
        self.on_cuda: CUDAKernel | None = None
        self.core_pattern: Any = None
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
        """Return the names of the static parameters, in the order of the kernel."""
        trailing = split_parameters(self.source, self.label, self._groups(signature), static)
        if missing := [name for name in static if name not in trailing]:
            raise DeclarationError(
                f"{self.label}: the static parameter {missing[0]!r} is no parameter of the "
                f"kernel, which takes ({', '.join(self.source.parameters)})"
            )
        return trailing

    def _groups(self, signature: Signature) -> list[tuple[int, str]]:
        """Return the numbers and kinds of the kernel's parameters before the static ones."""
        groups = [(len(signature.inputs), "input")]
        return groups if signature.scalar else [*groups, (len(signature.outputs), "array to write")]

    def _results(self, signature: Signature, results: Sequence[Any] | None) -> Sequence[Any]:
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

    def groups(self) -> list[tuple[int, str]]:
        """Return the numbers and kinds of the kernel's parameters before the static ones."""
        return self._groups(self.signature)

    @property
    def has_specs(self) -> bool:
        """Whether a kernel spec was made, so that programs may already use it."""
        return bool(self._specs)

    def gradient_inputs(self) -> list[int]:
        """Return the positions of the inputs whose gradients a backward kernel writes."""
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
        """Declare a forward-mode kernel ``(tx..., x..., y..., ty...)``.

        A kernel of scalars returns ``ty``. ``ng.func.jvp`` and ``jacfwd`` call the kernel, which is
        also the derivative of the backward kernel to its cotangents.
        """
        from .derived import declare_jvp

        return declare_jvp(self, function)

    def sparsity(self, function: Any) -> Any:
        """Declare which elements of an output's core depend on which elements of an input's core.

        The declared function takes the sizes of the core dimensions by name. It returns a dict from
        inputs to boolean or sparse matrices, elements of the output's core by elements of the
        input's core, or to tuples of matrices for several outputs. Outputs depend on all elements
        of an input that the dict does not have.
        """
        self.core_pattern = function
        return function

    def cuda(self, function: Any = None, *, threads: int | None = None) -> Any:
        """Declare a kernel for CUDA: a ``numba.cuda.jit`` kernel, or a function that is to be one.

        Without one, each element of the loop is the work of one thread, which calls the ``@njit``
        kernel. The kernel for CUDA has the same parameters and gets whole arrays, with one axis for
        the loop in front of their core dimensions, as long for all of them; results are arrays to
        write, also those of scalars. Backward and forward-mode kernels are declared in the same
        way.

        Parameters
        ----------
        function : callable
        threads : int, optional
            Those of a block. Without a number there are enough threads for each element of the
            largest array, or fewer: a kernel goes on in strides of ``cuda.gridsize(1)``. With a
            number there is a block for each element of the loop, or fewer: a kernel goes on in
            strides of ``cuda.gridDim.x``.

        Returns
        -------
        callable
            The function.
        """
        from .device import declare_cuda

        if function is None:
            return lambda function: declare_cuda(self, function, threads)
        return declare_cuda(self, function, threads)

    # Calls

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Apply the operator: arrays by position, static parameters by keyword."""
        values = bind(self.label, self.static, self.source.defaults, static)
        inputs, is_half = self._promoted(args)
        outputs = apply.apply(self, inputs, values)
        if is_half:
            half = np.dtype(np.float16)
            outputs = [
                o.astype(half, copy=False) if declared is None else o
                for o, declared in zip(outputs, self.results, strict=True)
            ]
        return outputs[0] if self.nout == 1 else tuple(outputs)

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Return the inputs as values, floating ones of one dtype; integers keep their dtypes."""
        return self._promoted(args)[0]

    def _promoted(self, args: Sequence[Any]) -> tuple[tuple[Any, ...], bool]:
        """Return the inputs as values with equally many leading axes, and whether they have half
        precision."""
        values, is_half = promote(args, self.inputs, self.label)
        for value, core in zip(values, self.ncore, strict=False):
            if len(value.shape) < core:
                self.infer(values, {})  # raises: the value has fewer axes than core dimensions
        return self.align(values), is_half

    # Kernels

    def kernel(
        self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]
    ) -> tuple[LoopSpec, list[np.ndarray]]:
        common = common_dtype(dtypes)
        values = [static[name] for name in self.static]
        numbers = [number(v, common) for v in values if is_number(v)]
        given = (*dtypes, *[a.dtype for a in numbers])
        trailing = compiled_in(values)
        key = (given, trailing, settings.debug)
        if key not in self._specs:
            self._specs[key] = LoopSpec(
                self.label,
                self.function,
                str(self.signature).replace("->", ",()" * len(numbers) + "->"),
                given,
                tuple(self.result_dtypes(dtypes)),
                may_raise=True,
                trailing=trailing,
                checked=settings.debug,
                on_cuda=self.on_cuda,
            )
        return self._specs[key], numbers

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        try:
            return super().infer(specs, static)
        except ValueError as error:
            words = str(error).removeprefix(f"{self.name}: ")
            raise OperatorCallError(f"{self.label}: {words}") from None

    def failure(
        self, target: Any, spec: Any, inputs: Sequence[np.ndarray], status: int, static: Any
    ) -> Exception:
        site = user_site()
        return self.error_on_rerun(spec, target, inputs, f", called at {site}" if site else "")

    def reports(self, spec: Any, static: dict[str, Any]) -> dict[str, Any]:
        return {"replay": partial(self.error_on_rerun, spec)}

    def error_on_rerun(
        self, spec: LoopSpec, target: Any, inputs: Sequence[np.ndarray], where: str
    ) -> Exception:
        """Call the function of a failed kernel again, on the calling thread; return its error."""
        ncore = (*self.ncore[: len(self.inputs)], *(0,) * (len(inputs) - len(self.inputs)))
        outputs = self.source.parameters[len(self.inputs) :]
        return called_again(target, spec, inputs, ncore, self.label, where, outputs)

    # Derivatives

    def saves(self, needs: Sequence[bool]) -> Sequence[bool]:
        rule = self.rule(needs)
        if rule is None and self.is_derived:
            return self.with_tangent((*[True] * len(needs), *[False] * self.nout))
        return self.with_tangent(super().saves(needs) if rule is None else rule.reads)

    def with_tangent(self, reads: Sequence[bool]) -> list[bool]:
        """Return for each input and output whether ``reads`` has it or the forward-mode kernel
        reads it."""
        if self.forward_rule is None:
            return list(reads)
        return [a or b for a, b in zip(reads, self.forward_rule.reads, strict=True)]

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the outputs, or None: then the engine transposes the derivative.

        A forward-mode kernel computes them if one is declared. Otherwise they are derived from the
        source of the operator's kernel, unless a backward is declared.
        """
        if self.forward_rule is not None:
            return self.forward_rule.apply(context, tangents)
        if self.is_derived:
            return loops.derivative_of(self, context).tangents(context, tangents)
        return None

    def rule(self, wanted: Sequence[bool]) -> Derivative | None:
        """Return the declared derivative to the wanted inputs, None if there is none."""
        return self.derivative

    @property
    def is_derived(self) -> bool:
        """Whether no derivative is declared, so that it is derived from the source of the kernel.
        """
        return self.derivative is None

    @property
    def has_derivative(self) -> bool:
        """Whether nodes of this operator can be differentiated."""
        return self.derivative is not None

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        rule = self.rule(context.wanted)
        if rule is None and self.is_derived:
            return loops.derivative_of(self, context).gradients(context, cotangents)
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


def operator(
    signature: str,
    *,
    name: str | None = None,
    static: Sequence[str] = (),
    nondifferentiable: Sequence[str] = (),
    results: Sequence[Any] | None = None,
) -> Callable[[Any], UserOperator]:
    """Declare an operator from a kernel: ``@ng.operator("(n),(p)->(n)")`` over ``@njit``.

    The kernel computes the core; any number of leading axes is looped over, as in NumPy's
    generalized ufuncs, and so are the rows of a batched backward pass. A kernel with core
    dimensions takes the inputs, then the arrays to write; a kernel of scalars takes the inputs and
    returns the outputs. A derivative that is not declared is derived from the source of the kernel
    when the derivative is asked for the first time, as for `njit`.

    Parameters
    ----------
    signature : str
        Such as ``"(m,k),(k,n)->(m,n)"`` or ``"(),()->()"``.
    name : str, optional
        The name of the function by default.
    static : sequence of str
        The parameters that are no arrays. They come last in the kernel, and by keyword in a call.
        A number is an operand: another value needs no other kernel. Anything else is compiled in.
    nondifferentiable : sequence of str
        The inputs without gradient: the backward kernel has no array for them.
    results : sequence of dtype or None, optional
        The dtype of each output; ``None`` for the dtype to which the floating inputs are promoted.
        An integer output has no cotangent.

    Returns
    -------
    callable
        Makes the operator of a function. The operator has the decorators ``backward`` and ``jvp``.

    Raises
    ------
    DeclarationError
        If the signature is wrong, or the kernel has other parameters than the signature asks for.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> from numba import njit
    >>> @ng.operator("(n),()->(n)")
    ... @njit
    ... def scale(x, a, out):
    ...     for i in range(x.size):
    ...         out[i] = a * x[i]
    >>> @scale.backward
    ... @njit
    ... def scale_backward(g, x, a, out, gx, ga):
    ...     ga[0] = 0.0
    ...     for i in range(x.size):
    ...         gx[i] = a * g[i]
    ...         ga[0] += x[i] * g[i]
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> a = ng.tensor(3.0, requires_grad=True)
    >>> y = scale(x, a)
    >>> [g.numpy() for g in ng.grad(y, [x, a], np.array([1.0, 10.0]))]
    [array([ 3., 30.]), array(21.)]
    """
    if not isinstance(signature, str):
        raise DeclarationError(
            "ng.operator needs a gufunc signature: write @ng.operator('(n)->(n)') over the kernel"
        )
    for option, value in (("static", static), ("nondifferentiable", nondifferentiable)):
        if isinstance(value, str) or not all(isinstance(item, str) for item in value):
            raise DeclarationError(
                f"ng.operator: {option} must be a sequence of names, got {value!r}"
            )
    options: dict[str, Any] = {"static": static, "nondifferentiable": nondifferentiable}
    return lambda function: UserOperator(function, signature, name, results=results, **options)
