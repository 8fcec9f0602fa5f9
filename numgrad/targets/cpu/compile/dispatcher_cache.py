"""Functions that Numba compiles at their first call, kept in the disk cache of kernels.

Numba's own cache lies beside the source file of a function, and cannot hold functions that have no
file.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from numgrad.process import gc_pause

from ..platform.numba_internals import has_cached_results
from ..platform.numba_setup import compiler_lock
from . import builtin_signatures, lazy_library, overload_cache, short_lowering
from . import disk_cache as disk
from .cache_keys import declared_options
from .compiler import make_key


class DispatcherCache:
    """The cache of one of Numba's dispatchers: an entry of the disk cache for each signature.

    Parameters
    ----------
    dispatcher : Dispatcher
        Its function must belong to a module that can be imported.
    """

    def __init__(self, dispatcher: Any) -> None:
        self._function = dispatcher.py_func
        self._parts = ("dispatcher", sorted(declared_options(dispatcher).items()))

    @property
    def cache_path(self) -> Any:
        return disk.cache_info().directory

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if it is not on disk."""
        target_context.refresh()
        key = self._key(sig)
        entry = None if key.startswith("-") else disk.read(key, disk.DISPATCHER)
        if entry is None:
            return None
        needs, reduced = pickle.loads(entry.payload)
        libraries = overload_cache.libraries_of(needs)
        if libraries is None:
            return None
        for library in libraries.values():
            library.emit()
        result = CompileResult._rebuild(target_context, *reduced)
        result.library.needs = libraries
        return result

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code on disk, unless it has addresses of this process."""
        disk.count_compiled(disk.DISPATCHER)
        key = self._key(sig)
        if not (key.startswith("-") or data.library.has_dynamic_globals):
            data.library.keeps_needs = True
            payload = dumps((tuple(data.library.needs), data._reduce()))
            entry = disk.Entry(data.fndesc.llvm_func_name, (), payload)
            disk.write(key, entry, disk.DISPATCHER)

    def _key(self, sig: Any) -> str:
        args = sig if isinstance(sig, tuple) else sig.args
        return make_key(self._function, args, self._parts)

    def enable(self) -> None:
        """Do nothing: the cache is always in use."""

    def disable(self) -> None:
        """Do nothing: the cache is always in use."""

    def flush(self) -> None:
        """Do nothing: entries have keys, so that none is ever stale."""


@contextmanager
def quickly() -> Iterator[None]:
    """Let Numba compile faster within the ``with`` block.

    Numba's structures of a function stay in use until the function is compiled: looking for garbage
    among them takes a tenth of the time.
    """
    with (
        compiler_lock, builtin_signatures.kept(), lazy_library.used(), short_lowering.used(),
        overload_cache.kept(), gc_pause.paused(),
    ):  # fmt: skip
        yield


def kept_on_disk(dispatcher: Any) -> Any:
    """Make a dispatcher keep its compiled code on disk, and use what other processes compiled.

    Parameters
    ----------
    dispatcher : Dispatcher

    Returns
    -------
    Dispatcher
        The same dispatcher.
    """
    function = dispatcher.py_func
    key = make_key(function, (), ()).lstrip("-")
    function.__qualname__ = f"{function.__name__}_{key[:16]}"  # different code, different symbols
    if has_cached_results():
        dispatcher._cache = DispatcherCache(dispatcher)
    compile_signature = dispatcher.compile

    def compiled(sig: Any) -> Any:
        with quickly():
            return compile_signature(sig)

    dispatcher.compile = compiled
    return dispatcher
