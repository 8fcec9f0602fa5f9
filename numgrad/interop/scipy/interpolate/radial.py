"""Interpolation by radial basis functions."""

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import integer, numeric
from ....functions.array.operands import as_tensor
from ....functions.creation.constants import zeros
from ....functions.elementwise.exponential import exp, log
from ....functions.linalg.systems import solve
from ....functions.products.products import matmul
from ....functions.shape.diagonals import diag
from ....functions.shape.joining import concat, stack
from ....functions.shape.selection import where
from .data import answer, floating, real, require_finite

WHAT = "RBFInterpolator"


def _away(s: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
    """Return a function of squared distances that is 0 at 0, where its derivatives are 0, too."""
    is_away = s > 0.0
    return where(is_away, f(where(is_away, s, 1.0)), 0.0)


KERNELS: dict[str, tuple[Callable[[Tensor], Tensor], int]] = {
    "linear": (lambda s: -_away(s, lambda s: s**0.5), 0),
    "thin_plate_spline": (lambda s: _away(s, lambda s: 0.5 * s * log(s)), 1),
    "cubic": (lambda s: _away(s, lambda s: s**1.5), 1),
    "quintic": (lambda s: -_away(s, lambda s: s**2.5), 2),
    "multiquadric": (lambda s: -((s + 1.0) ** 0.5), 0),
    "inverse_multiquadric": (lambda s: (s + 1.0) ** -0.5, -1),
    "inverse_quadratic": (lambda s: 1.0 / (s + 1.0), -1),
    "gaussian": (lambda s: exp(-s), -1),
}
"""Functions of squared distances, and the least degree of the polynomial beside them."""
UNSCALED = ("linear", "thin_plate_spline", "cubic", "quintic")


class RBFInterpolator:
    """A sum of radial functions and a polynomial through scattered values, with the signature of
    `scipy.interpolate.RBFInterpolator`.

    Parameters
    ----------
    y : array_like, shape (n, d)
        Points.
    d : array_like
        Values, along the first axis.
    neighbors
        Refused unless None: all points count.
    smoothing : float or array_like
        What is added to the diagonal of the system: 0 interpolates.
    kernel : str
        ``"linear"``, ``"thin_plate_spline"``, ``"cubic"``, ``"quintic"``, ``"multiquadric"``,
        ``"inverse_multiquadric"``, ``"inverse_quadratic"``, ``"gaussian"``.
    epsilon : float, optional
        The factor of distances; needed for the last four kernels.
    degree : int, optional
        Of the polynomial; -1 for none.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the system is singular.

    Notes
    -----
    The coefficients solve a dense system, so that points, values, ``smoothing``, ``epsilon`` and
    the points where it is asked have gradients of any order. Exactly at one of the points kernels
    that have no derivative there, or ``"thin_plate_spline"`` no second one, are taken as constant.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> y = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> d = ng.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    >>> f = ng.interop.scipy.RBFInterpolator(y, d, kernel="cubic")
    >>> z = f([[1.5]])
    >>> round(z.item(), 6), ng.grad(z.sum(), d)[0].numpy().round(4)
    (0.5, array([-0.075,  0.575,  0.575, -0.075]))
    """

    def __init__(
        self,
        y: Any,
        d: Any,
        neighbors: int | None = None,
        smoothing: Any = 0.0,
        kernel: str = "thin_plate_spline",
        epsilon: Any = None,
        degree: int | None = None,
    ) -> None:
        if neighbors is not None:
            raise NotImplementedError(
                f"{WHAT}: which points are near changes from place to place; leave neighbors out"
            )
        if not isinstance(kernel, str) or kernel.lower() not in KERNELS:
            raise ValueError(f"{WHAT}: kernel must be one of {', '.join(KERNELS)}, got {kernel!r}")
        self.kernel = kernel.lower()
        self._radial, least = KERNELS[self.kernel]
        if epsilon is None and self.kernel not in UNSCALED:
            raise ValueError(f"{WHAT}: kernel {kernel!r} needs epsilon")
        self.degree = max(least, 0) if degree is None else integer(degree, "degree")
        if self.degree < -1:
            raise ValueError(f"{WHAT}: degree must be -1 or more, got {self.degree}")
        self._given = [y, d, smoothing, epsilon]
        self._y, self._d = real(numeric(y, "y"), WHAT, "y"), floating(numeric(d, "d"))
        for x, name in ((self._y, "y"), (self._d, "d")):
            require_finite(x, WHAT, name)
        if self._y.ndim != 2 or not self._d.ndim or self._d.shape[0] != self._y.shape[0]:
            raise ValueError(
                f"{WHAT}: y of shape {self._y.shape} does not fit d of shape {self._d.shape}"
            )
        size = self._y.shape[1]
        self._powers = [
            np.bincount(np.array(chosen, int), minlength=size)
            for n in range(self.degree + 1)
            for chosen in combinations_with_replacement(range(size), n)
        ]
        if len(self._powers) > self._y.shape[0]:
            raise ValueError(
                f"{WHAT}: a polynomial of degree {self.degree} needs {len(self._powers)} points"
            )
        eps = 1.0 if epsilon is None else epsilon
        self._eps = real(numeric(eps, "epsilon"), WHAT, "epsilon")
        noise = real(numeric(smoothing, "smoothing"), WHAT, "smoothing")
        if self._eps.ndim or noise.shape not in ((), (self._y.shape[0],)):
            raise ValueError(
                f"{WHAT}: epsilon must be a number, and smoothing one or {self._y.shape[0]}"
            )
        self._c = self._coefficients(noise)

    def _coefficients(self, noise: Tensor) -> Tensor:
        y, count = self._y, len(self._powers)
        low, high = y.detach().min(axis=0), y.detach().max(axis=0)
        self._middle, half = 0.5 * (low + high), 0.5 * (high - low)
        self._half = where(half > 0, half, 1.0)  # it does not change the polynomials that there are
        p = self._polynomial(y)
        k = self._kernels(y) + diag(noise + np.zeros(y.shape[0]))
        top = concat([k, p], axis=1)
        system = concat([top, concat([p.T, zeros((count, count))], axis=1)], axis=0)
        d = self._d.reshape(self._d.shape[0], -1)
        rhs = concat([d, zeros((count, d.shape[1]), dtype=d.dtype)], axis=0)
        return solve(system.astype(d.dtype, copy=False), rhs)

    def _kernels(self, x: Tensor) -> Tensor:
        step = (x[:, None, :] - self._y[None, :, :]) * self._eps
        return self._radial((step * step).sum(axis=-1))

    def _polynomial(self, x: Tensor) -> Tensor:
        if not self._powers:
            return zeros((x.shape[0], 0))
        x = (x - self._middle) / self._half
        columns = []
        for powers in self._powers:
            column: Any = x[:, 0] * 0.0 + 1.0
            for n, power in enumerate(powers.tolist()):
                for _ in range(power):
                    column = column * x[:, n]
            columns.append(column)
        return stack(columns, axis=1)

    def __call__(self, x: Any) -> Any:
        """Return values at points, one in a row."""
        at = real(numeric(x, "x"), WHAT, "x")
        if at.ndim != 2 or at.shape[1] != self._y.shape[1]:
            raise ValueError(
                f"{WHAT}: x must be points of {self._y.shape[1]} coordinates in rows, got shape "
                f"{at.shape}"
            )
        basis = concat([self._kernels(at), self._polynomial(at)], axis=1)
        found = matmul(basis.astype(self._c.dtype, copy=False), self._c)
        return answer(as_tensor(found).reshape(-1, *self._d.shape[1:]), x, *self._given)
