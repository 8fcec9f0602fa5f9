"""Private copies of functions that both kernels and Python call, compiled for kernels alone.

Numba compiles a function without options of its own with the options of its first caller, and keeps
the code for all callers. Without copies, the results of a kernel would depend on who called a
function first, and the results of the function in Python would depend on kernels. The copy of a
dispatcher is compiled with the options of its author and `JIT_OPTIONS`, for any caller; the copy of
a plain function is compiled with the options of its caller. Kernels share a copy if all values that
the function reads are the same.
"""

import types as pytypes
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from numba.core import compiler, errors, ir, sigutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu_options import FastMathOptions
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.targetconfig import ConfigStack
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc
from numba.np.ufunc.ufuncbuilder import UFuncDispatcher

from ...binding import is_library
from ...literals import attribute
from ..compile.cache_keys import declared_options
from ..compile.compiler import make_key
from ..math import vector_math
from ..pairwise.calls import STAND_INS
from ..platform import numba_extensions
from ..platform.numba_internals import has
from . import overloads

JIT_OPTIONS = {
    "nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
    "error_model": "numpy", "fastmath": False, "forceinline": False,
}  # fmt: skip
"""Options of every function compiled for a kernel: no wrappers for callers in Python or C, and no
option left to be inherited from the caller."""

_INHERITED = ("error_model", "fastmath", "boundscheck")


class Caller(NamedTuple):
    """The properties of a calling function on which the copies of its callees depend.

    Attributes
    ----------
    pipeline
        The compiler of the function.
    options : dict
        The options of the function that decide the meaning of its code.
    """

    pipeline: Any
    options: dict[str, Any]

    @classmethod
    def of(cls, state: Any) -> "Caller":
        """Return the properties of the function that Numba compiles in its state ``state``.
        """
        flags = state.flags
        options = (flags.error_model, flags.fastmath.flags or False, flags.boundscheck)
        return cls(type(state.pipeline), dict(zip(_INHERITED, options, strict=True)))

    @classmethod
    def declared(cls, pipeline: Any, options: Mapping[str, Any]) -> "Caller":
        """Return the properties of a calling function that the compiler ``pipeline`` compiles with
        the options of a decorator."""
        given = {name: options.get(name) or False for name in _INHERITED}
        given["fastmath"] = FastMathOptions(given["fastmath"]).flags or False
        return cls(pipeline, given)


class KernelDispatcher(CPUDispatcher):
    """The dispatcher of a private copy, which only kernels call."""

    _with_entry: Any = None

    def __init__(
        self, py_func: Any, locals: Any, targetoptions: Any, pipeline_class: Any  # noqa: A002
    ) -> None:  # fmt: skip
        super().__init__(py_func, locals, targetoptions, pipeline_class)
        self.pipeline = pipeline_class

    @property
    def is_to_compile(self) -> bool:
        """Whether new signatures may be compiled, and the function is not being compiled now."""
        return bool(_is_open(self) and not self.is_compiling)

    def get_compile_result(self, sig: Any) -> Any:
        """Return the compiled code for a signature, with a C entry that can be called by address.
        """
        is_open = _is_open(self) or tuple(sig.args) in self.overloads
        if is_open and self.targetoptions["no_cfunc_wrapper"]:
            if self._with_entry is None:
                options = {**self.targetoptions, "no_cfunc_wrapper": False}
                pipeline = executable(self.pipeline)
                self._with_entry = KernelDispatcher(self.py_func, self.locals, options, pipeline)
            return self._with_entry.get_compile_result(sig)
        return super().get_compile_result(sig)


def _is_open(dispatcher: Any) -> bool:
    """Whether a dispatcher compiles for types that it has not met yet."""
    return getattr(dispatcher, "_can_compile", True)


class _PrivateUfunc(UFuncDispatcher):
    """The dispatcher of the private copy of a ufunc, which only kernels call."""

    def __init__(self, source: Any, options: dict[str, Any], pipeline: Any) -> None:
        super().__init__(source.py_func, source.locals, options)
        self.pipeline = pipeline

    def _compile_core(self, sig: Any, flags: Any, locals: Any) -> Any:  # noqa: A002  Numba's name
        args, return_type = sigutils.normalize_signature(sig)
        target = self.targetdescr
        with global_compiler_lock, ConfigStack().enter(flags.copy()):
            result = compiler.compile_extra(
                target.typing_context, target.target_context, self.py_func, args, return_type,
                flags, {**self.locals, **locals}, pipeline_class=self.pipeline,
            )  # fmt: skip
        return self.overloads.setdefault(result.signature, result)


@cache
def executable(pipeline: Any) -> Any:
    """Return a variant of a pipeline that makes machine code of functions and their callees.

    The pipelines of kernels leave functions in LLVM code, where they have no address.
    """
    if pipeline.library is None:
        return pipeline
    return type(f"Executable{pipeline.__name__}", (pipeline,), {"library": None})


def bind(func_ir: Any, caller: Caller, own: Any = ()) -> None:
    """Put private copies in place of the functions that a caller names in its code, ``func_ir``.

    ``own`` has the code objects of functions that are defined within the caller. The copies of
    these functions are compiled with the options of the caller, as copies of plain functions are.
    """
    for statement in _assignments(func_ir):
        found = _named(func_ir, statement.value)
        if found is None:
            continue
        bound = _copy(found[0], caller, own)
        if bound is not found[0]:
            old, name = statement.value, getattr(found[0], "__name__", found[1])
            statement.value = ir.Global(name, bound, statement.loc)
            _define(getattr(func_ir, "_definitions", {}), statement, old)


def _define(definitions: dict[str, list[Any]], statement: Any, old: Any) -> None:
    """Put the new value of an assignment in place of the old one among the definitions."""
    known = definitions.get(statement.target.name, [])
    kept = [statement.value if item is old else item for item in known]
    definitions[statement.target.name] = kept or [statement.value]


def _assignments(func_ir: Any) -> Iterator[Any]:
    for block in func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                yield statement


def _named(func_ir: Any, value: Any) -> tuple[Any, str] | None:
    """Return the value and the name of a global or a module's attribute that ``value`` stands for.

    ``value`` is the right-hand side of an assignment in Numba's IR. The result is None for any
    other right-hand side, and for an attribute that is a function of a library, unless users gave
    an `overload` for the function.
    """
    if isinstance(value, ir.Global | ir.FreeVar):
        return value.value, value.name
    found = attribute(func_ir, value, ir)
    if found is None or (_is_librarys(found) and not numba_extensions.overloads_of(found)):
        return None
    return found, value.attr


def _is_librarys(value: Any) -> bool:
    return isinstance(value, pytypes.FunctionType) and is_library(value)


@contextmanager
def methods(caller: Caller) -> Iterator[None]:
    """Let Numba use copies of the methods and attributes that users gave to its types.

    The copies are used within the ``with`` block. The caller holds Numba's lock.
    """
    found = numba_extensions.attributes().values()
    known = [numba_extensions.implementation(one) for ones in found for one in ones]
    with overloads.replaced(known, lambda source: _overloaded(source, caller)):
        yield


def copied(value: Any, caller: Caller) -> Any:
    """Return the copy of a function for kernels; any other value is returned as it is."""
    return _copy(value, caller, ())


def _copy(value: Any, caller: Caller, own: Any) -> Any:
    if isinstance(value, KernelDispatcher):
        return value
    if isinstance(value, CPUDispatcher):
        is_own = value.py_func.__code__ in own
        return _plain(value.py_func, caller) if is_own else _dispatcher(value, caller)
    if isinstance(value, DUFunc | GUFunc):
        return _ufunc(value, caller)
    if isinstance(value, overloads.JitClassType):
        return _class(value, caller)
    if isinstance(value, pytypes.FunctionType):
        bound = STAND_INS.get(value)
        if bound is None and not known_to_numba(value):
            return _plain(value, caller)
        return bound or _overloaded(value, caller)
    if isinstance(value, tuple):
        items = [_copy(item, caller, own) for item in value]
        if any(a is not b for a, b in zip(items, value, strict=True)):
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return _overloaded(value, caller)


def known_to_numba(function: Callable) -> bool:
    """Whether Numba knows an implementation of a function, so that its body is not compiled."""
    try:
        context: Any = cpu_target.typing_context  # a property of Numba's own kind
        return context.resolve_value_type(function) is not None
    except (ValueError, errors.NumbaError):
        return False


_made: dict[tuple[Any, ...], Any] = {}  # copies by key, the latest last
_MOST = 512


def _plain(function: pytypes.FunctionType, caller: Caller) -> KernelDispatcher:
    """Return the copy of a plain function, which is compiled with the options of its caller."""
    return _private(function, function, {**JIT_OPTIONS, **caller.options}, {}, caller)


def _dispatcher(source: Any, caller: Caller) -> KernelDispatcher:
    options = {**JIT_OPTIONS, "boundscheck": caller.options["boundscheck"]}
    options |= declared_options(source)
    if Caller.declared(caller.pipeline, options) != caller:
        options.pop("inline", None)  # inlined, the function would have its caller's options
    return _private(source, source.py_func, options, source.locals, caller)


def _private(
    source: Any, function: Any, options: dict[str, Any], local_types: Any, caller: Caller
) -> KernelDispatcher:
    def made() -> KernelDispatcher:
        ours = _with_defaults(function, Caller.declared(caller.pipeline, options))
        return KernelDispatcher(ours, dict(local_types), options, caller.pipeline)

    copy = _kept(_key(source, options, caller), made)
    if copy.is_to_compile and not _is_open(source):
        for result in source.overloads.values():  # the signatures were declared
            copy.compile(result.signature)
        copy.disable_compile()
    return copy


def _kept(key: Any, made: Callable[[], Any]) -> Any:
    """Return the copy with a key; ``made()`` makes the copy if none is among the latest."""
    found = _made.pop(key, None)
    _made[key] = found = made() if found is None else found
    if len(_made) > _MOST:
        del _made[next(iter(_made))]
    return found


def _key(source: Any, options: dict[str, Any], caller: Caller) -> tuple[Any, ...]:
    """Return the key of a copy: equal for two calls that may share the copy."""
    names = tuple(sorted((name, _frozen(value)) for name, value in options.items()))
    return make_key(source, (), ()), names, caller.pipeline, vector_math.compiled_mode()


def _frozen(value: Any) -> Any:
    value = value.items() if isinstance(value, dict) else value
    return value if isinstance(value, Hashable) else repr(sorted(value))


def _with_defaults(function: Any, caller: Caller) -> Any:
    """Return a function whose default arguments suit kernels.

    Default arguments that are floats get the kernel's real dtype. Private copies take the place of
    functions, except for plain ones.
    """
    defaults, keywords = function.__defaults__ or (), function.__kwdefaults__ or {}
    real = caller.pipeline.real

    def value(default: Any) -> Any:
        if isinstance(default, float) and real is not None:
            return real(default)
        is_plain = isinstance(default, pytypes.FunctionType)
        return default if is_plain else copied(default, caller)

    ours = tuple(map(value, defaults)), {name: value(item) for name, item in keywords.items()}
    theirs = (*defaults, *keywords.values())
    if all(a is b for a, b in zip((*ours[0], *ours[1].values()), theirs, strict=True)):
        return function
    copy = pytypes.FunctionType(
        function.__code__, function.__globals__, function.__name__, ours[0], function.__closure__
    )
    copy.__kwdefaults__ = ours[1] or None
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def _overloaded(source: Any, caller: Caller) -> Any:
    """Return the copy of a function to which users gave an `overload`; any other value as it is."""
    if not numba_extensions.overloads_of(source):
        return source
    key = ("overloaded", *_key(source, caller.options, caller))
    return _kept(key, lambda: overloads.function_of(source, caller.pipeline) or source)


def _class(source: Any, caller: Caller) -> Any:
    key = ("class", *_key(source, {"boundscheck": caller.options["boundscheck"]}, caller))
    return _kept(key, lambda: overloads.class_of(source, lambda method: copied(method, caller)))


_OF_UFUNCS = (("_rebuild", "_reduce_states"), ("_rebuild",))
"""Names that generalized and other ufuncs of Numba have, if a ufunc can be copied."""


def _ufunc(source: Any, caller: Caller) -> Any:
    """Return the copy of a ufunc that `numba.vectorize` or `numba.guvectorize` made."""
    builder = getattr(source, "gufunc_builder", None)
    if not has(source, "_dispatcher", "_frozen", *_OF_UFUNCS[builder is None]):
        return source
    declared = declared_options(source._dispatcher if builder is None else builder)
    options = {"nopython": True, "fastmath": False, "boundscheck": caller.options["boundscheck"]}
    options |= {name: declared[name] for name in options if name in declared}

    def made() -> Any:
        dispatcher = _PrivateUfunc(source._dispatcher, options, executable(caller.pipeline))
        return (_vectorized if builder is None else _generalized)(source, dispatcher)

    return _kept(_key(source, options, caller), made)


def _vectorized(source: Any, dispatcher: Any) -> Any:
    signatures = list(source._dispatcher.overloads) if source._frozen else []
    return DUFunc._rebuild(dispatcher, source.identity, source._frozen, signatures)


def _generalized(source: Any, dispatcher: Any) -> Any:
    state = source._reduce_states()
    signatures, frozen = state.pop("typesigs"), state["frozen"]
    made: Any = GUFunc._rebuild(**{**state, "cache": False, "frozen": False}, typesigs=[])
    made.gufunc_builder.nb_func = made._dispatcher = dispatcher
    for signature in signatures if frozen or not source.is_dynamic else ():
        made.add(signature)
    made.build_ufunc()
    made._frozen = frozen
    return made
