"""Coefficients of splines through arrays, under the names of ``scipy.ndimage``."""

from typing import Any

import numpy as np

from ....functions.array.argument_checks import integer
from ..spatial.splines import CONTINUED, filtered
from .boundary import Image, chosen_axes


def spline_filter1d(
    input: Any,  # noqa: A002  SciPy's name
    order: int = 3,
    axis: int = -1,
    output: Any = np.float64,
    mode: str = "mirror",
) -> Any:
    """Return the coefficients of the spline through an array along an axis, as
    `scipy.ndimage.spline_filter1d` does: see `spline_filter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 5.0, 2.0], requires_grad=True)
    >>> c = ng.interop.scipy.ndimage.spline_filter1d(x)
    >>> c.detach().numpy().round(6)
    array([-2.75,  8.5 , -1.25])
    """
    return _filtered("spline_filter1d", input, order, axis, output, mode)


def spline_filter(
    input: Any,  # noqa: A002  SciPy's name
    order: int = 3,
    output: Any = np.float64,
    mode: str = "mirror",
) -> Any:
    """Return the coefficients of the spline through an array, as `scipy.ndimage.spline_filter`
    does.

    Parameters
    ----------
    input : array_like
        Of floating numbers.
    order : int
        The degree, from 2 to 5.
    output : dtype
    mode : str
        How the array goes on outside, as in `map_coordinates`. With ``"reflect"`` the spline goes
        through short arrays, too, which that of SciPy 1.17 misses.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 1.0], [1.0, 1.0]], requires_grad=True)
    >>> ng.interop.scipy.ndimage.spline_filter(x).detach().numpy().round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return _filtered("spline_filter", input, order, None, output, mode)


def _filtered(what: str, given: Any, order: Any, axes: Any, output: Any, mode: Any) -> Any:
    image, degree = Image(given, what, output), integer(order, "order")
    least = 2 if axes is None else 0
    if not least <= degree <= 5:
        raise ValueError(f"{what}: order must be in {least}..5, got {degree}")
    if not isinstance(mode, str) or mode not in CONTINUED:
        raise ValueError(f"{what}: mode must be one of {', '.join(CONTINUED)}, got {mode!r:.80}")
    x = image.x
    for axis in chosen_axes(axes, x.ndim, what):
        x = filtered(x, degree, axis, mode)
    return image.delivered(x)
