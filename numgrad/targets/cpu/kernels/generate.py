"""Compile the kernel of a spec by Numba, and turn Numba's errors into short ones."""

import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.np import numpy_support

from numgrad._errors import KernelError
from numgrad._settings import settings
from numgrad.ir.kernel_spec import Constant, core_dimensions, parameter_order, real_dtype

from ...binding import bind
from ..callees import numba_passes
from ..codegen.core_loop import BlockLoop, CoreLoop, argument_types, in_order
from ..codegen.emit import Callee, emit_kernel, emit_scalar
from ..compile.cache_keys import is_complex, plain, user_options
from ..compile.compiler import Code
from ..compile.intrinsics import INT64
from ..math import scalar_math, vector_math
from . import write_check


def elementwise(spec: Any, symbol: str, math: str) -> Code:
    """Compile the scalar function of an `ElementwiseSpec`; ``math`` is the value of that setting.
    """
    real = real_dtype(spec.in_dtypes, spec.out_dtypes)
    function = bind(
        spec.function, scalar_math.names, is_complex=is_complex(spec.in_dtypes)
    )
    pipeline = numba_passes.SinglePipeline if real == np.float32 else numba_passes.ScalarPipeline
    with vector_math.compiling(math):
        return _emit_scalar(spec, function, pipeline, None, symbol)


def loop(spec: Any, symbol: str) -> Code:
    """Compile the kernel of a `LoopSpec`, or its scalar function if it has no core dimensions."""
    function, options = plain(spec.function), user_options(spec)
    cores = core_dimensions(spec.signature)
    if any(cores):
        return _emit_core(spec, function, cores, options, symbol)
    return _emit_scalar(spec, function, numba_passes.CorePipeline, options, symbol)


def _emit_scalar(
    spec: Any, function: Callable, pipeline: Any, options: Any, symbol: str
) -> Code:
    """Compile the scalar function of a spec to LLVM code that kernels inline.

    The code is a function ``results(*values, index, status)`` that returns the results in their
    declared dtypes. Where the scalar function raises, ``1 + index`` is stored at the address
    ``status``, unless an earlier element has raised.
    """
    with translated_errors(spec):
        inputs, outputs = (numba_types(dtypes) for dtypes in (spec.in_dtypes, spec.out_dtypes))
        order = parameter_order(len(inputs), len(inputs), getattr(spec, "trailing", ()))
        callee = Callee(function, in_order(order, inputs), pipeline, options)
        heavy = options is not None
        _require_results(callee.restype, spec.out_dtypes, any_kind=not heavy)

        def body(builder, args) -> None:
            *values, index, status = args
            dummy = callee.context.get_dummy_value()
            given = [dummy if isinstance(k, Constant) else values[k] for k in order]
            raised, value = callee.invoke(builder, given)
            with builder.if_then(raised, likely=False):
                _report(builder, index, status)
            results = _results(callee, builder, value, outputs)
            several = len(results) > 1
            builder.ret(cgutils.pack_struct(builder, results) if several else results[0])

        kind = scalar_kind(callee.context, inputs, outputs)
        return emit_scalar(symbol, callee, kind, body, counts_references=heavy)


def scalar_kind(context: Any, inputs: Sequence[types.Type], outputs: Sequence[types.Type]) -> Any:
    """Return the LLVM type of a compiled scalar function, with its index and status parameters."""
    results = [context.get_value_type(dtype) for dtype in outputs]
    result = results[0] if len(results) == 1 else ir.LiteralStructType(results)
    values = [context.get_value_type(dtype) for dtype in inputs]
    return ir.FunctionType(result, [*values, INT64, INT64])


def _report(builder: ir.IRBuilder, index: ir.Value, status: ir.Value) -> None:
    """Emit code that sets the status to 1 plus the index, unless an earlier element raised."""
    place = builder.inttoptr(status, INT64.as_pointer())
    before = builder.load(place)
    first = builder.icmp_signed("==", before, ir.Constant(INT64, 0))
    now = builder.add(index, ir.Constant(INT64, 1))
    builder.store(builder.select(first, now, before), place)


def _emit_core(spec: Any, function: Callable, cores: Any, options: Any, symbol: str) -> Code:
    with translated_errors(spec):
        dtypes = numba_types((*spec.in_dtypes, *spec.out_dtypes))
        nin, nops = len(spec.in_dtypes), len(dtypes)
        order = parameter_order(nin, nops, spec.trailing)
        writes = _writes(spec, function, order, cores)
        writes.check_inputs()

        def made(readonly: bool) -> Callee:
            argtypes = argument_types(dtypes, cores, nin, spec.scalars, readonly, spec.strided)
            return Callee(function, in_order(order, argtypes), numba_passes.CorePipeline, options)

        callee = _writing_no_inputs(writes, made)
        if callee.restype is not types.none:
            raise TypeError(
                f"the function returns {_described(callee.restype)}, where it must write its "
                "outputs to its array parameters"
            )
        writes.check_outputs()
        if spec.block:
            return emit_kernel(symbol, callee, BlockLoop(callee, dtypes, cores, spec.block).emit)
        floating = [nin + k for k, dtype in enumerate(spec.out_dtypes) if dtype.kind in "fc"]
        unwritten, strided = floating if spec.checked else (), nin if spec.strided else 0
        body = CoreLoop(callee, dtypes, cores, order, unwritten, strided).emit
        return emit_kernel(symbol, callee, body)


def _writes(spec: Any, function: Callable, order: Sequence[Any], cores: Any) -> write_check.Writes:
    """Return the checker of a core function's writes to its array parameters."""
    nin = len(spec.in_dtypes)
    inputs: list[str] = []
    outputs: list[str] = []
    for parameter, item in zip(inspect.signature(function).parameters, order, strict=False):
        if type(item) is int and (item >= nin or cores[item] or not spec.scalars):
            (outputs if item >= nin else inputs).append(parameter)
    return write_check.Writes(spec.name, function, inputs, outputs)


def _writing_no_inputs(writes: write_check.Writes, made: Callable[[bool], Callee]) -> Callee:
    """Compile a core function for readonly input arrays; raise if the function writes to an input.

    If a called function takes writable arrays only, the core function is compiled for writable
    inputs instead. ``made(readonly)`` compiles the function.
    """
    try:
        return made(True)
    except Exception as error:
        refused = writes.refused(error)
        if refused is not None:
            raise refused from None
        if not write_check.wants_writable(error):
            raise
    return made(False)


def numba_types(dtypes: Sequence[np.dtype]) -> list[types.Type]:
    """Return the Numba types of scalars of some dtypes."""
    return [numpy_support.from_dtype(dtype) for dtype in dtypes]


def _results(
    callee: Callee, builder: ir.IRBuilder, value: Any, outputs: Sequence
) -> list[ir.Value]:
    """Emit the function's results as LLVM values, each cast to the dtype of its output."""
    restype = callee.restype
    if _is_tuple(restype):
        values, kinds = cgutils.unpack_tuple(builder, value, len(restype)), list(restype)
    else:
        values, kinds = [value], [restype]
    return [
        callee.context.cast(builder, item, kind, output)
        for item, kind, output in zip(values, kinds, outputs, strict=True)
    ]


def _require_results(restype: Any, dtypes: Sequence[np.dtype], *, any_kind: bool) -> None:
    """Raise a `TypeError` for a wrong number of results.

    Unless ``any_kind``, a result of another kind than declared is an error too, such as a complex
    number where a real one is declared.
    """
    kinds = list(restype) if _is_tuple(restype) else [restype]
    if len(kinds) != len(dtypes) or types.none in kinds:
        raise TypeError(
            f"the function returns {_described(restype)}, where {len(dtypes)} "
            f"result{'s are' if len(dtypes) > 1 else ' is'} declared"
        )
    for kind, dtype in zip(kinds, dtypes if not any_kind else (), strict=not any_kind):
        if not isinstance(kind, types.Number | types.Boolean) or not np.can_cast(
            numpy_support.as_dtype(types.unliteral(kind)), dtype, "same_kind"
        ):
            raise TypeError(
                f"the function returns {_described(kind)}, where the dtype of the result is {dtype}"
            )


def _is_tuple(kind: Any) -> bool:
    """Whether Numba's type of a result is a tuple: the function returns several results."""
    return isinstance(kind, types.BaseTuple)


def _described(kind: Any) -> str:
    """Return a result's type in words for an error."""
    if kind is types.none:
        return "nothing"
    if _is_tuple(kind):
        return f"{len(kind)} values ({', '.join(_described(item) for item in kind)})"
    if isinstance(kind, types.Array):
        return f"an array of {kind.dtype}"
    return str(types.unliteral(kind))


# Errors


@contextmanager
def translated_errors(spec: Any):
    """Turn Numba's typing and lowering errors into a `KernelError` that names the operator."""
    try:
        yield
    except (errors.NumbaError, NotImplementedError, TypeError, AttributeError) as error:
        names = ", ".join(str(dtype) for dtype in spec.in_dtypes)
        message = f"{spec.name}: no kernel for dtypes ({names}): {short_cause(error)}"
        if settings.debug:
            raise KernelError(message) from error
        raise KernelError(message) from None


_NOISE = re.compile(r"Failed in .* mode pipeline|^\s*$|^During:|^File |^\s*Overload|^-+$|^\^")
_NO_COMPLEX = re.compile(r"module '[\w.]*complex_math' has no attribute '(\w+)'")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def short_cause(error: Exception) -> str:
    """Return the first informative line from the long message of one of Numba's errors."""
    lines = _ANSI.sub("", str(error)).splitlines()
    telling = [line.strip() for line in lines if not _NOISE.search(line.strip())]
    if not telling:
        return type(error).__name__
    cause = telling[0].partition(": %")[0]  # LLVM values mean nothing to a user
    return _NO_COMPLEX.sub(r"math.\1 has no complex version", cause)
