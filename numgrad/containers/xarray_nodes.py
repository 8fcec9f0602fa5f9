"""The arrays of xarray as containers of their values, with names and coordinates beside them."""

from collections.abc import Iterable
from typing import Any

import numpy as np


def flatten(value: Any) -> tuple[list[Any], "Labels", tuple[Any, ...]]:
    """Return the values of a DataArray, a Variable or a Dataset, their labels, and the names of the
    values."""
    if hasattr(value, "data_vars"):
        names = tuple(sorted(value.data_vars, key=str))
        return [value[name].data for name in names], Labels(value, names), names
    return [value.data], Labels(value, None), ("data",)


def unflatten(labels: "Labels", children: Iterable[Any]) -> Any:
    """Return values with their labels.

    Values of other shapes, such as blocks of a Jacobian, have no labels: a single one is returned
    as it is, those of a Dataset in a dict.
    """
    leaves = list(children)
    named = leaves[0] if labels.names is None else dict(zip(labels.names, leaves, strict=True))
    if [getattr(leaf, "shape", None) for leaf in leaves] != labels.shapes:
        return named
    return labels.like.copy(deep=False, data=named)


class Labels:
    """The names, dimensions, coordinates and attributes of an array or a data set of xarray."""

    __slots__ = ("like", "names", "shapes")

    def __init__(self, value: Any, names: tuple[Any, ...] | None) -> None:
        self.names = names
        self.shapes = [value.shape] if names is None else [value[n].shape for n in names]
        nothing = [np.broadcast_to(0.0, shape) for shape in self.shapes]
        data = nothing[0] if names is None else dict(zip(names, nothing, strict=True))
        self.like = value.copy(deep=False, data=data)

    def described(self) -> tuple[Any, ...]:
        """Return all data beside the values, as Python containers and arrays."""
        like = self.like
        dims = [like.dims] if self.names is None else [like[name].dims for name in self.names]
        coordinates = [
            (name, c.dims, np.asarray(c.values), repr(c.attrs))
            for name, c in getattr(like, "coords", {}).items()
        ]
        beside = type(like), self.names, dims, self.shapes, getattr(like, "name", None)
        return *beside, repr(like.attrs), coordinates

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labels):
            return False
        *plain, mine = self.described()
        *others, theirs = other.described()
        if plain != others or len(mine) != len(theirs):
            return False
        return all(
            (n, d, a) == (m, e, b) and v.dtype == w.dtype and np.array_equal(v, w)
            for (n, d, v, a), (m, e, w, b) in zip(mine, theirs, strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.names, tuple(self.shapes)))
