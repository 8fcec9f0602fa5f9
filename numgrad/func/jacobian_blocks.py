"""Where the rows or columns of a Jacobian go: joined as tensors, or written to arrays."""

import math
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._declare import registry
from .._errors import ArgTypeError
from .._tensor import Tensor
from ..engine.values import CPU
from .jacobian_passes import Chunk, Columns, Passes
from .trees import Rebuild, flatten, places

_WINDOW = 1 << 24
"""Bytes of a file in memory that are written before they are given back."""


class Joined:
    """The blocks as tensors, in the graph that the passes have recorded, if any."""

    def __init__(self, passes: Passes) -> None:
        self._passes = passes
        self._parts: list[list[list[Tensor]]] = [[] for _ in passes.sources]

    def put(self, chunk: Chunk) -> None:
        """Keep some rows, or columns."""
        self._parts[chunk.number].append(chunk.parts)

    def blocks(self) -> list[list[Tensor]]:
        """Return the blocks by output and input."""
        joined = [[_join(column) for column in zip(*parts, strict=True)] for parts in self._parts]
        outputs, inputs = self._passes.outputs, self._passes.inputs
        if not isinstance(self._passes, Columns):
            return [
                [_reshaped(j, (*y.shape, *x.shape)) for j, x in zip(row, inputs, strict=True)]
                for y, row in zip(outputs, joined, strict=True)
            ]
        return [[_turned(joined[k][n], y, x) for k, x in enumerate(inputs)]
                for n, y in enumerate(outputs)]  # fmt: skip


def _turned(columns: Tensor, output: Tensor, x: Tensor) -> Tensor:
    flat = _reshaped(columns, (x.size, output.size))
    rows = registry["permute_dims"](flat, axes=(-1, -2))
    return _reshaped(rows, (*output.shape, *x.shape))


def _join(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else registry["concat"](*parts, axis=-len(parts[0].shape))


def _reshaped(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    return registry["reshape"](tensor, ncore=len(tensor.shape), shape=shape)


class Arrays:
    """The blocks as arrays of NumPy, into which rows or columns are written as they come.

    Parameters
    ----------
    arrays : list of list of ndarray, optional
        By output and input; new ones by default.
    """

    def __init__(self, passes: Passes, arrays: list[list[np.ndarray]] | None = None) -> None:
        self._is_turned = isinstance(passes, Columns)
        pairs = [[(y, x) for x in passes.inputs] for y in passes.outputs]
        self.arrays = arrays or [[np.empty(*block_spec(passes, *p)) for p in row] for row in pairs]
        self._flat = [
            [_flat(array, y.size, x.size) for array, (y, x) in zip(row, some, strict=True)]
            for row, some in zip(self.arrays, pairs, strict=True)
        ]

    def put(self, chunk: Chunk) -> None:
        """Write some rows, or columns."""
        some = slice(chunk.start, chunk.stop)
        parts = [_matrix(part) for part in chunk.parts]
        if self._is_turned:
            for row, columns in zip(self._flat, parts, strict=True):
                _write(row[chunk.number][:, some], columns.T)
        else:
            for flat, rows in zip(self._flat[chunk.number], parts, strict=True):
                _write(flat[some], rows)

    def blocks(self) -> list[list[np.ndarray]]:
        """Return the blocks by output and input."""
        return self.arrays


def _matrix(part: Tensor) -> np.ndarray:
    array: Any = part.cpu().array
    return array.reshape(array.shape[0], math.prod(array.shape[1:]))


def _flat(array: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Return a matrix that is a view of an array."""
    try:
        return array.reshape((rows, columns), copy=False)
    except ValueError:
        raise ValueError(
            f"out: an array of shape {array.shape} and strides {array.strides} cannot be filled "
            f"row by row; give one in C order"
        ) from None


def _write(region: np.ndarray, values: np.ndarray) -> None:
    """Copy values into a part of an array. Of one that is a file, little is in memory at a time."""
    mapping = _mapping(region)
    if mapping is None:
        region[...] = values
        return
    # The system maps what lies around as well: of a column, all of the rows.
    step = max(1, _WINDOW // max(abs(region.strides[0]), 1))
    for start in range(0, region.shape[0], step):
        region[start : start + step] = values[start : start + step]
        mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(array: np.ndarray) -> Any:
    """Return the memory-mapped file in which an array lies, None where it does not, and where what
    is written must stay in memory: a copy that belongs to this process alone."""
    if not isinstance(array, np.memmap) or array.mode not in ("r+", "w+"):
        return None
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None


def block_spec(passes: Passes, output: Tensor, x: Tensor) -> tuple[tuple[int, ...], np.dtype]:
    """Return shape and dtype of a block."""
    one, other = (output, x) if isinstance(passes, Columns) else (x, output)
    dtype = np.result_type(one.dtype, np.complex64) if other.dtype.kind == "c" else one.dtype
    return (*output.shape, *x.shape), dtype


def into(passes: Passes, out: Any, arrange: Rebuild, what: str) -> Arrays:
    """Return what writes to ``out``, after checking that the result fits.

    Parameters
    ----------
    arrange : callable
        Takes one thing for each block and returns them in the containers of the result.
    """
    specs = [block_spec(passes, y, x) for y in passes.outputs for x in passes.inputs]
    expected = places(arrange(list(range(len(specs)))))
    leaves, _ = flatten(out)
    if places(out) != expected:
        raise ArgTypeError(
            f"{what}: out must have the containers of the result, with {len(specs)} arrays at "
            f"{expected}; its leaves are at {places(out)}"
        )
    order = flatten(arrange(list(range(len(specs)))))[0]
    arrays: list[Any] = [None] * len(specs)
    for leaf, number in zip(leaves, order, strict=True):
        shape, dtype = specs[number]
        arrays[number] = _checked(leaf, shape, dtype, what)
    width = len(passes.inputs)
    return Arrays(passes, [arrays[n : n + width] for n in range(0, len(arrays), width)])


def _checked(leaf: Any, shape: tuple[int, ...], dtype: np.dtype, what: str) -> np.ndarray:
    if not isinstance(leaf, np.ndarray):
        raise ArgTypeError(f"{what}: out must hold NumPy arrays, got {type(leaf).__name__}")
    if leaf.shape != shape or leaf.dtype != dtype:
        raise ValueError(
            f"{what}: out has an array of shape {leaf.shape} and dtype {leaf.dtype}, where the "
            f"Jacobian has {shape} and {dtype}"
        )
    if not leaf.flags.writeable:
        raise ValueError(f"{what}: an array of out is read-only")
    return leaf


def are_arrays(passes: Passes) -> bool:
    """Whether the blocks can be written to arrays: no graph leads through them, and they are no
    arrays of a device."""
    return not passes.graph and all(x.spec.device == CPU for x in (*passes.outputs, *passes.inputs))


__all__ = ["Arrays", "Joined", "are_arrays", "into"]
