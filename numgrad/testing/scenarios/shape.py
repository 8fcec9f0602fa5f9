"""Scenarios of operators that move elements: shapes, joining, indexing, and conversion."""

from collections.abc import Callable
from typing import Any

import numpy as np

import numgrad as ng

from ..._declare import registry
from .scenario import ALL, Point, Scenario, numbers

CUBE = numbers((2, 3, 4))
TABLE = numbers((3, 4))
LINE = numbers(5)
NOTHING = numbers((0, 4))


def moved(name: str, function: Callable[..., Any], *points: Point, **options: Any) -> Scenario:
    """Return the scenario of an operator that only moves elements, without rounding."""
    settings: dict[str, Any] = {"operators": (name,), "dtypes": ALL, "tolerance": 0, **options}
    return Scenario(name=name, function=function, points=points, **settings)


SHAPES = (
    moved(
        "expand_dims",
        lambda x: ng.expand_dims(x, (0, -1)),
        (TABLE,),
        (np.array(0.5),),
        (NOTHING,),
        reference=lambda x: np.expand_dims(x, (0, -1)),
    ),
    moved(
        "squeeze",
        lambda x: ng.squeeze(x, 1),
        (numbers((2, 1, 3)),),
        reference=lambda x: np.squeeze(x, 1),
    ),
    moved(
        "permute_dims",
        lambda x: ng.permute_dims(x, (2, 0, 1)),
        (CUBE,),
        (numbers((2, 0, 3)),),
        reference=lambda x: np.permute_dims(x, (2, 0, 1)),
    ),
    moved(
        "reshape",
        lambda x: ng.reshape(x, (-1, 2)),
        (CUBE,),
        (TABLE,),
        (numbers((0, 2)),),
        reference=lambda x: np.reshape(x, (-1, 2)),
    ),
    moved(
        "reshape-transposed",
        lambda x: ng.reshape(x.T, (6, 2)),
        (TABLE,),
        operators=(),
        reference=lambda x: np.reshape(x.T, (6, 2)),
    ),
    moved(
        "broadcast",
        lambda x: ng.broadcast_to(x, (2, 3, 4)),
        (numbers((3, 1)),),
        (numbers(4),),
        (np.array(0.5),),
        reference=lambda x: np.broadcast_to(x, (2, 3, 4)),
    ),
    moved(
        "flip",
        lambda x: ng.flip(x, 0),
        (TABLE,),
        (LINE,),
        (NOTHING,),
        reference=lambda x: np.flip(x, 0),
    ),
    moved(
        "roll",
        lambda x: ng.roll(x, (2, -1), (0, 1)),
        (TABLE,),
        (NOTHING,),
        reference=lambda x: np.roll(x, (2, -1), (0, 1)),
    ),
    moved(
        "concat",
        lambda x, y: ng.concat([x, y], axis=1),
        (TABLE, numbers((3, 2))),
        (NOTHING, NOTHING),
        reference=lambda x, y: np.concat([x, y], axis=1),
    ),
    moved(
        "stack",
        lambda x, y: ng.stack([x, y], axis=1),
        (TABLE, TABLE + 1),
        (NOTHING, NOTHING),
        reference=lambda x, y: np.stack([x, y], axis=1),
    ),
    moved(
        "split",
        lambda x: tuple(ng.split(x, [1, 3], axis=1)),
        (TABLE,),
        operators=(),
        reference=lambda x: tuple(np.split(x, [1, 3], axis=1)),
    ),
    moved(
        "tile",
        lambda x: ng.tile(x, (2, 3)),
        (TABLE,),
        operators=(),
        reference=lambda x: np.tile(x, (2, 3)),
    ),
    moved(
        "repeat",
        lambda x: ng.repeat(x, 3, axis=1),
        (TABLE,),
        operators=(),
        reference=lambda x: np.repeat(x, 3, axis=1),
    ),
    moved(
        "pad",
        lambda x: ng.pad(x, ((1, 0), (0, 2))),
        (TABLE,),
        operators=(),
        reference=lambda x: np.pad(x, ((1, 0), (0, 2))),
    ),
    moved("rot90", lambda x: ng.rot90(x), (TABLE,), operators=(), reference=np.rot90),
    moved(
        "tril", lambda x: ng.tril(x, 1), (TABLE,), operators=(), reference=lambda x: np.tril(x, 1)
    ),
    moved(
        "triu", lambda x: ng.triu(x, 1), (TABLE,), operators=(), reference=lambda x: np.triu(x, 1)
    ),
)


def written(x: Any, v: Any) -> Any:
    """Return a copy of ``x`` with a region overwritten in place."""
    y = x.clone()
    y[1:, ::2] = v
    return y


def written_array(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the result of `written`, computed by NumPy."""
    y = x.copy()
    y[1:, ::2] = v
    return y


FIRST = np.array([2, 0])


def written_at(x: Any, v: Any, rows: Any = FIRST) -> Any:
    """Return a copy of ``x`` with rows overwritten in place."""
    y = x.clone()
    y[rows] = v
    return y


def written_at_array(x: np.ndarray, v: np.ndarray, rows: np.ndarray = FIRST) -> np.ndarray:
    """Return the result of `written_at`, computed by NumPy."""
    y = x.copy()
    y[rows] = v
    return y


ROWS, COLUMNS = np.array([2, 0, 2]), np.array([1, 3, 1])
MASK = numbers((3, 4)) > 0


def summed_at(g: Any, positions: np.ndarray) -> Any:
    """Return four rows of zeros after the rows of ``g`` were added at ``positions``."""
    return registry["scatter_add"](g, positions, count=1, tail=1, sizes=(4,))


def summed_at_array(g: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the result of `summed_at`, computed by NumPy."""
    out = np.zeros((4, g.shape[-1]), g.dtype)
    np.add.at(out, positions, g)
    return out


INDEXING = (
    moved("index", lambda x: x[1:, None, 2], (TABLE,), reference=lambda x: x[1:, None, 2]),
    moved(
        "element",
        lambda x: x[1, -1],
        (TABLE,),
        reference=lambda x: x[1, -1],
        oracle=False,
    ),
    moved(
        "index-step",
        lambda x: x[..., ::-2],
        (TABLE,),
        (LINE,),
        operators=("put_view",),
        reference=lambda x: x[..., ::-2],
    ),
    moved("diagonal", lambda x: ng.diagonal(x, 1), (TABLE,), reference=lambda x: np.diagonal(x, 1)),
    moved(
        "put_view",
        written,
        (TABLE, numbers((2, 2), phase=0.5)),
        (TABLE, np.array(0.5)),
        reference=written_array,
    ),
    moved(
        "gather",
        lambda x: x[ROWS, COLUMNS],
        (TABLE,),
        operators=("gather", "scatter_add"),
        reference=lambda x: x[ROWS, COLUMNS],
    ),
    moved(
        "gather-argument",
        lambda x, rows, columns: x[rows, columns],
        (TABLE, ROWS, COLUMNS - 4),
        (TABLE, ROWS[:0].astype(np.int16), COLUMNS[:1]),
        operators=("gather", "scatter_add"),
        reference=lambda x, rows, columns: x[rows, columns],
        half=False,
        oracle=False,
    ),
    moved("mask", lambda x: x[MASK], (TABLE,), operators=(), reference=lambda x: x[MASK]),
    moved(
        "take",
        lambda x: ng.take(x, ROWS, axis=0),
        (TABLE,),
        operators=(),
        reference=lambda x: np.take(x, ROWS, 0),
    ),
    moved(
        "take_along_axis",
        lambda x: ng.take_along_axis(x, ROWS[:, None], axis=-1),
        (TABLE,),
        operators=(),
        reference=lambda x: np.take_along_axis(x, ROWS[:, None], axis=-1),
    ),
    moved(
        "scatter_add",
        summed_at,
        (TABLE, np.array([3, 0, 3])),
        reference=summed_at_array,
        half=False,
        oracle=False,
        tolerance=4,
    ),
    moved("put_at", written_at, (TABLE, numbers((2, 4), phase=0.5)), reference=written_at_array),
    moved(
        "put_at-argument",
        written_at,
        (TABLE, numbers((3, 4), phase=0.5), ROWS),
        reference=written_at_array,
        operators=("put_at",),
        half=False,
        oracle=False,
    ),
)

CONVERSION = (
    Scenario(
        name="astype",
        function=lambda x: x.astype(np.float64) * x.astype(np.float64),
        operators=("astype",),
        points=((TABLE,), (np.array(0.5),), (NOTHING,)),
        dtypes=("float64", "float32"),
        half=False,
        reference=lambda x: x.astype(np.float64) * x.astype(np.float64),
    ),
)

SCENARIOS = (*SHAPES, *INDEXING, *CONVERSION)
