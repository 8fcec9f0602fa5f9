"""Keep compiled adjoints on disk for the next process, and limit the memory of their tapes."""

from .._adjoint import surroundings
from .._settings import settings
from ..targets.cpu.compile.dispatcher_cache import kept_on_disk


def keep() -> None:
    """Tell the deriver to keep compiled functions in the cache of kernels, and to observe the
    settings."""
    surroundings.kept = kept_on_disk
    surroundings.memory = lambda: settings.tape_memory << 20
