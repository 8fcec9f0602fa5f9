"""The states of a loop in files, where memory has no room for them."""

import errno
import os
import tempfile
from math import prod
from typing import NamedTuple

import numpy as np

from .._errors import ArgTypeError

_UNKNOWN = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


class Storage(NamedTuple):
    """A folder for the states of a loop, in place of a number of snapshots."""

    folder: str

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return a new array whose elements are in a file, which is gone when the array is."""
        nbytes = prod(shape) * dtype.itemsize
        if not nbytes:
            return np.empty(shape, dtype)
        with tempfile.TemporaryFile(dir=self.folder, prefix="numgrad-") as file:
            _reserve(file.fileno(), nbytes)
            return np.memmap(file, dtype, "r+", shape=shape).view(np.ndarray)


def _reserve(file: int, nbytes: int) -> None:
    """Make a file that long; raise an OSError where the disk has no room.

    Without a reservation, a write to memory whose page the disk cannot hold would end the process.
    Some systems and some kinds of disks reserve nothing.
    """
    reserve = getattr(os, "posix_fallocate", None)
    try:
        if reserve is not None:
            reserve(file, 0, nbytes)
            return
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
    os.ftruncate(file, nbytes)


def storage_in(folder: object, checkpoint: object) -> Storage:
    """Return the storage for the arguments ``storage`` and ``checkpoint`` of a loop."""
    if not isinstance(folder, (str, os.PathLike)):
        raise ArgTypeError(f"scan: storage must be the path of a folder, got {folder!r}")
    if checkpoint != "auto" and checkpoint is not None:
        raise ArgTypeError(
            f"scan: with storage all states are kept, so checkpoint must be 'auto' or None, got "
            f"{checkpoint!r}"
        )
    path = os.path.abspath(os.fspath(folder))
    if not os.path.isdir(path):
        raise NotADirectoryError(f"scan: storage: there is no folder {path}")
    return Storage(str(path))


__all__ = ["Storage", "storage_in"]
