"""More words: functions that are lowered in ways of their own, or read positions."""

from typing import Any

import numpy as np

from .words import MOST_ELEMENTS, Pick, Word, any_parameters, axis_of, binary, range_of, unary

ELEMENTWISE = {
    "power": binary(lambda xp, x, y: (xp.square(xp.real(x)) + 0.5) ** xp.real(y)),
    "log": unary(lambda xp, x: xp.log1p(xp.square(xp.real(x)))),
    "cube": unary(lambda xp, x: xp.real(x) ** 3),
    "atan2": binary(lambda xp, x, y: xp.arctan2(xp.real(x), xp.real(y) + 2.0)),
    "minimum": binary(lambda xp, x, y: xp.minimum(xp.real(x), xp.real(y)), smooth=False),
    "logaddexp": binary(lambda xp, x, y: xp.logaddexp(xp.real(x), xp.real(y))),
    "conj": unary(lambda xp, x: xp.conj(x) * x),
    "imag": unary(lambda xp, x: xp.imag(x * 1j)),
    "turn": unary(lambda xp, x: x * np.complex64(0.5 + 1j), smooth=False),
    "half": unary(lambda xp, x: xp.real(x).astype(np.float16).astype(np.float32), smooth=False),
    "gate": binary(lambda xp, x, y: xp.real(x) * (xp.real(x) < xp.real(y)), smooth=False),
    "floor": unary(lambda xp, x: xp.real(x) - xp.floor(xp.real(x)), smooth=False),
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
    "swapaxes": Word(1, _draw_pair_of_axes, lambda xp, x, a, b: xp.swapaxes(x, a, b) * 2.0),
    "moveaxis": Word(1, _draw_pair_of_axes, lambda xp, x, a, b: xp.moveaxis(x, a, b)),
    "rot90": Word(1, _draw_pair_of_axes, lambda xp, x, a, b: xp.rot90(x, 1 + a, (a, b))),
    "diagonal": Word(1, _draw_offset, lambda xp, x, a, b, k: xp.diagonal(x, k, a, b)),
    "part": Word(
        1, _draw_part,
        lambda xp, x, parts, axis, which: xp.array_split(x, parts, axis)[which],
    ),
    "tile": Word(1, _draw_tiles, lambda xp, x, reps: xp.tile(x, reps)),
    "masked": Word(1, _draw_mask, lambda xp, x, mask: x[mask]),
    "positions": Word(1, _draw_positions, lambda xp, x, key: x[key]),
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


def _picked(xp: Any, x: Any, axis: int) -> Any:
    order = xp.argsort(xp.real(x), axis=axis, stable=True)
    return xp.take_along_axis(x, order, axis)


def _write_masked(xp: Any, x: Any, mask: np.ndarray) -> Any:
    target = x * 1.0
    target[mask] = 0.25
    target[~mask] *= 2.0
    return target


def _draw_ranges(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return {"key": tuple([range_of(pick, size) for size in x.shape])} if x.ndim else None


def _fill(xp: Any, x: Any, key: Any) -> Any:
    target = xp.zeros(x.shape, dtype=x.dtype)  # the same for all members of an ensemble
    part = target[key]
    target[key] = x[key]
    part *= 2.0
    target += x
    return target


OTHERS = {
    "min": Word(
        1, _draw_filled_axes,
        lambda xp, x, axis, keepdims: xp.min(xp.real(x), axis, keepdims=keepdims), smooth=False,
    ),
    "std": Word(
        1, _draw_filled_axes,
        lambda xp, x, axis, keepdims: xp.std(xp.real(x), axis, keepdims=keepdims), smooth=False,
    ),
    "length": Word(
        1, _draw_filled_axis, lambda xp, x, axis: xp.linalg.norm(x, axis=axis), smooth=False
    ),
    "prod": Word(
        1, _draw_filled_axis, lambda xp, x, axis: xp.prod(xp.sin(xp.real(x)), axis)
    ),
    "cumprod": Word(
        1, _draw_filled_axis, lambda xp, x, axis: xp.cumprod(xp.cos(xp.real(x)), axis)
    ),
    "median": Word(
        1, _draw_filled_axis, lambda xp, x, axis: xp.median(xp.real(x), axis), smooth=False
    ),
    "diff": Word(1, _draw_filled_axis, lambda xp, x, axis: xp.diff(x, axis=axis)),
    "argsort": Word(1, _draw_filled_axis, _picked, smooth=False),
    "outer": Word(2, _draw_outer, lambda xp, x, y: xp.outer(x, y)),
    "columns": Word(
        2, _draw_columns, lambda xp, x, y: xp.einsum("...ij,...kj->...ik", x, y), exact=False
    ),
    "write masked": Word(1, _draw_mask, _write_masked),
    "fill": Word(1, _draw_ranges, _fill),
    "self": Word(1, any_parameters, lambda xp, x: x),
}  # fmt: skip
