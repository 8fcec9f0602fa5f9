"""Sparse arrays as containers, for transforms: their one leaf is the tensor of stored numbers."""

from collections.abc import Callable, Iterable
from typing import Any

from ..._errors import ArgTypeError
from ..._tensor import Tensor
from .structure import Structure


def flatten(value: Any) -> tuple[tuple[Any], Structure, tuple[str]]:
    """Return the leaf of a sparse array, which is its numbers; its structure; the leaf's name."""
    return (value.data,), value.structure, ("data",)


def unflatten_as(kind: Callable[[Any, Structure], Any]) -> Callable[..., Any]:
    """Return the function that makes a sparse array of the class ``kind`` from other numbers.

    An array with other axes than the stored numbers, such as a block of a Jacobian, is returned
    unchanged by that function.
    """

    def unflatten(structure: Structure, children: Iterable[Any]) -> Any:
        (data,) = children
        shape = getattr(data, "shape", (structure.nnz,))
        if shape == () and isinstance(data, Tensor):
            raise ArgTypeError(
                "vmap: a sparse array has no axis of samples. Say in in_axes, with None in its "
                "place, that all samples share it; or map over numbers, samples in front, of which "
                "the function makes sparse arrays: A.with_data(numbers)"
            )
        return kind(data, structure) if shape == (structure.nnz,) else data

    return unflatten

