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
from numgrad._specs import Constant

from . import rewrite
from .binding import bind
from .compiler import Code
from .elementwise import ElementwiseLoop
from .emit import Callee, emit_kernel
from .loops import CoreLoop, argument_types, core_dimensions, in_order, parameter_order


class Source(NamedTuple):
    """What a kernel is compiled from: a function and the rest of its key, and how to compile it."""

    function: Callable
    key: tuple
    emit: Callable[[str], Code]


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
    options = user_options(spec)
    cores = core_dimensions(spec.signature)
    trailing = tuple(None if item is None else (item.value,) for item in spec.trailing)
    key = (
        "loop", *_dtype_key(spec), repr(cores), spec.scalars, sorted(options.items()), trailing,
        spec.checked,
    )  # fmt: skip
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


def user_options(spec: Any) -> dict[str, Any]:
    """The options of a user's dispatcher that change what its code means, not how it is called."""
    given = getattr(spec.function, "targetoptions", {})
    options = {name: given[name] for name in ("fastmath", "boundscheck") if name in given}
    return {**options, "boundscheck": True} if spec.checked else options


def _emit_elementwise(
    spec: Any, function: Callable, pipeline: Any, options: Any, symbol: str
) -> Code:
    with translated_errors(spec):
        inputs, outputs = (_numba_types(dtypes) for dtypes in (spec.in_dtypes, spec.out_dtypes))
        order = parameter_order(len(inputs), len(inputs), getattr(spec, "trailing", ()))
        callee = Callee(function, in_order(order, inputs), pipeline, options)
        heavy = options is not None
        _require_results(callee.restype, spec.out_dtypes, any_kind=not heavy)

        def call(builder, values, index, status) -> list[ir.Value]:
            dummy = callee.context.get_dummy_value()
            given = [dummy if isinstance(k, Constant) else values[k] for k in order]
            value = callee.call(builder, given, index, status)
            return _results(callee, builder, value, outputs)

        body = ElementwiseLoop(callee.context, inputs, outputs, call).emit
        return emit_kernel(symbol, callee, body, counts_references=heavy)


def _emit_core(spec: Any, function: Callable, cores: Any, options: Any, symbol: str) -> Code:
    with translated_errors(spec):
        dtypes = _numba_types((*spec.in_dtypes, *spec.out_dtypes))
        nin, nops = len(spec.in_dtypes), len(dtypes)
        order = parameter_order(nin, nops, spec.trailing)
        argtypes = argument_types(dtypes, cores, nin, spec.scalars)
        callee = Callee(function, in_order(order, argtypes), rewrite.CorePipeline, options)
        if callee.restype is not types.none:
            raise TypeError(
                f"the function returns {_described(callee.restype)}, where it must write its "
                "outputs to its array parameters"
            )
        floating = [nin + k for k, dtype in enumerate(spec.out_dtypes) if dtype.kind in "fc"]
        body = CoreLoop(callee, dtypes, cores, order, floating if spec.checked else ()).emit
        return emit_kernel(symbol, callee, body, counts_references=True)


def _numba_types(dtypes: Sequence[np.dtype]) -> list[types.Type]:
    return [numpy_support.from_dtype(dtype) for dtype in dtypes]


def _results(
    callee: Callee, builder: ir.IRBuilder, value: Any, outputs: Sequence
) -> list[ir.Value]:
    """The function's results, each cast to the dtype of its output."""
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
    """Refuse a function that returns another number of results, or (casts may) of another kind."""
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
    """Whether a function returns several results; Numba's stubs have no tuples to iterate over."""
    return isinstance(kind, types.BaseTuple)


def _described(kind: Any) -> str:
    """A result in words, without Numba's own."""
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
    """The first telling line of one of Numba's long messages."""
    lines = _ANSI.sub("", str(error)).splitlines()
    telling = [line.strip() for line in lines if not _NOISE.search(line.strip())]
    if not telling:
        return type(error).__name__
    cause = telling[0].partition(": %")[0]  # LLVM values mean nothing to a user
    return _NO_COMPLEX.sub(r"math.\1 has no complex version", cause)
