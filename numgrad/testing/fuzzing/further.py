"""Further words of the vocabulary, which `vocabulary` adds to its own."""

from typing import Any

import numpy as np

from .words import MOST_ELEMENTS, Pick, Word, any_parameters, axis_of, binary, range_of, unary

ELEMENTWISE = {
    "power": binary("(np.square(np.real(x)) + 0.5) ** np.real(y)"),
    "log": unary("np.log1p(np.square(np.real(x)))"),
    "cube": unary("np.real(x) ** 3"),
    "atan2": binary("np.arctan2(np.real(x), np.real(y) + 2.0)"),
    "minimum": binary("np.minimum(np.real(x), np.real(y))", smooth=False),
    "logaddexp": binary("np.logaddexp(np.real(x), np.real(y))"),
    "conj": unary("np.conj(x) * x"),
    "imag": unary("np.imag(x * 1j)"),
    "turn": unary("x * np.complex64(0.5 + 1j)", smooth=False),
    "half": unary("np.real(x).astype(np.float16).astype(np.float32)", smooth=False),
    "gate": binary("np.real(x) * (np.real(x) < np.real(y))", smooth=False),
    "floor": unary("np.real(x) - np.floor(np.real(x))", smooth=False),
}


# Rearrangements -----------------------------------------------------------------------------------


def _draw_pair_of_axes(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if x.ndim < 2:
        return None
    first = pick(x.ndim)
    return {"a": first, "b": (first + 1 + pick(x.ndim - 1)) % x.ndim}


def _draw_offset(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return {**pair, "k": pick(5) - 2} if (pair := _draw_pair_of_axes(pick, x)) else None


def _draw_part(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim:
        return None
    parts = 1 + pick(3)
    return {"parts": parts, "axis": axis_of(pick, x), "which": pick(parts)}


def _draw_tiles(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim or x.size > MOST_ELEMENTS // 9:
        return None
    return {"reps": tuple([1 + pick(3) for _ in range(pick(x.ndim + 1) + 1)])}


def _draw_mask(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim or not x.size:
        return None
    lead = 1 + pick(x.ndim)
    numbers = np.arange(int(np.prod(x.shape[:lead]))).reshape(x.shape[:lead])
    return {"mask": numbers % (1 + pick(3)) == 0}


def _draw_positions(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if x.ndim < 2 or not x.size:
        return None
    count = 1 + pick(5)
    indices = [np.array([pick(size) - pick(2) * size for _ in range(count)]) for size in x.shape]
    if pick(2):
        return {"key": (indices[0], slice(None), *indices[2:3])}
    return {"key": (indices[0][:, None], indices[1])}


REARRANGING = {
    "swapaxes": Word(1, _draw_pair_of_axes, "np.swapaxes(x, a, b) * 2.0"),
    "moveaxis": Word(1, _draw_pair_of_axes, "np.moveaxis(x, a, b)"),
    "rot90": Word(1, _draw_pair_of_axes, "np.rot90(x, 1 + a, (a, b))"),
    "diagonal": Word(1, _draw_offset, "np.diagonal(x, k, a, b)"),
    "part": Word(
        1, _draw_part,
        "np.array_split(x, parts, axis)[which]",
    ),
    "tile": Word(1, _draw_tiles, "np.tile(x, reps)"),
    "masked": Word(1, _draw_mask, "x[mask]"),
    "positions": Word(1, _draw_positions, "x[key]"),
}  # fmt: skip


# Reductions, scans, products ----------------------------------------------------------------------


def _draw_filled_axes(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    axes = [n for n in range(x.ndim) if pick(2)]
    if not x.size:
        return None
    return {"axis": tuple(axes) or None, "keepdims": bool(pick(2))}


def _draw_filled_axis(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return {"axis": axis_of(pick, x)} if x.ndim and x.size else None


def _draw_outer(pick: Pick, x: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    return {} if x.size * y.size <= MOST_ELEMENTS else None


def _draw_columns(pick: Pick, x: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    fits = x.ndim > 1 and x.shape == y.shape and x.size
    return {} if fits and x.size * x.shape[-2] <= 1 << 18 else None


def draw_ranges(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return {"key": tuple([range_of(pick, size) for size in x.shape])} if x.ndim else None


PICKED = """\
order = np.argsort(np.real(x), axis=axis, stable=True)
np.take_along_axis(x, order, axis)"""
WRITE_MASKED = """\
target = x * 1.0
target[mask] = 0.25
target[~mask] *= 2.0
target"""
FILL = """\
target = np.zeros_like(x)
part = target[key]
target[key] = x[key]
part *= 2.0
target += x
target"""

OTHERS = {
    "min": Word(
        1, _draw_filled_axes,
        "np.min(np.real(x), axis, keepdims=keepdims)", smooth=False,
    ),
    "std": Word(
        1, _draw_filled_axes,
        "np.std(np.real(x), axis, keepdims=keepdims)", smooth=False,
    ),
    "length": Word(
        1, _draw_filled_axis, "np.linalg.norm(x, axis=axis)", smooth=False
    ),
    "prod": Word(
        1, _draw_filled_axis, "np.prod(np.sin(np.real(x)), axis)"
    ),
    "cumprod": Word(
        1, _draw_filled_axis, "np.cumprod(np.cos(np.real(x)), axis)"
    ),
    "median": Word(
        1, _draw_filled_axis, "np.median(np.real(x), axis)", smooth=False
    ),
    "diff": Word(1, _draw_filled_axis, "np.diff(x, axis=axis)"),
    "argsort": Word(1, _draw_filled_axis, PICKED, smooth=False),
    "outer": Word(2, _draw_outer, "np.outer(x, y)"),
    "columns": Word(
        2, _draw_columns, "np.einsum('...ij,...kj->...ik', x, y)", exact=False
    ),
    "write masked": Word(1, _draw_mask, WRITE_MASKED),
    "fill": Word(1, draw_ranges, FILL),
    "self": Word(1, any_parameters, "x"),
}  # fmt: skip
