"""Polynomials as objects, NumPy's classes with the functions of tensors."""

from typing import Any

import numpy as np

from .._tensor import ArrayLike, Tensor
from ..functions.creation import asarray


class Series:
    """What the classes have instead of NumPy's: coefficients and points may be tensors."""

    def __init__(self, coef: Any, *args: Any, **kwargs: Any) -> None:
        tensors = isinstance(coef, Tensor) or any(isinstance(c, Tensor) for c in coef)
        coefficients = asarray(coef) if tensors else coef
        given = np.zeros(len(coef)) if tensors else coef
        super().__init__(given, *args, **kwargs)  # type: ignore[call-arg]
        if tensors:
            self.coef: Any = coefficients

    def __call__(self, arg: ArrayLike) -> Tensor:
        """Return the value at points."""
        offset, scale = self.mapparms()  # type: ignore[attr-defined]
        return self._val(offset + scale * asarray(arg), self.coef)  # type: ignore[attr-defined]
