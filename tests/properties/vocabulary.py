"""What random graphs are made of: functions with NumPy's signatures and random parameters.

Each entry draws parameters that fit its operands and returns what applies it, to NumPy's arrays or
to tensors; None where it does not fit.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import further
from .words import MOST_ELEMENTS, Pick, Word, axis_of, binary, cut, draw_real, range_of, unary

ELEMENTWISE = {
    "sin": unary(lambda xp, x: xp.sin(x)),
    "negative": unary(lambda xp, x: -x),
    "tanh": unary(lambda xp, x: xp.tanh(x)),
    "scale": unary(lambda xp, x: 0.5 * x),
    "shift": unary(lambda xp, x: x + 1.25),
    "square": unary(lambda xp, x: x**2),
    "bell": unary(lambda xp, x: xp.exp(-xp.square(x))),
    "norm": unary(lambda xp, x: xp.sqrt(x * x + 1.0)),
    "absolute": unary(lambda xp, x: xp.absolute(x), smooth=False),
    "sign": unary(lambda xp, x: x * xp.sign(xp.real(x)), smooth=False),
    "add": binary(lambda xp, x, y: x + y),
    "subtract": binary(lambda xp, x, y: x - y),
    "multiply": binary(lambda xp, x, y: x * y),
    "divide": binary(lambda xp, x, y: x / (xp.square(xp.real(y)) + 1.0)),
    "maximum": binary(lambda xp, x, y: xp.maximum(xp.real(x), xp.real(y)), smooth=False),
    "where": binary(lambda xp, x, y: xp.where(xp.real(x) > xp.real(y), x, y), smooth=False),
    "hypot": binary(lambda xp, x, y: xp.hypot(xp.real(x), xp.real(y) + 2.0)),
    "clip": unary(lambda xp, x: xp.clip(xp.real(x), -0.5, 0.75), smooth=False),
    "single": Word(1, draw_real, lambda xp, x: x.astype(np.float32), smooth=False),
    "relu": binary(lambda xp, x, y: xp.where(xp.real(y) < 0.25, 0.0, x * y), smooth=False),
}


# Views and rearrangements -------------------------------------------------------------------------


def _draw_key(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    key: list[Any] = [range_of(pick, size) for size in x.shape]
    if x.ndim and pick(4) == 3:
        axis = pick(x.ndim)
        if x.shape[axis]:
            key[axis] = pick(2 * x.shape[axis]) - x.shape[axis]
    return {"key": tuple(key)} if x.ndim else None


def _draw_stencil(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    axes = [n for n, size in enumerate(x.shape) if size > 1]
    if not axes:
        return None
    axis = axes[pick(len(axes))]
    lead = (slice(None),) * axis
    return {"low": (*lead, slice(None, -1)), "high": (*lead, slice(1, None))}


def _draw_roll(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim:
        return None
    axes = [n for n in range(x.ndim) if pick(2)] or [pick(x.ndim)]
    return {"shift": tuple(pick(7) - 3 for _ in axes), "axis": tuple(axes)}


def _draw_pad(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    widths = [(pick(3), pick(3)) for _ in x.shape]
    if not x.ndim or x.size > MOST_ELEMENTS:
        return None
    modes = ("constant", "edge", "wrap") if x.size else ("constant",)
    return {"pad_width": widths, "mode": modes[pick(len(modes))]}


def _draw_permutation(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    rest = list(range(x.ndim))
    return {"axes": [rest.pop(pick(len(rest))) for _ in range(x.ndim)]} if x.ndim > 1 else None


def _draw_shape(pick: Pick, x: np.ndarray) -> dict[str, Any]:
    if pick(2) or x.ndim < 2:
        return {"shape": (x.size,) if pick(2) else (x.size, 1)}
    axis = pick(x.ndim - 1)
    joined = x.shape[axis] * x.shape[axis + 1]
    return {"shape": (*x.shape[:axis], joined, *x.shape[axis + 2 :])}


def _draw_new_axis(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return {"axis": pick(x.ndim + 1)} if x.ndim < 4 else None


def _draw_repeats(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if x.ndim > 3 or x.size > MOST_ELEMENTS:
        return None
    return {"shape": (1 + pick(4), *x.shape)}


def _draw_repeat(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim or x.size > MOST_ELEMENTS // 4:
        return None
    return {"repeats": 1 + pick(3), "axis": axis_of(pick, x)}


def _draw_flip(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return {"axis": axis_of(pick, x)} if x.ndim else None


def _draw_diagonal(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return {"k": pick(3) - 1} if x.ndim > 1 else None


def _draw_joint(pick: Pick, x: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim or x.ndim != y.ndim or x.size + y.size > MOST_ELEMENTS:
        return None
    axis = pick(x.ndim)
    least = [min(p) for p in zip(x.shape, y.shape, strict=True)]
    cuts = []
    for a in (x, y):
        rest = zip(a.shape, least, strict=True)
        cuts.append(tuple(slice(0, s if n == axis else m) for n, (s, m) in enumerate(rest)))
    return {"cuts": cuts, "axis": axis}


def _draw_stack(pick: Pick, x: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    fit = x.shape == y.shape and x.ndim < 4 and x.size <= MOST_ELEMENTS
    return {"axis": pick(x.ndim + 1)} if fit else None


def _joint(xp: Any, x: Any, y: Any, cuts: Sequence[Any], axis: int) -> Any:
    return xp.concatenate(cut([x, y], cuts), axis=axis)


REARRANGING = {
    "slice": Word(1, _draw_key, lambda xp, x, key: x[key]),
    "stencil": Word(1, _draw_stencil, lambda xp, x, low, high: x[high] - x[low]),
    "roll": Word(1, _draw_roll, lambda xp, x, shift, axis: x - xp.roll(x, shift, axis)),
    "pad": Word(1, _draw_pad, lambda xp, x, pad_width, mode: xp.pad(x, pad_width, mode)),
    "transpose": Word(1, _draw_permutation, lambda xp, x, axes: xp.transpose(x, axes)),
    "reshape": Word(1, _draw_shape, lambda xp, x, shape: xp.reshape(x, shape)),
    "expand_dims": Word(1, _draw_new_axis, lambda xp, x, axis: xp.expand_dims(x, axis)),
    "broadcast": Word(1, _draw_repeats, lambda xp, x, shape: xp.broadcast_to(x, shape)),
    "repeat": Word(1, _draw_repeat, lambda xp, x, repeats, axis: xp.repeat(x, repeats, axis)),
    "tril": Word(1, _draw_diagonal, lambda xp, x, k: xp.tril(x, k)),
    "flip": Word(1, _draw_flip, lambda xp, x, axis: xp.flip(x, axis)),
    "concatenate": Word(2, _draw_joint, _joint),
    "stack": Word(2, _draw_stack, lambda xp, x, y, axis: xp.stack([x, y], axis=axis)),
}


# Reductions, gathers, products, writes ------------------------------------------------------------


def _draw_axes(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    axes = [n for n in range(x.ndim) if pick(2)]
    if any(x.shape[n] == 0 for n in axes or range(x.ndim)):
        return None
    return {"axis": tuple(axes) or None, "keepdims": bool(pick(2))}


def _draw_axis(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    return {"axis": axis_of(pick, x)} if x.ndim else None


def _draw_gather(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim:
        return None
    axis = pick(x.ndim)
    size = x.shape[axis]
    if not size:
        return None
    return {"indices": np.array([pick(size) for _ in range(pick(6))], np.intp), "axis": axis}


def _draw_product(pick: Pick, x: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    if x.ndim < 1 or y.ndim < 1 or x.shape[-1] != y.shape[max(y.ndim - 2, 0)]:
        return None
    try:
        size = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        return None
    work = int(np.prod(size, dtype=int)) * x.size * y.shape[-1]
    return {} if work <= 1 << 20 else None


def _draw_system(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    if x.ndim < 2 or x.size > MOST_ELEMENTS:
        return None
    return {"size": min(x.shape[-2:])}


def _solve(xp: Any, x: Any, size: int) -> Any:
    square = xp.tanh(x[..., :size, :size]) + (size + 1.0) * np.eye(size, dtype=np.float32)
    return xp.linalg.solve(square, x[..., :size, :])


def _draw_write(pick: Pick, x: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim or y.dtype.kind == "c" or y.dtype.itemsize > x.dtype.itemsize:
        return None
    key = tuple(range_of(pick, size) for size in x.shape)
    shape = x[key].shape
    fits = y.ndim <= len(shape) and all(
        n in (1, m) for n, m in zip(y.shape[::-1], shape[::-1], strict=False)
    )
    return {"key": key, "kind": pick(4)} if fits else None


def _write(xp: Any, x: Any, y: Any, key: Any, kind: int) -> Any:
    target = x * 1.0
    if kind == 0:
        target[key] = y
    elif kind == 1:
        target[key] += y
    else:
        target[key] *= 0.75 if kind == 2 else y
    return target


def _center(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return x - xp.mean(x, axis, keepdims=True)


def _softmax(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    grown = xp.exp(xp.real(x))
    return grown / xp.sum(grown, axis, keepdims=True)


OTHERS = {
    "sum": Word(1, _draw_axes, lambda xp, x, axis, keepdims: xp.sum(x, axis, keepdims=keepdims)),
    "mean": Word(1, _draw_axes, lambda xp, x, axis, keepdims: xp.mean(x, axis, keepdims=keepdims)),
    "max": Word(
        1, _draw_axes,
        lambda xp, x, axis, keepdims: xp.max(xp.real(x), axis, keepdims=keepdims), smooth=False,
    ),
    "var": Word(
        1, _draw_axes, lambda xp, x, axis, keepdims: xp.var(xp.real(x), axis, keepdims=keepdims)
    ),
    "prod": Word(1, _draw_axes, lambda xp, x, axis, keepdims: xp.prod(x, axis, keepdims=keepdims)),
    "center": Word(1, _draw_axes, _center),
    "softmax": Word(1, _draw_axes, _softmax),
    "cumsum": Word(1, _draw_axis, lambda xp, x, axis: xp.cumsum(x, axis)),
    "sort": Word(1, _draw_axis, lambda xp, x, axis: xp.sort(xp.real(x), axis), smooth=False),
    "take": Word(1, _draw_gather, lambda xp, x, indices, axis: xp.take(x, indices, axis)),
    "matmul": Word(2, _draw_product, lambda xp, x, y: xp.matmul(x, y), exact=False),
    "solve": Word(1, _draw_system, _solve, exact=False),
    "write": Word(2, _draw_write, _write),
}  # fmt: skip

ELEMENTWISE |= further.ELEMENTWISE
REARRANGING |= further.REARRANGING
OTHERS |= further.OTHERS
VOCABULARY = {**ELEMENTWISE, **REARRANGING, **OTHERS}
