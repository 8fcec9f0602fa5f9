"""Numba's implementations of functions of NumPy, kept in the disk cache for all their callers.

Numba compiles `np.linalg.solve` and all that it calls anew for each set of options of its callers,
in each process: some hundred functions, and seconds. What is kept is LLVM code, to be linked into
the callers.
"""

import copy
import pickle
import types as pytypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numba.core import types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult, Flags
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.serialize import dumps
from numba.core.typing import templates

from ..platform.numba_extensions import is_versioned
from . import disk_cache as disk
from .compiler import make_key
from .lazy_library import LazyLibrary

LONG = 16_000
"""From how many bytes of bit code on a function is apart; LLVM inlines none so long."""

_template: Any = templates._OverloadFunctionTemplate
_search: Any = _template._get_jit_decorator
_results: dict[str, Any] = {}


@contextmanager
def kept() -> Iterator[None]:
    """Let Numba use implementations on disk, and keep new ones, within the ``with`` block.

    The caller holds Numba's lock, and lets Numba make lazy libraries.
    """
    before = _template._get_jit_decorator
    if before is not _search:
        yield  # within another block
        return
    _template._get_jit_decorator = lambda self: _decorator(_search(self))
    try:
        yield
    finally:
        _template._get_jit_decorator = before


def _decorator(jit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator in place of Numba's, which gives an implementation a cache."""

    def decorated(**options: Any) -> Callable[[Any], Any]:
        made = jit(**{**options, "no_cfunc_wrapper": True})  # nobody calls by address
        return lambda function: _kept(made, function)

    return decorated


def _kept(jit: Callable[[Any], Any], function: Any) -> Any:
    if not is_versioned(function.__module__ or ""):
        return jit(function)
    key = make_key(function, (), ())
    if key.startswith("-"):
        return jit(function)
    dispatcher = jit(_renamed(function, key))
    if type(dispatcher) is CPUDispatcher:
        dispatcher._cache = OverloadCache(dispatcher, function)
    return dispatcher


def _renamed(function: Any, key: str) -> Any:
    """Return a copy of a function whose symbols are different from those of other code."""
    renamed = pytypes.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    renamed.__kwdefaults__, renamed.__module__ = function.__kwdefaults__, function.__module__
    renamed.__qualname__ = f"{function.__qualname__}_{key[:16]}"
    return renamed


class OverloadCache(_Cache):
    """The cache of an implementation: an entry of the disk cache for each signature and each set of
    options that is inherited from a caller.

    Parameters
    ----------
    dispatcher : Dispatcher
    function : function
        The implementation.
    """

    def __init__(self, dispatcher: Any, function: Any) -> None:
        self._dispatcher, self._function = dispatcher, function

    @property
    def cache_path(self) -> Any:
        return disk.cache_info().directory

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if neither memory nor disk has it."""
        key = self._key(sig)
        return None if key is None else result_of(key)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, on disk too unless it has addresses of this process."""
        key, library = self._key(sig), data.library
        if key is None or not isinstance(library, LazyLibrary):
            return
        _results[key] = data._replace(metadata=None)  # Numba notes times there, once
        if library.is_portable and _is_plain(data.signature.return_type):
            description = copy.copy(data.fndesc)
            description.typemap = description.calltypes = description.global_dict = None
            symbol, environments = description.llvm_func_name, data._find_referenced_environments()
            code = library.bit_code(symbol)
            if len(code) > LONG:
                library.set_apart(key, symbol)
            made = library.name, code, tuple(library.needs), library.machine_code()
            payload = dumps((*made, description, data.signature, tuple(environments)))
            disk.write(key, disk.Entry(symbol, (), payload), disk.OVERLOAD)

    def _key(self, sig: Any) -> str | None:
        args = sig if isinstance(sig, tuple) else sig.args
        if not all(map(_is_plain, args)):
            return None
        flags = Flags()
        compiler = self._dispatcher._compiler
        compiler.targetdescr.options.parse_as_flags(flags, compiler.targetoptions)
        return make_key(self._function, args, ("overload", flags.summary()))

    def enable(self) -> None:
        """Do nothing: the cache is always in use."""

    def disable(self) -> None:
        """Do nothing: the cache is always in use."""

    def flush(self) -> None:
        """Do nothing: entries have keys, so that none is ever stale."""


def _is_plain(kind: Any) -> bool:
    """Whether the text of one of Numba's types says all that code for the type depends on."""
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return not isinstance(kind, types.BaseNamedTuple) and all(map(_is_plain, parts))
    if isinstance(kind, types.Array):
        return type(kind) is types.Array and _is_plain(kind.dtype)
    if isinstance(kind, types.Omitted):
        return isinstance(kind.value, (bool, int, float, complex, str, type(None)))
    plain = types.Number, types.Boolean, types.NoneType, types.SliceType, types.UnicodeType
    return isinstance(kind, (*plain, types.StringLiteral))


def result_of(key: str) -> Any:
    """Return the result of the compilation with a key; None if neither memory nor disk has it."""
    if key not in _results:
        entry = disk.read(key, disk.OVERLOAD)
        result = None if entry is None else _rebuilt(key, *pickle.loads(entry.payload))
        if result is None:
            return None
        _results[key] = result
    return _results[key]


def libraries_of(keys: Iterable[str]) -> dict[str, LazyLibrary] | None:
    """Return the libraries of functions apart by their keys; None if one of them is not there."""
    found = {key: result_of(key) for key in keys}
    if None in found.values():
        return None
    return {key: result.library for key, result in found.items()}


def _rebuilt(
    key: str, name: str, code: bytes, needs: Sequence[str], machine_code: bytes | None,
    description: Any, signature: Any, environments: Sequence[Any],
) -> Any:  # fmt: skip
    """Return the result of a compilation from what is on disk; None if a function apart is missing.
    """
    libraries = libraries_of(needs)
    if libraries is None:
        return None
    library = LazyLibrary.of_bit_code(name, code, libraries, machine_code)
    if len(code) > LONG:
        library.set_apart(key, description.llvm_func_name)
    context: Any = cpu_target.target_context
    environment = Environment.from_fndesc(description)
    entry = context.get_executable(library, description, environment)
    return CompileResult(
        target_context=context, typing_context=context.typing_context, library=library,
        environment=environment, entry_point=entry, fndesc=description, type_annotation="",
        signature=signature, objectmode=False, lifted=(), typing_error=None, call_helper=None,
        metadata=None, reload_init=[], referenced_envs=environments,
    )  # fmt: skip
