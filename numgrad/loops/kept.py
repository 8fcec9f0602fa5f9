"""Keep compiled adjoints on disk for the next process, limit their tapes, and lend them threads."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from .._adjoint import surroundings
from .._settings import settings
from ..targets.cpu.compile.dispatcher_cache import kept_on_disk
from ..targets.cpu.compile.overload_cache import kept_as_part
from ..targets.cpu.platform import threads
from ..targets.cpu.platform.numba_setup import config


def keep() -> None:
    """Tell the deriver to keep compiled functions in the cache of kernels, and to observe the
    settings and the threads of programs."""
    surroundings.kept, surroundings.kept_part = kept_on_disk, kept_as_part
    surroundings.memory = lambda: settings.tape_memory << 20
    surroundings.team = team


def team() -> AbstractContextManager | None:
    """Return a context in which the calling thread may start others; None where there are no
    others, or they work for a program."""
    if threads.is_launching() or threads.get_num_threads() == 1 or config.BOUNDSCHECK:
        return None
    from numba import get_num_threads  # not needed where there are no loops

    threads.start()
    count = min(threads.get_num_threads(), get_num_threads())
    return _of(count) if count > 1 else None


@contextmanager
def _of(count: int) -> Iterator[None]:
    from numba import get_num_threads, set_num_threads

    before = get_num_threads()
    with threads.region():
        set_num_threads(count)
        try:
            yield
        finally:
            set_num_threads(before)
