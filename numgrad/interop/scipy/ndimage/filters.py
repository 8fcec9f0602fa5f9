"""Linear filters with given weights, and those that differences and means are made of."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import integer
from ....functions.array.operands import as_tensor
from .boundary import (
    Image,
    along_axes,
    ascending,
    chosen_axes,
    correlated,
    for_each,
    real_weights,
    turned,
)


def correlate(
    input: Any,  # noqa: A002  SciPy's name
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Sum the products of weights with the surroundings of each element, as
    `scipy.ndimage.correlate` does.

    Parameters
    ----------
    input : array_like
        Of floating numbers.
    weights : array_like
        Of as many axes as are filtered.
    output : dtype, optional
        Of the result; that of ``input`` by default.
    mode : str, or one for each axis
        What is outside: ``"reflect"``, ``"mirror"``, ``"nearest"``, ``"wrap"``, ``"constant"``, or
        one of these with ``"grid-"`` in front.
    cval : float
        The number outside for ``"constant"``.
    origin : int, or one for each axis
        How far the weights are moved.
    axes : int or sequence of int, optional
        Which axes are filtered; all by default.

    Returns
    -------
    Tensor or numpy.ndarray
        With gradients to ``input``, ``weights`` and ``cval``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0], requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.correlate(x, [1.0, 2.0, 3.0])
    >>> y.tolist(), ng.grad(y[0], x)[0].tolist()
    ([15.0, 36.0, 49.0], [3.0, 3.0, 0.0])
    """
    image = Image(input, "correlate", output)
    at = chosen_axes(axes, image.x.ndim, "correlate")
    w = real_weights(weights, "correlate", len(at))
    at, modes, origins = ascending(at, mode, origin, "correlate")
    y = correlated(image.x, w, at, modes, cval, origins, "correlate")
    return image.delivered(y, weights, cval)


def convolve(
    input: Any,  # noqa: A002  SciPy's name
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Convolve an array with weights, as `scipy.ndimage.convolve` does: see `correlate`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0], requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.convolve(x, [1.0, 2.0, 3.0], mode="constant")
    >>> y.tolist(), ng.grad(y[0], x)[0].tolist()
    ([6.0, 20.0, 30.0], [2.0, 1.0, 0.0])
    """
    image = Image(input, "convolve", output)
    at = chosen_axes(axes, image.x.ndim, "convolve")
    w = real_weights(weights, "convolve", len(at))
    at, modes, origins = ascending(at, mode, origin, "convolve")
    w, origins = turned(w, origins)
    y = correlated(image.x, w, at, modes, cval, origins, "convolve")
    return image.delivered(y, weights, cval)


def correlate1d(
    input: Any,  # noqa: A002  SciPy's name
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """Sum the products of weights with the surroundings of each element along an axis: see
    `correlate`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0], requires_grad=True)
    >>> ng.interop.scipy.ndimage.correlate1d(x, [-1.0, 0.0, 1.0], mode="nearest").tolist()
    [3.0, 8.0, 5.0]
    """
    image = Image(input, "correlate1d", output)
    at = chosen_axes(axis, image.x.ndim, "correlate1d")
    w = real_weights(weights, "correlate1d", 1)
    y = correlated(image.x, w, at, mode, cval, origin, "correlate1d")
    return image.delivered(y, weights, cval)


def convolve1d(
    input: Any,  # noqa: A002  SciPy's name
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """Convolve an array with weights along an axis: see `correlate`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0], requires_grad=True)
    >>> ng.interop.scipy.ndimage.convolve1d(x, [1.0, 0.0, -1.0], mode="nearest").tolist()
    [3.0, 8.0, 5.0]
    """
    image = Image(input, "convolve1d", output)
    at = chosen_axes(axis, image.x.ndim, "convolve1d")
    w, origins = turned(real_weights(weights, "convolve1d", 1), [origin])
    y = correlated(image.x, w, at, mode, cval, origins, "convolve1d")
    return image.delivered(y, weights, cval)


def uniform_filter1d(
    input: Any,  # noqa: A002  SciPy's name
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """Return the means of ``size`` elements along an axis, as `scipy.ndimage.uniform_filter1d`
    does.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0], requires_grad=True)
    >>> ng.interop.scipy.ndimage.uniform_filter1d(x, 2).tolist()
    [1.0, 2.5, 6.5]
    """
    image = Image(input, "uniform_filter1d", output)
    at = chosen_axes(axis, image.x.ndim, "uniform_filter1d")
    y = correlated(image.x, _means(size, "size"), at, mode, cval, origin, "uniform_filter1d")
    return image.delivered(y, cval)


def uniform_filter(
    input: Any,  # noqa: A002  SciPy's name
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the means of the surroundings of each element, as `scipy.ndimage.uniform_filter` does.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 4.0], [9.0, 6.0]], requires_grad=True)
    >>> ng.interop.scipy.ndimage.uniform_filter(x, 2).tolist()
    [[1.0, 2.5], [5.0, 5.0]]
    """
    what = "uniform_filter"
    image = Image(input, what, output)
    at = chosen_axes(axes, image.x.ndim, what)
    sizes, modes, origins = (
        for_each(v, at, name, what)
        for v, name in ((size, "size"), (mode, "mode"), (origin, "origin"))
    )

    def mean(x: Tensor, axis: int, n: int) -> Tensor:
        return correlated(x, _means(sizes[n], "size"), [axis], modes[n], cval, origins[n], what)

    return image.delivered(along_axes(image.x, at, mean), cval)


def _means(size: Any, name: str) -> Tensor:
    count = integer(size, name)
    if count < 1:
        raise ValueError(f"{name} must be positive, got {count}")
    return as_tensor(np.full(count, 1.0 / count))


def sobel(
    input: Any,  # noqa: A002  SciPy's name
    axis: int = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
) -> Any:
    """Return Sobel's differences along an axis, as `scipy.ndimage.sobel` does.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 4.0], [9.0, 6.0]], requires_grad=True)
    >>> ng.interop.scipy.ndimage.sobel(x).tolist()
    [[6.0, 6.0], [-6.0, -6.0]]
    """
    return _differences("sobel", input, axis, output, mode, cval, [1.0, 2.0, 1.0])


def prewitt(
    input: Any,  # noqa: A002  SciPy's name
    axis: int = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
) -> Any:
    """Return Prewitt's differences along an axis, as `scipy.ndimage.prewitt` does.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 4.0], [9.0, 6.0]], requires_grad=True)
    >>> ng.interop.scipy.ndimage.prewitt(x).tolist()
    [[3.0, 3.0], [-3.0, -3.0]]
    """
    return _differences("prewitt", input, axis, output, mode, cval, [1.0, 1.0, 1.0])


def _differences(
    what: str, given: Any, axis: int, output: Any, mode: Any, cval: Any, across: list[float]
) -> Any:
    image = Image(given, what, output)
    (along,) = chosen_axes(axis, image.x.ndim, what)
    modes = for_each(mode, range(image.x.ndim), "mode", what)
    weights = as_tensor(np.array([-1.0, 0.0, 1.0])), as_tensor(np.array(across))
    order = [along, *(k for k in range(image.x.ndim) if k != along)]

    def part(x: Tensor, axis: int, n: int) -> Tensor:
        return correlated(x, weights[min(n, 1)], [axis], modes[axis], cval, 0, what)

    return image.delivered(along_axes(image.x, order, part), cval)


def laplace(
    input: Any,  # noqa: A002  SciPy's name
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
) -> Any:
    """Return the sum of second differences along the axes, as `scipy.ndimage.laplace` does.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0], requires_grad=True)
    >>> ng.interop.scipy.ndimage.laplace(x).tolist()
    [3.0, 2.0, -5.0]
    """
    image = Image(input, "laplace", output)
    at = chosen_axes(axes, image.x.ndim, "laplace")
    modes = for_each(mode, at, "mode", "laplace")
    weights = as_tensor(np.array([1.0, -2.0, 1.0]))
    total: Any = None if at else image.x * 0.0
    for axis, own in zip(at, modes, strict=True):
        part = correlated(image.x, weights, [axis], own, cval, 0, "laplace")
        total = part if total is None else total + part
    return image.delivered(total, cval)
