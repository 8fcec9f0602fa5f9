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
from numba.core.compiler import CompileResult, Flags
from numba.core.cpu import CPUContext
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.serialize import dumps
from numba.core.typing import templates

from ..platform.numba_extensions import is_versioned
from ..platform.numba_internals import has_cached_results
from . import disk_cache as disk
from .compiler import make_key
from .lazy_library import LazyLibrary

LONG = 16_000
"""From how many bytes of bit code on a function is apart; LLVM inlines none so long."""

_PACKAGE = __name__.partition(".")[0] + "."
_template: Any = getattr(templates, "_OverloadFunctionTemplate", None)
_search: Any = getattr(_template, "_get_jit_decorator", None)
_context: Any = CPUContext
_compile: Any = getattr(_context, "_compile_subroutine_no_cache", None)
_results: dict[str, Any] = {}


@contextmanager
def kept() -> Iterator[None]:
    """Let Numba use implementations on disk, and keep new ones, within the ``with`` block.

    The caller holds Numba's lock, and lets Numba make lazy libraries. A Numba without the methods
    that are replaced compiles in its own way.
    """
    if not _is_possible() or _template._get_jit_decorator is not _search:
        yield  # within another block
        return
    _template._get_jit_decorator = lambda self: _decorator(_search(self))
    _context._compile_subroutine_no_cache = _subroutine
    try:
        yield
    finally:
        _template._get_jit_decorator = _search
        _context._compile_subroutine_no_cache = _compile


def _is_possible() -> bool:
    return bool(_search and _compile and has_cached_results())


def _decorator(jit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator in place of Numba's, which gives an implementation a cache."""

    def decorated(**options: Any) -> Callable[[Any], Any]:
        made = jit(**{**options, "no_cfunc_wrapper": True})  # nobody calls by address
        return lambda function: _kept(made, function)

    return decorated


def _kept(jit: Callable[[Any], Any], function: Any) -> Any:
    dispatcher: Any = jit(_renamed(function))
    if dispatcher.py_func is not function and _is_for_processor(dispatcher):
        dispatcher._cache = OverloadCache(dispatcher, function)
    return dispatcher


def _is_for_processor(dispatcher: Any) -> bool:
    return type(dispatcher) is CPUDispatcher


def _subroutine(
    self: Any, builder: Any, impl: Any, sig: Any, locals: Any = None, flags: Any = None  # noqa: A002
) -> Any:  # fmt: skip
    """Return a function that Numba compiles for its own code, as Numba's method does."""
    function, key = _renamed(impl), None
    if function is not impl and not locals and flags is None and all(map(_is_plain, sig.args)):
        key = make_key(impl, sig.args, ("subroutine", str(sig.return_type)))
    result = None if key is None else result_of(key)
    if result is None:
        result = _compile(self, builder, function, sig, locals, flags)
        if key is not None:
            _keep(key, result)
    self.active_code_library.add_linking_library(result.library)
    return result


def _renamed(function: Any) -> Any:
    """Return a copy of a function of Numba or numgrad whose symbols are different from those of
    other code; other functions as they are."""
    module = function.__module__ or ""
    is_known = is_versioned(module) or module.startswith(_PACKAGE)
    key = make_key(function, (), ()) if is_known else "-"
    if key.startswith("-"):
        return function
    renamed = pytypes.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    renamed.__kwdefaults__, renamed.__module__ = function.__kwdefaults__, function.__module__
    renamed.__qualname__ = f"{function.__qualname__}_{key[:16]}"
    return renamed


def kept_as_part(dispatcher: Any) -> Any:
    """Make a dispatcher that only compiled functions call keep its code on disk, for all of its
    callers; return the dispatcher."""
    if not hasattr(dispatcher, "py_func") or dispatcher.targetoptions.get("parallel"):
        return dispatcher
    if not has_cached_results():
        return dispatcher
    function = dispatcher.py_func
    key = make_key(function, (), ())
    if not key.startswith("-"):
        function.__qualname__ = f"{function.__name__}_{key[:16]}"
        dispatcher._cache = OverloadCache(dispatcher, function)
    return dispatcher


class OverloadCache:
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
        key = self._key(sig)
        if key is not None:
            _keep(key, data)

    def _key(self, sig: Any) -> str | None:
        args = sig if isinstance(sig, tuple) else sig.args
        if not all(map(_is_plain, args)):
            return None
        flags = Flags()
        dispatcher = self._dispatcher
        dispatcher.targetdescr.options.parse_as_flags(flags, dispatcher.targetoptions)
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


def _keep(key: str, result: Any) -> None:
    library = result.library
    if not isinstance(library, LazyLibrary):
        return
    _results[key] = result._replace(metadata=None)  # Numba notes times there, once
    if library.is_portable and _is_plain(result.signature.return_type):
        description = copy.copy(result.fndesc)
        description.typemap = description.calltypes = description.global_dict = None
        symbol, environments = description.llvm_func_name, result._find_referenced_environments()
        code = library.bit_code(symbol)
        if len(code) > LONG:
            library.set_apart(key, symbol)
        made = library.name, code, tuple(library.needs), library.machine_code()
        payload = dumps((*made, description, result.signature, tuple(environments)))
        disk.write(key, disk.Entry(symbol, (), payload), disk.OVERLOAD)


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
    """Return the result of a compilation from what is on disk; None if it calls a function apart
    that is missing."""
    libraries = libraries_of(needs)
    if libraries is None:
        return None
    library = LazyLibrary.of_bit_code(name, code, libraries, machine_code)
    if machine_code is not None:
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
