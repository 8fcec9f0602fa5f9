"""Conversion between dtypes, and the plain copy that programs are laid out with."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..._declare import Operator
from ..._declare.dtypes import require_numbers
from ...engine.graph.kind import KeyedStatic
from ...engine.record import apply
from ...engine.record.dispatch import apply_one
from ...engine.record.plan import plan_of
from ...ir.device_array import DeviceArray
from ...ir.kernel_spec import ElementwiseSpec
from ...ir.memory_order import as_kept
from .arithmetic import where
from .half import from_half, to_half


def _identity(x):
    return x


def _real_part(x):
    return x.real


# Whole numbers of floating ones, as NumPy has them on x86, in every loop, register and tail: what
# the wider integer does not hold, NaN too, becomes its least; a narrower one takes the low bits.


def _small(x):
    return np.int32(where(abs(x) < 2147483648.0, x, -2147483648.0))


def _whole(x):
    return int(where(abs(x) < 9223372036854775808.0, x, -9223372036854775808.0))


def _natural(x):
    upper = where(x < 18446744073709551616.0, x - 18446744073709551616.0, 0.0)
    return _whole(where(x >= 9223372036854775808.0, upper, x))


_WHOLE = {"i1": _small, "i2": _small, "i4": _small, "i8": _whole}
_WHOLE |= {"u1": _small, "u2": _small, "u4": _whole, "u8": _natural}


def _half_is_true(bits):
    return bits & 32767 != 0


def _truth(x):
    return x != 0


@cache
def _whole_of(source: str, result: str) -> Callable[..., Any]:
    """Return the scalar function from numbers of the kind ``source`` to the integer ``result``."""
    whole = _WHOLE[result]
    if source == "c":
        return lambda x: whole(x.real)
    return (lambda bits: whole(from_half(bits))) if source == "e" else whole


@cache
def cast_spec(source: np.dtype, result: np.dtype) -> ElementwiseSpec:
    """Return the spec of the kernel that converts ``source`` to ``result``."""
    bits = np.dtype(np.uint16)  # of float16, which kernels know by its bits
    in_dtype, out_dtype = (bits if d == np.float16 else d for d in (source, result))
    name = "copy" if source == result else "astype"
    return ElementwiseSpec(name, _function_of(source, result), (in_dtype,), (out_dtype,))


def _function_of(source: np.dtype, result: np.dtype) -> Callable[..., Any]:
    if source == result:
        return _identity
    if result == np.float16:
        return to_half
    if result.kind == "b":
        return _half_is_true if source == np.float16 else _truth
    if result.kind in "iu" and source.kind in "fc":
        return _whole_of("e" if source == np.float16 else source.kind, result.str[1:])
    if source == np.float16:
        return from_half
    return _real_part if source.kind == "c" and result.kind != "c" else _identity


def copy_spec(dtype: np.dtype) -> ElementwiseSpec:
    """Return the spec of the kernel that copies elements of ``dtype``."""
    return cast_spec(dtype, dtype)


class AsType(Operator):
    """Conversion to ``dtype``; the gradient is converted back."""

    memory_order = staticmethod(as_kept)

    def infer(self, specs: Sequence[Any], static: dict[str, Any]) -> list[Any]:
        return [(specs[0].shape, static["dtype"])]

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        array, dtype = arrays[0], static["dtype"]
        if array.dtype.kind == "c" and dtype.kind not in "cb":
            array = np.real(array)
        if array.dtype.kind == "f" and dtype.kind in "iu":
            return [_to_integers(target, array, dtype)]
        with np.errstate(over="ignore"):  # as in programs, where nothing warns
            return [array.astype(dtype)]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Any, static: dict[str, Any]
    ) -> list[Any]:
        (spec,) = specs
        shape, dtype, rows = spec.shape, spec.dtype, spec.rows
        output = builder.new(shape, dtype, rows)
        if inputs[0].dtype.kind == "c" and dtype == np.float16:
            real = builder.new(shape, np.dtype(np.float64), rows)
            builder.emit(cast_spec(inputs[0].dtype, real.dtype), inputs, [real], name=self.name)
            inputs = [real]
        builder.emit(cast_spec(inputs[0].dtype, dtype), inputs, [output], name=self.name)
        return [output]

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        return list(cotangents)  # the engine casts every gradient to its input's dtype


def _to_integers(target: Any, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert floats by the kernel that programs call: NumPy's result for a float out of the range
    depends on where in an array it is."""
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    return np.asarray(target.kernel(cast_spec(array.dtype, dtype)).ufunc(array))


astype = AsType("astype")


def write(target: Any, values: Any, region: Any) -> None:
    """Write an array into a region of memory: broadcast, converted as by `astype`, and as if all
    of it were read before. What is on a device is written there; ``target`` is the CPU's."""
    if type(region) is DeviceArray:
        region.target.kernel(cast_spec(values.dtype, region.dtype)).ufunc(values, out=region)
    elif values.dtype == region.dtype:
        region[...] = values
    else:
        region[...] = astype.run(target, [values], {"dtype": region.dtype})[0]


def cast(value: Any, dtype: Any) -> Any:
    """Return ``value`` converted to ``dtype``, itself when it has it already."""
    if value.dtype == dtype:
        return value
    static = _static_of(np.dtype(dtype))
    plan = plan_of(astype, static, (value,)) if apply.is_unwatched() else None
    return apply.apply(astype, (value,), static)[0] if plan is None else apply_one(plan, value)


@cache
def _static_of(dtype: np.dtype) -> KeyedStatic:
    """Return the static parameters of a conversion; raise for a dtype without numbers."""
    require_numbers(dtype)
    return KeyedStatic({"dtype": np.dtype(dtype.str)})  # without the metadata of one caller
