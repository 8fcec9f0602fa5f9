"""Derived adjoints are kept compiled for the next process, in the cache of kernels; a setting
limits the memory of their tapes."""

from .._adjoint import surroundings
from .._settings import settings
from ..targets.cpu.compile.dispatcher_cache import kept_on_disk


def keep() -> None:
    """Have derived functions kept on disk when they are compiled, and the settings observed."""
    surroundings.kept = kept_on_disk
    surroundings.memory = lambda: settings.tape_memory << 20
