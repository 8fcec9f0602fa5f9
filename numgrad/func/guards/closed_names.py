"""The names outside of itself that a captured function reads, and what they are bound to.

A replay reads the elements of arrays anew, while Python has looked up each name once, when the
function was captured. So a specialization holds only while the names are bound to the same. The
names are globals and closure cells: those of the function, and those of other functions of the user
that it reaches through them.
"""

import functools
import sys
from collections.abc import Callable, Collection, Hashable, Iterator
from types import CellType, EllipsisType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ...engine.capture.user_call import is_of_user
from ...process.transformed_function import FunctionHolder, Transformed
from .attribute_functions import functions_by_attributes
from .name_check import MISSING, NameCheck, Variable
from .names_in_code import names_in
from .static_keys import IdentityKey, frozen

_MOST_FUNCTIONS = 100  # functions whose names are looked up
_MOST_NAMES = 300
_MOST_GROUPS = 8  # kept sets of objects: they may be large arrays
_MOST_BINDINGS = 512  # of a group, which differ in numbers and texts

_BY_VALUE: frozenset[type] = frozenset(
    {bool, int, float, complex, str, bytes, type(None), EllipsisType}
)


class Key(NamedTuple):
    """The key of what a name is bound to.

    ``is_value`` says whether the key stands for a value, such as a number; else it stands for one
    object.
    """

    key: Hashable
    is_value: bool


class _Reached(NamedTuple):
    """A function whose names count, and the class whose method the function is, if any."""

    function: FunctionType
    owner: Any


class Binding:
    """What the names of a captured function are bound to.

    Attributes
    ----------
    holds : callable or None
        Returns whether all names are still bound to the same; None if there are no names.
    """

    __slots__ = ("holds",)

    def __init__(self, variables: list[Variable], values: list[Any]) -> None:
        check = NameCheck(variables, values, key_of) if variables else None
        self.holds = None if check is None else check.function()


class ClosedNames:
    """The names that a captured function reads, with all bindings in which it was captured."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._groups: dict[Hashable, dict[Hashable, Binding]] = {}  # the latest used last
        self._present: Binding | None = None

    def present(self, forget: Callable[[Binding], None]) -> Binding:
        """Return the present binding of the names.

        ``forget`` is called with each binding that is dropped to make room for it.
        """
        present = self._present
        if present is None or not (present.holds is None or present.holds()):
            present = self._present = self._found(forget)
        return present

    def _found(self, forget: Callable[[Binding], None]) -> Binding:
        variables, values = _watched(self._function)
        keys = [(v.name, *key_of(value)) for v, value in zip(variables, values, strict=True)]
        group = self._group(tuple([key for key in keys if not key[-1]]), forget)
        numbers = tuple([key for key in keys if key[-1]])
        known = group.pop(numbers, None)
        if known is None or not (known.holds is None or known.holds()):
            if known is not None:  # another thread has bound a name meanwhile
                forget(known)
            known = Binding(variables, values)
        group[numbers] = known
        if len(group) > _MOST_BINDINGS:
            forget(group.pop(next(iter(group))))
        return known

    def _group(
        self, objects: Hashable, forget: Callable[[Binding], None]
    ) -> dict[Hashable, Binding]:
        """Return all bindings in which certain names are bound to ``objects``.

        These bindings differ only in names that are bound to numbers and texts; the keys of the
        result are these numbers and texts.
        """
        group = self._groups.pop(objects, None) or {}
        self._groups[objects] = group
        if len(self._groups) > _MOST_GROUPS:
            for dropped in (self._groups.pop(next(iter(self._groups)), None) or {}).values():
                forget(dropped)
        return group


def key_of(value: Any) -> Key:
    """Return the key of what a name is bound to.

    Numbers, texts and tuples of them have keys by value, other objects by identity.
    """
    kind = type(value)
    if kind in _BY_VALUE or issubclass(kind, (np.generic, np.dtype)):
        return Key(frozen(value), True)
    if kind is tuple:
        parts = list(map(key_of, value))
        return Key((kind, *[part.key for part in parts]), all(part.is_value for part in parts))
    return Key(IdentityKey(value), False)


def _watched(root: Callable[..., Any]) -> tuple[list[Variable], list[Any]]:
    """Return the names that decide whether a specialization holds, and what they are bound to."""
    search = _Search()
    waiting, seen = _functions_of(root), set()
    while waiting and len(seen) < _MOST_FUNCTIONS:
        function = waiting.pop(0)
        if function not in seen:
            seen.add(function)
            waiting += search.functions_named_in(*function)
    return search.found()


class _Search:
    """A search for the names that functions read, and for the objects bound to the names.

    Left out are names that one of the functions binds anew when it runs, such as that of a counter.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], tuple[Variable, Any]] = {}
        self._bound: set[tuple[int, str]] = set()

    def functions_named_in(self, function: FunctionType, owner: Any) -> list[_Reached]:
        """Note the names that a function reads; return the functions of the user that the names
        are bound to, and the methods that the function calls by attributes.

        ``owner`` is the class whose method the function is, None for other functions.
        """
        attributes = names_in(function.__code__).attributes
        functions = [] if owner is None else _by_attributes(owner, attributes)
        for variable, is_bound_there in _variables_of(function):
            key = id(variable.place), variable.name
            if is_bound_there:
                self._bound.add(key)
            value = variable.value()
            if value is MISSING:
                continue
            is_new = key not in self._found and _is_watched(variable, value)
            if is_new:
                self._found[key] = variable, value
            for thing in _with_items(value):
                called = _functions_of(thing) if is_new else ()
                functions += [one for one in called if _is_users(one.function)]
                functions += _by_attributes(thing, attributes)
        return functions

    def found(self) -> tuple[list[Variable], list[Any]]:
        """Return the names and what they are bound to."""
        pairs = [pair for key, pair in self._found.items() if key not in self._bound][:_MOST_NAMES]
        return [variable for variable, _ in pairs], [value for _, value in pairs]


def _variables_of(function: FunctionType) -> Iterator[tuple[Variable, bool]]:
    """Yield the globals and cells that a function reads, and whether it binds them itself."""
    names = names_in(function.__code__)
    for name in names.loaded:
        yield Variable(function.__globals__, name), name in names.stored
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        yield Variable(cell, name), name in names.stored_in_cells


def _with_items(value: Any) -> list[Any]:
    """Return a value, and behind it the first items of a list, a tuple or a dict."""
    kind = type(value)
    items = list(value.values()) if kind is dict else value if kind in (list, tuple) else ()
    return [value, *items[:_MOST_FUNCTIONS]]


def _functions_of(thing: Any, owner: Any = None) -> list[_Reached]:
    """Return the functions of Python that a call of an object runs, as far as that is known.

    ``owner`` is the class where the object was found as a method.
    """
    kind = type(thing)
    if kind is FunctionType:
        return [_Reached(thing, owner)]
    if kind is MethodType:
        holder = thing.__self__ if issubclass(type(thing.__self__), FunctionHolder) else None
        of_method = _functions_of(thing.__func__, _class_of(thing.__self__))
        return of_method if holder is None else [*of_method, *_functions_of(holder)]
    if issubclass(kind, (Transformed, FunctionHolder)):
        return _functions_of(vars(thing)["__wrapped__"], owner)
    if issubclass(kind, functools.partial):
        parts = (thing.func, *thing.args, *thing.keywords.values())
        return [function for part in parts for function in _functions_of(part)]
    call, _ = next(functions_by_attributes(kind, ("__call__",)), (None, None))
    return [_Reached(call, kind)] if type(call) is FunctionType else []


def _by_attributes(thing: Any, names: Collection[str]) -> list[_Reached]:
    """Return the functions of the user that are attributes of an object, its class or a module."""
    pairs = functions_by_attributes(thing, names) if names else ()
    found = [one for item, owner in pairs for one in _functions_of(item, owner)]
    return [one for one in found if _is_users(one.function)]


def _class_of(thing: Any) -> type:
    return thing if issubclass(type(thing), type) else type(thing)


def _is_watched(variable: Variable, value: Any) -> bool:
    """Whether a name may be bound to something else later, so that each call has to check it.

    A name that is bound to a module is not watched. Nor is a global that has the name of the
    function or class of a library to which it is bound, as an import makes it.
    """
    kind = type(value)
    if issubclass(kind, ModuleType):
        return False
    if type(variable.place) is CellType or not callable(value):
        return True
    return getattr(value, "__name__", None) != variable.name or not _is_of_library(value)


def _is_of_library(thing: Any) -> bool:
    """Whether a class or a function, of Python or compiled, is from a module that is not the
    user's."""
    name = getattr(thing, "__module__", None) or type(thing).__module__
    file = getattr(sys.modules.get(name), "__file__", None)
    return name in sys.stdlib_module_names or (file is not None and not is_of_user(file))


def _is_users(function: FunctionType) -> bool:
    return is_of_user(function.__code__.co_filename)


__all__ = ["Binding", "ClosedNames"]
