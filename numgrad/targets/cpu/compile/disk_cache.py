"""The disk cache: compiled objects, one file each, shared by all processes of one user.

A file is code that will run, so no other user may write it: the directory belongs to the user, or
to the administrator, whom a process trusts with its libraries too. Without such a directory kernels
stay in memory, and one warning says why. Files appear by `os.replace`, so that a reader sees a
whole file or none, even if other processes write it or a writer dies.
"""

import hashlib
import json
import os
import stat
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from numgrad._errors import CacheWarning
from numgrad.process.fork_locks import fork_safe_lock

from . import cache_eviction

KERNEL, SCALAR, DISPATCHER, OVERLOAD = "kernel", "scalar", "dispatcher", "overload"
"""Kinds of entries: machine code of a kernel, LLVM code of a scalar function, what Numba has
compiled for a dispatcher, and LLVM code of one of Numba's implementations of functions."""

_PARTS = SCALAR, OVERLOAD  # of kernels and dispatchers, which the counters count
_IN_MEMORY = "new kernels are kept in memory only and compiled again by the next process"
_MAGIC = b"numgrad-object-1\n"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ADMINISTRATOR = 0  # the user id that may write anything anyway


class Entry(NamedTuple):
    """The result of a compilation: symbol of the function, external functions, object code."""

    symbol: str
    externals: tuple[str, ...]
    payload: bytes


@dataclass(frozen=True)
class CacheInfo:
    """Use of the cache in this process.

    Attributes
    ----------
    directory : str or None
        The directory of objects; None if kernels stay in memory.
    hits, misses : int
        Look-ups on disk that found, or did not find, a usable object.
    compiled : int
        Functions compiled.
    writes : int
        Objects written to disk.
    scalars : int
        Scalar functions compiled, to be linked into kernels; the other numbers leave them out.
    writable : bool
        Whether objects are written too; False for a directory of another user, as in an image.
    """

    directory: str | None
    hits: int
    misses: int
    compiled: int
    writes: int
    scalars: int = 0
    writable: bool = True


class _State:
    """The cache directory in use, and the counters of this process.

    `directory` is None until a directory is needed, and stays None if that cannot be used.
    """

    lock = fork_safe_lock()

    def __init__(self) -> None:
        self.chosen: str | None = None
        self.directory: Path | None = None
        self.writable = True
        self.warned = False
        self.hits = self.misses = self.compiled = self.writes = self.scalars = 0
        self.nbytes = 0  # written so far


_state = _State()


def cache_info() -> CacheInfo:
    """Return the directory and the counters of the kernel cache."""
    folder = _directory()
    state = _state
    return CacheInfo(
        str(folder) if folder else None,
        state.hits, state.misses, state.compiled, state.writes, state.scalars, state.writable,
    )  # fmt: skip


def default_directory() -> Path:
    """Return ``NUMGRAD_CACHE_DIR``, or numgrad's folder in the platform's place for caches."""
    chosen = os.environ.get("NUMGRAD_CACHE_DIR")
    if chosen:
        return Path(chosen)
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "numgrad"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "numgrad"
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(base) if os.path.isabs(base) else home / ".cache") / "numgrad"


def read(key: str, kind: str = KERNEL) -> Entry | None:
    """Return the entry of a key; None if the cache has none that can be trusted."""
    folder = _directory()
    entry = None
    if folder is not None:
        try:
            entry = _decode(key, _read_own_file(folder / _file_name(key, kind)))
        except FileNotFoundError:
            pass
        except PermissionError as error:
            if sys.platform != "win32":  # a file that is being replaced cannot be opened on Windows
                _warn(f"cannot read a file of the kernel cache in {folder}: {error}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            _warn(f"ignored a damaged or foreign file of the kernel cache in {folder}: {error}")
    if kind not in _PARTS:
        with _state.lock:
            _state.hits += entry is not None
            _state.misses += entry is None
    return entry


def has(key: str) -> bool:
    """Whether there is an entry of a kernel; only `read` checks that it can be trusted."""
    folder = _directory()
    return folder is not None and (folder / _file_name(key, KERNEL)).exists()


def write(key: str, entry: Entry, kind: str = KERNEL) -> None:
    """Write an entry; if that fails, warn once and keep further kernels in memory.

    A read-only directory is still read.
    """
    folder = _directory()
    if folder is None:
        return
    if not _state.writable:
        _warn(f"the kernel cache {folder} is read-only; {_IN_MEMORY}")
        return
    data = _encode(key, entry)
    try:
        if cache_eviction.is_due(_state.nbytes, len(data)):
            cache_eviction.trim(folder)
        _replace(folder / _file_name(key, kind), data)
    except OSError as error:
        _disable(f"cannot write to the kernel cache {folder}: {error}")
    else:
        with _state.lock:
            _state.writes += kind not in _PARTS
            _state.nbytes += len(data)


def count_compiled(kind: str = KERNEL) -> None:
    """Count one compilation of a kernel or dispatcher, or of a scalar function."""
    with _state.lock:
        _state.compiled += kind != SCALAR
        _state.scalars += kind == SCALAR


def _directory() -> Path | None:
    """Return the cache directory; None if it cannot be used.

    The directory is checked at its first use, and again when the environment names another.
    """
    chosen = str(default_directory())
    with _state.lock:
        known = chosen == _state.chosen
        if not known:
            _state.chosen, _state.directory = chosen, None
    if not known:
        folder = Path(chosen)
        problem = _problem(folder)
        if problem:
            _disable(f"cannot use the kernel cache {folder}: {problem}")
        else:
            _state.directory, _state.writable = folder, os.access(folder, os.W_OK)
    return _state.directory


def _problem(folder: Path) -> str | None:
    """Create the directory if need be; return the reason why it cannot be used, or None."""
    if not folder.is_absolute():
        return "its path is not absolute"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        return str(error)
    problem = _ownership_problem(status)
    if problem is None and not os.access(folder, os.R_OK | os.X_OK):
        problem = "it cannot be read"
    return problem


def _ownership_problem(status: os.stat_result) -> str | None:
    if not hasattr(os, "geteuid"):  # Windows: the profile folder is the user's by its access list
        return None
    if status.st_uid not in (os.geteuid(), _ADMINISTRATOR):
        return "it belongs to another user"
    if status.st_mode & _OTHERS_WRITE:
        return "other users can write to it"
    return None


def _file_name(key: str, kind: str = KERNEL) -> str:
    return f"{key}.{kind}"


def _read_own_file(path: Path) -> bytes:
    # O_NONBLOCK: a planted pipe must not hang the process before its type is known.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        problem = _ownership_problem(status)
        if not stat.S_ISREG(status.st_mode):
            problem = "not a regular file"
        if problem:
            raise ValueError(f"{path.name}: {problem}")
        cache_eviction.note_use(path, status, time.time())
        return file.read()


def _encode(key: str, entry: Entry) -> bytes:
    header = {
        "key": key,
        "symbol": entry.symbol,
        "externals": entry.externals,
        "sha256": hashlib.sha256(entry.payload).hexdigest(),
    }
    return _MAGIC + json.dumps(header).encode() + b"\n" + entry.payload


def _decode(key: str, data: bytes) -> Entry:
    if not data.startswith(_MAGIC):
        raise ValueError(f"{key}: not an object of this version")
    header_bytes, _, payload = data[len(_MAGIC) :].partition(b"\n")
    header = json.loads(header_bytes)
    if header["key"] != key or header["sha256"] != hashlib.sha256(payload).hexdigest():
        raise ValueError(f"{key}: contents do not match their checksum")
    return Entry(header["symbol"], tuple(header["externals"]), payload)


def _replace(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all."""
    descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        _rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _rename(temporary: str, path: Path) -> None:
    """Rename a temporary file.

    Windows does not replace a file that another process reads. That file has the same key, and so
    the same code: the new one is deleted instead.
    """
    try:
        os.replace(temporary, path)
    except PermissionError:
        if not path.exists():
            raise
        os.unlink(temporary)


def _disable(message: str) -> None:
    _state.directory = None
    _warn(f"{message}; {_IN_MEMORY}")


def _warn(message: str) -> None:
    """Issue a `CacheWarning`, unless this process has issued one."""
    with _state.lock:
        first, _state.warned = not _state.warned, True
    if first:
        warnings.warn(message, CacheWarning, stacklevel=2)
