"""Questions about dtypes, answered by NumPy; tensors stand for their dtypes."""

from typing import Any

import numpy as np

from ..._declare.operands import kind_of
from ..._tensor import ArrayLike, Tensor
from ..creation.from_data import asarray
from .argument_checks import WordsOfNumpy
from .operands import arrays_of


def astype(x: ArrayLike, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """Return ``x`` converted to ``dtype``.

    Parameters
    ----------
    x : array_like
        The values.
    dtype : dtype
        The dtype of the result.
    copy : bool
        Whether to copy when ``x`` has the dtype already.
    device : str, optional
        Where the tensor lives.

    Notes
    -----
    The gradient is converted back; from complex to real it keeps the real part.

    Floats lose their fraction. Of those that the integer dtype does not hold, and of NaN, "Special
    points" in the documentation says what they become: the same on every processor, eagerly and in
    captured functions.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.astype(ng.tensor([1.5, 2.5]), ng.float32)
    tensor([1.5, 2.5], dtype=float32)
    """
    x = asarray(x, device=device)
    return x.astype(dtype, copy=copy)


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """Return the dtype in which NumPy would compute with these tensors, arrays, numbers and dtypes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.result_type(ng.tensor([1.0], dtype=ng.float32), 2.0)
    dtype('float32')
    """
    return np.result_type(*map(kind_of, arrays_and_dtypes))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return whether ``casting`` lets ``from_`` (a dtype or a tensor) become ``to``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.can_cast(ng.float64, ng.float32), ng.can_cast(ng.float32, ng.float64)
    (False, True)
    """
    return np.can_cast(kind_of(from_), to, casting)


class FloatLimits:
    """The attributes of `numpy.finfo`, with Python's floats for its numbers."""

    def __init__(self, info: np.finfo) -> None:
        self._info = info

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # of a copy that has nothing yet
        value = getattr(self._info, name)
        return float(value) if isinstance(value, np.floating) else value

    def __repr__(self) -> str:
        return repr(self._info)


def finfo(dtype: Any) -> FloatLimits:
    """Return the limits of a floating dtype, or of the dtype of a tensor.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.finfo(ng.float32).eps)
    1.1920928955078125e-07
    """
    return FloatLimits(np.finfo(kind_of(dtype)))


def iinfo(dtype: Any) -> np.iinfo:
    """Return the limits of an integer dtype, or of the dtype of a tensor.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.iinfo(ng.int8).max
    127
    """
    return np.iinfo(kind_of(dtype))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether ``dtype`` is of a kind such as ``"real floating"``, or of one of several.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isdtype(ng.float32, ("real floating", "complex floating"))
    True
    """
    with WordsOfNumpy():
        return np.isdtype(np.dtype(dtype), arrays_of(kind))


def iscomplexobj(x: Any) -> bool:
    """Return whether the dtype of ``x`` is complex, whatever the values.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.iscomplexobj(ng.tensor([1 + 0j]))
    True
    """
    return x.dtype.kind == "c" if isinstance(x, Tensor) else np.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    """Return whether the dtype of ``x`` is not complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isrealobj(ng.tensor([1.0]))
    True
    """
    return not iscomplexobj(x)
