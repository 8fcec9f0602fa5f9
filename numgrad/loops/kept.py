"""Derived adjoints that the next process finds compiled, in the cache of kernels, and the memory
that their tapes may take."""

from .._adjoint import surroundings
from .._settings import settings
from ..targets.cpu.compile.dispatcher_cache import kept_on_disk


def keep() -> None:
    """Have derived functions kept on disk when they are compiled, and the settings observed."""
    surroundings.kept = kept_on_disk
    surroundings.memory = lambda: settings.tape_memory << 20
