"""Words of the vocabulary: the operands of a function, its parameters, and its application."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

Pick = Callable[[int], int]
"""``pick(n)`` returns a number below n; 0 is the simplest choice."""

MOST_ELEMENTS = 1 << 13
OPERANDS = ("x", "y")


class Word(NamedTuple):
    """An entry of the vocabulary.

    Attributes
    ----------
    operands : int
        How many arrays it takes.
    draw : callable
        ``draw(pick, *arrays)`` returns the parameters, or None.
    text : str
        What it computes of the operands ``x`` and ``y`` and the parameters, in NumPy's words:
        statements, whose last line is an expression.
    smooth, exact : bool
        Whether it is differentiable wherever it is used, and has the same bits however it is
        computed.
    """

    operands: int
    draw: Callable[..., dict[str, Any] | None]
    text: str
    smooth: bool = True
    exact: bool = True

    def apply(self, xp: Any, *operands: Any, **parameters: Any) -> Any:
        """Return the value, by the functions of ``xp``: `numpy`, or a namespace with its functions.
        """
        cuts = parameters.pop("cuts", None)
        operands = operands if cuts is None else tuple(cut(operands, cuts))
        function = _compiled(self.text, tuple(parameters))
        return function(xp, *operands, *[None] * (2 - self.operands), *parameters.values())


@cache
def _compiled(text: str, parameters: tuple[str, ...]) -> Callable[..., Any]:
    *lines, result = text.splitlines()
    body = "".join(f"\n    {line}" for line in (*lines, f"return {result}"))
    names: dict[str, Any] = {}
    exec(f"def word({', '.join(('np', *OPERANDS, *parameters))}):{body}", names)
    return names["word"]


def any_parameters(pick: Pick, *arrays: np.ndarray) -> dict[str, Any]:
    return {}


def draw_real(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return None if x.dtype.kind == "c" else {}


def axis_of(pick: Pick, array: np.ndarray) -> int:
    """Return an axis, counted from either end."""
    axis = pick(array.ndim)
    return axis - array.ndim if pick(2) else axis


def range_of(pick: Pick, size: int) -> slice:
    """Return a slice of an axis: mostly a part of it, sometimes with a step or backwards."""
    if size == 0:
        return slice(None)
    kind = pick(6)
    start, stop = sorted((pick(size), pick(size) + 1))
    if kind < 2:
        return slice(None)
    if kind == 2:
        return slice(start, max(stop, start + 1))
    if kind == 3:
        return slice(start, None, 1 + pick(3))
    if kind == 4:
        return slice(None, None, -1 - pick(2))
    return slice(1 if size > 1 else 0, None) if pick(2) else slice(0, max(size - 1, 1))


# Operands of the same shape -----------------------------------------------------------------------


def _fit(pick: Pick, *arrays: np.ndarray) -> dict[str, Any] | None:
    """Draw slices that make the shapes of operands broadcast."""
    ndim = max(a.ndim for a in arrays)
    cuts: list[list[slice]] = [[] for _ in arrays]
    for axis in range(-ndim, 0):
        sizes = [a.shape[axis] for a in arrays if a.ndim >= -axis and a.shape[axis] != 1]
        least = min(sizes, default=1)
        for a, slices in zip(arrays, cuts, strict=True):
            if a.ndim < -axis:
                continue
            size = a.shape[axis]
            start = pick(size - least + 1) if size > least and size != 1 else 0
            slices.append(slice(start, start + least) if size not in (1, least) else slice(None))
    whole = slice(None)
    return {"cuts": [tuple(c) if any(s != whole for s in c) else None for c in cuts]}


def cut(operands: Sequence[Any], cuts: Sequence[Any]) -> list[Any]:
    return [x if c is None else x[c] for x, c in zip(operands, cuts, strict=True)]


def unary(text: str, **marks: bool) -> Word:
    return Word(1, any_parameters, text, **marks)


def binary(text: str, **marks: bool) -> Word:
    return Word(2, _fit, text, **marks)
