"""Threads of the machine: their number, safe launches, and BLAS on one thread.

A process may fork at any time, except while another thread multiplies matrices. OpenBLAS stops its
threads before a fork, and then may wait for ever; NumPy's own products hang in the same way.
"""

import math
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from ...._settings import settings
from ....process.fork_locks import fork_safe_lock
from .numba_setup import config

_forked_with_threads = False
# Reentrant: handlers of signals run between two slices of a run, and may run programs themselves.
_launch_lock = threading.RLock()
_needs_lock: bool | None = None  # None until the threading layer is known
_NOTHING = nullcontext()
_launches: list[None] = []  # one for each launch of a program that is under way
# How often a thread of GNU's OpenMP looks for work before it sleeps: the library's own number on a
# machine with fewer cores than threads. Its default, 300 000 looks or some 15 ms, occupies a core
# for which another thread may be waiting.
_LOOKS = "1000"
_SAYS_HOW_TO_WAIT = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def get_num_threads() -> int:
    """Return the number of threads of a parallel run.

    The number is that of `set_num_threads`, or else the cores that a container grants, and never
    more than Numba's number of threads.
    """
    if _forked_with_threads:
        return 1
    most = config.NUMBA_NUM_THREADS
    return min(settings.threads or granted_cores() or most, most)


@cache
def granted_cores(folder: str = "/sys/fs/cgroup") -> int:
    """Return the number of cores that Linux grants this container at a time; 0 for no limit.

    If there are more threads than granted cores, they use up the time granted for a period of 100
    ms in its first part, and then all of them stand still until the period ends.
    """
    try:
        quota, period = Path(folder, "cpu.max").read_text().split()
    except OSError:  # the first version of control groups, or none
        quota, period = _first_version(Path(folder, "cpu"))
    return max(1, math.ceil(int(quota) / int(period))) if quota.isdigit() else 0


def _first_version(folder: Path) -> tuple[str, str]:
    """Return the granted time and the period, as version 1 of Linux' control groups tells them."""
    try:
        texts = [(folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period")]
    except OSError:
        return "max", ""
    return texts[0].strip(), texts[1].strip()  # a quota of -1 is no limit


def set_num_threads(n: int) -> None:
    """Set the number of threads of parallel runs, for the whole process: the flag ``threads``.

    Parameters
    ----------
    n : int
        From 1 to ``numba.config.NUMBA_NUM_THREADS``.

    Raises
    ------
    ValueError
        For a number outside that range.
    """
    if not 1 <= n <= config.NUMBA_NUM_THREADS:
        raise ValueError(
            f"set_num_threads: {n} is not between 1 and {config.NUMBA_NUM_THREADS}; "
            "NUMBA_NUM_THREADS, set before the first import, raises the limit"
        )
    settings.threads = int(n)
    settings.entries += 1


def start() -> None:
    """Start the threads of Numba's threading layer, unless they run; idle threads soon sleep."""
    from numba.np.ufunc import parallel

    if getattr(parallel, "_is_initialized", False):
        return
    with _looking_briefly():
        parallel.get_num_threads()  # starts them


@contextmanager
def _looking_briefly() -> Iterator[None]:
    """Make OpenMP, if its library is loaded within the block, let idle threads sleep soon.

    Nothing is changed if an environment variable already says how threads wait.
    """
    if any(name in os.environ for name in _SAYS_HOW_TO_WAIT):
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = _LOOKS  # read once, when the library is loaded
    try:
        yield
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)


def threading_layer() -> str:
    """Return the name of Numba's threading layer, starting its threads if they are not running."""
    from numba.np.ufunc import parallel

    start()
    return parallel.threading_layer()


def can_launch() -> bool:
    """Whether parallel code may run outside of a `region`; Numba's threads are started to find out.
    """
    return threading_layer() != "workqueue"


@contextmanager
def launch() -> Iterator[None]:
    """Note that threads run a program, which start no others, as long as the block runs."""
    _launches.append(None)
    try:
        yield
    finally:
        _launches.pop()


def is_launching() -> bool:
    """Whether the threads of this process run a program."""
    return bool(_launches)


def region(*, uses_blas: bool = False) -> AbstractContextManager:
    """Return a context for parallel launches by the calling thread.

    If Numba's threading layer cannot stand two launches at once, one thread at a time enters. With
    ``uses_blas`` BLAS has one thread meanwhile.
    """
    global _needs_lock
    if _needs_lock is None:
        # workqueue aborts the process when two threads launch at once; omp and tbb do not mind.
        _needs_lock = threading_layer() == "workqueue"
    if not uses_blas:
        return _launch_lock if _needs_lock else _NOTHING
    return _limited_region()


@contextmanager
def _limited_region() -> Iterator[None]:
    with _launch_lock if _needs_lock else _NOTHING, _blas.on_one_thread():
        yield


class _BlasLimit:
    """A limit of BLAS to one thread, as long as it has users; all runs of a process share it."""

    def __init__(self) -> None:
        self.lock = fork_safe_lock()
        self.users = 0
        self.controller: Any = None
        self.limit: Any = None

    @contextmanager
    def on_one_thread(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self.lock:
            if self.users == 0:
                self.limit = self._controller().limit(limits=1, user_api="blas")
            self.users += 1

    def _leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limit.restore_original_limits()

    def _controller(self) -> Any:
        if self.controller is None:
            import scipy.linalg.cython_blas  # noqa: F401  the BLAS that Numba calls must be loaded
            from threadpoolctl import ThreadpoolController

            self.controller = ThreadpoolController()  # finding the libraries takes 0.6 ms
        return self.controller

    def after_fork(self) -> None:
        if self.users:
            self.users = 0
            self.limit.restore_original_limits()


_blas = _BlasLimit()


def _after_fork_in_child() -> None:
    """Make locks and limits anew in a forked child, where their owners and OpenMP's threads are
    missing."""
    global _forked_with_threads, _launch_lock
    _launch_lock = threading.RLock()
    _blas.after_fork()
    parallel = sys.modules.get("numba.np.ufunc.parallel")
    if getattr(parallel, "_is_initialized", parallel is not None):
        _forked_with_threads = True
    settings.entries += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
