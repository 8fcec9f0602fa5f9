"""How an array that is not in C order is reduced where it is.

A reduction joins the elements of each result in the order of the reduced axes, wherever they lie in
memory. The axes that are left have no such order, and are taken as they lie.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..ir.memory_order import axes_in_memory, in_miniature
from ..process.bounded_dict import Bounded

MOST_LAYOUTS = 64
"""The most strides of arrays of which a function of `computation` knows how to reduce them."""

Term = tuple[int, int]
"""The size of an axis and its stride in bytes."""


class Arrangement(NamedTuple):
    """An order of the axes of an array in which a kernel reduces it.

    Attributes
    ----------
    order : tuple of int
        The axes of the array, those of the loop first.
    shape : tuple of int
        The shape in which the kernel takes the array with its axes in this order.
    form : str
        What the last axes of this shape are: ``elements``, one axis; ``matrix``, two axes of
        elements; ``columns``, rows, which are reduced, and columns; ``groups``, two axes of rows,
        and columns.
    is_copied : bool
        Whether the array has to be copied to C order first, as no kernel takes it as it lies.
    result : tuple of int or None
        The shape of the result, with its axes in the order in which they lie in memory; None if the
        kernel gives the result in this shape.
    back : tuple of int or None
        Which of these axes each axis of the result is; None if they are in order.
    """

    order: tuple[int, ...]
    shape: tuple[int, ...]
    form: str
    is_copied: bool
    result: tuple[int, ...] | None
    back: tuple[int, ...] | None

    def seen(self, array: np.ndarray) -> np.ndarray:
        """Return the elements of an array as the kernel takes them."""
        turned = array.transpose(self.order)
        return (np.ascontiguousarray(turned) if self.is_copied else turned).reshape(self.shape)

    def restored(self, result: Any) -> Any:
        """Return what the kernel gives as a result that lies in memory as NumPy's does."""
        if self.result is not None:
            result = result.reshape(self.result)
        return result if self.back is None else result.transpose(self.back)


@lru_cache(4096)
def arrangement(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    axes: tuple[int, ...],
    itemsize: int,
    forms: tuple[str, ...],
) -> Arrangement:
    """Return how to reduce the axes ``axes`` (negative numbers) of an array of this layout.

    ``forms`` are those beside ``elements`` for which there are kernels.
    """
    count = len(shape)
    gone = tuple([count + axis for axis in axes])
    others = tuple([n for n in range(count) if n not in gone])
    ranks = axes_in_memory(order_left(shape, strides, axes).strides)
    kept = tuple([others[rank] for rank in ranks])
    back = None if kept == others else tuple(np.argsort(ranks).tolist())
    result = tuple([shape[n] for n in kept])

    def terms(chosen: Sequence[int]) -> list[Term]:
        return _joined([(shape[n], strides[n]) for n in chosen])

    def arranged(form: str, *core: int, alone: int = 0, is_copied: bool = False) -> Arrangement:
        loop, beside = kept[: len(kept) - alone], kept[len(kept) - alone :]
        lead = tuple([size for size, _ in terms(loop)])
        given = (*lead, core[-1]) if alone else lead
        order, seen = (*loop, *gone, *beside), (*lead, *core)
        return Arrangement(order, seen, form, is_copied, None if given == result else result, back)

    reduced, number = terms(gone), prod([shape[n] for n in gone])
    if len(reduced) < 2 and all(step == itemsize for _, step in reduced):
        return arranged("elements", number)
    inner, sizes = reduced[-1][1], [1] * (2 - len(reduced)) + [size for size, _ in reduced]
    alone, width = _in_a_row([(shape[n], strides[n]) for n in kept], itemsize)
    if width > 1 and len(reduced) == 1 and inner == width * itemsize and "columns" in forms:
        return arranged("columns", number, width, alone=alone)
    if width > 1 and len(reduced) < 3 and "groups" in forms:
        return arranged("groups", *sizes, width, alone=alone)
    if width > 1 and "columns" in forms:
        return arranged("columns", number, width, alone=alone, is_copied=True)
    if len(reduced) < 3 and "matrix" in forms:
        return arranged("matrix", *sizes)
    return arranged("elements", number, is_copied=True)


def computation(
    axes: tuple[int, ...],
    itemsize: int,
    forms: tuple[str, ...],
    ufunc_of: Callable[[str], np.ufunc],
) -> Callable[[np.ndarray], Any]:
    """Return a function that reduces the axes of arrays of one shape and dtype and any strides.

    ``ufunc_of`` returns the kernel for a form.
    """
    known: dict[tuple[int, ...], tuple[Any, ...]] = Bounded(MOST_LAYOUTS)

    def learn(array: np.ndarray) -> tuple[Any, ...]:
        found = arrangement(array.shape, array.strides, axes, itemsize, forms)
        made = found.order, found.is_copied, found.shape, ufunc_of(found.form), found
        known[array.strides] = made
        return made

    def compute(array: np.ndarray) -> Any:
        order, is_copied, shape, ufunc, found = known.get(array.strides) or learn(array)
        turned = array.transpose(order)
        if is_copied:
            turned = np.ascontiguousarray(turned)
        reduced = ufunc(turned if turned.shape == shape else turned.reshape(shape))
        if found.result is None and found.back is None:
            return reduced
        return found.restored(reduced)

    return compute


def order_left(shape: tuple[int, ...], strides: tuple[int, ...], axes: Sequence[int]) -> np.ndarray:
    """Return an array in the memory order of the result, from shape and strides of the operand."""
    return order_of(in_miniature(shape, strides), axes)


def order_of(miniature: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Return an array in the memory order of the result, from a small array in that of the operand.
    """
    return np.asarray(np.add.reduce(miniature, axis=tuple(axes)))


def _joined(terms: Sequence[Term]) -> list[Term]:
    """Return axes, the innermost last, with those joined that are evenly spaced together.

    Axes of one element are left out.
    """
    found: list[Term] = []
    for size, step in terms:
        if size == 1:
            continue
        if found and found[-1][1] == size * step:
            size *= found.pop()[0]
        found.append((size, step))
    return found


def _in_a_row(terms: Sequence[Term], itemsize: int) -> tuple[int, int]:
    """Return how many of the last axes have elements that follow one another in C order, and how
    many elements they have."""
    width = 1
    for number, (size, step) in enumerate(reversed(terms)):
        if size != 1 and step != width * itemsize:
            return number, width
        width *= size
    return len(terms), width
