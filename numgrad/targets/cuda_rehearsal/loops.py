"""Loops that a kernel of an absent GPU would have inside, computed by the processor."""

import ctypes
from collections.abc import Sequence

import numpy as np

from ...ir.recurrence import Loop
from ..cpu.kernels.recurrence import address

_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)


def run(
    loop: Loop, arrays: Sequence[np.ndarray], moving: Sequence[bool], leads: Sequence[bool],
    count: int | None,
) -> None:  # fmt: skip
    """Run a loop on arrays of the host; see `CUDATarget.runner`."""
    of = loop.of
    function, rows = _FUNCTION(address(of.recurrence)), 1 if count is None else count
    own = np.frombuffer(of.constants or bytes(8), np.uint8)
    begins = np.array([array.ctypes.data for array in arrays], np.int64)
    moves = np.array([a.strides[0] if m else 0 for a, m in zip(arrays, moving, strict=True)])
    samples = np.array([
        a.strides[int(m)] if lead and count is not None else 0
        for a, m, lead in zip(arrays, moving, leads, strict=True)
    ])  # fmt: skip
    places = begins + np.arange(rows)[:, None, None] * samples
    places = places + np.arange(of.columns.number)[:, None] * np.array(of.columns.strides)
    nin = len(of.recurrence.per_step) - 1
    given = np.insert(places.reshape(-1, len(arrays)), nin, own.ctypes.data, axis=1)
    along, status = np.insert(moves, nin, 0).astype(np.int64), np.zeros(1, np.int64)
    for row in np.ascontiguousarray(given, np.int64):
        function(row.ctypes.data, loop.length, 0, along.ctypes.data, status.ctypes.data)


__all__ = ["run"]
