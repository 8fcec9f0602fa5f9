"""Whether there is memory left for LLVM, which ends the process where there is none."""

import mmap
import sys
from typing import Any

LOAD, COMPILE = 4 << 20, 32 << 20
"""Bytes that loading a kernel may take beside its own, and compiling one of a single operator."""

_FLAGS: dict[str, Any] = (
    {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
)


def require(nbytes: int, what: str) -> None:
    """Raise a `MemoryError` if this process may not have so many bytes more.

    They are asked for and given back at once, without being touched. Another thread may take them
    before LLVM does; but a limit that one is close to is met here, and not there.
    """
    try:
        mmap.mmap(-1, nbytes, **_FLAGS).close()
    except (OSError, MemoryError):
        raise MemoryError(
            f"numgrad has no memory left to {what}: it needs {nbytes >> 20} MiB of address space"
        ) from None
