"""Check that memory is left for LLVM, which ends the process when it gets no memory."""

import mmap
import sys
from typing import Any

LOAD, COMPILE = 4 << 20, 32 << 20
"""Bytes that loading a kernel may take beside its own, and compiling the kernel of an operator."""

_FLAGS: dict[str, Any] = (
    {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
)


def require(nbytes: int, what: str) -> None:
    """Raise a `MemoryError` if this process cannot map ``nbytes`` more bytes of memory.

    The memory is mapped and released at once, untouched. Another thread may take it before LLVM
    does; but near a limit the error is raised here, and LLVM does not end the process. ``what``,
    the purpose, is for the message.
    """
    try:
        mmap.mmap(-1, nbytes, **_FLAGS).close()
    except (OSError, MemoryError):
        raise MemoryError(
            f"numgrad has no memory left to {what}: it needs {nbytes >> 20} MiB of address space"
        ) from None
