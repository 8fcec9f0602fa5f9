"""Rational filters of sequences under the names of ``scipy.signal``."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.apply import other_modes
from ...engine.record.composition import composed
from ...operators.signal.convolution import widened
from ...operators.signal.recursion import filtered
from ..array.argument_checks import integer, numeric
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor, in_one_dtype, is_known, values_of
from ..reduction.cumulative import cumsum
from ..shape.joining import concat, stack
from ..shape.rearranging import flip
from ..shape.repeating import broadcast_to
from ..shape.reshaping import moveaxis

PADTYPES = ("odd", "even", "constant")
_FEW = 96  # coefficients


def lfilter(
    b: ArrayLike, a: ArrayLike, x: ArrayLike, axis: int = -1, zi: ArrayLike | None = None
) -> Any:
    """Filter sequences by a rational transfer function, as `scipy.signal.lfilter` does.

    Parameters
    ----------
    b, a : array_like
        Coefficients of the numerator and of the denominator, two vectors.
    x : array_like
        Sequences.
    axis : int
        Along which they are.
    zi : array_like, optional
        The state at the beginning, along ``axis`` one shorter than the longer one of ``b`` and
        ``a``; other axes may have size 1.

    Returns
    -------
    Tensor or tuple of Tensor
        The filtered sequences; with ``zi`` also the state at the end.

    Raises
    ------
    ValueError
        For coefficients that are no vectors, an ``a[0]`` that is 0, an ``x`` without axes, and a
        ``zi`` of another shape. While a function is captured, a quotient by ``a[0]`` is what NumPy
        makes of it.

    Notes
    -----
    The output solves :math:`\\sum_i a_i y_{k-i} = \\sum_i b_i x_{k-i}`. With the cotangent filtered
    backwards in time, :math:`\\sum_i \\bar a_i t_{k+i} = g_k`, the gradients are
    :math:`\\sum_i \\bar b_i t_{k+i}` of ``x``, :math:`\\sum_k t_k \\bar x_{k-i}` of ``b`` and
    :math:`-\\sum_k t_k \\bar y_{k-i}` of ``a``. Each takes time in proportion to the length.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor([1.0, -0.5], requires_grad=True)
    >>> y = ng.signal.lfilter([1.0], a, [1.0, 0.0, 0.0])
    >>> y.detach()
    tensor([1.  , 0.5 , 0.25])
    >>> ng.grad(y[2], a)[0]
    tensor([-0.75, -1.  ])
    """
    return _lfilter(_as_option(b), _as_option(a), x, axis, zi)


@composed
def _lfilter(b: Any, a: Any, x: ArrayLike, axis: int, zi: Any) -> Any:
    return _run("lfilter", *_coefficients("lfilter", b, a), x, axis, zi)


def _as_option(numbers: Any) -> Any:
    """Return a few coefficients as lists, of which operations are noted: they may be looked at."""
    is_array = type(numbers) is np.ndarray and numbers.dtype == np.float64 and not other_modes
    return numbers.tolist() if is_array and numbers.ndim and 0 < numbers.size <= _FEW else numbers


@composed
def lfilter_zi(b: ArrayLike, a: ArrayLike) -> Tensor:
    """Return the state of `lfilter` in which a step of height 1 passes without a transient.

    Parameters
    ----------
    b, a : array_like
        Coefficients as for `lfilter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signal.lfilter_zi([0.5], [1.0, -0.5])
    tensor([0.5])
    """
    return _steady(*_as_long(*_coefficients("lfilter_zi", b, a)))


def filtfilt(
    b: ArrayLike,
    a: ArrayLike,
    x: ArrayLike,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: int | None = None,
) -> Tensor:
    """Filter sequences forwards and backwards, as `scipy.signal.filtfilt` does.

    Parameters
    ----------
    b, a, x, axis
        As for `lfilter`.
    padtype : {"odd", "even", "constant", None}
        How sequences go on at both ends.
    padlen : int, optional
        By how many elements; three times the longer one of ``b`` and ``a`` by default.
    method : "pad"
        SciPy's other one, Gustafsson's, is not there.
    irlen : None
        An option of that one.

    Raises
    ------
    ValueError
        As for `lfilter`, for another ``padtype`` or ``method``, and for a ``padlen`` that is
        negative or not below the length.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 1.0, 0.0, 0.0], requires_grad=True)
    >>> ng.signal.filtfilt([0.5, 0.5], [1.0], x, padlen=2).detach()
    tensor([0.  , 0.5 , 0.25, 0.  ])
    """
    if not isinstance(method, str) or method != "pad" or irlen is not None:
        raise ValueError(f"filtfilt: method must be 'pad' without irlen, got {method!r}, {irlen!r}")
    b, a = _coefficients("filtfilt", b, a)
    x = sequences("filtfilt", x, axis)
    edge = _edge("filtfilt", padtype, padlen, 3 * max(b.size, a.size), x.shape[-1])
    state = _steady(*_as_long(b, a))
    y = _extended(x, padtype, edge)
    for _ in range(2):
        y, _ = _run("filtfilt", b, a, y, -1, state * y[..., :1])
        y = flip(y, -1)
    return moveaxis(y[..., edge : y.shape[-1] - edge], -1, axis)


def sosfilt(
    sos: ArrayLike, x: ArrayLike, axis: int = -1, zi: ArrayLike | None = None
) -> Any:
    """Filter sequences by a cascade of filters of second order, as `scipy.signal.sosfilt` does.

    Parameters
    ----------
    sos : array_like
        Of each section a row: three coefficients of the numerator, three of the denominator.
    x, axis
        As for `lfilter`.
    zi : array_like, optional
        The states at the beginning: of each section one of size 2 along ``axis``.

    Returns
    -------
    Tensor or tuple of Tensor
        The filtered sequences; with ``zi`` also the states at the end.

    Raises
    ------
    ValueError
        For a ``sos`` that is no matrix of six columns, and as for `lfilter`.

    Notes
    -----
    Each section is `lfilter`, so its fourth number may differ from 1, which SciPy refuses, and has
    a gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signal.sosfilt([[1.0, 1.0, 0.0, 1.0, -0.5, 0.0]], ng.tensor([1.0, 0.0, 0.0]))
    tensor([1.  , 1.5 , 0.75])
    """
    return _sosfilt(_as_option(sos), x, axis, zi)


@composed
def _sosfilt(sos: Any, x: ArrayLike, axis: int, zi: Any) -> Any:
    return _cascade("sosfilt", _sections("sosfilt", sos), x, axis, zi)


def sosfilt_zi(sos: ArrayLike) -> Tensor:
    """Return the states of `sosfilt` in which a step of height 1 passes without a transient.

    Parameters
    ----------
    sos : array_like
        Sections as for `sosfilt`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signal.sosfilt_zi([[0.5, 0.0, 0.0, 1.0, -0.5, 0.0]])
    tensor([[0.5, 0. ]])
    """
    height: Any = 1.0
    states = []
    for row in _sections("sosfilt_zi", sos):
        states.append(height * _steady(row[:3], row[3:]))
        height = height * (row[:3].sum() / row[3:].sum())
    return stack(states)


def sosfiltfilt(
    sos: ArrayLike,
    x: ArrayLike,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
) -> Tensor:
    """Filter sequences by a cascade forwards and backwards, as `scipy.signal.sosfiltfilt` does.

    Parameters
    ----------
    sos, x, axis
        As for `sosfilt`.
    padtype, padlen
        As for `filtfilt`. Of how long the sections are, zeros at their ends are not counted; in a
        captured function they are, so give ``padlen`` there.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 1.0, 0.0, 0.0])
    >>> ng.signal.sosfiltfilt([[0.5, 0.5, 0.0, 1.0, 0.0, 0.0]], x, padlen=2)
    tensor([0.  , 0.5 , 0.25, 0.  ])
    """
    rows = _sections("sosfiltfilt", sos)
    x = sequences("sosfiltfilt", x, axis)
    usual = 0 if padlen is not None or padtype is None else _taps(rows)
    edge = _edge("sosfiltfilt", padtype, padlen, usual, x.shape[-1])
    states = sosfilt_zi(stack(rows))
    states = states.reshape(len(rows), *(1,) * (x.ndim - 1), 2)
    y = _extended(x, padtype, edge)
    for _ in range(2):
        y, _ = _cascade("sosfiltfilt", rows, y, -1, states * y[..., :1])
        y = flip(y, -1)
    return moveaxis(y[..., edge : y.shape[-1] - edge], -1, axis)


# Arguments ----------------------------------------------------------------------------------------


def floating_numbers(x: ArrayLike, argument: str) -> Tensor:
    """Return an argument of numbers as floating ones."""
    x = as_tensor(numeric(x, argument))
    if x.dtype.kind not in "biufc":
        raise TypeError(f"{argument} must be numbers, got {x.dtype}")
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _coefficients(name: str, b: ArrayLike, a: ArrayLike) -> tuple[Tensor, Tensor]:
    pair = floating_numbers(b, "b"), floating_numbers(a, "a")
    pair = tuple(c.reshape(1) if not c.ndim else c for c in pair)
    if any(c.ndim != 1 or not c.size for c in pair):
        shapes = " and ".join(str(c.shape) for c in pair)
        raise ValueError(f"{name}: b and a must be vectors that are not empty, got {shapes}")
    return pair  # type: ignore[return-value]


def _as_long(b: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    """Return coefficients with zeros behind the fewer ones."""
    n = max(b.size, a.size)
    b, a = (widened(c, 0, n - c.size) for c in (b, a))
    return b, a


def _sections(name: str, sos: ArrayLike) -> list[Tensor]:
    sos = floating_numbers(sos, "sos")
    if sos.ndim != 2 or sos.shape[1] != 6 or not sos.shape[0]:
        raise ValueError(f"{name}: sos must have rows of 6 numbers, got shape {sos.shape}")
    return [sos[k] for k in range(sos.shape[0])]


def sequences(name: str, x: ArrayLike, axis: int, argument: str = "x") -> Tensor:
    """Return an argument as floating numbers, its sequences along the last axis."""
    x = floating_numbers(x, argument)
    if not x.ndim:
        raise ValueError(f"{name}: {argument} must have at least one axis, got a number")
    return moveaxis(x, normalize_axis_index(axis, x.ndim), -1)


# Filters along the last axis ----------------------------------------------------------------------


def _run(name: str, b: Tensor, a: Tensor, x: ArrayLike, axis: int, zi: ArrayLike | None) -> Any:
    if is_known(a) and values_of(a.detach())[0] == 0:
        raise ValueError(f"{name}: a[0] must not be 0")
    if zi is None:
        return _from_rest(name, b, a, x, axis)
    return _from_state(name, b, a, x, axis, zi)


@composed
def _from_rest(name: str, b: Tensor, a: Tensor, x: ArrayLike, axis: int) -> Tensor:
    b, a, x = in_one_dtype(b, a, sequences(name, x, axis))
    y, _ = filtered(b, a, x, None)
    return moveaxis(y, -1, axis)


@composed
def _from_state(
    name: str, b: Tensor, a: Tensor, x: ArrayLike, axis: int, zi: ArrayLike
) -> tuple[Tensor, Tensor]:
    x = sequences(name, x, axis)
    b, a = _as_long(b, a)
    state = floating_numbers(zi, "zi")
    shape = (*x.shape[:-1], b.size - 1)
    state = moveaxis(state, axis, -1) if state.ndim == x.ndim else state
    fits = state.ndim == x.ndim and state.shape[-1] == shape[-1]
    if not fits or any(m not in (1, n) for m, n in zip(state.shape, shape, strict=True)):
        raise ValueError(f"{name}: zi of shape {np.shape(zi)} does not fit states of shape {shape}")
    b, a, x, state = in_one_dtype(b, a, x, state)
    y, final = filtered(b, a, x, a[0] * broadcast_to(state, shape))
    return moveaxis(y, -1, axis), moveaxis(final / a[0], -1, axis)


def _cascade(name: str, rows: list[Tensor], x: ArrayLike, axis: int, zi: ArrayLike | None) -> Any:
    y, finals = sequences(name, x, axis), []
    states: Any = zi
    if zi is not None:
        states = floating_numbers(zi, "zi")
        if states.ndim != y.ndim + 1 or states.shape[0] != len(rows):
            raise ValueError(
                f"{name}: zi of shape {states.shape} does not fit {len(rows)} sections and x of "
                f"shape {np.shape(x)}"
            )
        states = moveaxis(states, normalize_axis_index(axis, y.ndim) + 1, -1)
    for k, row in enumerate(rows):
        if zi is None:
            y = _run(name, row[:3], row[3:], y, -1, None)
        else:
            y, final = _run(name, row[:3], row[3:], y, -1, states[k])
            finals.append(moveaxis(final, -1, axis))
    y = moveaxis(y, -1, axis)
    return y if zi is None else (y, stack(finals))


def _steady(b: Tensor, a: Tensor) -> Tensor:
    """Return the state of a filter in which a constant 1 stays what it is."""
    b, a = in_one_dtype(b / a[0], a / a[0])
    rest = b - a * b[0]
    first = rest.sum() / a.sum()
    return (cumsum(a) * first - cumsum(rest))[:-1]


# Both ends ----------------------------------------------------------------------------------------


def _edge(name: str, padtype: Any, padlen: Any, usual: int, n: int) -> int:
    """Return by how many elements sequences of length ``n`` go on."""
    if padtype is not None and (not isinstance(padtype, str) or padtype not in PADTYPES):
        raise ValueError(f"{name}: padtype must be one of {PADTYPES} or None, got {padtype!r:.80}")
    edge = usual if padlen is None else integer(padlen, "padlen")
    edge = 0 if padtype is None else edge
    if edge < 0 or n <= edge:
        raise ValueError(f"{name}: padlen is {edge}, which must be in 0..{n - 1} for length {n}")
    return edge


def _extended(x: Tensor, padtype: str | None, edge: int) -> Tensor:
    """Return sequences that go on by ``edge`` elements at both ends."""
    if not edge:
        return x
    first, final = x[..., :1], x[..., -1:]
    if padtype == "constant":
        size = (*x.shape[:-1], edge)
        return concat([broadcast_to(first, size), x, broadcast_to(final, size)], axis=-1)
    n = x.shape[-1]
    left = flip(x[..., 1 : edge + 1], -1)
    right = flip(x[..., n - edge - 1 : n - 1], -1)
    if padtype == "odd":
        left, right = 2 * first - left, 2 * final - right
    return concat([left, x, right], axis=-1)


def _taps(rows: list[Tensor]) -> int:
    """Return three times how long a cascade is, as SciPy counts it."""
    counted = 2 * len(rows) + 1
    if all(is_known(row) for row in rows):
        values = np.stack([row.detach().numpy() for row in rows])
        counted -= min((values[:, 2] == 0).sum(), (values[:, 5] == 0).sum())
    return 3 * int(counted)
