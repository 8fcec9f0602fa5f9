"""Put functions that take tensors into modules of SciPy, and take them out again."""

import sys
from collections.abc import Callable, Iterable, Iterator
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any

from ..._tensor import Tensor
from . import counterparts, dispatch, namespaces
from .arrival import HOMES, NAMESPACES
from .objects import is_open, methods

lock = RLock()

_made: list[tuple[Any, str, Any, Any]] = []


def install(modules: Iterable[ModuleType]) -> None:
    """Replace what has a counterpart in modules of SciPy, and where a loaded module of the user has
    it under a global name."""
    with lock:
        replaced: dict[int, tuple[Any, Any]] = {}
        for module in modules:
            if module.__name__ in NAMESPACES:
                _mix_namespaces(module)
            elif module.__name__ in HOMES:
                _know_tensors(module)
            else:
                replaced |= _wrap(module)
        if replaced:
            _rebind(replaced, _replace)


def take_out() -> None:
    """Put everything back that was replaced, and what users have imported since."""
    with lock:
        functions = [(new, old) for _, _, old, new in _made if isinstance(new, FunctionType)]
        replaced = {id(new): (new, old) for new, old in functions}
        while _made:
            owner, name, old, new = _made.pop()
            if vars(owner).get(name) is new:
                setattr(owner, name, old)
        _rebind(replaced, setattr)


def _wrap(module: ModuleType) -> dict[int, tuple[Any, Any]]:
    """Replace what has a counterpart in one module; return the functions by their identities."""
    path, replaced = module.__name__, {}
    inside = _transforms(module) if path == "scipy.fft" else frozenset()
    for name in counterparts.names(module):
        original = getattr(module, name)
        if name not in inside:
            replaced[id(original)] = original, dispatch.function(original, path, name)
    for name in namespaces.names(module, {*inside, *counterparts.names(module)}):
        original = getattr(module, name)
        replaced[id(original)] = original, dispatch.by_scipy(original, path, name)
    for kind, name, counterpart in methods(module):
        _replace(kind, name, dispatch.method(vars(kind)[name], counterpart, name))
    for kind_name, called in counterparts.MAKERS.get(path, {}).items():
        kind = getattr(module, kind_name)
        for name in filter(vars(kind).__contains__, called) if is_open(kind) else ():
            original = vars(kind)[name].__func__
            function = dispatch.function(original, path, f"{kind_name}.{name}")
            _replace(kind, name, staticmethod(function))
    for name in counterparts.CLASSES.get(path, ()):
        kind = getattr(module, name, None)
        if kind is not None:
            # It stays: CPython refuses arguments after the removal of a method __new__.
            kind.__new__ = dispatch.constructor(kind, path, name)
    return replaced


def _transforms(module: Any) -> frozenset[str]:
    """Let the transforms of SciPy take tensors in the backend that computes them.

    Their functions stay: other backends, as those of FFTW, know them by identity.
    """
    backend = getattr(getattr(module, "_backend", None), "_ScipyBackend", None)
    if backend is None:  # a version of SciPy that has none
        return frozenset()
    original = backend.__ua_function__

    def dispatched(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def theirs(*args: Any, **kwargs: Any) -> Any:
            return original(method, args, kwargs)

        name = method.__name__
        if not dispatch.is_asked(args, kwargs):
            return theirs(*args, **kwargs)
        if name in names:
            return dispatch.answer(method, "scipy.fft", name, args, kwargs)
        with namespaces.with_tensors():
            return theirs(*args, **kwargs)

    parts = [vars(module).get(f"_{part}_backend") for part in ("basic", "realtransforms", "fftlog")]
    transforms = frozenset(n for n in module.__all__ if any(hasattr(part, n) for part in parts))
    names = transforms.intersection(counterparts.names(module))
    _replace(backend, "__ua_function__", staticmethod(dispatched))
    return transforms


def _rebind(replaced: dict[int, tuple[Any, Any]], bind: Callable[[Any, str, Any], None]) -> None:
    """Bind global names anew, of what has another object in its place now."""
    for module in _modules():
        names = vars(module).copy()
        if replaced.keys().isdisjoint(map(id, names.values())):
            continue  # which is found sooner than by a look at each name
        for name, value in names.items():
            if id(value) in replaced and replaced[id(value)][0] is value:
                bind(module, name, replaced[id(value)][1])


def _modules() -> Iterator[ModuleType]:
    """Yield the modules in which names are replaced: SciPy's public ones, and those of users."""
    for name, module in list(sys.modules.items()):
        parts = name.split(".")
        is_inner = parts[0] == "scipy" and any(part[0] == "_" for part in parts)
        if isinstance(module, ModuleType) and parts[0] != "numgrad" and not is_inner:
            yield module


def _replace(owner: Any, name: str, new: Any) -> None:
    _made.append((owner, name, vars(owner)[name], new))
    setattr(owner, name, new)


def _know_tensors(home: ModuleType) -> None:
    """Let all of SciPy ask a function for the library of arguments that knows tensors."""
    original = vars(home).get("array_namespace")
    if original is None or original.__module__ != home.__name__:
        return  # of another version, or imported from another module
    known = namespaces.namespace(original)
    for name, module in list(sys.modules.items()):
        is_scipys = name.startswith("scipy.") and isinstance(module, ModuleType)
        if is_scipys and vars(module).get("array_namespace") is original:
            _replace(module, "array_namespace", known)


def _mix_namespaces(compat: ModuleType) -> None:
    """Let SciPy take tensors and arrays together, as tensors, where it looks up the library of its
    arguments."""
    namespace: Callable[..., Any] | None = getattr(compat, "array_namespace", None)
    if namespace is None:  # a version of SciPy without this function
        return

    def mixed(*arrays: Any, **options: Any) -> Any:
        tensors = [x for x in arrays if isinstance(x, Tensor)]
        return namespace(*(tensors or arrays), **options)

    _replace(compat, "array_namespace", mixed)
