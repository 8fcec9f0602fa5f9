"""The rows or columns of a Jacobian, in chunks: batched passes with rows of an identity as seeds.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..._declare import registry
from ..._tensor import Tensor, placed
from ..forward import push
from ..gradients import Tensors, pull


class Chunk(NamedTuple):
    """Some rows of the Jacobian of one output, or some columns of the Jacobian to one input.

    ``number`` says which output or input, and ``start..stop`` are the elements of it that the rows
    or columns belong to. ``parts`` has one tensor for each input (for columns: each output), whose
    first axis counts the rows or columns.
    """

    number: int
    start: int
    stop: int
    parts: list[Tensor]


class Passes:
    """The batched passes that compute a Jacobian, by rows or by columns.

    ``sources`` are the outputs if the Jacobian is computed by rows, and the inputs if it is by
    columns. Each pass computes the rows or columns of some elements of one source; each row or
    column has elements for all of ``others``, the inputs or outputs on the other side.
    """

    unit = "rows"

    def __init__(self, outputs: Tensors, inputs: Tensors, graph: bool) -> None:
        self.outputs, self.inputs, self.graph = outputs, inputs, graph
        pair = (inputs, outputs) if self.unit == "columns" else (outputs, inputs)
        self.sources, self.others = pair

    @property
    def count(self) -> int:
        """The number of rows, or columns."""
        return sum(source.size for source in self.sources)

    def nbytes(self) -> int:
        """Return the bytes that a batched pass takes for each row or column.

        For a row these are the bytes of its seed, a row of the identity, and twice the bytes of its
        results: the results themselves, and values of about that size which one program of the pass
        leaves for the next. Other intermediate values stay in the caches.
        """
        row = max((x.size * x.dtype.itemsize for x in self.sources), default=0)
        return row + 2 * sum(x.size * x.dtype.itemsize for x in self.others) or 1

    def chunks(self, step: int | None) -> Iterator[Chunk]:
        """Yield the rows, or the columns, at most ``step`` at a time."""
        for number, source in enumerate(self.sources):
            size = source.size
            for start in range(0, max(size, 1), step or max(size, 1)):
                stop = min(start + (step or size), size)
                yield Chunk(number, start, stop, self.chunk(number, start, stop))

    def chunk(self, number: int, start: int, stop: int) -> list[Tensor]:
        """Return the rows, or columns, that belong to the elements ``start..stop`` of a source.

        ``number`` is the position of the source in ``sources``.
        """
        raise NotImplementedError

    def tangents(self, number: int, start: int, stop: int, unit: complex = 1) -> list[Any]:
        """Return a batch of tangents for the input ``number``, and None for all other inputs.

        The tangents are the unit vectors of the input's elements ``start..stop``, times ``unit``.
        """
        tangents: list[Any] = [None] * len(self.inputs)
        tangents[number] = identity(self.inputs[number], start, stop, unit)
        return tangents


class Rows(Passes):
    """Reverse mode: a row of a batched vector-Jacobian product for each element of an output."""

    def chunk(self, number: int, start: int, stop: int) -> list[Tensor]:
        output = self.outputs[number]
        rows = self._pull(output, self.inputs, start, stop, 1)
        real = [n for n, x in enumerate(self.inputs) if x.dtype.kind == "f"]
        if output.dtype.kind == "c" and real:  # the rows so far are those of the real part
            inputs = [self.inputs[n] for n in real]
            imaginary = self._pull(output, inputs, start, stop, 1j)
            for n, part in zip(real, imaginary, strict=True):
                rows[n] = rows[n] + part * 1j
        return rows

    def _pull(
        self, output: Tensor, inputs: Tensors, start: int, stop: int, unit: complex
    ) -> list[Tensor]:
        seeds = identity(output, start, stop, unit)
        return pull([output], inputs, [seeds], self.graph, batched=True)


class Columns(Passes):
    """Forward mode: a column of a batched Jacobian-vector product for each element of an input."""

    unit = "columns"

    def chunk(self, number: int, start: int, stop: int) -> list[Tensor]:
        columns, dtype = self._push(number, start, stop, 1), self.inputs[number].dtype
        if dtype.kind == "c":
            along_i = self._push(number, start, stop, 1j)
            pairs = zip(columns, along_i, strict=True)
            columns = [_real(a) + _real(b) * 1j for a, b in pairs]
        pairs = zip(columns, self.outputs, strict=True)  # integer y: zeros in the dtype of x
        return [c if y.dtype.kind in "fc" else c.astype(dtype) for c, y in pairs]

    def _push(self, number: int, start: int, stop: int, unit: complex) -> list[Tensor]:
        tangents = self.tangents(number, start, stop, unit)
        return push(self.outputs, self.inputs, tangents, self.graph, batched=True)


def identity(tensor: Tensor, start: int, stop: int, unit: complex) -> Tensor:
    """Return rows ``start..stop`` of the identity matrix over the elements of a tensor.

    Each row has the shape of the tensor, and is multiplied by ``unit``.
    """
    count = stop - start
    rows = np.zeros((count, *tensor.shape), tensor.dtype)
    rows.reshape(count, tensor.size)[range(count), range(start, stop)] = unit
    return placed(rows, tensor.spec.device)


def _real(tensor: Tensor) -> Tensor:
    return registry["real"](tensor) if tensor.dtype.kind == "c" else tensor


def passes_of(mode: str, outputs: Tensors, inputs: Tensors, graph: bool) -> Passes:
    """Return the passes of a mode; for "auto" those of the mode that needs fewer rows or columns.
    """
    if mode == "auto":
        columns, rows = (sum(x.size for x in group) for group in (inputs, outputs))
        mode = "forward" if columns < rows else "reverse"
    kind: Any = Columns if mode == "forward" else Rows
    return kind(outputs, inputs, graph)
