"""Elementwise operators: one scalar function for the value, one for each partial derivative."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import DeclarationError, DtypeError, NotDifferentiableError
from ..engine.graph.runtime import runtime
from ..engine.record import apply, dispatch
from ..engine.record.apply import mode, other_modes, user_site
from ..engine.record.deferred import elementwise as defer
from ..engine.record.dispatch import binary, nary, unary
from ..engine.record.new_shapes import learn_shape
from ..engine.record.parallel_launch import by_short_rows, is_many, launch_parallel
from ..ir.broadcasting import broadcast_shapes, mismatch
from ..ir.dtypes import FLOATING, WEAK
from ..ir.kernel_spec import ElementwiseSpec
from ..ir.memory_order import as_kept
from .buffers import best_call
from .foreign import calls_library
from .kernel import called_again
from .operands import Selection, align, constant, device_among, kind_of
from .operator import Computation, Operator, Specs, registry
from .partial import Partial
from .source import python_function

_FAST = frozenset(FLOATING)
_MISSING: Any = object()
_REAL = {np.dtype(c): np.dtype(f) for c, f in (("complex64", "float32"), ("complex128", "float64"))}


def elementwise(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Declare an elementwise operator from a scalar function.

    Parameters
    ----------
    function : callable
        Scalars in, one scalar out; ``math.*``, arithmetic, comparisons and ``where(c, a, b)``.
    **options
        By name, each optional:

        - ``numpy``, a callable: the NumPy function for integers and booleans; without it these are
          converted to float64.
        - ``complex``, a bool or callable: whether complex arguments are allowed, or the scalar
          function for them. Default true.
        - ``integers``, a callable: the scalar function for integers and booleans in programs, if
          that differs.
        - ``refuses``, a str: the message of the error where that function raises, for signed
          integers.
        - ``conditions``, a sequence of int: positions of boolean arguments, such as the first of
          ``where``.
        - ``result``, one of None, "bool" and "real": the kind of the result where it differs from
          the kind of the arguments.

    Examples
    --------
    >>> import math
    >>> import numgrad as ng
    >>> @ng.elementwise
    ... def gauss(x):
    ...     return math.exp(-x * x)
    >>> @gauss.partial("x")
    ... def gauss_dx(x, y):
    ...     return -2.0 * x * y
    >>> x = ng.tensor([0.5, 1.0], requires_grad=True)
    >>> ng.grad(gauss(x).sum(), x)[0].numpy()
    array([-0.77880078, -0.73575888])
    """
    if function is None:
        return functools.partial(elementwise, **options)
    return Elementwise(function, **options)


class Elementwise(Operator):
    """An operator that maps a scalar function over arrays of equal rank; see `elementwise`."""

    reads_pieces = True
    gives_scalars = True
    memory_order = staticmethod(as_kept)

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        numpy: Callable[..., Any] | None = None,
        complex: bool | Callable[..., Any] = True,
        integers: Callable[..., Any] | None = None,
        refuses: str = "",
        conditions: Sequence[int] = (),
        result: str | None = None,
        differentiable: bool | None = None,
        register: bool = False,
    ) -> None:
        if differentiable is None:
            differentiable = result != "bool"
        function = python_function(function, f"elementwise operator {name or ''}".strip())
        super().__init__(name or function.__name__, differentiable, register=register)
        self.function = function
        self.is_builtin = register  # a user's function may raise
        self.has_rule = True
        self.numpy = numpy
        self.allows_complex = complex is not False
        self.complex_function = complex if callable(complex) else function
        self.integer_function = integers or function
        self.refuses = refuses
        self.conditions = frozenset(conditions)
        self.result = result
        code = function.__code__
        self.is_dear = calls_library(function)  # a call takes longer than loading its arguments
        self.parameters = code.co_varnames[: code.co_argcount]
        self.partials: dict[int, Partial] = {}
        self._lowered_as: Partial | None = None
        self._specs: dict[np.dtype, ElementwiseSpec] = {}
        self.__doc__ = function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__

    def partial(self, parameter: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare the partial derivative with respect to ``parameter``.

        The parameters of the declared function name the values that the derivative reads: the
        operator's own parameters, and ``y`` for its value.
        """
        if parameter not in self.parameters:
            raise DeclarationError(
                f"{self.name} has no parameter {parameter!r} to declare a partial for; it takes "
                f"{', '.join(self.parameters)}"
            )
        index = self.parameters.index(parameter)
        if index in self.partials:
            what = f"{self.name}: the partial for {parameter!r}"
            raise DeclarationError(f"{what} was declared already")

        def declare(function: Callable[..., Any]) -> Callable[..., Any]:
            self.partials[index] = Partial(self, function, Elementwise)
            self.kinds.clear()
            return function

        return declare

    # Inputs: dtypes and ranks
    # ----------------------------------------------------------------------------

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Return operands as values of one dtype, promoted as in NumPy, and with equally many axes.

        Conversions are recorded.
        """
        if len(args) != len(self.parameters):
            raise TypeError(f"{self.name} takes {len(self.parameters)} arguments, got {len(args)}")
        first = args[0]
        if len(args) == 1 and isinstance(first, runtime.value) and first.dtype in _FAST:
            return self._check_complex(first.dtype, (first,))
        if len(args) == 2 and not self.conditions:
            second = args[1]
            if (
                isinstance(first, runtime.value) and isinstance(second, runtime.value)
                and first.dtype == second.dtype and first.dtype in _FAST
                and len(first.shape) == len(second.shape)
            ):  # fmt: skip
                return self._check_complex(first.dtype, (first, second))
        return self._promote(args)

    def _check_complex(self, dtype: np.dtype, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if dtype.kind == "c" and not self.allows_complex:
            raise DtypeError(f"{self.name} is not defined for complex arguments, got {dtype}")
        return values

    def _promote(self, args: Sequence[Any]) -> tuple[Any, ...]:
        device = device_among(args)
        args = [a if isinstance(a, (runtime.value, *WEAK)) else _operand(a, device) for a in args]
        dtype = self.dtype_of([kind_of(a) for n, a in enumerate(args) if n not in self.conditions])
        values = []
        for position, arg in enumerate(args):
            wanted = np.dtype(bool) if position in self.conditions else dtype
            if not isinstance(arg, runtime.value):
                arg = constant(np.asarray(arg, wanted)[()])  # a number, which nobody writes
            elif arg.dtype != wanted:
                arg = _converted(arg, wanted, device)
            values.append(arg)
        ndim = max(len(v.shape) for v in values)
        return self._check_complex(
            dtype, tuple(v if len(v.shape) == ndim else align(v, ndim) for v in values)
        )

    def dtype_of(self, kinds: Sequence[Any]) -> np.dtype:
        """Return the dtype in which the operator computes, for operands of these dtypes or Python
        numbers."""
        dtype = np.result_type(*kinds)
        if dtype.kind in "biu" and self.numpy is None:
            return np.dtype(np.float64)
        if dtype == np.float16 or self._is_half(dtype):
            return np.dtype(np.float32)
        if dtype.kind not in "biufc" or dtype.itemsize > 16 or dtype.char in "gG":
            raise DtypeError(
                f"{self.name} does not support {dtype}; use float32, float64, complex64 or "
                f"complex128"
            )
        return dtype

    def __call__(self, x: Any, y: Any = _MISSING, *rest: Any) -> Any:
        """Apply the operator and record it."""
        if y is _MISSING:
            return unary(self, x)
        if rest:
            result = nary(self, (x, y, *rest), {})
            return self.general((x, y, *rest)) if result is None else result
        return binary(self, x, y)

    def general(self, args: tuple[Any, ...]) -> Any:
        """Apply the operator to operands of any sort.

        They are values, arrays, numbers, lists, and elements selected by a mask that is known
        later.
        """
        try:
            return self._general(args)
        except ValueError:
            shapes = [np.shape(a) for a in args if not isinstance(a, (Selection, *WEAK))]
            message = mismatch(self.name, shapes)
            if message is None:
                raise
        raise ValueError(message)

    def _general(self, args: tuple[Any, ...]) -> Any:
        deferred = defer(self, args)  # of values and numbers alone
        if deferred is not None:
            return deferred
        if learn_shape(self, args, dispatch.apply_one):
            return self(*args)
        if chosen := [a for a in args if isinstance(a, Selection)]:
            return chosen[0].applied(self, args)
        if any([type(a) in (list, tuple) for a in args]):  # noqa: C419  a list is faster
            device = device_among(args)
            made = [constant(a, device) if type(a) in (list, tuple) else a for a in args]
            return self(*made)
        inputs = self.prepare(args, {})
        result = apply.apply(self, inputs, {})[0]
        if result.dtype == np.float32 and self._gives_half(args):
            return result.astype(np.dtype(np.float16))
        dispatch.learn(self, args, inputs, None)
        return result

    def _gives_half(self, args: Sequence[Any]) -> bool:
        """Whether the result is to have half precision, although kernels compute it in single
        precision."""
        kinds = [kind_of(a) for a in args if hasattr(a, "dtype") or isinstance(a, WEAK)]
        kinds = [getattr(kind, "dtype", kind) for kind in kinds]
        if not kinds:
            return False
        dtype = np.result_type(*kinds)
        return dtype == np.float16 or self._is_half(dtype)

    def _is_half(self, dtype: np.dtype) -> bool:
        """Whether NumPy's result has half precision for integers or booleans, as for rounded
        booleans."""
        return dtype.kind in "biu" and self.result_dtype(dtype) == np.float16

    # Values
    # -------------------------------------------------------------------------------------------

    def spec(self, dtype: np.dtype) -> ElementwiseSpec:
        """Return the kernel spec for operands of ``dtype``."""
        known = self._specs.get(dtype)
        if known is None:
            inputs = tuple(
                np.dtype(bool) if n in self.conditions else dtype
                for n in range(len(self.parameters))
            )
            known = ElementwiseSpec(
                self.name, self._function_of(dtype), inputs, (self.result_dtype(dtype),)
            )
            self._specs[dtype] = known
        return known

    def _function_of(self, dtype: np.dtype) -> Callable[..., Any]:
        if dtype.kind == "c":
            return self.complex_function
        return self.integer_function if dtype.kind in "biu" else self.function

    def result_dtype(self, dtype: np.dtype) -> np.dtype:
        if self.result == "bool":
            return np.dtype(bool)
        if self.result == "real":
            return _REAL.get(dtype, dtype)
        if dtype.kind in "biu" and self.numpy is not None:
            return self.numpy(*[np.ones((), dtype)] * len(self.parameters)).dtype
        return dtype

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        shape = specs[0].shape
        if any([other.shape != shape for other in specs[1:]]):  # noqa: C419
            shape = broadcast_shapes(*[s.shape for s in specs])
        return [(shape, self.result_dtype(specs[-1].dtype))]

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        dtype = arrays[-1].dtype
        if dtype.kind in "biu" and self.numpy is not None:
            return [np.asarray(self.numpy(*arrays))]
        if self.is_builtin:
            shared = launch_parallel(self, arrays, static, self.is_dear)
            if shared is not None:
                return shared
        kernel = target.kernel(self.spec(dtype))
        if self.is_builtin:
            result = best_call(kernel.ufunc, arrays)(*arrays)
        else:
            result, status = kernel.call(*arrays)
            if status:
                raise self.error_on_rerun(target, arrays, f", called at {user_site()}")
        return [result if type(result) is np.ndarray else np.asarray(result)]

    def computation(
        self, target: Any, inputs: Specs, static: dict[str, Any]
    ) -> Computation:
        dtype = inputs[-1].dtype
        if dtype == np.float16:
            return None  # half precision is computed in single
        if dtype.kind in "biu" and self.numpy is not None:
            return self.numpy
        if self.is_builtin:
            ufunc = target.kernel(self.spec(dtype)).ufunc
            by_rows = by_short_rows(self, ufunc, inputs, static)
            if by_rows is not None or not is_many(inputs, self.is_dear):
                return by_rows or best_call(ufunc, inputs)
        return lambda *arrays: self.run(target, arrays, {})[0]

    def overwriting(self, target: Any, dtype: np.dtype) -> Any:
        """Return a function of the operands, and of an array ``out`` for the result, which may be
        one of them."""
        return target.kernel(self.spec(dtype)).ufunc

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        if self._lowered_as is not None:
            return self._lowered_as.lower(builder, inputs, specs)
        (spec,) = specs
        shape, dtype, rows = spec.shape, spec.dtype, spec.rows
        output = builder.new(shape, dtype, rows)
        kind = inputs[-1].dtype
        replay = None if self.is_builtin else self.error_on_rerun
        if self.refuses and kind.kind == "i":
            replay = self._unsupported_dtype
        builder.map(self.spec(kind), inputs, output, name=self.name, replay=replay)
        return [output]

    def lower_as(self, partial: Partial) -> None:
        """Have programs compute the operator as a partial that reads the value of another operator.

        The value of this operator must be that partial, as a function of the inputs alone. Most
        programs have the value of the other operator already, and do not compute it again.
        """
        self._lowered_as = partial

    def _unsupported_dtype(
        self, target: Any, arrays: Sequence[np.ndarray], where: str
    ) -> Exception:
        return ValueError(f"{self.name}: {self.refuses}{where}")

    def error_on_rerun(self, target: Any, arrays: Sequence[np.ndarray], where: str) -> Exception:
        """Call the function of a failed kernel again, on the calling thread; return its error."""
        spec = self.spec(arrays[-1].dtype)
        return called_again(
            target, spec, arrays, (0,) * len(arrays), f"elementwise operator {self.name}", where
        )

    # Derivatives
    # --------------------------------------------------------------------------------------

    def saves(self, needs: Sequence[bool]) -> Sequence[bool]:
        if self._reads is not None:
            return self._reads(needs)
        read = [False] * (len(self.parameters) + 1)
        for index, rule in self.partials.items():
            if needs[index]:
                for position in rule.reads:
                    read[position] = True
        return read

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        if self._pullback is not None:
            return super().differentiate(backward_pass, context, cotangents)
        (g,) = cotangents
        gradients = []
        for n, want in enumerate(context.wanted):
            if want and n not in self.partials and n not in self.conditions:
                parameter, where = self.parameters[n], context.node.where()
                raise NotDifferentiableError(self._missing_partial(parameter, where))
            gradients.append(
                self.partials[n].apply(context, g) if want and n in self.partials else None
            )
        return gradients

    def _missing_partial(self, parameter: str, where: str) -> str:
        """Return the message of the error for a partial derivative that was not declared."""
        return (
            f"{self.name}{where} has no partial derivative for {parameter!r}; declare one with "
            f"@{self.name}.partial({parameter!r})"
        )

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangent of the result: the sum of the inputs' tangents times their partials.

        The result is None if a partial is missing, or if a pullback was declared instead: then the
        engine transposes the derivative.
        """
        given = [n for n, t in enumerate(tangents) if t is not None and n not in self.conditions]
        if self._pullback is not None or not all(n in self.partials for n in given):
            return None
        parts = [self.partials[n].along(context, tangents[n]) for n in given]
        return (functools.reduce(registry["add"], parts),)

    def __reduce__(self) -> Any:
        return self.__qualname__  # by reference, like a function


def _operand(data: Any, device: str | None) -> Any:
    """Return a tensor for an operand that is no tensor, which reads an array of the user through a
    view of its own while a function is captured."""
    value = constant(data, device)
    if type(data) is np.ndarray and other_modes and mode.capture is not None:
        mode.capture.borrow(value)
    return value


def _converted(value: Any, dtype: np.dtype, device: str | None) -> Any:
    """Return a value converted to a dtype, and moved to ``device`` if it has integers on the CPU.

    Integers may be taken along to the device of the other operands without a word, floating values
    may not: so the move comes with the conversion.
    """
    made = value.astype(dtype)
    goes_along = device is not None and value.dtype.kind in "biu" and value.spec.device == "cpu"
    return constant(made.array, device) if goes_along and made.array is not None else made
