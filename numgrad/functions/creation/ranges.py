"""Making tensors: evenly spaced numbers."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.capture import escapes
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ..array.argument_checks import integer, numeric
from ..array.device_transfer import on_device
from ..array.operands import lists_of
from ..elementwise.rounding import floor
from ..reduction import reduction
from ..shape.joining import concatenate
from ..shape.repeating import broadcast_to
from ..shape.reshaping import moveaxis
from ..shape.selection import where
from .from_data import asarray, asking, carries_graph, device_like, fresh


def _number(value: Any) -> Any:
    is_number = isinstance(value, Tensor) and value.size == 1
    return value.detach().item() if is_number else guarded(value)


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    device: Any = None,
    like: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers from ``start`` (0 if only one is given) to ``stop``, excluded, in steps.

    Parameters
    ----------
    start, stop, step : number
        The range, as in NumPy; ``start`` and ``step`` get gradients if they require grad.
    dtype : dtype, optional
        By default that of the numbers.
    device, like, requires_grad
        As in `zeros`.

    Raises
    ------
    DetachedError
        If ``stop`` alone requires grad, or the result is to be of integers: it decides how many
        numbers there are, which has no derivative.

    Notes
    -----
    With :math:`y_i = a + i h`: :math:`\\partial y_i / \\partial a = 1` and
    :math:`\\partial y_i / \\partial h = i`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.arange(3)
    tensor([0, 1, 2])
    """
    device = device_like(device, like)
    if stop is None:
        start, stop = 0, start
    known = np.arange(_number(start), _number(stop), _number(step), dtype=dtype)
    varying = [v for v in (start, step) if isinstance(v, Tensor) and v.requires_grad]
    if varying and known.dtype.kind in "fc":
        return asking(on_device(_spaced(start, step, known), device), requires_grad)
    for value in (*varying, stop):
        if isinstance(value, Tensor):
            escapes.refuse_escape(value, "ng.arange", _COUNT)
    return fresh(known, device, requires_grad)


_COUNT = (
    "How many numbers there are has no derivative, nor have integers: let start or step of a range "
    "of floating numbers depend on what is differentiated, or write ng.linspace(start, stop, num)."
)


def _spaced(start: Any, step: Any, known: np.ndarray) -> Tensor:
    """Return the numbers of a range, rounded as by NumPy: multiples of the distance between the
    first two."""
    first, second = (asarray(v, known.dtype).reshape(()) for v in (start, start + step))
    return first + np.arange(known.size, dtype=known.dtype) * (second - first)


def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return ``num`` evenly spaced numbers from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop : number or Tensor
        The ends; tensors that require grad get gradients.
    num : int
        How many numbers.
    endpoint : bool
        Whether ``stop`` is the last of them.
    retstep : bool
        Whether to return the distance of two numbers as well.
    dtype : dtype, optional
        Default: that of the ends, floating.
    axis : int
        Along which axis the numbers lie, where the ends have axes.
    device, requires_grad
        As in `zeros`.

    Notes
    -----
    With :math:`y_i = a + (b - a) t_i`, :math:`t_i = i / (n - 1)`:
    :math:`\\partial y_i / \\partial a = 1 - t_i` and :math:`\\partial y_i / \\partial b = t_i`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linspace(0.0, 1.0, 5)
    tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    num, endpoint = integer(num, "num"), bool(guarded(endpoint))
    start, stop = numeric(start, "start"), numeric(stop, "stop")
    if axis or retstep:
        numbers = linspace(start, stop, num, endpoint, dtype=dtype, device=device)
        steps = num - 1 if endpoint else num
        distance = asarray(stop, np.result_type(numbers.dtype, 1.0)) - start
        step = distance / steps if steps > 0 else distance * np.nan
        numbers = asking(moveaxis(numbers, 0, axis), requires_grad)
        return (numbers, step) if retstep else numbers
    if not carries_graph([start, stop]):
        first, last = lists_of(guarded((start, stop)))
        array = np.linspace(first, last, num, endpoint=endpoint, dtype=dtype)
        return fresh(array, device, requires_grad)
    start, stop = (asarray(e) if isinstance(e, (list, tuple)) else e for e in (start, stop))
    result = _between(start, stop, num, endpoint)
    if dtype is not None:
        whole = np.issubdtype(dtype, np.integer)
        result = (floor(result) if whole else result).astype(dtype, copy=False)
    return asking(on_device(result, device), requires_grad)


@composed
def _between(start: Any, stop: Any, num: int, endpoint: bool) -> Tensor:
    """Return evenly spaced numbers, each rounded as NumPy rounds them: multiples of the step, or
    where that is too small for a number, parts of the distance."""
    if num < 0:
        raise ValueError(f"linspace: the number of samples, {num}, must not be negative")
    distance, steps = stop - start, num - 1 if endpoint else num
    if distance.dtype.kind not in "fc":
        distance = asarray(stop, np.float64) - asarray(start, np.float64)
    number = np.arange(num, dtype=distance.dtype).reshape((-1,) + (1,) * distance.ndim)
    if steps > 0:
        # By a real number NumPy divides complex ones as if they were multiplied by its inverse.
        share = distance * (1 / steps) if distance.dtype.kind == "c" else distance / steps
        vanishes = reduction.any(share == 0)
        result = where(vanishes, distance * (number / steps), share * number)
    else:
        result = distance * number
    result = result + start
    if not endpoint or num < 2:
        return result
    last = on_device(asarray(stop, distance.dtype), result.device)
    return concatenate([result[:-1], broadcast_to(last, (1, *distance.shape))])
