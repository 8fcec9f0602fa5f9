"""The names outside of itself that a captured function reads, and what they are bound to.

A replay reads the elements of arrays anew, while Python has looked up each name once, when the
function was captured. So a specialization holds only while the names are bound to the same. The
names are globals, closure cells, and attributes and constant keys of what these are bound to: those
of the function, and those of other functions of the user that it reaches through them.
"""

import functools
from collections.abc import Callable, Collection, Hashable, Iterator
from itertools import chain
from types import CellType, EllipsisType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ...engine.capture.user_call import is_of_user
from ...process.transformed_function import FunctionHolder, Transformed
from .attribute_functions import functions_by_attributes
from .held_parts import (
    DICTS,
    Attribute,
    Contents,
    Definition,
    Item,
    Replaced,
    is_of_library,
    items,
    may_replace,
    plain_attributes,
)
from .name_check import MISSING, NameCheck, Variable
from .names_in_code import Names, names_in
from .static_keys import IdentityKey, frozen

_MOST_FUNCTIONS = 100  # functions whose names are looked up
_MOST_NAMES = 300
_MOST_ITEMS = 100  # of a container that is compared as a whole
_MOST_GROUPS = 8  # kept sets of objects: they may be large arrays
_MOST_BINDINGS = 512  # of a group, which differ in numbers and texts

_CHANGES = frozenset({"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"})
"""The methods with which a function moves the items of a list: then they are its own."""

_THROUGH = frozenset({"items", "keys", "values"})
"""The methods with which a function goes through a dict."""

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
    """A function whose names count, and objects that it gets as arguments with every call: that of
    which the function is a method, those of a partial application."""

    function: Any
    given: tuple[Any, ...]

    def key(self) -> Hashable:
        """Return a key that runs no code of the objects."""
        return self.function, tuple(map(id, self.given))

    def held(self) -> Iterator[Any]:
        """Give the objects in ``given``, and the defaults of the function's parameters."""
        yield from (*self.given, *(self.function.__defaults__ or ()))
        yield from (self.function.__kwdefaults__ or {}).values()


_Name = Variable | Attribute | Definition | Replaced | Item | Contents


class Binding:
    """What the names of a captured function are bound to.

    Attributes
    ----------
    holds : callable or None
        Returns whether all names are still bound to the same; None if there are no names.
    """

    __slots__ = ("holds",)

    def __init__(self, variables: list[_Name], values: list[Any]) -> None:
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
        holders = [IdentityKey(v.holder) for v in variables if not isinstance(v, Variable)]
        group = self._group((*holders, *[key for key in keys if not key[-1]]), forget)
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


def _watched(root: Callable[..., Any]) -> tuple[list[_Name], list[Any]]:
    """Return the names that decide whether a specialization holds, and what they are bound to."""
    search = _Search()
    search.follow(_functions_of(root))
    return search.found()


class _Search:
    """A search for the names that functions read, and for the objects bound to the names.

    Left out are names that one of the functions binds anew when it runs, such as that of a counter.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int, str | int], tuple[_Name, Any]] = {}
        self._bound: set[tuple[int, str | int]] = set()
        self._bound_parts: dict[type, set[str | int]] = {Attribute: set(), Item: set()}
        self._changes_lists = False
        self._functions: dict[Hashable, Names] = {}
        self._things: dict[int, Any] = {}
        self._methods: dict[int, dict[str, None]] = {}  # that instances may replace

    def follow(self, waiting: list[_Reached]) -> None:
        """Look at functions, and at those that they lead to.

        Each object is first asked for the attributes that the functions read which name the object,
        then for those that any function reads: a function may pass the object on.
        """
        while waiting:
            while waiting and len(self._functions) < _MOST_FUNCTIONS:
                reached = waiting.pop(0)
                if reached.key() not in self._functions:
                    self._functions[reached.key()] = names_in(reached.function.__code__)
                    waiting += self.functions_named_in(reached)
            parts = [(names.attributes, names.items) for names in self._functions.values()]
            attributes, keys = [dict.fromkeys(chain(*part)) for part in zip(*parts, strict=True)]
            found = [self._behind(one, False, attributes, keys) for one in [*self._things.values()]]
            is_full = len(self._functions) >= _MOST_FUNCTIONS
            waiting = [] if is_full else [
                one for one in chain(*found) if one.key() not in self._functions
            ]  # fmt: skip

    def functions_named_in(self, reached: _Reached) -> list[_Reached]:
        """Note the names that a function reads; return the functions of the user that the names
        are bound to, and the methods that the function calls by attributes."""
        names = self._functions[reached.key()]
        self._bound_parts[Attribute] |= names.stored_attributes
        self._bound_parts[Item] |= names.stored_items
        self._changes_lists |= not _CHANGES.isdisjoint(names.attributes)
        functions: list[_Reached] = []
        for thing in reached.held():
            functions += self._behind(thing, False, names.attributes, names.items)
        for variable, is_bound_there in _variables_of(reached.function):
            if is_bound_there:
                self._bound.add((id(variable.place), variable.name))
            value = variable.value()
            if value is not MISSING:
                is_new = self._note(variable, id(variable.place), value)
                functions += self._behind(value, is_new, names.attributes, names.items)
        return functions

    def _note(self, name: _Name, place: int, value: Any) -> bool:
        """Note what a name is bound to; return whether the name is new and has to be checked."""
        key = place, name.name
        is_part = type(name) is not Variable
        if key in self._found or (is_part and len(self._found) >= _MOST_NAMES):
            return False
        is_new = _is_watched(name, value)
        if is_new:
            self._found[key] = name, value
        return is_new

    def _behind(
        self, value: Any, is_new: bool, attributes: Collection[str], keys: Collection[str | int]
    ) -> list[_Reached]:
        """Return the functions of the user that what a name is bound to leads to."""
        functions: list[_Reached] = []
        waiting = [(value, is_new)]  # no recursion: objects may form a long chain
        while waiting:
            value, is_new = waiting.pop()
            for thing in () if type(value) in _BY_VALUE else _with_items(value):
                self._things[id(thing)] = thing
                called = _functions_of(thing) if is_new else ()
                functions += [one for one in called if _is_users(one.function)]
                functions += _by_attributes(thing, attributes)
                waiting += [(part, True) for part in self._new_parts(thing, attributes, keys)]
        return functions

    def _new_parts(
        self, thing: Any, attributes: Collection[str], keys: Collection[str | int]
    ) -> list[Any]:
        """Note attributes and items of an object; return those that were not noted before."""
        parts = [*plain_attributes(thing, attributes), *items(thing, keys)]
        for part, _ in parts:
            is_defined = type(part) is Definition and part.holder is not thing
            if is_defined and may_replace(thing, part.name):
                self._methods.setdefault(id(thing), {})[part.name] = None
        return [value for part, value in parts if self._note(part, id(part.holder), value)]

    def found(self) -> tuple[list[_Name], list[Any]]:
        """Return the names and what they are bound to."""
        pairs = [pair for key, pair in self._found.items() if not self._is_bound(*key, pair[0])]
        pairs.sort(key=lambda pair: type(pair[0]) is not Variable)  # names before parts
        pairs += [(one, one.value()) for one in chain(self._replaced(), self._contents())]
        return [name for name, _ in pairs[:_MOST_NAMES]], [x for _, x in pairs[:_MOST_NAMES]]

    def _replaced(self) -> Iterator[Replaced]:
        """Yield the instances whose methods were found in their classes."""
        for place, methods in self._methods.items():
            names = [name for name in methods if name not in self._bound_parts[Attribute]]
            if names:
                yield Replaced(self._things[place], " ".join(names))

    def _contents(self) -> Iterator[Contents]:
        """Yield the contents of short lists, of sets, and of dicts if a function goes through any.

        There are none if a function writes items: the containers may be its own.
        """
        all_names = self._functions.values()
        if self._changes_lists or any(names.writes_items for names in all_names):
            return
        attributes = set().union(*[names.attributes for names in all_names])
        kinds = (list, set, *(() if _THROUGH.isdisjoint(attributes) else DICTS))
        for thing in self._things.values():
            if type(thing) in kinds and len(thing) <= _MOST_ITEMS:
                yield Contents(thing)

    def _is_bound(self, place: int, name: str | int, variable: _Name) -> bool:
        if type(variable) is Variable:
            return (place, name) in self._bound
        if type(name) is int and self._changes_lists:
            return True
        return name in self._bound_parts[Item if type(variable) is Item else Attribute]


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
    items = list(value.values()) if kind in DICTS else value if kind in (list, tuple) else ()
    return [value, *items[:_MOST_FUNCTIONS]]


def _functions_of(thing: Any, given: tuple[Any, ...] = ()) -> list[_Reached]:
    """Return the functions of Python that a call of an object runs, as far as that is known.

    ``given`` are objects that each call gets as arguments.
    """
    kind = type(thing)
    if kind is FunctionType:
        return [_Reached(thing, given)]
    if kind is MethodType:
        holder = thing.__self__ if issubclass(type(thing.__self__), FunctionHolder) else None
        of_method = _functions_of(thing.__func__, (thing.__self__, *given))
        return of_method if holder is None else [*of_method, *_functions_of(holder)]
    if issubclass(kind, (Transformed, FunctionHolder)):
        return _functions_of(vars(thing)["__wrapped__"], given)
    if issubclass(kind, functools.partial):
        fixed = (*thing.args, *thing.keywords.values())
        functions = _functions_of(thing.func, (*fixed, *given))
        return functions + [function for part in fixed for function in _functions_of(part)]
    call, _ = next(functions_by_attributes(kind, ("__call__",)), (None, None))
    return [_Reached(call, (thing, *given))] if type(call) is FunctionType else []


def _by_attributes(thing: Any, names: Collection[str]) -> list[_Reached]:
    """Return the functions of the user that are attributes of an object, its class or a module."""
    pairs = functions_by_attributes(thing, names) if names else ()
    found = [one for item, given in pairs for one in _functions_of(item, given)]
    return [one for one in found if _is_users(one.function)]


def _is_watched(variable: _Name, value: Any) -> bool:
    """Whether a name may be bound to something else later, so that each call has to check it.

    A name that is bound to a module is not watched. Nor is a global that has the name of the
    function or class of a library to which it is bound, as an import makes it.
    """
    kind = type(value)
    if issubclass(kind, ModuleType):
        return False
    is_global = type(variable) is Variable and type(variable.place) is not CellType
    if not is_global or not callable(value):
        return True
    return getattr(value, "__name__", None) != variable.name or not is_of_library(value)


def _is_users(function: FunctionType) -> bool:
    return is_of_user(function.__code__.co_filename)


__all__ = ["Binding", "ClosedNames"]
