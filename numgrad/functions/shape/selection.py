"""Functions that choose between their arguments."""

import math
from typing import Any, overload

import numpy as np

from ..._errors import ArgTypeError, DtypeError
from ..._tensor import ArrayLike, Tensor, constant
from ...engine.record.options import Steps
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import comparison as _comparison
from ...operators.elementwise import complex_parts as _complex_parts
from ...operators.elementwise import selection as _selection
from ..array.operands import as_scalar, as_tensor, kind_of_operand
from ..array.results import delivered
from ..elementwise.universal import UniversalFunctions, with_options
from ..sorting.searching import nonzero


@overload
def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Tensor: ...
@overload
def where(condition: ArrayLike, /) -> tuple[Tensor, ...]: ...
def where(condition: ArrayLike, x1: Any = None, x2: Any = None, /) -> Any:
    """Return ``x1`` where ``condition`` holds, else ``x2``; of a condition alone the indices where
    it holds, as `nonzero` does.

    Parameters
    ----------
    condition : array_like
        Booleans; other numbers count as true unless they are 0.
    x1, x2 : array_like
        Broadcast together with the condition.

    Raises
    ------
    ArgTypeError
        If one of ``x1`` and ``x2`` is given.

    Notes
    -----
    Each cotangent goes to the argument that was chosen, the other one receives exactly 0, also
    where the cotangent is infinite or NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-1.0, 4.0], requires_grad=True)
    >>> ng.grad(ng.where(x > 0, 3 * x, 0.0), x)[0]
    tensor([0., 3.])
    """
    if x1 is None or x2 is None:
        if x1 is not x2:
            raise ArgTypeError("where: either both or neither of x1 and x2 must be given")
        return nonzero(condition)
    return _chosen.call(condition, x1, x2)


def _where_steps(*args: Any) -> Any:
    return [(_elementwise.where, {})] if all(isinstance(x, Tensor) for x in args) else ()


_chosen = Steps(_where_steps, _elementwise.where, arrays="unread")

_of = UniversalFunctions(__name__)

maximum = _of.binary(
    _selection.maximum, "the larger argument, NaN where either is NaN",
    "1 for the larger argument and 0 for the other, a half each at a tie",
    at=("[1.0, 2.0, 3.0]", "[2.0, 2.0, 2.0]"), gradient=("[0. , 0.5, 1. ]", "[1. , 0.5, 0. ]"),
    refuses="complex",
)
minimum = _of.binary(
    _selection.minimum, "the smaller argument, NaN where either is NaN",
    "1 for the smaller argument and 0 for the other, a half each at a tie",
    at=("[1.0, 2.0, 3.0]", "[2.0, 2.0, 2.0]"), gradient=("[1. , 0.5, 0. ]", "[0. , 0.5, 1. ]"),
    refuses="complex",
)
fmax = _of.binary(
    _selection.fmax, "the larger argument, and the other one where one is NaN",
    "1 for the argument returned and 0 for the other, a half each at a tie",
    at=('[1.0, float("nan")]', "[2.0, 2.0]"), value="tensor([2., 2.])", refuses="complex",
)
fmin = _of.binary(
    _selection.fmin, "the smaller argument, and the other one where one is NaN",
    "1 for the argument returned and 0 for the other, a half each at a tie",
    at=('[1.0, float("nan")]', "[2.0, 2.0]"), value="tensor([1., 2.])", refuses="complex",
)
copysign = _of.binary(
    _selection.copysign, "``abs(x1)`` with the sign of ``x2``",
    "``sign(x1) * copysign(1, x2)`` and 0", at=("[1.0, 2.0]", "[-1.0, 0.0]"),
    value="tensor([-1.,  2.])", refuses="complex",
)


_PLAIN = {int, float, type(None)}


def clip(
    a: ArrayLike,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
    out: Tensor | None = None,
    *,
    a_min: ArrayLike | None = None,
    a_max: ArrayLike | None = None,
    **options: Any,
) -> Tensor:
    """Return ``a`` limited to the interval from ``min`` to ``max``.

    Parameters
    ----------
    a : array_like
        Any shape.
    min, max : array_like or None
        Broadcast with ``a``; None is no limit. Where ``min > max``, the result is ``max``.
    out : Tensor, optional
        Where the result is written.
    a_min, a_max : array_like or None
        Other names of ``min`` and ``max``.
    **options
        ``where=``, ``dtype=``, ``casting=``, as other functions of elements take them.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivative is 1 inside the interval and at its ends, 0 outside; a limit has the
    derivative 1 where it replaces ``a``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-1.0, 0.5, 1.0], requires_grad=True)
    >>> ng.grad(ng.clip(x, 0.0, 1.0), x)[0]
    tensor([0., 1., 1.])
    """
    if a_min is not None or a_max is not None:
        if min is not None or max is not None:
            raise TypeError("clip got its limits twice, under two names")
        min, max = a_min, a_max
    if options or out is not None:
        return _clip_with_options(a, min, max, {**options, "out": out})
    if min is None and max is None:
        return _elementwise.copy(a)
    if type(a) is Tensor and a.dtype.kind == "f" and {type(min), type(max)} <= _PLAIN:
        low, high = -math.inf if min is None else min, math.inf if max is None else max
        return _selection.clip(a, low, high)
    a = a if hasattr(a, "dtype") and not isinstance(a, Tensor) else as_tensor(a)  # as NumPy does
    low, high = (v if v is None or hasattr(v, "dtype") else _weak(v) for v in (min, max))
    kinds = [getattr(v, "dtype", v) for v in (a, low, high) if v is not None]
    if np.result_type(*kinds).kind in "biu":  # infinity is no integer
        a = a if low is None else _selection.maximum(a, low)
        return a if high is None else _selection.minimum(a, high)
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    return _selection.clip(a, low, high)


def _clip_with_options(a: Any, min: Any, max: Any, options: dict[str, Any]) -> Any:
    """Raise to ``min``, then lower to ``max``; ``out=`` and ``where=`` belong to the last step."""
    limits = [(f, x) for f, x in ((_raised, min), (_lowered, max)) if x is not None]
    if not limits:
        return with_options(_unlimited, options, a, called="clip")
    dtypes = {key: options[key] for key in ("dtype", "casting") if key in options}
    for function, limit in limits[:-1]:
        a = with_options(function, dtypes, a, limit, called="clip")
    function, limit = limits[-1]
    return with_options(function, options, a, limit, called="clip")


def _unlimited(a: Any) -> Any:
    return clip(a)


def _raised(a: Any, min: Any) -> Any:
    return clip(a, min)


def _lowered(a: Any, max: Any) -> Any:
    return clip(a, None, max)


# The functions of NumPy that have the same rules for dtypes.
_unlimited.__name__, _raised.__name__, _lowered.__name__ = "positive", "maximum", "minimum"


def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Return ``x`` with NaN and infinities replaced by numbers.

    Parameters
    ----------
    x : array_like
        Any shape.
    copy : bool
        False writes the result into ``x``, if that is a tensor.
    nan : float
        Replaces NaN.
    posinf, neginf : float or None
        Replace infinities; None is the largest and the smallest finite number of the dtype.

    Notes
    -----
    The derivative is 1 where ``x`` is finite, 0 where it is replaced.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, float("nan")], requires_grad=True)
    >>> ng.grad(ng.nan_to_num(x), x)[0]
    tensor([1., 0.])
    """
    x = x if isinstance(x, Tensor) else constant(x)
    if not copy:
        return delivered(nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf), x, "nan_to_num")
    if x.dtype.kind in "biu":
        return _elementwise.copy(x)
    if x.dtype.kind == "c":
        parts = (_complex_parts.real(x), _complex_parts.imag(x))
        real, imag = (nan_to_num(p, nan=nan, posinf=posinf, neginf=neginf) for p in parts)
        return _elementwise.add(real, _elementwise.multiply(imag, 1j))
    limits = np.finfo(x.dtype)
    posinf = float(limits.max) if posinf is None else posinf
    neginf = float(limits.min) if neginf is None else neginf
    nan, posinf, neginf = (_replacement(v, x.dtype) for v in (nan, posinf, neginf))
    y = _elementwise.where(_comparison.equal(x, math.inf), posinf, x)
    y = _elementwise.where(_comparison.equal(x, -math.inf), neginf, y)
    y = _elementwise.where(_comparison.isnan(x), nan, y)
    return as_scalar(y) if x.is_scalar else y


def _replacement(value: ArrayLike, dtype: np.dtype) -> ArrayLike:
    """Return what replaces elements in the dtype of the elements, to which NumPy writes it."""
    if isinstance(value, complex) or np.result_type(kind_of_operand(value)).kind == "c":
        raise DtypeError(f"nan_to_num: elements of {dtype} cannot be replaced by a complex number")
    return value if type(value) in _PLAIN else as_tensor(value).astype(dtype, copy=False)


def _weak(value: ArrayLike) -> ArrayLike:
    return value if isinstance(value, int | float | complex) else constant(value)
