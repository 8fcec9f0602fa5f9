"""Discrete Fourier, cosine and sine transforms along the last axis; SciPy computes their values.

``n`` elements are transformed: of a longer axis the first ones, a shorter one is followed by zeros.
``norm`` says which direction is scaled by ``1/n``. All transforms are linear, and the transpose of
each is another one with the same factor, which has the name of the other norm in the other
direction.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..._declare import HostOperator, KeepsOrder, constant, zeros
from ...ir.kernel_spec import HostSpec, UfuncLoop
from ...ir.memory_order import axes_in_memory, laid_like
from ..elementwise.arithmetic import divide, multiply
from ..elementwise.complex_parts import real
from ..shape.indexing import as_chain, index, put_view

SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm with which the other direction has the same factor."""


class Transform(HostOperator):
    """A linear operator along the last axis, which it reads however it lies in memory."""

    is_linear = True

    def operands(self, contiguous: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
        return list(inputs)

    def computation(self, target: Any, inputs: Any, static: dict[str, Any]) -> Any:
        return self.bound(target, inputs, static)


class Fourier(KeepsOrder, Transform):
    """A transform of which NumPy has a function.

    NumPy's universal functions take the factor as their second operand, so the kernel does too.
    They give the bits that SciPy's functions give, but for the complex transform of real numbers.
    """

    def computation(self, target: Any, inputs: Any, static: dict[str, Any]) -> Any:
        compute = super().computation(target, inputs, static)
        return lambda x: laid_like(compute(x), x)

    def new_outputs(self, builder: Any, operands: Sequence[Any], specs: Any) -> list[Any]:
        """Return new operands in the memory order of the first one, as the kernel takes strides."""
        (spec,) = specs
        strides = operands[0].strides
        if len(strides) != len(spec.shape):
            return super().new_outputs(builder, operands, specs)
        return [builder.new_along(axes_in_memory(strides), spec.shape, spec.dtype, spec.rows)]

    def kernel(self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]) -> tuple[Any, Sequence]:
        loop = _loop_of(self.name, dtypes[0], **static)
        spec, _ = super().kernel(dtypes, static)
        if loop is None:
            return spec, ()
        inverse = static.get("inverse", self is irfft)
        factor = _factor(static["n"], inverse, static["norm"], np.finfo(dtypes[0]).dtype)
        return self._with_factor(spec, loop, factor.dtype), (factor,)

    def _with_factor(self, spec: HostSpec, loop: UfuncLoop, dtype: np.dtype) -> HostSpec:
        """Return the spec of the kernel that takes the factor."""
        found = self._specs.get(spec)
        if found is None:
            signature, dtypes = spec.signature.replace("->", ",()->"), (*spec.in_dtypes, dtype)
            found = self._specs[spec] = replace(
                spec, function=self._scaled, signature=signature, in_dtypes=dtypes, loop=loop
            )
        return found

    def _scaled(self, x: np.ndarray, factor: np.ndarray, **options: Any) -> np.ndarray:
        """Compute the transform where NumPy's function cannot be called; the norm is the factor."""
        return self.function(x, **options)


_MODULE = "numpy.fft._pocketfft_umath"


def _loop_of(name: str, dtype: np.dtype, *, n: int, inverse: bool = False, **_: Any) -> Any:
    """Return NumPy's function for a transform of one dtype, None where SciPy's has other bits."""
    if name == "fft":
        is_complex = dtype.kind == "c"
        return UfuncLoop(_MODULE, "ifft" if inverse else "fft", n) if is_complex else None
    if name == "rfft":
        return UfuncLoop(_MODULE, "rfft_n_odd" if n % 2 else "rfft_n_even", n // 2 + 1)
    return UfuncLoop(_MODULE, name, n)


@lru_cache(maxsize=1024)
def _factor(n: int, inverse: bool, norm: str, dtype: np.dtype) -> np.ndarray:
    """Return what results are multiplied by, rounded once."""
    whole = np.longdouble(n)
    factor = 1 / np.sqrt(whole) if norm == "ortho" else np.longdouble(1)
    if norm == ("backward" if inverse else "forward"):
        factor = 1 / whole
    array = np.asarray(factor).astype(dtype)
    array.flags.writeable = False
    return array


def _declare(signature: str, sizes: Callable[..., dict[str, int]], result: Any = None) -> Any:
    kind = Transform if result is None else Fourier
    return lambda function: kind(function, signature, (result,), sizes)


def _sizes(known, *, n, **_):
    return {"n": n}


def _half(known, *, n, **_):
    return {"h": n // 2 + 1}


def _resized(x: Any, size: int) -> Any:
    """Return the first elements of the last axis, or all of them with zeros behind."""
    if x.shape[-1] == size:
        return x
    if x.shape[-1] > size:
        return index(x, key=((0, size, 1),))
    longer = zeros((size,), x.dtype)
    chain = as_chain([(index, {"key": ((0, x.shape[-1], 1),)})])
    return put_view(longer, x, ncore=1, nregion=1, chain=chain)


# Fourier ------------------------------------------------------------------------------------------


@_declare("(m)->(n)", _sizes, "complex")
def fft(x, *, n, inverse, norm):
    """The transform of real or complex numbers, or its inverse."""
    import scipy.fft

    return (scipy.fft.ifft if inverse else scipy.fft.fft)(x, n, norm=norm)


@fft.pullback
def fft_pullback(context, g):
    n, inverse, norm = (context.static[name] for name in ("n", "inverse", "norm"))
    spec = context.input_specs[0]
    gx = _resized(fft(g, n=n, inverse=not inverse, norm=SWAPPED[norm]), spec.shape[-1])
    return gx if spec.dtype.kind == "c" else real(gx)


@_declare("(m)->(h)", _half, "complex")
def rfft(x, *, n, norm):
    """The transform of real numbers, of which the other half is the conjugate of this one."""
    import scipy.fft

    return scipy.fft.rfft(x, n, norm=norm)


@rfft.pullback
def rfft_pullback(context, g):
    n, norm = context.static["n"], context.static["norm"]
    g = divide(g, _counts(n, g.dtype))
    return _resized(irfft(g, n=n, norm=SWAPPED[norm]), context.input_specs[0].shape[-1])


@_declare("(m)->(n)", _sizes, "real")
def irfft(x, *, n, norm):
    """The real numbers of which half of the transform is given. The imaginary parts of the first
    number, and for even ``n`` of the last one, are not looked at."""
    import scipy.fft

    return scipy.fft.irfft(x, n, norm=norm)


@irfft.pullback
def irfft_pullback(context, g):
    n, norm = context.static["n"], context.static["norm"]
    gx = rfft(g, n=n, norm=SWAPPED[norm])
    return _resized(multiply(gx, _counts(n, gx.dtype)), context.input_specs[0].shape[-1])


def _counts(n: int, dtype: np.dtype) -> Any:
    """Return how often each number of the half occurs in the whole, as itself or conjugated."""
    counts = np.full(n // 2 + 1, 2, dtype)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    return constant(counts)


# Cosines and sines --------------------------------------------------------------------------------


def _apart(function: Callable[..., Any], x: np.ndarray, *options: Any) -> np.ndarray:
    """Transform real and imaginary parts."""
    if x.dtype.kind == "c":
        parts = [_apart(function, part, *options) for part in (np.real(x), np.imag(x))]
        return np.stack(parts, axis=-1).view(x.dtype)[..., 0]  # i times infinity is no number
    kind, n, norm, orthogonalize = options
    return function(x, kind, n, norm=norm, orthogonalize=orthogonalize)


@_declare("(m)->(n)", _sizes)
def dct(x, *, kind, n, norm, orthogonalize):
    """The cosine transform of a kind from 1 to 4."""
    import scipy.fft

    return _apart(scipy.fft.dct, x, kind, n, norm, orthogonalize)


@_declare("(m)->(n)", _sizes)
def dst(x, *, kind, n, norm, orthogonalize):
    """The sine transform of a kind from 1 to 4."""
    import scipy.fft

    return _apart(scipy.fft.dst, x, kind, n, norm, orthogonalize)


@dct.pullback
def dct_pullback(context, g):
    return _transposed(dct, context, g, 0)


@dst.pullback
def dst_pullback(context, g):
    return _transposed(dst, context, g, -1)


TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}
"""The kind of the transpose, but for the weights of the elements at the end."""


def _transposed(transform: Transform, context: Any, g: Any, end: int) -> Any:
    """Return what the transpose makes of ``g``. Kinds 2 and 3 count the element at an end, the
    first of cosines and the last of sines, once where all others count twice, and so does kind 1 of
    cosines both ends."""
    static = context.static
    kind, n = static["kind"], static["n"]
    weights = np.ones(n, g.dtype)
    if not static["orthogonalize"] and kind in (2, 3):
        weights[end] = 2
    if not static["orthogonalize"] and kind == 1 and transform is dct:
        weights[1:-1] = 2
    is_weighted, weights = np.any(weights != 1), constant(weights)
    if is_weighted and kind != 3:
        g = (multiply if kind == 2 else divide)(g, weights)
    gx = transform(g, **(static | {"kind": TRANSPOSED[kind]}))
    if is_weighted and kind != 2:
        gx = (multiply if kind == 1 else divide)(gx, weights)
    return _resized(gx, context.input_specs[0].shape[-1])
