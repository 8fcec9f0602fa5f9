"""Gaussian filters and their derivatives."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import integer, real_number
from ....functions.array.operands import as_tensor
from ....functions.elementwise.exponential import exp
from ....functions.elementwise.powers import sqrt
from ....functions.products.products import matmul
from ....functions.reduction.reduction import sum as _sum
from ....functions.shape.rearranging import flip
from ..implicit.parameters import number
from .boundary import Image, along_axes, chosen_axes, correlated, for_each


def gaussian_filter1d(
    input: Any,  # noqa: A002  SciPy's name
    sigma: Any,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Any:
    """Smooth an array along an axis with a Gaussian, as `scipy.ndimage.gaussian_filter1d` does.

    Parameters
    ----------
    input : array_like
        Of floating numbers.
    sigma : float
        The standard deviation, which has a gradient, too; how many weights there are has none.
    axis : int
    order : int
        Which derivative of the Gaussian.
    output, mode, cval
        As in `correlate`.
    truncate, radius
        Where the Gaussian ends: after so many deviations, or so many elements.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> x = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> sigma = ng.tensor(0.8, requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.gaussian_filter1d(x, sigma)
    >>> y.detach().numpy().round(3)
    array([0.022, 0.228, 0.499, 0.228, 0.022])
    >>> round(ng.grad(y[2], sigma)[0].item(), 3)
    -0.623
    """
    image = Image(input, "gaussian_filter1d", output)
    (at,) = chosen_axes(axis, image.x.ndim, "gaussian_filter1d")
    weights = _weights(sigma, order, truncate, radius, "gaussian_filter1d")
    y = correlated(image.x, weights, [at], mode, cval, 0, "gaussian_filter1d")
    return image.delivered(y, sigma, cval)


def gaussian_filter(
    input: Any,  # noqa: A002  SciPy's name
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """Smooth an array with a Gaussian, as `scipy.ndimage.gaussian_filter` does.

    Parameters
    ----------
    input : array_like
        Of floating numbers.
    sigma : float, or one for each axis
        Standard deviations, which have gradients, too.
    order : int, or one for each axis
        Which derivative of the Gaussian.
    output, mode, cval, axes
        As in `correlate`.
    truncate, radius
        Where the Gaussian ends: after so many deviations, or so many elements.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> x = ng.tensor(np.eye(3), requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.gaussian_filter(x, 1.0, mode="constant")
    >>> ng.grad(y[0, 0], x)[0].numpy().round(3)
    array([[0.159, 0.097, 0.022],
           [0.097, 0.059, 0.013],
           [0.022, 0.013, 0.003]])
    """
    image = Image(input, "gaussian_filter", output)
    at = chosen_axes(axes, image.x.ndim, "gaussian_filter")
    y = _smoothed(image.x, at, sigma, order, mode, cval, truncate, radius, "gaussian_filter")
    return image.delivered(y, sigma, cval)


def gaussian_laplace(
    input: Any,  # noqa: A002  SciPy's name
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    truncate: float = 4.0,
    radius: Any = None,
) -> Any:
    """Return the Laplacian of a smoothed array, as `scipy.ndimage.gaussian_laplace` does: see
    `gaussian_filter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 0.0, 1.0, 0.0, 0.0], requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.gaussian_laplace(x, 1.0)
    >>> ng.grad(y[2], x)[0].numpy().round(3)
    array([ 0.197,  0.002, -0.399,  0.002,  0.197])
    """
    image = Image(input, "gaussian_laplace", output)
    parts = _derivatives(image, 2, sigma, mode, cval, truncate, radius, axes, "gaussian_laplace")
    return image.delivered(sum(parts[1:], parts[0]), sigma, cval)


def gaussian_gradient_magnitude(
    input: Any,  # noqa: A002  SciPy's name
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    truncate: float = 4.0,
    radius: Any = None,
) -> Any:
    """Return the length of the gradient of a smoothed array, as
    `scipy.ndimage.gaussian_gradient_magnitude` does: see `gaussian_filter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 1.0, 2.0, 3.0, 4.0], requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.gaussian_gradient_magnitude(x, 0.5)
    >>> y.detach().numpy().round(3)
    array([0.428, 0.858, 0.86 , 0.858, 0.428])
    """
    what = "gaussian_gradient_magnitude"
    image = Image(input, what, output)
    parts = _derivatives(image, 1, sigma, mode, cval, truncate, radius, axes, what)
    squares = [part * part for part in parts]
    return image.delivered(sqrt(sum(squares[1:], squares[0])), sigma, cval)


def _derivatives(
    image: Image, order: int, sigma: Any, mode: Any, cval: Any, truncate: float, radius: Any,
    axes: Any, what: str,
) -> list[Tensor]:  # fmt: skip
    """Return derivatives of the smoothed array along each axis."""
    at = chosen_axes(axes, image.x.ndim, what)
    if not at:
        raise ValueError(f"{what} needs an array with axes")
    orders = [[order if n == k else 0 for n in range(len(at))] for k in range(len(at))]
    return [
        _smoothed(image.x, at, sigma, own, mode, cval, truncate, radius, what) for own in orders
    ]


def _smoothed(
    x: Tensor, at: list[int], sigma: Any, order: Any, mode: Any, cval: Any, truncate: float,
    radius: Any, what: str,
) -> Tensor:  # fmt: skip
    given = {"sigma": sigma, "order": order, "mode": mode, "radius": radius}
    sigmas, orders, modes, radii = (for_each(v, at, name, what) for name, v in given.items())

    def along(x: Tensor, axis: int, n: int) -> Tensor:
        if not float(number(sigmas[n])) > 1e-15:
            return x
        weights = _weights(sigmas[n], orders[n], truncate, radii[n], what)
        return correlated(x, weights, [axis], modes[n], cval, 0, what)

    return along_axes(x, at, along)


def _weights(sigma: Any, order: Any, truncate: Any, radius: Any, what: str) -> Tensor:
    """Return the weights of a Gaussian or of its derivative, in the order of a correlation."""
    degree = integer(order, "order")
    width = float(real_number(number(sigma), "sigma"))
    size = int(real_number(truncate, "truncate") * width + 0.5) if radius is None else radius
    size = integer(size, "radius")
    if degree < 0 or size < 0:
        raise ValueError(f"{what}: order and radius must not be negative, got {order}, {size}")
    square = as_tensor(sigma).astype(np.float64, copy=False) ** 2
    x = np.arange(-size, size + 1.0)
    bell = exp(-0.5 / square * x**2)
    bell = bell / _sum(bell)
    if not degree:
        return bell
    # A derivative is the bell times a polynomial: q' - q x / sigma**2, again and again.
    exponents = np.arange(degree + 1.0)
    raised, lowered = np.diag(exponents[1:], 1), np.diag(np.ones(degree), -1)
    q = as_tensor(np.eye(degree + 1)[0])
    for _ in range(degree):
        q = matmul(raised - lowered / square, q)
    return flip(matmul(x[:, None] ** exponents, q) * bell)
