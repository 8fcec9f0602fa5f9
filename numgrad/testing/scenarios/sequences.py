"""Scenarios of the operators behind convolution and the cardinal sine."""

import numpy as np
import scipy.special as sp
from scipy import signal

from ..._declare import registry
from ...functions.elementwise import floats
from ...functions.signal import filtering
from ...operators.signal.convolution import places, slide
from ...operators.signal.convolution_2d import slide_plane
from ...operators.signal.recursion import all_pole
from .elementwise import unary
from .scenario import ALL, Scenario, numbers, spread

POLES = np.array([[2.0, 0.7, -0.3, 0.1], [1.5, -0.6, 0.2, 0.4], [1.0, 0.3, 0.1, -0.2]])


def slid(a, v):
    """Return the inner products of ``v`` with all windows of its length in ``a``."""
    return slide(a, v, places(a.shape[-1] - v.shape[-1] + 1))


def slid_reference(a, v):
    """Return the result of `slid`, computed with NumPy's `sliding_window_view`."""
    windows = np.lib.stride_tricks.sliding_window_view(a, v.shape[-1], axis=-1)
    return np.einsum("...kj,...j->...k", windows, v)


def plane_slid(a, v):
    """Return the inner products of ``v`` with all windows of the last two axes of ``a``."""
    counts = tuple(n - m + 1 for n, m in zip(a.shape[-2:], v.shape[-2:], strict=True))
    return slide_plane(a, v, places(counts))


def plane_slid_reference(a, v):
    """Return the result of `plane_slid`, computed with NumPy's `sliding_window_view`."""
    windows = np.lib.stride_tricks.sliding_window_view(a, v.shape[-2:], axis=(-2, -1))
    return np.einsum("...klij,...ij->...kl", windows, v)


def all_pole_reference(u, a):
    """Return the output of an all-pole filter, computed by SciPy."""
    shape = np.broadcast_shapes(u.shape[:-1], a.shape[:-1])
    u, a = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (u, a))
    y = np.empty(u.shape, np.result_type(u, a))
    for row in np.ndindex(shape):
        y[row] = signal.lfilter(np.ones(1, a.dtype), a[row], u[row])
    return y


def bessel_reference(y):
    """Return the spherical Bessel function of order 2 at ``y``, divided by the square of ``y``."""
    y = np.asarray(y)
    return (sp.spherical_jn(2, y) / y**2).astype(y.dtype)


SCENARIOS = (
    Scenario(
        name="slide",
        function=slid,
        reference=slid_reference,
        operators=("slide",),
        points=(
            (numbers((2, 6)), numbers((2, 3), phase=0.3)),
            (numbers((2, 1, 5)), numbers((3, 2), phase=0.3)),
            (numbers((0, 4)), numbers((0, 2))),
        ),
        dtypes=ALL,
        half=False,
        oracle=False,
    ),
    Scenario(
        name="all_pole",
        function=all_pole,
        reference=all_pole_reference,
        operators=("all_pole",),
        points=(
            (numbers((2, 6)), POLES[0]),
            (numbers((2, 1, 3)), POLES),
            (numbers((0, 4)), np.ones((0, 2))),
        ),
        dtypes=ALL,
        half=False,
        oracle=False,
    ),
    Scenario(
        name="slide_plane",
        function=plane_slid,
        reference=plane_slid_reference,
        operators=("slide_plane",),
        points=(
            (numbers((2, 4, 5)), numbers((2, 2, 3), phase=0.3)),
            (numbers((2, 1, 3, 3)), numbers((3, 3, 1), phase=0.3)),
            (numbers((0, 4, 3)), numbers((0, 2, 2))),
        ),
        dtypes=ALL,
        half=False,
        oracle=False,
    ),
    Scenario(
        name="convolve",
        function=filtering.convolve,
        reference=np.convolve,
        operators=(),
        points=((numbers(6), numbers(3, phase=0.3)), (numbers(2), numbers(5, phase=0.3))),
        dtypes=ALL,
        oracle=False,
    ),
    unary("sinc", -2, 2, 0.0, 1.0, 1e-9, function=floats.sinc, reference=np.sinc, oracle=False),
    Scenario(
        name="scaled_bessel",
        function=lambda y: registry["scaled_bessel"](2.0, y),
        reference=bessel_reference,
        operators=("scaled_bessel",),
        points=spread([(0.5, 6)]),
        domains=((0.5, 6),),
        half=False,
        oracle=False,
        tolerance=256,
    ),
)
