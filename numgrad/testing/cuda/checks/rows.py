"""Checks of what threads do together with long rows, and of small and large matrices."""

from typing import Any

import numpy as np

import numgrad as ng

from ..agreement import DEVICE, require_close
from ..report import Check, require
from ..sizes import Sizes
from .arrays import both, random, side_of

_DTYPES = ("int64", "float32", "float64", "complex128")
_SEARCHES = ("any", "all", "count_nonzero", "argmax", "argmin")
_MATRICES = {
    "det": ng.linalg.det, "inv": ng.linalg.inv,
    "solve": lambda x: ng.linalg.solve(x, x[..., :1] + 1),
    "cholesky": lambda x: ng.linalg.cholesky(x @ x.mT.conj() + np.eye(x.shape[-1], dtype=x.dtype)),
}  # fmt: skip


def rows(shape: tuple[int, int], dtype: str, seed: int = 0) -> np.ndarray:
    """Return rows of elements of which many are equal, some of them NaN where there is one."""
    x = np.round(random(shape, "float64", seed) * 3)
    if dtype.startswith("complex"):
        x = x + 1j * np.round(random(shape, "float64", seed + 1))
    if not dtype.startswith("int"):
        x[:, ::7] = np.nan
    return x.astype(dtype)


def _shapes(count: int) -> tuple[tuple[int, int], ...]:
    side = side_of(count)
    return (1, count), (side, side + 1), (count // 5, 5)


def _sorting(sizes: Sizes) -> str:
    for dtype in _DTYPES:
        for shape in _shapes(sizes.elements):
            x = rows(shape, dtype)
            found = ng.argsort(ng.tensor(x, device=DEVICE)).cpu().numpy()
            right = np.argsort(x, axis=-1, kind="stable")
            require(np.array_equal(found, right), f"the order of {shape} of {dtype} is another")
    x = random((2, sizes.elements // 2), "float64")
    for one, other in zip(both(ng.sort, x), both(ng.sort, x, device="cpu"), strict=True):
        require(np.array_equal(one, other), "sorted elements, or their gradients, are others")
    return f"{sizes.elements} elements in long and short rows, ties and NaN among them"


def _searching(sizes: Sizes) -> str:
    for dtype in _DTYPES[:3]:
        for shape in _shapes(sizes.elements):
            x = rows(shape, dtype)
            there = ng.tensor(x, device=DEVICE)
            for name in _SEARCHES:
                found = getattr(ng, name)(there, axis=-1).cpu().numpy()
                right = getattr(np, name)(x, axis=-1)
                require(np.array_equal(found, right), f"{name} of {shape} of {dtype} is another")
    return f"{', '.join(_SEARCHES)} of {sizes.elements} elements in long and short rows"


def _matrices(sizes: Sizes) -> str:
    edges = [n for n in (2, 3, 8, 17, 31, 32) if n <= max(sizes.edges)]
    for n in edges:
        count = max(sizes.elements // 100 // (n * n), 2)
        for dtype in ("float32", "float64", "complex64", "complex128"):
            x = _regular(count, n, dtype)
            for name, function in _MATRICES.items():
                _compare(name, function, x)
    return f"{', '.join(_MATRICES)} of matrices of {', '.join(map(str, edges))} rows, gradients"


def _regular(count: int, n: int, dtype: str) -> np.ndarray:
    """Return matrices near to that of ones on the diagonal."""
    return np.asarray(random((count, n, n), dtype) / (2 * n) + np.eye(n), dtype)


def _large_matrices(sizes: Sizes) -> str:
    edges = [n for n in sizes.edges if n > 32] or [max(sizes.edges)]
    for n in edges:
        for dtype in ("float32", "float64", "complex64", "complex128"):
            x = _regular(2, n, dtype)
            for name, function in _MATRICES.items():
                _compare(name, function, x)
    return f"of {', '.join(map(str, edges))} rows, by whatever computes them, gradients"


def _compare(name: str, function: Any, x: np.ndarray) -> None:
    for found, right in zip(both(function, x), both(function, x, device="cpu"), strict=True):
        try:
            require_close(found, right, 2000)
        except AssertionError as error:
            raise AssertionError(f"{name} of {x.shape} of {x.dtype}: {error}") from None


CHECKS = (
    Check("rows: sorting", _sorting),
    Check("rows: truth, counts and positions", _searching),
    Check("small matrices", _matrices),
    Check("large matrices", _large_matrices),
)
