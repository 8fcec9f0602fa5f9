"""Correlation of an image with weights, of which all linear filters are made, and the extension of
an image beyond its boundary."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import integer, numeric
from ....functions.array.operands import as_tensor
from ....functions.indexing.indexing import take
from ....functions.shape.joining import concat
from ....functions.shape.rearranging import flip
from ....functions.signal.convolution import correlate as correlate_inside
from ..interpolate.data import answer

MODES = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "nearest": "edge",
    "mirror": "reflect",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "constant": None,
    "grid-constant": None,
}
"""What is around an array, and NumPy's name for it; a constant has none."""


class Image:
    """The array that a function filters: as given, and as a tensor; and the dtype of the result."""

    def __init__(self, given: Any, what: str, output: Any = None) -> None:
        self.given, self.what = given, what
        x = as_tensor(numeric(given, "input"))
        if x.dtype.kind not in "fc":
            raise ValueError(
                f"{what}: input must be floating, got {x.dtype}, for which SciPy rounds the "
                f"result; write input.astype(float)"
            )
        self.dtype = x.dtype if output is None else floating_dtype(output, what)
        self.x = x.astype(np.result_type(x.dtype, np.float64), copy=False)

    def delivered(self, y: Tensor, *others: Any) -> Any:
        """Return a result: a tensor if the array or one of the other arguments is one."""
        return answer(y.astype(self.dtype, copy=False), self.given, *others)


def floating_dtype(output: Any, what: str) -> np.dtype:
    """Return the dtype that the argument ``output`` asks for."""
    try:
        dtype = np.dtype(output)
    except TypeError:
        raise ValueError(f"{what}: output must be a dtype, got {output!r:.80}") from None
    if dtype.kind not in "fc":
        raise ValueError(f"{what}: output must be floating, got {dtype}")
    return dtype


def chosen_axes(axes: Any, ndim: int, what: str) -> list[int]:
    """Return the axes to be filtered, each once."""
    if axes is None:
        return list(range(ndim))
    given = [integer(a, "axes") for a in (axes if isinstance(axes, (tuple, list)) else [axes])]
    if any(not -ndim <= a < ndim for a in given) or len({a % ndim for a in given}) < len(given):
        raise ValueError(f"{what}: axes={axes!r} of an array of {ndim} axes")
    return [a % ndim for a in given]


def for_each(value: Any, axes: Sequence[int], name: str, what: str) -> list[Any]:
    """Return the option of each axis; a single option is for all axes."""
    if isinstance(value, (Tensor, np.ndarray)):
        value = list(value) if value.ndim else value
    if not isinstance(value, (tuple, list)):
        return [value] * len(axes)
    if len(value) != len(axes):
        raise ValueError(f"{what}: {name} has {len(value)} items for {len(axes)} axes")
    return list(value)


def correlated(
    x: Tensor, weights: Tensor, axes: Sequence[int], modes: Any, cval: Any, origins: Any, what: str
) -> Tensor:
    """Return for each element the sum of the products of weights with the elements around it.

    The axes of ``weights`` are the ``axes``, which ascend.
    """
    modes, origins = for_each(modes, axes, "mode", what), for_each(origins, axes, "origin", what)
    shape = [1] * x.ndim
    for axis, n, mode, origin in zip(axes, weights.shape, modes, origins, strict=True):
        shape[axis], shift = n, integer(origin, "origin")
        before = n // 2 + shift
        if not 0 <= before <= n - 1:
            raise ValueError(f"{what}: origin {shift} of {n} weights")
        x = extended(x, axis, before, n - 1 - before, mode, cval, what)
    if x.size == 0:
        return x
    return correlate_inside(x, weights.reshape(shape), "valid", "direct")


def ascending(
    axes: Sequence[int], modes: Any, origins: Any, what: str
) -> tuple[list[int], list[Any], list[Any]]:
    """Return the axes in ascending order, which is the order of the axes of weights, and the
    options of each axis."""
    modes, origins = for_each(modes, axes, "mode", what), for_each(origins, axes, "origin", what)
    order = np.argsort(axes).tolist()
    return [axes[k] for k in order], [modes[k] for k in order], [origins[k] for k in order]


def extended(
    x: Tensor, axis: int, before: int, after: int, mode: Any, cval: Any, what: str
) -> Tensor:
    """Return an array with ``before`` and ``after`` more elements along an axis, chosen by ``mode``
    as in SciPy."""
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"{what}: mode must be one of {', '.join(MODES)}, got {mode!r:.80}")
    if not before and not after:
        return x
    name, n = MODES[mode], x.shape[axis]
    if name is not None and n:
        return take(x, np.pad(np.arange(n), (before, after), name), axis=axis)
    fill = as_tensor(numeric(cval, "cval"))
    if fill.ndim:
        raise ValueError(f"{what}: cval must be a number, got shape {fill.shape}")
    parts = [np.ones((*x.shape[:axis], size, *x.shape[axis + 1 :])) for size in (before, after)]
    return concat([parts[0] * fill, x, parts[1] * fill], axis=axis)


def real_weights(weights: Any, what: str, ndim: int) -> Tensor:
    """Return weights as a tensor of float64, after checking the number of its axes."""
    found = as_tensor(numeric(weights, "weights"))
    if found.dtype.kind == "c" or found.ndim != ndim or not found.size:
        raise ValueError(
            f"{what}: weights must be a real array of {ndim} axes with elements, got shape "
            f"{found.shape}, {found.dtype}"
        )
    return found.astype(np.float64, copy=False)


def turned(weights: Tensor, origins: Sequence[Any]) -> tuple[Tensor, list[int]]:
    """Return weights and origins of the correlation that is the convolution with given ones."""
    shifts = [integer(origin, "origin") for origin in origins]
    even = [1 - n % 2 for n in weights.shape]
    return flip(weights), [-o - e for o, e in zip(shifts, even, strict=True)]


def along_axes(
    x: Tensor, axes: Sequence[int], filtered: Callable[[Tensor, int, int], Tensor]
) -> Tensor:
    """Return an array after a filter along each of the axes: ``filtered(x, axis, number)``."""
    for number, axis in enumerate(axes):
        x = filtered(x, axis, number)
    return x
