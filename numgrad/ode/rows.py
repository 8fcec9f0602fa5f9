"""Functions of samples that are called when a program runs, with all samples of a batch at once."""

from collections.abc import Sequence
from math import prod

import numpy as np

from .._tensor import constant
from ..control.later import Later
from ..engine.record.apply import changing
from ..ir.broadcasting import broadcast_shapes


class LaterRows(Later):
    """A function of tensors, with an axis of samples in front or without one, that is called when a
    program runs."""

    def single(self, *arrays: np.ndarray) -> list[np.ndarray]:
        return [row[0] for row in self._of_samples([np.array(a)[None] for a in arrays])]

    def _of_rows(self, *arrays: np.ndarray) -> list[np.ndarray]:
        cores = [shape for shape, _ in self.input_specs]
        lead = arrays[0].ndim - len(cores[0])
        loop = broadcast_shapes(*[a.shape[:lead] for a in arrays])
        rows = [
            np.array(np.broadcast_to(a, (*loop, *core))).reshape(prod(loop), *core)
            for a, core in zip(arrays, cores, strict=True)
        ]
        return [found.reshape(*loop, *found.shape[1:]) for found in self._of_samples(rows)]

    def _of_samples(self, rows: Sequence[np.ndarray]) -> list[np.ndarray]:
        with changing(capture=None, deferring=False, kept=None, trace=None, grad=False):
            found = self.called(*[constant(a) for a in rows])
            return [np.array(value.array) for value in found]
