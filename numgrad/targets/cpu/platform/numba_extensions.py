"""Extensions of Numba by users: implementations of functions, methods and attributes of types.

What Numba and numgrad register themselves is left out: their versions and sources are in every key
of the cache.
"""

import sys
from functools import cache
from types import FunctionType
from typing import Any, ClassVar

# Code of these packages is identified by name: every key of the cache has their versions.
_VERSIONED = frozenset({"numba", "numpy", "llvmlite", "scipy"})
_FUNCTION = "_overload_func"
_PACKAGE = __name__.partition(".")[0] + "."


def is_versioned(module: str) -> bool:
    """Whether a module belongs to a package whose version is part of every cache key."""
    root = module.partition(".")[0]
    return root in _VERSIONED or root in sys.stdlib_module_names


class _Known:
    """Extensions found in Numba's registry so far; entries of the registry are never removed."""

    lengths: ClassVar[dict[str, int]] = {"globals": 0, "attributes": 0}
    functions: ClassVar[dict[int, list[Any]]] = {}
    attributes: ClassVar[dict[str, list[Any]]] = {}


def overloads_of(function: Any) -> list[Any]:
    """Return Numba's typing templates that users registered for a function.

    Users register them by `numba.extending.overload` or `register_jitable`.
    """
    for value, kind in _new("globals"):
        for template in getattr(kind, "templates", ()):
            if _is_users(template, value):
                _Known.functions.setdefault(id(value), []).append(template)
    return _Known.functions.get(id(function), [])


def attributes() -> dict[str, list[Any]]:
    """Return Numba's typing templates that users registered for attributes and methods, by name."""
    for template in _new("attributes"):
        if _is_users(template):
            for name in _names(template):
                _Known.attributes.setdefault(name, []).append(template)
    return _Known.attributes


def implementation(template: Any) -> Any:
    """Return the function that makes implementations for a typing template; None if there is none.

    A template keeps the function as a static method, under a private name of Numba.
    """
    if _has_name(_FUNCTION):
        return getattr(template, _FUNCTION, None)
    held = (item.__func__ for item in vars(template).values() if isinstance(item, staticmethod))
    return next((item for item in held if isinstance(item, FunctionType)), None)


def _names(template: Any) -> list[str]:
    """Return the name of the attribute for which there is a template, and maybe other texts."""
    if hasattr(template, "_attr"):
        return [template._attr]
    own = vars(template).items()
    return [item for name, item in own if isinstance(item, str) and not name.startswith("__")]


@cache
def _has_name(name: str) -> bool:
    """Whether Numba's templates of implementations have an attribute of a name."""
    from numba.core.typing.templates import make_overload_template

    return hasattr(make_overload_template(_has_name, _has_name, {}, True, "never"), name)


def _new(what: str) -> list[Any]:
    """Return the entries of one of Numba's registries that were added since the last call."""
    module = sys.modules.get("numba.core.typing.templates")
    if module is None:
        return []
    entries = getattr(module.builtin_registry, what)
    before, _Known.lengths[what] = _Known.lengths[what], len(entries)
    return entries[before:]


def _is_users(template: Any, *others: Any) -> bool:
    """Whether a user registered a typing template, rather than Numba or numgrad.

    That is so if the implementation, or one of ``others``, the functions for which the template is
    registered, belongs to a module of the user.
    """
    function = implementation(template)
    modules = [getattr(x, "__module__", None) or "builtins" for x in (function, *others)]
    return function is not None and not all(
        is_versioned(module) or module.startswith(_PACKAGE) for module in modules
    )
