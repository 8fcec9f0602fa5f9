"""Indexing of sparse arrays: submatrices and elements."""

from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...engine.record.guards import guarded
from ...functions.array.operands import as_tensor, values_of
from ...functions.creation.constants import zeros
from ...functions.shape.joining import concat


def part(array: Any, key: Any) -> Any:
    """Return what indexing a sparse array with a key gives.

    A submatrix is a sparse array; a single element, or elements at given places, are a tensor.
    """
    parts = tuple(map(_index, key if isinstance(key, tuple) else (key,)))
    structure = array.structure
    found = structure.cached(
        ("item", tuple(map(_key, parts))),
        lambda: structure.by_scipy(lambda numbered: numbered[parts]),
    )
    if isinstance(found, tuple):
        return type(array)(found[1](array.data), found[0])
    if isinstance(found, np.ndarray):
        return _elements(as_tensor(array.data), found)
    if np.ndim(found):
        raise IndexError(
            "a row or a column of a sparse array would be a vector: write A[i:i+1], A[:, [j]], or "
            "A.toarray()[key]"
        )
    return as_tensor(array.data)[int(found) - 1] if found else as_tensor(array.dtype.type(0))


def _elements(data: Tensor, numbers: np.ndarray) -> Tensor:
    """Return elements by number: ``n`` is the stored element at ``n - 1``, and 0 one not stored."""
    return concat([zeros(1, dtype=data.dtype), data])[numbers.astype(np.int64)]


def _index(part: Any) -> Any:
    """Return an index as SciPy takes it.

    While a function is captured, the values of an index array become a guard of the capture.
    """
    if isinstance(part, (slice, int, np.integer)) or part is Ellipsis or part is None:
        return part
    return np.asarray(values_of(guarded(part)))


def _key(part: Any) -> Any:
    """Return a hashable key of an index, the same for equal indices."""
    if isinstance(part, np.ndarray):
        return part.dtype.str, part.shape, part.tobytes()
    return (part.start, part.stop, part.step) if isinstance(part, slice) else repr(part)
