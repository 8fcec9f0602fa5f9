"""A bound on the size of the kernel cache: the least recently used files are deleted first.

Deleting a file is harmless: a process that has opened the file reads all of it, and a later process
compiles the kernel again.
"""

import contextlib
import os
from pathlib import Path

DEFAULT_MIB = 512
_KEPT = 0.75  # the share of the limit that stays, so that not every later write deletes files
_DAY = 86_400.0


def limit() -> int:
    """Return ``NUMGRAD_CACHE_MIB`` in bytes, 512 MiB unless it is set to a number."""
    try:
        return int(float(os.environ["NUMGRAD_CACHE_MIB"]) * 2**20)
    except (KeyError, ValueError, OverflowError):
        return DEFAULT_MIB << 20


def is_due(written: int, nbytes: int) -> bool:
    """Whether a process that wrote ``written`` bytes should call `trim` before ``nbytes`` more.

    A call is due at the first write, and then for every sixteenth of the limit that is written.
    """
    share = limit() // 16 + 1
    return written == 0 or written // share != (written + nbytes) // share


def trim(folder: Path) -> int:
    """Delete the least recently used files if all together exceed the limit; return how many."""
    files = sorted(_files(folder))
    total, most = sum(size for _, size, _ in files), limit()
    if total <= most:
        return 0
    deleted = 0
    for _, size, path in files:
        if total <= _KEPT * most:
            break
        with contextlib.suppress(OSError):  # another process was faster
            os.unlink(path)
            deleted += 1
        total -= size
    return deleted


def note_use(path: Path, status: os.stat_result, now: float) -> None:
    """Set the time of a file's last use to now, unless it is less than a day ago."""
    if now - status.st_mtime > _DAY:
        with contextlib.suppress(OSError):  # a read-only directory serves without times of use
            os.utime(path)


def _files(folder: Path) -> list[tuple[float, int, str]]:
    """Return the cache's own files: for each the time of its last use, its size and its path."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            is_entry = entry.name.endswith((".kernel", ".scalar", ".dispatcher"))
            if is_entry or entry.name.startswith(".new-"):
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime, status.st_size, entry.path))
    return found
