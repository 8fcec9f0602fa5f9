"""Words: the entries of the vocabulary, which say how a random program applies a function."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

Pick = Callable[[int], int]
"""``pick(n)`` returns a number below n; 0 is the simplest choice."""

MOST_ELEMENTS = 1 << 13
OPERANDS = ("x", "y")


class Word(NamedTuple):
    """An entry of the vocabulary: a function of one or two arrays, with parameters to be drawn.

    Attributes
    ----------
    operands : int
        The number of arrays that the function takes.
    draw : callable
        ``draw(pick, *arrays)`` returns parameters that fit the arrays, or None if none do.
    text : str
        The function as source text: statements that call NumPy, of which the last line is an
        expression. The operands are called ``x`` and ``y``, the parameters by their names.
    smooth : bool
        Whether the function is differentiable at all operands that random programs give it.
    exact : bool
        Whether the results have the same bits, however they are computed.
    """

    operands: int
    draw: Callable[..., dict[str, Any] | None]
    text: str
    smooth: bool = True
    exact: bool = True

    def apply(self, xp: Any, *operands: Any, **parameters: Any) -> Any:
        """Return the value of the function; ``xp`` is `numpy`, or a namespace like it."""
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
    """Draw an axis of an array, counted from either end."""
    axis = pick(array.ndim)
    return axis - array.ndim if pick(2) else axis


def range_of(pick: Pick, size: int) -> slice:
    """Draw a slice of an axis of so many elements, sometimes with a step or backwards."""
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
    """Draw slices of the operands after which their shapes broadcast with one another."""
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
