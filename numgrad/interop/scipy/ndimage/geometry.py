"""Images moved, turned and scaled: values between the elements."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import numeric
from ....functions.array.operands import as_tensor
from ....functions.elementwise.trigonometric import cos, sin
from ....functions.products.products import matmul
from ....functions.shape.joining import stack
from ..implicit.parameters import number
from ..spatial.images import map_coordinates
from .boundary import Image, chosen_axes, for_each


def affine_transform(
    input: Any,  # noqa: A002  SciPy's name
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """Return an array's values at ``matrix @ o + offset`` for each place ``o``, as
    `scipy.ndimage.affine_transform` does.

    Parameters
    ----------
    input : array_like
        Of floating numbers.
    matrix : array_like
        One number for each axis, a matrix, or one with the offset as last column, and a last row
        that does not matter.
    offset : float, or one for each axis
    output_shape : tuple of int, optional
    output, order, mode, cval, prefilter
        As in `map_coordinates`.

    Returns
    -------
    Tensor or numpy.ndarray
        With gradients to ``input``, ``matrix``, ``offset`` and ``cval``.

    Examples
    --------
    >>> import numgrad as ng
    >>> offset = ng.tensor(0.25, requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.affine_transform([1.0, 3.0, 9.0], [0.5], offset, order=1)
    >>> y.tolist(), ng.grad(y[2], offset)[0].item()
    ([1.5, 2.5, 4.5], 6.0)
    """
    image = Image(input, "affine_transform", output)
    size = image.x.ndim
    m = as_tensor(numeric(matrix, "matrix")).astype(np.float64, copy=False)
    if m.ndim == 2 and m.shape[1] == size + 1 and m.shape[0] in (size, size + 1):
        m, offset = m[:size, :size], m[:size, size]
    if m.shape not in ((size,), (size, size)):
        raise ValueError(
            f"affine_transform: a matrix of shape {m.shape} for an array of {size} axes"
        )
    shape = image.x.shape if output_shape is None else tuple(output_shape)
    own = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    return image.delivered(_moved(image, m, offset, shape, own), matrix, offset, cval)


def shift(
    input: Any,  # noqa: A002  SciPy's name
    shift: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """Return an array that is moved by numbers of elements, as `scipy.ndimage.shift` does: see
    `affine_transform`.

    Examples
    --------
    >>> import numgrad as ng
    >>> s = ng.tensor(0.25, requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.shift([1.0, 3.0, 9.0], s, order=1)
    >>> y.tolist(), ng.grad(y[2], s)[0].item()
    ([0.0, 2.5, 7.5], -6.0)
    """
    image = Image(input, "shift", output)
    by = stack([as_tensor(s) for s in for_each(shift, image.x.shape, "shift", "shift")])
    m = as_tensor(np.ones(image.x.ndim))
    own = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    return image.delivered(_moved(image, m, -by, image.x.shape, own), shift, cval)


def zoom(
    input: Any,  # noqa: A002  SciPy's name
    zoom: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Any:
    """Return an array on a finer or coarser grid, as `scipy.ndimage.zoom` does: see
    `affine_transform`.

    How many elements there are has no derivative, so there is no gradient to ``zoom``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 3.0, 9.0], requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.zoom(x, 5 / 3, order=1)
    >>> y.tolist(), ng.grad(y[1], x)[0].tolist()
    ([1.0, 2.0, 3.0, 6.0, 9.0], [0.5, 0.5, 0.0])
    """
    image = Image(input, "zoom", output)
    before = image.x.shape
    factors = [float(number(z)) for z in for_each(zoom, before, "zoom", "zoom")]
    after = tuple(round(n * z) for n, z in zip(before, factors, strict=True))
    pairs = list(zip(before, after, strict=True))
    if grid_mode:
        steps = [n / k if k else 1.0 for n, k in pairs]
    else:
        steps = [(n - 1) / (k - 1) if k > 1 else 1.0 for n, k in pairs]
    own = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    m, middle = as_tensor(np.array(steps)), 0.5 if grid_mode else 0.0
    return image.delivered(_moved(image, m, -middle, after, own, middle), cval)


def rotate(
    input: Any,  # noqa: A002  SciPy's name
    angle: Any,
    axes: Any = (1, 0),
    reshape: bool = True,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """Return an array that is turned in the plane of two axes, as `scipy.ndimage.rotate` does: see
    `affine_transform`.

    The angle, in degrees, has a gradient; with ``reshape=True`` the size of the result has none.

    Examples
    --------
    >>> import numgrad as ng
    >>> angle = ng.tensor(0.0, requires_grad=True)
    >>> x = [[0.0, 1.0, 4.0], [0.0, 2.0, 5.0], [0.0, 3.0, 6.0]]
    >>> y = ng.interop.scipy.ndimage.rotate(x, angle, order=1, reshape=False)
    >>> y[0].tolist(), round(ng.grad(y[0, 1], angle)[0].item(), 4)
    ([0.0, 1.0, 4.0], 0.0524)
    """
    image = Image(input, "rotate", output)
    size = image.x.ndim
    plane = chosen_axes(tuple(axes), size, "rotate")
    if len(plane) != 2:
        raise ValueError(f"rotate: axes must be two axes, got {axes!r}")
    plane.sort()
    turn = as_tensor(numeric(angle, "angle")).astype(np.float64, copy=False) * (np.pi / 180.0)
    c, s = cos(turn), sin(turn)
    within = stack([stack([c, s]), stack([-s, c])])
    old = np.array([image.x.shape[k] for k in plane])
    new = _around(number(within), old) if reshape else old
    middle = (old - 1) / 2 - matmul(within, as_tensor((new - 1) / 2))
    placed, rest = np.eye(size)[:, plane], np.eye(size)
    rest[plane, plane] = 0.0
    m = matmul(matmul(as_tensor(placed), within), as_tensor(placed.T)) + rest
    shape = list(image.x.shape)
    for k, n in zip(plane, new, strict=True):
        shape[k] = int(n)
    own = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    y = _moved(image, m, matmul(as_tensor(placed), middle), tuple(shape), own)
    return image.delivered(y, angle, cval)


def _around(turn: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the size of the smallest array that holds a turned one."""
    n, k = size
    corners = turn @ [[0, 0, n, n], [0, k, 0, k]]
    return (np.ptp(corners, axis=1) + 0.5).astype(int)


def _moved(
    image: Image, matrix: Tensor, offset: Any, shape: tuple[int, ...], own: dict[str, Any],
    middle: float = 0.0,
) -> Tensor:  # fmt: skip
    """Return the values at ``matrix @ (o + middle) + offset`` for each place of a result of a
    shape."""
    by = as_tensor(numeric(offset, "offset")).astype(np.float64, copy=False)
    size = len(shape)
    if by.shape not in ((), (size,)):
        raise ValueError(f"{image.what}: {size} axes, and offsets of shape {by.shape}")
    places = as_tensor(np.indices(shape, dtype=float).reshape(size, -1) + middle)
    at = matmul(matrix, places) if matrix.ndim == 2 else matrix[:, None] * places
    at = at + (by[:, None] if by.ndim else by)
    found = map_coordinates(image.x, at.reshape((size, *shape)), **own)
    return as_tensor(found)
