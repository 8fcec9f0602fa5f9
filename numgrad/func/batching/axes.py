"""The axis of samples of each array: ``in_axes`` and ``out_axes`` of `vmap`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..._errors import ArgTypeError
from ..._tensor import Tensor
from ...containers import optree_calls as optree
from ...containers.registered_classes import VARIABLES
from ...containers.unknown_leaves import how_to_register


def leaf_axes(in_axes: Any, args: Sequence[Any], leaves: Sequence[Any]) -> list[int | None]:
    """Return the axis of samples of each leaf of the arguments, counted from the left.

    The axis is None for a leaf that all samples share.
    """
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ArgTypeError(
            f"vmap: in_axes has {len(in_axes)} entries, and the function was called with "
            f"{len(args)} positional arguments; keyword arguments are not mapped"
        )
    axes = _broadcast_axes(in_axes, tuple(args), "in_axes")
    return [_checked_input(axis, leaf) for axis, leaf in zip(axes, leaves, strict=True)]


def output_axes(out_axes: Any, result: Any, varies: Sequence[bool]) -> list[int | None]:
    """Return for each leaf of a result where its axis of samples goes, which is in front so far.

    The result has None for a leaf for which ``out_axes`` has None: such a leaf gets no axis of
    samples, and must be the same for all samples. ``varies`` says whether a leaf is not.
    """
    axes = _broadcast_axes(out_axes, result, "out_axes", none_is_leaf=False)
    ranks = [len(leaf.shape) for leaf in optree.tree_leaves(result, namespace=VARIABLES)]
    return [_checked_output(*item) for item in zip(axes, ranks, varies, strict=True)]


def _broadcast_axes(axes: Any, tree: Any, what: str, none_is_leaf: bool = True) -> list[Any]:
    """Return one axis for each leaf of ``tree``; an entry of ``axes`` may stand for a whole
    container."""
    try:
        structure = optree.tree_structure(tree, none_is_leaf=none_is_leaf, namespace=VARIABLES)
        marks = structure.unflatten([object() for _ in range(structure.num_leaves)])
        found = optree.broadcast_prefix(axes, marks, VARIABLES)
    except (ValueError, TypeError) as error:
        raise ArgTypeError(
            f"vmap: {what}={axes!r} does not fit the containers of the "
            f"{'arguments' if what == 'in_axes' else 'result'}: {error}"
        ) from None
    if not none_is_leaf:
        leaves = optree.tree_leaves(marks, none_is_leaf=True, namespace=VARIABLES)
        found = [axis for axis, leaf in zip(found, leaves, strict=True) if leaf is not None]
    for axis in found:
        if axis is not None and (not isinstance(axis, (int, np.integer)) or isinstance(axis, bool)):
            raise ArgTypeError(f"vmap: {what} must hold ints and None, got {axis!r}")
    return found


def _checked_input(axis: int | None, leaf: Any) -> int | None:
    if axis is None:
        return None
    if not isinstance(leaf, (Tensor, np.ndarray)):
        raise ArgTypeError(
            f"vmap: an argument is a {type(leaf).__name__}, which has no axis of samples. Give an "
            f"array, or say in in_axes, with None in its place, that all samples share it; "
            f"{how_to_register(leaf)}"
        )
    if not leaf.shape:
        raise ValueError(
            "vmap: an array without axes has none of samples; in_axes has None for what all "
            "samples share"
        )
    return normalize_axis_index(axis, len(leaf.shape), "vmap: in_axes")


def _checked_output(axis: int | None, rank: int, varies: bool) -> int | None:
    if axis is not None:
        return normalize_axis_index(axis, rank, "vmap: out_axes")
    if varies:
        raise ValueError(
            "vmap: out_axes has None for a result that differs from sample to sample; say where "
            "its axis of samples goes"
        )
    return None


def samples_of(leaves: Sequence[Any], axes: Sequence[int | None]) -> int:
    """Return the number of samples; raise if the arguments have different numbers of them."""
    pairs = zip(leaves, axes, strict=True)
    shapes = {n: (x.shape, axis) for n, (x, axis) in enumerate(pairs) if axis is not None}
    sizes = {shape[axis] for shape, axis in shapes.values()}
    if not sizes:
        raise ArgTypeError("vmap: in_axes says of no argument which axis is that of the samples")
    if len(sizes) > 1:
        shown = "; ".join(f"{shape} along axis {axis}" for shape, axis in shapes.values())
        raise ValueError(f"vmap: the arguments have different numbers of samples: {shown}")
    return sizes.pop()
