"""Scenarios of discrete Fourier, cosine and sine transforms."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import fft
from .scenario import ALL, COMPLEX, REAL, Point, Scenario, numbers

FIVE, SIX, ROWS = numbers(5), numbers(6, phase=0.2), numbers((2, 4), phase=0.5)


def _scenario(
    name: str, function: Callable[..., Any], reference: Callable[..., Any], *points: Point,
    **options: Any,
) -> Scenario:  # fmt: skip
    given: dict[str, Any] = {"operators": (), "dtypes": ALL, "half": False, "oracle": False}
    return Scenario(
        name=name, function=function, reference=reference, points=points, **(given | options)
    )


def _transform(name: str, dtypes: tuple[str, ...], **options: Any) -> Scenario:
    """Return the scenario of one of NumPy's transforms, at the length of its input."""
    points = (FIVE,), (SIX,), (ROWS,)
    own, reference = getattr(fft, name), getattr(np.fft, name)
    return _scenario(name, own, reference, *points, dtypes=dtypes, **options)


def _resized(name: str, n: int, dtypes: tuple[str, ...]) -> Scenario:
    """Return a scenario of a transform at another length ``n``, along another axis, with a norm.

    The transform crops its input, or adds zeros.
    """
    own, reference = getattr(fft, name), getattr(np.fft, name)
    return _scenario(
        f"{name}-{n}",
        lambda x: own(x, n, -2, "ortho"),
        lambda x: reference(x, n, -2, "ortho"),
        (numbers((2, 5, 2)),),
        dtypes=dtypes,
    )


def _real(name: str, kind: int, norm: str) -> Scenario:
    """Return the scenario of a cosine or sine transform of a kind from 1 to 4."""

    def reference(x: np.ndarray) -> np.ndarray:
        import scipy.fft

        if x.dtype.kind == "c":
            return reference(np.real(x)) + 1j * reference(np.imag(x))
        return getattr(scipy.fft, name)(x, kind, axis=0, norm=norm, orthogonalize=kind == 2)

    return _scenario(
        f"{name}-{kind}-{norm}",
        lambda x: getattr(fft, name)(x, kind, axis=0, norm=norm, orthogonalize=kind == 2),
        reference,
        (numbers((5, 2)),),
        (FIVE,),
        operators=(name.lstrip("i"),),
    )


SCENARIOS = (
    _transform("fft", ALL, operators=("fft",)),
    _transform("ifft", ALL),
    _transform("rfft", REAL, operators=("rfft",)),
    _transform("irfft", COMPLEX, operators=("irfft",)),
    _transform("hfft", COMPLEX),
    _transform("ihfft", REAL),
    *(_resized(name, n, ALL) for name in ("fft", "ifft") for n in (3, 7)),
    *(_resized("rfft", n, REAL) for n in (4, 7)),
    *(_resized("irfft", n, COMPLEX) for n in (4, 5, 12)),
    _scenario("fft2", fft.fft2, np.fft.fft2, (ROWS,)),
    _scenario("rfft2", fft.rfft2, np.fft.rfft2, (ROWS,), dtypes=REAL),
    _scenario("irfft2", fft.irfft2, np.fft.irfft2, (ROWS,), dtypes=COMPLEX),
    *(_real(name, kind, "backward") for name in ("dct", "dst") for kind in (1, 2, 3, 4)),
    *(_real(name, kind, "forward") for name in ("idct", "idst") for kind in (1, 2, 3)),
    _real("dct", 3, "ortho"),
)
