"""Derived adjoints that the next process finds compiled, in the cache of kernels."""

from .._adjoint import Derived
from ..targets.cpu.compile.dispatcher_cache import kept_on_disk


def keep() -> None:
    """Have derived functions kept on disk when they are compiled."""
    Derived.kept = staticmethod(kept_on_disk)
