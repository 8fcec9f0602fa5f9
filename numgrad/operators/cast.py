"""Conversion between dtypes, and the plain copy that programs are laid out with."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from .._declare import Operator, door
from .._specs import ElementwiseSpec
from .half import from_half, to_half


def _identity(x):
    return x


def _real_part(x):
    return x.real


def _wrapped(x):
    """A whole number that wraps around where it is negative, as in C most compilers have it."""
    return int(x if x < 9.223372036854775808e18 else x - 1.8446744073709551616e19)


def _wrapped_real_part(x):
    return _wrapped(x.real)


def _wrapped_half(bits):
    return _wrapped(from_half(bits))


def _half_is_true(bits):
    return bits & 32767 != 0


def _truth(x):
    return x != 0


@cache
def cast_spec(source: np.dtype, result: np.dtype) -> ElementwiseSpec:
    """Return the spec of the kernel that converts ``source`` to ``result``."""
    function = _identity
    if source.kind == "c" and result.kind != "c":
        function = _real_part
    if source.kind in "fc" and result.kind == "u":
        function = _wrapped if source.kind == "f" else _wrapped_real_part
    if result.kind == "b" and source.kind != "b":
        function = _truth
    if np.float16 in (source, result):
        return _half_spec(source, result)
    return ElementwiseSpec("copy" if source == result else "astype", function, (source,), (result,))


def _half_spec(source: np.dtype, result: np.dtype) -> ElementwiseSpec:
    """Return the spec of a conversion from or to float16, whose bits are those of a uint16."""
    bits = np.dtype(np.uint16)
    if source == result:
        return ElementwiseSpec("copy", _identity, (bits,), (bits,))
    if source == np.float16:
        function = {"b": _half_is_true, "u": _wrapped_half}.get(result.kind, from_half)
        return ElementwiseSpec("astype", function, (bits,), (result,))
    return ElementwiseSpec("astype", to_half, (source,), (bits,))


def copy_spec(dtype: np.dtype) -> ElementwiseSpec:
    """Return the spec of the kernel that copies elements of ``dtype``."""
    return cast_spec(dtype, dtype)


class AsType(Operator):
    """Conversion to ``dtype``; the gradient is converted back."""

    def infer(self, specs: Sequence[Any], static: dict[str, Any]) -> list[Any]:
        return [(specs[0].shape, static["dtype"])]

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        array, dtype = arrays[0], static["dtype"]
        if array.dtype.kind == "c" and dtype.kind not in "cb":
            array = np.real(array)
        with np.errstate(over="ignore"):  # as in programs, where nothing warns
            return [array.astype(dtype)]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Any, static: dict[str, Any]
    ) -> list[Any]:
        ((shape, dtype, rows),) = specs
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


astype = AsType("astype")


def cast(value: Any, dtype: np.dtype) -> Any:
    """Return ``value`` converted to ``dtype``, itself when it has it already."""
    return (
        value
        if value.dtype == dtype
        else door.apply(astype, (value,), {"dtype": np.dtype(dtype)})[0]
    )
