"""Rotations between rotations: the shortest way on the sphere of quaternions."""

from typing import Any

import numpy as np

from ....functions.sorting.searching import searchsorted
from ..interpolate.data import ascending, known, real
from .rotation import Rotation, of


class Slerp:
    """Rotations at times between those of given rotations, at constant angular velocity.

    Parameters
    ----------
    times : array_like, shape (n,)
        Ascending times, with gradients, as all arguments.
    rotations : Rotation
        As many rotations, numgrad's or SciPy's.

    Notes
    -----
    It is called with a time, or with a vector of times, all within those given, and returns a
    `Rotation`: `scipy.spatial.transform.Slerp`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> S = ng.interop.scipy
    >>> ends = S.Rotation.from_euler("z", [[0.0], [1.0]])
    >>> turn = S.Slerp([0.0, 2.0], ends)
    >>> round(float(ng.func.grad(lambda t: turn(t).magnitude())(0.5)), 6)
    0.5
    """

    def __init__(self, times: Any, rotations: Any) -> None:
        rotations = of(rotations)
        self.times = ascending(times, "Slerp")
        if rotations.shape != self.times.shape:
            raise ValueError(
                f"Slerp: {self.times.size} times take as many rotations, got an array of shape "
                f"{rotations.shape}"
            )
        self.rotations = rotations[:-1]
        self.rotvecs = (self.rotations.inv() * rotations[1:]).as_rotvec()

    def __call__(self, times: Any) -> Rotation:
        at = real(times, "Slerp", "times")
        if at.ndim > 1:
            raise ValueError(f"Slerp: times must be a number or a vector, got shape {at.shape}")
        values, ends = known(at), known(self.times)
        if values is not None and ends is not None:
            _require_within(values, ends[0], ends[-1])
        n = (searchsorted(self.times.detach(), at.detach()) - 1).clip(0, self.times.size - 2)
        part = (at - self.times[n]) / (self.times[n + 1] - self.times[n])
        step = Rotation.from_rotvec(part[..., None] * self.rotvecs[n])
        return Rotation(self.rotations.as_quat()[n], normalize=False) * step




def _require_within(times: np.ndarray, first: float, last: float) -> None:
    if ((times < first) | (times > last)).any():
        raise ValueError(f"Slerp: times must be within [{first}, {last}]")
