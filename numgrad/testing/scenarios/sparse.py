"""Scenarios of products with sparse matrices."""

from typing import Any

import numpy as np

from ..._declare import registry
from .scenario import ALL, Scenario, numbers

# [[a, ., b], [., ., .], [c, d, .], [., e, f]]
COLUMNS, INDPTR = np.array([0, 2, 0, 1, 1, 2], np.int32), np.array([0, 2, 2, 4, 6], np.int32)
PLACES = COLUMNS, INDPTR[:-1], INDPTR[1:]
ROWS = np.repeat(np.arange(4), np.diff(INDPTR))


def dense(data: np.ndarray) -> np.ndarray:
    """Return the dense matrices that have the given stored numbers at the places of this module."""
    matrix = np.zeros((*data.shape[:-1], 4, 3), data.dtype)
    matrix[..., ROWS, COLUMNS] = data
    return matrix


def product(data: Any, x: Any) -> Any:
    return registry["sparse_product"](data, *PLACES, x)


def transposed(data: Any, x: Any) -> Any:
    return registry["sparse_transposed"](data, *PLACES, np.zeros(3, np.int8), x)


def at_stored(x1: Any, x2: Any) -> Any:
    return registry["product_at_stored"](*PLACES, x1, x2)


def _scenario(name: str, function: Any, reference: Any, *points: Any) -> Scenario:
    return Scenario(
        name=name,
        function=function,
        operators=(name,),
        points=points,
        reference=reference,
        dtypes=ALL,
        half=False,
        oracle=False,
    )


DATA, LOOP = numbers(6), numbers((2, 6), phase=0.3)

SCENARIOS = (
    _scenario(
        "sparse_product",
        product,
        lambda data, x: dense(data) @ x,
        (DATA, numbers((3, 2))),
        (LOOP, numbers((3, 1))),
        (DATA, numbers((2, 3, 1))),
        (DATA, numbers((3, 0))),
    ),
    _scenario(
        "sparse_transposed",
        transposed,
        lambda data, x: dense(data).swapaxes(-1, -2) @ x,
        (DATA, numbers((4, 2))),
        (LOOP, numbers((4, 1))),
        (DATA, numbers((0, 4, 2))),
    ),
    _scenario(
        "product_at_stored",
        at_stored,
        lambda x1, x2: (x1 @ x2.swapaxes(-1, -2))[..., ROWS, COLUMNS],
        (numbers((4, 2)), numbers((3, 2), phase=0.4)),
        (numbers((2, 4, 1)), numbers((3, 1))),
    ),
)
