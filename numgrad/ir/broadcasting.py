"""Broadcasting of shapes of any rank that an array can have."""

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

MOST_AXES = 64
"""The highest rank of an array of NumPy 2."""


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape to which arrays of these shapes are broadcast.

    Unlike `numpy.broadcast_shapes`, which takes at most 32 axes, this function takes as many as an
    array can have, 64.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    try:
        return np.broadcast_shapes(*shapes)  # type: ignore[arg-type]
    except RuntimeError:
        backward = zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1)
        sizes = [_together(sizes, shapes) for sizes in backward]
        return tuple(sizes[::-1])


def zeros_in(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Return zeros that share the memory of one, which nobody writes; see `are_zeros`."""
    if dtype not in _zeros:
        _zeros[dtype] = np.zeros((), dtype)
        _zeros[dtype].flags.writeable = False
    return np.broadcast_to(_zeros[dtype], shape)


def are_zeros(array: np.ndarray) -> bool:
    """Whether an array has come from `zeros_in`, so that a program may keep the array."""
    return array.base is not None and array.base is _zeros.get(array.dtype)


_zeros: dict[np.dtype, np.ndarray] = {}


def mismatch(name: str, shapes: Sequence[Sequence[int]]) -> str | None:
    """Return the message of the error for operands of an operator whose shapes do not fit, None if
    they do."""
    backward = zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1)
    found = [(axis, sorted(set(sizes) - {1})) for axis, sizes in enumerate(backward, 1)]
    wrong = next(((axis, sizes) for axis, sizes in found if len(sizes) > 1), None)
    if wrong is None:
        return None
    *first, last = [str(tuple(shape)) for shape in shapes]
    axis, sizes = wrong
    return (
        f"{name}: operands of shapes {', '.join(first)} and {last} cannot be broadcast together, "
        f"as axis {-axis} has {' and '.join(map(str, sizes))} elements{_instead(shapes)}"
    )


def _instead(shapes: Sequence[Sequence[int]]) -> str:
    """Return what to write in place of two operands that do not fit, "" if nothing suggests itself.

    Axes are matched from the last one on, so an operand may lack its last axes; or all pairs of the
    elements of two operands may be meant.
    """
    if len(shapes) != 2:
        return ""
    less, more = sorted(shapes, key=len)
    if len(more) == 1:
        return "; for all pairs of elements write x[:, None] in place of one of them"
    missing = len(more) - len(less)
    wider = (*less, *(1,) * missing)
    if not missing or not all([1 in (m, n) or m == n for m, n in zip(wider, more, strict=True)]):  # noqa: C419
        return ""
    axes = ", ".join(["None"] * missing)
    return (
        f"; axes are matched from the last one, so write x[..., {axes}] in place of the operand of "
        f"shape {tuple(less)} to match the first axes of the other"
    )


def _together(sizes: Sequence[int], shapes: Sequence[Sequence[int]]) -> int:
    found = set(sizes) - {1}
    if len(found) > 1:
        raise ValueError(
            "shape mismatch: objects cannot be broadcast to a single shape: "
            + ", ".join([str(tuple(shape)) for shape in shapes])
        )
    return found.pop() if found else 1
