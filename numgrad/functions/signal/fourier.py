"""Discrete Fourier transforms, under the names of `numpy.fft`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import DtypeError
from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...operators.elementwise.complex_parts import conj
from ...operators.signal import fourier as _fourier
from ...operators.signal.fourier import SWAPPED
from ..array.argument_checks import integer, integers, sequence
from ..array.axes import along_axis, normalize_axis_index
from ..array.operands import as_tensor
from ..creation.ranges import arange
from ..elementwise.arithmetic import multiply
from ..elementwise.documentation import renamed
from ..shape.joining import concat
from ..shape.rearranging import roll

Axes = Sequence[int] | None


def norm_of(name: str, norm: str | None) -> str:
    """Return the norm that is meant, for the function ``name``."""
    if norm is not None and (not isinstance(norm, str) or norm not in SWAPPED):
        raise ValueError(
            f"fft.{name}: invalid norm value {norm!r}; it should be 'backward', 'ortho' or "
            f"'forward'"
        )
    return norm or "backward"


def points(name: str, n: Any) -> int:
    """Return how many elements ``name`` is to transform."""
    n = integer(n, "n")
    if n < 1:
        raise ValueError(f"fft.{name}: invalid number of data points ({n})")
    return n


def _complex(x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        return x
    return x.astype(np.result_type(x.dtype if x.dtype.kind == "f" else np.float64, np.complex64))


def _real(x: Tensor, caller: str) -> Tensor:
    if x.dtype.kind == "c":
        raise DtypeError(f"fft.{caller} takes real numbers, got {x.dtype}; use fft.fft or fft.ifft")
    return x


@composed
def _transform(caller: str, name: str, x: Tensor, n: Any, axis: int, norm: str) -> Tensor:
    """Apply the one-dimensional transform ``name``; errors name ``caller``."""
    axis = normalize_axis_index(axis, x.ndim)
    if n is None:
        size = x.shape[axis]
        n = 2 * (size - 1) if name in ("irfft", "hfft") else size
    n = points(caller, n)
    inverse, swapped = name == "ifft", SWAPPED[norm]
    if name in ("fft", "ifft") and x.dtype.kind != "c":
        return _transforms_of_real_numbers(caller, name, x, [(n, axis)], norm)
    if name in ("fft", "ifft"):
        return along_axis(lambda x: _fourier.fft(x, n=n, inverse=inverse, norm=norm), x, axis)
    if name == "rfft":
        return along_axis(lambda x: _fourier.rfft(x, n=n, norm=norm), _real(x, caller), axis)
    if name == "ihfft":
        x = _real(x, caller)
        return conj(along_axis(lambda x: _fourier.rfft(x, n=n, norm=swapped), x, axis))
    z, norm = (_complex(x), norm) if name == "irfft" else (conj(_complex(x)), swapped)
    found = along_axis(lambda x: _fourier.irfft(x, n=n, norm=norm), z, axis)
    return found.astype(x.dtype) if x.dtype == np.float16 else found


def sizes_and_axes(
    name: str, x: Tensor, s: Sequence[int | None] | None, axes: Axes
) -> tuple[list[int | None], list[int]]:
    """Return the number of points along each axis, ``None`` where it is not given, and the axes."""
    s, axes = guarded(s), guarded(axes)
    s = s if s is None else [n if n is None else integer(n, "s") for n in sequence(s, "s")]
    count = x.ndim if s is None else len(s)
    places = list(range(-count, 0)) if axes is None else list(integers(axes, "axes"))
    given: list[int | None] = [-1] * len(places) if s is None else list(s)
    if len(given) != len(places):
        raise ValueError(f"fft.{name}: shape and axes have different lengths: {s} and {places}")
    if s is None and places and name.startswith("irfft"):
        given[-1] = None
    if any(not -x.ndim <= a < x.ndim for a in places) or (not places and name.startswith("irfft")):
        raise IndexError(f"fft.{name}: there are no axes {places or -1} in shape {x.shape}")
    sizes = [x.shape[a] if n == -1 else n for n, a in zip(given, places, strict=True)]
    return sizes, places


@composed
def _transforms(name: str, x: Tensor, s: Any, axes: Axes, norm: str) -> Tensor:
    """Apply the transform ``name`` of several axes: the last one first, or last if it is the one
    that makes real numbers."""
    sizes, places = sizes_and_axes(name, x, s, axes)
    pairs = list(zip(sizes, places, strict=True))[::-1]
    kind = name.rstrip("2n")
    is_real = kind in ("fft", "ifft") and x.dtype.kind != "c"
    if is_real and 0 < len({a % x.ndim for a in places}) == len(places):
        return _transforms_of_real_numbers(name, kind, x, pairs, norm)
    if kind == "irfft":
        last, *others = pairs
        for n, axis in others[::-1]:
            x = _transform(name, "ifft", x, n, axis, norm)
        return _transform(name, "irfft", x, *last, norm)
    for n, axis in pairs:
        x = _transform(name, kind, x, n, axis, norm)
        kind = "fft" if kind == "rfft" else kind
    return x


# Of real numbers ----------------------------------------------------------------------------------


def _transforms_of_real_numbers(
    caller: str, kind: str, x: Tensor, pairs: Sequence[tuple[Any, int]], norm: str
) -> Tensor:
    """Apply ``fft`` or ``ifft`` to real numbers along axes that are all different.

    The first axis gives half of its frequencies, so the others have half as much to transform. The
    rest is the conjugate of what is at the opposite frequencies.
    """
    (n, axis), *others = pairs
    n = points(caller, n)
    half = _transform(caller, "rfft", x, n, axis, SWAPPED[norm] if kind == "ifft" else norm)
    half = conj(half) if kind == "ifft" else half
    for each, other in others:
        half = _transform(caller, kind, half, each, other, norm)
    last = (n - 1) // 2
    if last == 0:
        return half
    rest = conj(_part(half, axis, slice(last, 0, -1)))
    return _joined(half, rest, axis, [other for _, other in others if half.shape[other] > 1])


def _joined(half: Tensor, rest: Tensor, axis: int, others: Sequence[int]) -> Tensor:
    """Return all frequencies: ``half``, and behind it ``rest``, of which the other axes are
    reversed but for the frequency zero."""
    behind = slice(None, 0, -1)
    for other in others[1:]:
        rest = concat([_part(rest, other, slice(1)), _part(rest, other, behind)], other)
    if not others:
        return concat([half, rest], axis)
    zero = [_part(x, others[0], slice(1)) for x in (half, rest)]
    above = [_part(half, others[0], slice(1, None)), _part(rest, others[0], behind)]
    return concat([concat(zero, axis), concat(above, axis)], others[0])


def _part(x: Tensor, axis: int, key: slice) -> Tensor:
    """Return a slice along an axis."""
    return x[(slice(None),) * (axis % x.ndim) + (key,)]


# The functions ------------------------------------------------------------------------------------

_EXAMPLE = """

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.{name}({example})
    {shown}
    """

_ONE = """

    Parameters
    ----------
    a : array_like
    n : int, optional
        How many {points}. Of more the first ones are taken, fewer are followed by zeros.
    axis : int
    norm : {{"backward", "ortho", "forward"}}, optional
        Which direction is scaled by ``1/n``: the inverse one by default; with ``"ortho"`` each by
        the square root.
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If there are no points, or for another norm.{raises}

    Notes
    -----
    {notes}"""

_SEVERAL = """

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `{one}`; -1 is the size of the axis.
    axes : sequence of int, optional
        {axes}. One that comes twice is transformed twice.
    norm : {{"backward", "ortho", "forward"}}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `{one}` along each axis."""

Function = Callable[..., Tensor]


def named(function: Function, name: str, doc: str, example: Sequence[str]) -> Function:
    """Return a function of this namespace with its name and documentation."""
    shown = "\n    ".join(example[1].split("\n"))
    function.__doc__ = doc + _EXAMPLE.format(name=name, example=example[0], shown=shown)
    return renamed(function, name)


def _one(
    name: str, summary: str, points: str, notes: str, *example: str, raises: str = ""
) -> Function:
    def function(
        a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, *,
        overwrite_x: bool = False, workers: int | None = None,
    ) -> Tensor:  # fmt: skip
        return _transform(name, name, as_tensor(a), n, axis, norm_of(name, norm))

    doc = summary + _ONE.format(points=points, notes=notes, raises=raises)
    return named(function, name, doc, example)


def _several(name: str, summary: str, *example: str) -> Function:
    usual, said = None, "By default all, or the last ones"
    if name[-1] == "2":
        usual, said = (-2, -1), "The last two by default"

    def function(
        a: ArrayLike,
        s: Sequence[int] | None = None,
        axes: Axes = usual,
        norm: str | None = None,
        *,
        overwrite_x: bool = False,
        workers: int | None = None,
    ) -> Tensor:
        return _transforms(name, as_tensor(a), s, axes, norm_of(name, norm))

    doc = summary + _SEVERAL.format(one=name.rstrip("2n"), axes=said)
    return named(function, name, doc, example)


_REAL_ONLY = """
    DtypeError
        For complex numbers."""
_ADJOINT = "The gradient is the {} of the cotangent, with the same factor{}."

fft = _one(
    "fft", "Return the discrete Fourier transform along an axis.", "points are transformed",
    _ADJOINT.format("inverse transform", ", and real for real ``a``"),
    "[1.0, 1.0j]", "tensor([1.+1.j, 1.-1.j])",
)  # fmt: skip
ifft = _one(
    "ifft", "Return the inverse of `fft`.", "points are transformed",
    _ADJOINT.format("forward transform", ", and real for real ``a``"),
    "[2.0, 2.0j]", "tensor([1.+1.j, 1.-1.j])",
)  # fmt: skip
rfft = _one(
    "rfft", "Return the first ``n // 2 + 1`` numbers of the transform of real ones.",
    "points are transformed",
    "In the gradient each frequency counts once: it is `irfft` of the cotangent, of which the\n"
    "    numbers that `irfft` counts twice are halved.",
    "[1.0, 2.0, 3.0, 4.0]", "tensor([10.+0.j, -2.+2.j, -2.+0.j])", raises=_REAL_ONLY,
)  # fmt: skip
irfft = _one(
    "irfft", "Return the real numbers of which `rfft` makes ``a``.",
    "numbers are returned: ``2 * (m - 1)`` by default, of ``m``",
    "The gradient is `rfft` of the cotangent, doubled but for the first number and, for even\n"
    "    ``n``, the last one, whose imaginary parts have no influence.",
    "[10.0, -2.0 + 2.0j, -2.0]", "tensor([1., 2., 3., 4.])",
)  # fmt: skip
hfft = _one(
    "hfft", "Return the real transform of a signal of which the other half is the conjugate.",
    "numbers are returned: ``2 * (m - 1)`` by default, of ``m``",
    "The gradient is that of `irfft` of the conjugate.",
    "[1.0, 2.0, 3.0]", "tensor([ 8., -2.,  0., -2.])",
)  # fmt: skip
ihfft = _one(
    "ihfft", "Return the inverse of `hfft`.", "points are transformed",
    "The gradient is that of the conjugate of `rfft`.",
    "[8.0, -2.0, 0.0, -2.0]", "tensor([1.-0.j, 2.-0.j, 3.-0.j])", raises=_REAL_ONLY,
)  # fmt: skip
_COMPLEX, _REAL = "[[1.0, 1.0j], [2.0, 2.0j]]", "[[1.0, 2.0], [3.0, 4.0]]"
_ITS_TRANSFORM = "tensor([[ 3.+3.j,  3.-3.j],\n        [-1.-1.j, -1.+1.j]])"
_ITS_INVERSE = "tensor([[ 0.75+0.75j,  0.75-0.75j],\n        [-0.25-0.25j, -0.25+0.25j]])"
_ITS_HALF = "tensor([[10.+0.j, -2.+0.j],\n        [-4.+0.j,  0.+0.j]])"
_OF_HALF = "tensor([[ 2.5, -0.5],\n        [-1. ,  0. ]])"

fft2 = _several("fft2", "Return the transform along two axes.", _COMPLEX, _ITS_TRANSFORM)
ifft2 = _several("ifft2", "Return the inverse of `fft2`.", _COMPLEX, _ITS_INVERSE)
fftn = _several("fftn", "Return the transform along several axes.", _COMPLEX, _ITS_TRANSFORM)
ifftn = _several("ifftn", "Return the inverse of `fftn`.", _COMPLEX, _ITS_INVERSE)
rfft2 = _several(
    "rfft2", "Return the half along the last of two axes of the transform of real numbers.",
    _REAL, _ITS_HALF,
)  # fmt: skip
irfft2 = _several("irfft2", "Return the inverse of `rfft2`.", _REAL, _OF_HALF)
rfftn = _several(
    "rfftn", "Return the half along the last axis of the transform of real numbers.",
    _REAL, _ITS_HALF,
)  # fmt: skip
irfftn = _several("irfftn", "Return the inverse of `rfftn`.", _REAL, _OF_HALF)


# Frequencies --------------------------------------------------------------------------------------


def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return the frequencies of the numbers that `fft` returns for points at a distance.

    Parameters
    ----------
    n : int
        How many points.
    d : float or Tensor
        The distance; gradients reach it.
    dtype : dtype, optional
        float64 by default.
    device : str, optional

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.fftfreq(4, d=0.5)
    tensor([ 0. ,  0.5, -1. , -0.5])
    """
    n = points("fftfreq", n)
    first = arange(0, (n - 1) // 2 + 1, device=device)
    return _frequencies(concat([first, arange(-(n // 2), 0, device=device)]), n, d, dtype)


def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return the frequencies of the numbers that `rfft` returns; see `fftfreq`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.rfftfreq(4, d=0.5)
    tensor([0. , 0.5, 1. ])
    """
    n = points("rfftfreq", n)
    return _frequencies(arange(0, n // 2 + 1, device=device), n, d, dtype)


def _frequencies(numbers: Tensor, n: int, d: Any, dtype: Any) -> Tensor:
    found = multiply(numbers, 1.0 / (n * d))
    return found if dtype is None else found.astype(dtype)


def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """Move the frequency zero to the middle of each axis, or of some ``axes``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.fftshift([0.0, 1.0, 2.0, -2.0, -1.0])
    tensor([-2., -1.,  0.,  1.,  2.])
    """
    return _shifted(as_tensor(x), axes, 1)


def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """Undo `fftshift`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.ifftshift([-2.0, -1.0, 0.0, 1.0, 2.0])
    tensor([ 0.,  1.,  2., -2., -1.])
    """
    return _shifted(as_tensor(x), axes, -1)


def _shifted(x: Tensor, axes: Any, sign: int) -> Tensor:
    axes = guarded(axes)
    axes = range(x.ndim) if axes is None else axes
    places = [normalize_axis_index(a, x.ndim) for a in integers(axes, "axes")]
    if not places:
        return x.clone()
    return roll(x, [sign * (x.shape[a] // 2) for a in places], tuple(places))


def next_fast_len(target: int, real: bool = False) -> int:
    """Return the smallest number of points, from ``target`` on, that is quickly transformed.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.next_fast_len(1021)
    1024
    """
    from scipy.fft import next_fast_len as fast

    return int(fast(integer(target, "target"), real))  # type: ignore[arg-type]
