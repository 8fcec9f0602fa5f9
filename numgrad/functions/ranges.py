"""Making tensors: evenly spaced numbers."""

from typing import Any

import numpy as np

from .._tensor import ArrayLike, Tensor
from .creation import arrays, asarray, carries_graph, fresh, require_cpu


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) and value.size == 1 else value


def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None
) -> Tensor:
    """Return numbers from ``start`` (0 if only one is given) to ``stop``, excluded, in steps.

    Parameters
    ----------
    start, stop, step : number
        The range, as in NumPy; the result does not depend on them smoothly, so no gradient flows.
    dtype : dtype, optional
        By default that of the numbers.
    device : {None, "cpu"}
        Where the tensor lives.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.arange(3)
    tensor([0, 1, 2])
    """
    require_cpu(device)
    start, stop, step = _number(start), _number(stop), _number(step)
    if stop is None:
        start, stop = 0, start
    return fresh(np.arange(start, stop, step, dtype=dtype))


def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    *,
    device: Any = None,
) -> Tensor:
    """Return ``num`` evenly spaced numbers from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop : number or Tensor
        The ends; tensors that require grad get gradients.
    num : int
        How many numbers.
    endpoint : bool
        Whether ``stop`` is the last of them.
    dtype : dtype, optional
        Default: that of the ends, floating.
    device : {None, "cpu"}
        Where the tensor lives.

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
    require_cpu(device)
    if carries_graph([start, stop]):
        position = Tensor(np.linspace(0.0, 1.0, num, endpoint=endpoint))
        start, stop = asarray(start), asarray(stop)
        position = position.reshape((-1,) + (1,) * max(start.ndim, stop.ndim))
        result = start * (1.0 - position) + stop * position
        return result if dtype is None else result.astype(dtype)
    first, last = arrays((start, stop))
    return fresh(np.linspace(first, last, num, endpoint=endpoint, dtype=dtype))
