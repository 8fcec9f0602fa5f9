"""Series, data frames and indices of pandas beside tensors: what counts are their values."""

import sys
from types import FrameType
from typing import Any

import numpy as np

from ...engine.capture import escapes

OF_PANDAS = ("Series", "DataFrame", "Index")

PRIORITY = 5000
"""Above those of pandas' classes, which leave an operation to what has a higher one."""


def values_of(x: Any) -> np.ndarray | None:
    """Return the numbers of a Series, a DataFrame or an Index of pandas; None for anything else,
    and for columns that hold no numbers. There is none where nobody has imported pandas."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    kinds = tuple(getattr(pandas, name) for name in OF_PANDAS if hasattr(pandas, name))
    if not kinds or not isinstance(x, kinds):
        return None
    array = np.asarray(x)
    return array if array.dtype.kind in "biufc" else None


def unframed(x: Any) -> Any:
    """Return the numbers of an operand of pandas, and any other operand as it is."""
    array = values_of(x)
    return x if array is None else array


def priority(caller: FrameType) -> int:
    """Return the rank of a tensor among operands of pandas.

    Raises
    ------
    DetachedError
        If pandas is to write the result into one of its own, which holds no tensor.
    """
    while caller.f_code.co_name == "new_method":
        caller = caller.f_back or caller
    if caller.f_code.co_name == "_inplace_method":
        raise escapes.graph_cut_error(
            "writing a tensor into a Series or a DataFrame of pandas (series += x)",
            "Write series.to_numpy() + x: the result is a tensor.",
        )
    return PRIORITY


PRODUCT_OF_PANDAS = "pandas' product (df @ x, series @ x)", "Write df.to_numpy() @ x."


def is_product_of_pandas(caller: FrameType) -> bool:
    """Return whether a product of pandas asks for the array of its right factor. It asks no factor
    whether that has an answer of its own."""
    module = caller.f_globals.get("__name__", "")
    return caller.f_code.co_name == "dot" and module.startswith("pandas.core.")
