"""What NumPy tells about arrays, and how it writes them: answers without derivative."""

import inspect
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from .argument_checks import WordsOfNumpy
from .operands import as_tensor


def shape(a: ArrayLike) -> tuple[int, ...]:
    """Return the sizes of the axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.shape([[1.0, 2.0]])
    (1, 2)
    """
    return as_tensor(a).shape


def ndim(a: ArrayLike) -> int:
    """Return the number of axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ndim([[1.0, 2.0]])
    2
    """
    return len(shape(a))


def size(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> int:
    """Return the number of elements, along an axis or several if they are given.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.size([[1.0, 2.0]], axis=1)
    2
    """
    return int(np.size(np.broadcast_to(np.bool_(), shape(a)), axis))


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Return whether two tensors or arrays lie in parts of memory that overlap.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.zeros((2, 3))
    >>> ng.may_share_memory(x, x.T), ng.may_share_memory(x, x.copy())
    (True, False)
    """
    return np.may_share_memory(_memory(a), _memory(b), max_work)


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Return whether two tensors or arrays have an element in common.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.zeros(4)
    >>> ng.shares_memory(x[::2], x[1::2])
    False
    """
    return np.shares_memory(_memory(a), _memory(b), max_work)


def isfortran(a: Any) -> bool:
    """Return whether the elements lie in Fortran's order in memory, and not in that of C.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isfortran(ng.zeros((2, 3), order="F"))
    True
    """
    return np.isfortran(_memory(a))


def isscalar(element: Any) -> bool:
    """Return whether ``element`` is a number or a text and no array; a tensor is none.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isscalar(3.0), ng.isscalar(ng.tensor(3.0))
    (True, False)
    """
    return np.isscalar(element)


def array2string(a: ArrayLike, *args: Any, **options: Any) -> str:
    """Return the values as text; parameters are those of `numpy.array2string`.

    Raises
    ------
    TypeError
        If a text is wanted and something else is given, or ``formatter`` is no dictionary.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.array2string(ng.tensor([1.0, 2.5]), separator=", ")
    '[1. , 2.5]'
    """
    given = inspect.signature(np.array2string).bind(a, *args, **options).arguments
    for name, value in given.items():
        kind = _KINDS.get(name)
        is_default = name == "formatter" and value is None
        if kind and not is_default and not isinstance(value, kind):
            expected, got = kind.__name__, type(value).__name__
            raise TypeError(f"array2string: {name} must be a {expected}, got {got}")
    with WordsOfNumpy():
        return np.array2string(_memory(a), *args, **options)


_KINDS: dict[str, type] = {"separator": str, "prefix": str, "suffix": str, "formatter": dict}

array2string.__signature__ = inspect.signature(np.array2string)  # type: ignore[attr-defined]


def common_type(*arrays: Any) -> Any:
    """Return the floating type that can hold all arrays.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.common_type(ng.tensor([1, 2]))
    <class 'numpy.float64'>
    """
    return np.common_type(*[np.empty(0, as_tensor(a).dtype) for a in arrays])


def min_scalar_type(a: Any) -> np.dtype:
    """Return the dtype of an array, or the smallest one that holds a number.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.min_scalar_type(10)
    dtype('uint8')
    """
    return a.dtype if np.ndim(a) and isinstance(a, Tensor) else np.min_scalar_type(_memory(a))


def _memory(a: Any) -> Any:
    return a._on_host() if isinstance(a, Tensor) else np.asanyarray(a)
