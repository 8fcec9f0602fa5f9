"""The vocabulary of random programs: functions of NumPy with random parameters, as `Word`.

A function that draws the parameters of a word returns them by name, or None if the word does not
fit the operands.
"""

from typing import Any

import numpy as np

from . import further
from .words import MOST_ELEMENTS, Pick, Word, axis_of, binary, draw_real, range_of, unary

ELEMENTWISE = {
    "sin": unary("np.sin(x)"),
    "negative": unary("-x"),
    "tanh": unary("np.tanh(x)"),
    "scale": unary("0.5 * x"),
    "shift": unary("x + 1.25"),
    "square": unary("x**2"),
    "bell": unary("np.exp(-np.square(x))"),
    "norm": unary("np.sqrt(x * x + 1.0)"),
    "absolute": unary("np.absolute(x)", smooth=False),
    "sign": unary("x * np.sign(np.real(x))", smooth=False),
    "add": binary("x + y"),
    "subtract": binary("x - y"),
    "multiply": binary("x * y"),
    "divide": binary("x / (np.square(np.real(y)) + 1.0)"),
    "maximum": binary("np.maximum(np.real(x), np.real(y))", smooth=False),
    "where": binary("np.where(np.real(x) > np.real(y), x, y)", smooth=False),
    "hypot": binary("np.hypot(np.real(x), np.real(y) + 2.0)"),
    "clip": unary("np.clip(np.real(x), -0.5, 0.75)", smooth=False),
    "single": Word(1, draw_real, "x.astype(np.float32)", smooth=False),
    "relu": binary("np.where(np.real(y) < 0.25, 0.0, x * y)", smooth=False),
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


def _draw_axis(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
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


REARRANGING = {
    "slice": Word(1, _draw_key, "x[key]"),
    "stencil": Word(1, _draw_stencil, "x[high] - x[low]"),
    "roll": Word(1, _draw_roll, "x - np.roll(x, shift, axis)"),
    "pad": Word(1, _draw_pad, "np.pad(x, pad_width, mode)"),
    "transpose": Word(1, _draw_permutation, "np.transpose(x, axes)"),
    "reshape": Word(1, _draw_shape, "np.reshape(x, shape)"),
    "expand_dims": Word(1, _draw_new_axis, "np.expand_dims(x, axis)"),
    "broadcast": Word(1, _draw_repeats, "np.broadcast_to(x, shape)"),
    "repeat": Word(1, _draw_repeat, "np.repeat(x, repeats, axis)"),
    "tril": Word(1, _draw_diagonal, "np.tril(x, k)"),
    "flip": Word(1, _draw_axis, "np.flip(x, axis)"),
    "concatenate": Word(2, _draw_joint, "np.concatenate([x, y], axis=axis)"),
    "stack": Word(2, _draw_stack, "np.stack([x, y], axis=axis)"),
}


# Reductions, gathers, products, writes ------------------------------------------------------------


def _draw_axes(pick: Pick, x: np.ndarray) -> dict[str, Any] | None:
    axes = [n for n in range(x.ndim) if pick(2)]
    if any(x.shape[n] == 0 for n in axes or range(x.ndim)):
        return None
    return {"axis": tuple(axes) or None, "keepdims": bool(pick(2))}


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


def _draw_write(pick: Pick, x: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    if not x.ndim or y.dtype.kind == "c" or y.dtype.itemsize > x.dtype.itemsize:
        return None
    key = tuple(range_of(pick, size) for size in x.shape)
    shape = x[key].shape
    fits = y.ndim <= len(shape) and all(
        n in (1, m) for n, m in zip(y.shape[::-1], shape[::-1], strict=False)
    )
    return {"key": key} if fits else None


SOLVE = """\
square = np.tanh(x[..., :size, :size]) + (size + 1.0) * np.eye(size, dtype=np.float32)
np.linalg.solve(square, x[..., :size, :])"""
CENTER = "x - np.mean(x, axis, keepdims=True)"
SOFTMAX = """\
grown = np.exp(np.real(x))
grown / np.sum(grown, axis, keepdims=True)"""
WRITE = """\
target = x * 1.0
target[key] {}
target"""

OTHERS = {
    "sum": Word(1, _draw_axes, "np.sum(x, axis, keepdims=keepdims)"),
    "mean": Word(1, _draw_axes, "np.mean(x, axis, keepdims=keepdims)"),
    "max": Word(
        1, _draw_axes,
        "np.max(np.real(x), axis, keepdims=keepdims)", smooth=False,
    ),
    "var": Word(
        1, _draw_axes, "np.var(np.real(x), axis, keepdims=keepdims)"
    ),
    "prod": Word(1, _draw_axes, "np.prod(x, axis, keepdims=keepdims)"),
    "center": Word(1, _draw_axes, CENTER),
    "softmax": Word(1, _draw_axes, SOFTMAX),
    "cumsum": Word(1, _draw_axis, "np.cumsum(x, axis)"),
    "sort": Word(1, _draw_axis, "np.sort(np.real(x), axis)", smooth=False),
    "take": Word(1, _draw_gather, "np.take(x, indices, axis)"),
    "matmul": Word(2, _draw_product, "np.matmul(x, y)", exact=False),
    "solve": Word(1, _draw_system, SOLVE, exact=False),
    "write": Word(2, _draw_write, WRITE.format("= y")),
    "add to": Word(2, _draw_write, WRITE.format("+= y")),
    "multiply in": Word(2, _draw_write, WRITE.format("*= y")),
    "scale in": Word(1, further.draw_ranges, WRITE.format("*= 0.75")),
}  # fmt: skip

ELEMENTWISE |= further.ELEMENTWISE
REARRANGING |= further.REARRANGING
OTHERS |= further.OTHERS
VOCABULARY = {**ELEMENTWISE, **REARRANGING, **OTHERS}
