"""Convolution and correlation of sequences."""

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...operators.elementwise import numpy_functions as _borrowed
from ...operators.signal.convolution import places, slide, widened
from ..array.operands import as_tensors
from ..shape.rearranging import flip

_MODES = ("full", "same", "valid")


@composed
def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Tensor:
    """Return the convolution of two vectors.

    Parameters
    ----------
    a, v : array_like
        Vectors that are not empty.
    mode : {"full", "same", "valid"}
        All places where they overlap, as many as the longer one has elements, or those where the
        shorter one lies inside.

    Raises
    ------
    ValueError
        For another mode, an empty vector, or more axes.

    Notes
    -----
    :math:`y_k = \\sum_j a_{k-j} v_j`, computed by these sums. The gradient of each argument is the
    correlation of the cotangent with the other one.

    Examples
    --------
    >>> import numgrad as ng
    >>> v = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.convolve([1.0, 2.0, 3.0], v).detach()
    tensor([1., 4., 7., 6.])
    >>> ng.grad(ng.convolve([1.0, 2.0, 3.0], v)[1], v)[0]
    tensor([2., 1.])
    """
    a, v = _vectors("convolve", a, v, mode)
    long, short = (v, a) if v.size > a.size else (a, v)
    return _slid(long, flip(short), mode)


@composed
def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Tensor:
    """Return the correlation :math:`y_k = \\sum_j a_{j+k} \\bar v_j` of two vectors; parameters,
    errors and derivatives as in `convolve`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.correlate(ng.tensor([1.0, 2.0, 3.0]), [0.0, 1.0, 0.5], "same")
    tensor([2. , 3.5, 3. ])
    """
    a, v = _vectors("correlate", a, v, mode)
    v = v.conj()
    return _slid(a, v, mode) if v.size <= a.size else flip(_slid(v, a, mode))


def _vectors(name: str, a: ArrayLike, v: ArrayLike, mode: str) -> list[Tensor]:
    if mode not in _MODES:
        raise ValueError(f"{name}: mode must be one of {', '.join(_MODES)}, got {mode!r}")
    vectors = as_tensors(a, v)
    if name == "convolve":
        vectors = [x.reshape(1) if not x.ndim else x for x in vectors]
    if any(x.ndim != 1 or not x.size for x in vectors):
        shapes = " and ".join(str(x.shape) for x in vectors)
        raise ValueError(f"{name} needs two vectors that are not empty, got {shapes}")
    return vectors


def _slid(long: Tensor, short: Tensor, mode: str) -> Tensor:
    """Return the products of ``long`` with ``short`` at all places of a mode."""
    n = short.size
    left, right = {"full": (n - 1, n - 1), "same": (n // 2, n - n // 2 - 1), "valid": (0, 0)}[mode]
    dtype = np.result_type(long.dtype, short.dtype)
    long, short = long.astype(dtype, copy=False), short.astype(dtype, copy=False)
    count = long.size + left + right - n + 1
    if dtype.kind in "biu":
        return _borrowed.correlate(long, short, mode=mode, count=count)
    return slide(widened(long, left, right), short, places(count)).astype(dtype, copy=False)
