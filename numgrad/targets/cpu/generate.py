"""From the spec of an operator to the code of its kernel, and from Numba's errors to short ones."""

import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.np import numpy_support

from numgrad._errors import KernelError
from numgrad._settings import settings

from . import rewrite
from .binding import bind
from .compiler import _Code
from .elementwise import ElementwiseLoop
from .emit import Callee, emit_kernel
from .loops import CoreLoop, argument_types, core_dimensions


class Source(NamedTuple):
    """What a kernel is compiled from: a function and the rest of its key, and how to compile it."""

    function: Callable
    key: tuple
    emit: Callable[[str], _Code]


def elementwise(spec: Any) -> Source:
    """Source of an `ElementwiseSpec`."""
    real = real_dtype(spec.in_dtypes, spec.out_dtypes)
    function = bind(spec.function, is_complex=_is_complex(spec.in_dtypes))
    pipeline = rewrite.SinglePipeline if real == np.float32 else rewrite.ScalarPipeline
    key = ("elementwise", *_dtype_key(spec))
    return Source(function, key, partial(_emit_elementwise, spec, function, pipeline, None))


def loop(spec: Any) -> Source:
    """Source of a `LoopSpec`; without core dimensions, an elementwise loop in Numba's semantics."""
    function = getattr(spec.function, "py_func", spec.function)
    options = _user_options(spec.function)
    cores = core_dimensions(spec.signature)
    key = ("loop", *_dtype_key(spec), repr(cores), spec.scalars, sorted(options.items()))
    if any(cores):
        emit = partial(_emit_core, spec, function, cores, options)
    else:
        emit = partial(_emit_elementwise, spec, function, rewrite.CorePipeline, options)
    return Source(function, key, emit)


def real_dtype(in_dtypes: Sequence[np.dtype], out_dtypes: Sequence[np.dtype]) -> np.dtype:
    """The dtype of a kernel's real literals: the widest of its inputs, else of its outputs."""
    for dtypes in (in_dtypes, out_dtypes):
        inexact = [np.finfo(dtype).dtype for dtype in dtypes if dtype.kind in "fc"]
        if inexact:
            return np.result_type(*inexact)
    return np.dtype(np.float64)


def _is_complex(dtypes: Sequence[np.dtype]) -> bool:
    return any(dtype.kind == "c" for dtype in dtypes)


def _dtype_key(spec: Any) -> tuple[str, ...]:
    return tuple(dtype.str for dtype in (*spec.in_dtypes, *spec.out_dtypes))


def _user_options(function: Any) -> dict[str, Any]:
    """The options of a user's dispatcher that change what its code means, not how it is called."""
    options = getattr(function, "targetoptions", {})
    return {name: options[name] for name in ("fastmath", "boundscheck") if name in options}


def _emit_elementwise(
    spec: Any, function: Callable, pipeline: Any, options: Any, symbol: str
) -> _Code:
    with translated_errors(spec):
        inputs, outputs = (_numba_types(dtypes) for dtypes in (spec.in_dtypes, spec.out_dtypes))
        callee = Callee(function, inputs, pipeline, options)

        def call(builder, values, index, status) -> list[ir.Value]:
            value = callee.call(builder, values, index, status)
            return _results(callee, builder, value, outputs)

        body = ElementwiseLoop(callee.context, inputs, outputs, call).emit
        heavy = options is not None
        return emit_kernel(symbol, callee, body, counts_references=heavy)


def _emit_core(spec: Any, function: Callable, cores: Any, options: Any, symbol: str) -> _Code:
    with translated_errors(spec):
        dtypes = _numba_types((*spec.in_dtypes, *spec.out_dtypes))
        argtypes = argument_types(dtypes, cores, len(spec.in_dtypes), spec.scalars)
        callee = Callee(function, argtypes, rewrite.CorePipeline, options)
        body = CoreLoop(callee, dtypes, cores).emit
        return emit_kernel(symbol, callee, body, counts_references=True)


def _numba_types(dtypes: Sequence[np.dtype]) -> list[types.Type]:
    return [numpy_support.from_dtype(dtype) for dtype in dtypes]


def _results(
    callee: Callee, builder: ir.IRBuilder, value: Any, outputs: Sequence
) -> list[ir.Value]:
    """The function's results, each cast to the dtype of its output."""
    restype = callee.restype
    if isinstance(restype, types.BaseTuple):
        values, kinds = cgutils.unpack_tuple(builder, value, len(restype)), list(restype)
    else:
        values, kinds = [value], [restype]
    if len(kinds) != len(outputs) or types.none in kinds:
        raise TypeError(
            f"the function returns {restype}, where {len(outputs)} result(s) are declared"
        )
    return [
        callee.context.cast(builder, item, kind, output)
        for item, kind, output in zip(values, kinds, outputs, strict=True)
    ]


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
    """The first telling line of one of Numba's long messages."""
    lines = _ANSI.sub("", str(error)).splitlines()
    telling = [line.strip() for line in lines if not _NOISE.search(line.strip())]
    if not telling:
        return type(error).__name__
    cause = telling[0].partition(": %")[0]  # LLVM values mean nothing to a user
    return _NO_COMPLEX.sub(r"math.\1 has no complex version", cause)
