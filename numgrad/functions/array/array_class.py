"""NumPy's name for the class of arrays: tensors and arrays of NumPy are its instances."""

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..._tensor import Tensor
from ..creation.constants import empty


class _Arrays(type):
    """Tells what an array is, and has the methods of tensors."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor | np.ndarray)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, Tensor | np.ndarray) or subclass is cls

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is Tensor

    def __hash__(cls) -> int:
        return hash(Tensor)

    def __getattr__(cls, name: str) -> Any:
        return getattr(Tensor, name)


class Array(metaclass=_Arrays):
    """The class of arrays, as programs of NumPy ask for it; called with a shape it makes a tensor.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
    order : {"C", "F"}, optional

    Returns
    -------
    Tensor
        With what the memory held.

    Raises
    ------
    TypeError
        If a class is derived from it.

    Examples
    --------
    >>> import numpy
    >>> import numgrad as np
    >>> isinstance(np.ones(2), np.ndarray), isinstance(numpy.ones(2), np.ndarray)
    (True, True)
    >>> np.ndarray((2, 3)).shape
    (2, 3)
    """

    def __new__(cls, shape: Any, dtype: Any = float, *, order: Any = None) -> Any:
        return empty(shape, dtype, order=order or "C")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError(
            f"class {cls.__name__}: no classes derive from tensors; keep one as an attribute"
        )


if TYPE_CHECKING:  # what an annotation speaks of
    ndarray = Tensor
else:
    ndarray = Array
