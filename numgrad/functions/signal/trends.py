"""Removal of trends and noise from sequences, under the names of ``scipy.signal``."""

from importlib import import_module
from itertools import pairwise
from math import factorial
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...operators.signal.convolution import places, slide
from ..array.argument_checks import integer, integers
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor
from ..products.products import matmul
from ..shape.joining import concat
from ..shape.padding import pad
from ..shape.reshaping import moveaxis
from .filters import floating_numbers, sequences

TRENDS = {"linear": 1, "l": 1, "constant": 0, "c": 0}
AROUND = {"mirror": "reflect", "constant": "constant", "nearest": "edge", "wrap": "wrap"}


@composed
def detrend(
    data: ArrayLike,
    axis: int = -1,
    type: str = "linear",
    bp: Any = 0,
    overwrite_data: bool = False,
) -> Tensor:
    """Subtract the mean or the straight line of least squares, as `scipy.signal.detrend` does.

    Parameters
    ----------
    data : array_like
        Sequences.
    axis : int
        Along which they are.
    type : {"linear", "constant"}
        Whether a line is subtracted or the mean.
    bp : int or sequence of int
        Where one line ends and the next one begins.
    overwrite_data
        For SciPy's sake: nothing is overwritten.

    Raises
    ------
    ValueError
        For another ``type``, a number as ``data``, and a ``bp`` outside of it.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signal.detrend(ng.tensor([1.0, 2.0, 6.0]), type="constant")
    tensor([-2., -1.,  3.])
    """
    if not isinstance(type, str) or type not in TRENDS:
        raise ValueError(f"detrend: type must be 'linear' or 'constant', got {type!r:.80}")
    x = sequences("detrend", data, axis, "data")
    n = x.shape[-1]
    ends = [0, n] if not TRENDS[type] else sorted({0, n, *integers(bp, "bp")})
    if ends[0] < 0 or ends[-1] > n:
        raise ValueError(f"detrend: bp must be in 0..{n}, got {bp!r:.80}")
    parts = [_without(x[..., i:j], TRENDS[type]) for i, j in pairwise(ends)]
    return moveaxis(concat(parts, axis=-1) if parts else x, -1, axis)


def _without(x: Tensor, degree: int) -> Tensor:
    """Return what is orthogonal to polynomials of a degree."""
    n = x.shape[-1]
    if not degree:
        return x - x.mean(axis=-1, keepdims=True)
    powers = np.stack([np.ones(n), np.arange(1.0, n + 1) / max(n, 1)], axis=-1)
    basis = as_tensor(np.linalg.qr(powers)[0].astype(_real(x)))
    return x - matmul(matmul(x[..., None, :], basis), basis.T)[..., 0, :]


def _real(x: Tensor) -> np.dtype:
    return np.dtype(x.dtype.char.lower()) if x.dtype.kind == "c" else x.dtype


def savgol_filter(
    x: ArrayLike,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: ArrayLike = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: ArrayLike = 0.0,
) -> Tensor:
    """Smooth sequences by polynomials of least squares in a window, as
    `scipy.signal.savgol_filter` does.

    Parameters
    ----------
    x : array_like
        Sequences.
    window_length, polyorder : int
        How many elements a polynomial is fitted to, and its degree, which is lower.
    deriv : int
        Which derivative of it is the result.
    delta : array_like
        The distance of elements, for derivatives; a number.
    axis : int
        Along which the sequences are.
    mode : {"interp", "mirror", "constant", "nearest", "wrap"}
        Whether the polynomials of the first and the last window go on to the ends, or how the
        sequences go on there.
    cval : array_like
        The number around them in mode ``"constant"``.

    Raises
    ------
    ValueError
        For another ``mode``, a ``polyorder`` that is not below ``window_length``, and in mode
        ``"interp"`` for sequences that are shorter than the window.

    Notes
    -----
    The output is linear in ``x``; ``delta`` and ``cval`` have gradients.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([2.0, 2.0, 5.0, 2.0, 1.0], requires_grad=True)
    >>> y = ng.signal.savgol_filter(x, 3, 1)
    >>> y.detach().round(4)
    tensor([1.5   , 3.    , 3.    , 2.6667, 0.6667])
    >>> ng.grad(y[1], x)[0].round(4)
    tensor([0.3333, 0.3333, 0.3333, 0.    , 0.    ])
    """
    m, degree = integer(window_length, "window_length"), integer(polyorder, "polyorder")
    deriv = integer(deriv, "deriv")
    if not isinstance(mode, str) or mode not in (*AROUND, "interp"):
        choices = ", ".join(["interp", *AROUND])
        raise ValueError(f"savgol_filter: mode must be one of {choices}, got {mode!r:.80}")
    if m < 1 or not 0 <= degree < m or deriv < 0:
        raise ValueError(
            f"savgol_filter: polyorder must be in 0..window_length - 1 and deriv not negative, got "
            f"window_length {m}, polyorder {degree}, deriv {deriv}"
        )
    signal = sequences("savgol_filter", x, axis)
    if mode == "interp" and m > signal.shape[-1]:
        raise ValueError(
            f"savgol_filter: window_length {m} exceeds the length {signal.shape[-1]} of x, which "
            f"mode 'interp' does not allow"
        )
    y = _smoothed(signal, m, degree, deriv, mode, cval)
    if deriv:
        step = floating_numbers(delta, "delta")
        if step.ndim:
            raise ValueError(f"savgol_filter: delta must be a number, got shape {step.shape}")
        y = y / (step if step.dtype == y.dtype else step.astype(y.dtype)) ** deriv
    return moveaxis(y, -1, normalize_axis_index(axis, y.ndim))


def _smoothed(x: Tensor, m: int, degree: int, deriv: int, mode: str, cval: Any) -> Tensor:
    """Return the values for elements at distance 1."""
    weights = import_module("scipy.signal").savgol_coeffs(m, degree, deriv)[::-1]
    n, left = x.shape[-1], (m - 1) // 2
    right = m - 1 - left
    if mode == "interp":
        inner = slide(x, _constant(weights, x), places(n - m + 1))
        fits = _ends(m, degree, deriv)
        half = m // 2
        first = matmul(x[..., None, :m], _constant(fits[:half].T, x))[..., 0, :]
        final = matmul(x[..., None, n - m :], _constant(fits[m - half :].T, x))[..., 0, :]
        return concat([first, inner[..., half - left : n - m + 1 - (half - right)], final], axis=-1)
    options = {"constant_values": cval} if mode == "constant" else {}
    if not n:
        return x
    wide = pad(x, [(0, 0)] * (x.ndim - 1) + [(left, right)], AROUND[mode], **options)
    return slide(wide, _constant(weights, x), places(n))


def _constant(numbers: np.ndarray, x: Tensor) -> Tensor:
    return as_tensor(np.ascontiguousarray(numbers.astype(_real(x))))


def _ends(m: int, degree: int, deriv: int) -> np.ndarray:
    """Return the matrix from the elements of a window to the derivative of the polynomial of least
    squares at each of them."""
    scale = max(m - 1, 1) / 2
    t = (np.arange(m) - (m - 1) / 2) / scale
    powers = np.vander(t, degree + 1, increasing=True)
    slopes = np.zeros_like(powers)
    for k in range(deriv, degree + 1):
        slopes[:, k] = factorial(k) / factorial(k - deriv) * t ** (k - deriv)
    q, r = np.linalg.qr(powers)
    return np.linalg.solve(r.T, slopes.T).T @ q.T / scale**deriv
