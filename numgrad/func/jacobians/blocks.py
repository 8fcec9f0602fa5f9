"""Blocks of a Jacobian, made of its rows or columns: joined as tensors, or written to arrays."""

import math
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import Tensor
from ...functions.shape.joining import concat
from ...functions.shape.reshaping import matrix_transpose, reshape
from ..pytree import Rebuild, flatten, places
from ..tracing.destinations import checked_destination
from .passes import Chunk, Columns, Passes

_WINDOW = 1 << 24  # bytes of a mapped file that are written before their pages are given back


class TensorBlocks:
    """The blocks of a Jacobian as tensors, in the graph that the passes have recorded, if any."""

    def __init__(self, passes: Passes) -> None:
        self._passes = passes
        self._parts: list[list[list[Tensor]]] = [[] for _ in passes.sources]

    def put(self, chunk: Chunk) -> None:
        """Keep a chunk of rows or columns until the blocks are joined."""
        self._parts[chunk.number].append(chunk.parts)

    def blocks(self) -> list[Tensor]:
        """Return the blocks in a list, output by output, and for each output input by input."""
        blocks = [[joined(column) for column in zip(*parts, strict=True)] for parts in self._parts]
        outputs, inputs = self._passes.outputs, self._passes.inputs
        if isinstance(self._passes, Columns):
            blocks = [
                [matrix_transpose(reshape(blocks[k][n], (x.size, y.size)))
                 for k, x in enumerate(inputs)] for n, y in enumerate(outputs)
            ]  # fmt: skip
        return [
            reshape(block, (*y.shape, *x.shape))
            for y, row in zip(outputs, blocks, strict=True)
            for block, x in zip(row, inputs, strict=True)
        ]


def joined(parts: Sequence[Tensor]) -> Tensor:
    """Join tensors along their first axis."""
    return parts[0] if len(parts) == 1 else concat(parts)


class ArrayBlocks:
    """The blocks of a Jacobian as NumPy arrays, which are filled chunk by chunk.

    The arrays are new unless the caller has given some.
    """

    def __init__(self, passes: Passes, arrays: list[np.ndarray] | None = None) -> None:
        self._is_turned, self._width = isinstance(passes, Columns), len(passes.inputs)
        pairs = [(y, x) for y in passes.outputs for x in passes.inputs]
        self._blocks = arrays or [np.empty(*block_spec(passes, *pair)) for pair in pairs]
        blocks = zip(self._blocks, pairs, strict=True)
        self._flat = [_flat(block, y.size, x.size) for block, (y, x) in blocks]

    def put(self, chunk: Chunk) -> None:
        """Write a chunk of rows or columns into the blocks."""
        some, n, width = slice(chunk.start, chunk.stop), chunk.number, self._width
        parts = [_matrix(part) for part in chunk.parts]
        if self._is_turned:
            for flat, columns in zip(self._flat[n::width], parts, strict=True):
                _write(flat[:, some], columns.T)
        else:
            for flat, rows in zip(self._flat[n * width : (n + 1) * width], parts, strict=True):
                _write(flat[some], rows)

    def blocks(self) -> list[np.ndarray]:
        """Return the blocks in a list, output by output, and for each output input by input."""
        return self._blocks


def _matrix(part: Tensor) -> np.ndarray:
    array: Any = part.cpu().array
    return array.reshape(array.shape[0], math.prod(array.shape[1:]))


def _flat(array: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Return a view of an array as a matrix; raise if its strides allow no such view."""
    try:
        return array.reshape((rows, columns), copy=False)
    except ValueError:
        raise ValueError(
            f"out: an array of shape {array.shape} and strides {array.strides} cannot be filled "
            f"row by row; give one in C order"
        ) from None


def _write(region: np.ndarray, values: np.ndarray) -> None:
    """Copy values into a region of an array.

    If the array lies in a memory-mapped file, little of the file is in memory at a time.
    """
    mapping = _mapping(region)
    if mapping is None:
        region[...] = values
        return
    # The system maps whole pages: for a column, those of all rows.
    step = max(1, _WINDOW // max(abs(region.strides[0]), 1))
    for start in range(0, region.shape[0], step):
        region[start : start + step] = values[start : start + step]
        mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(array: np.ndarray) -> Any:
    """Return the memory map of the file in which an array lies, or None if the array is in no file.

    Return None for copy-on-write, too, as those pages belong to this process alone and must stay in
    memory.
    """
    if not isinstance(array, np.memmap) or array.mode not in ("r+", "w+"):
        return None
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None


def block_spec(passes: Passes, output: Tensor, x: Tensor) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape and the dtype of the block for an output and an input."""
    is_by_output = isinstance(passes, Columns) and output.dtype.kind in "fc"
    one, other = (output, x) if is_by_output else (x, output)
    dtype = np.result_type(one.dtype, np.complex64) if other.dtype.kind == "c" else one.dtype
    return (*output.shape, *x.shape), dtype


def blocks_of_out(passes: Passes, out: Any, arrange: Rebuild, what: str) -> ArrayBlocks:
    """Return `ArrayBlocks` that write to ``out``, after checking that the blocks fit into it.

    ``arrange`` puts one leaf for each block into the containers of the result.
    """
    specs = [block_spec(passes, y, x) for y in passes.outputs for x in passes.inputs]
    numbers = arrange(list(range(len(specs))))
    expected, leaves = places(numbers), flatten(out)[0]
    if places(out) != expected:
        raise ArgTypeError(
            f"{what}: out must have the containers of the result, with {len(specs)} arrays at "
            f"{expected}; its leaves are at {places(out)}"
        )
    arrays: list[Any] = [None] * len(specs)
    for leaf, number in zip(leaves, flatten(numbers)[0], strict=True):
        arrays[number] = checked_destination(leaf, specs[number], what)
    return ArrayBlocks(passes, arrays)
