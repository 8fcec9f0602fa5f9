"""What dtypes tensors can have."""

import numpy as np

from .._errors import DtypeError


def require_floating(dtype: np.dtype) -> None:
    """Raise unless tensors of ``dtype`` can require grad."""
    if dtype.kind not in "fc":
        raise DtypeError(
            f"only tensors of floating point and complex dtype can require grad, got {dtype}; "
            f"write for "
            f"example ng.tensor(data, dtype=float)"
        )


def require_numbers(dtype: np.dtype) -> None:
    """Raise unless ``dtype`` is numeric or boolean."""
    if dtype.kind not in "biufc" or dtype.itemsize > 16 or dtype.char in "gG":
        raise DtypeError(
            f"tensors hold booleans, integers, floats and complex numbers, not {dtype}"
        )
