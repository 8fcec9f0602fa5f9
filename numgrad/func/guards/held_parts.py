"""The attributes and items of objects that are looked up without code of the user.

``layer.scale`` runs the code of a property, of ``__getattr__`` or of ``__getattribute__``, if the
class has them. What that code gives is left out: other attributes lie in the dictionary of the
object or of a class, or in a slot. Items are those of dicts and lists, not of classes that users
derive from them.

A method is looked up twice: the class has to define the same function as before, and the instance
may have no attribute of its own in the place of the method.
"""

import argparse
import functools
import sys
from collections import OrderedDict
from collections.abc import Collection, Iterator
from operator import is_
from types import (
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, NamedTuple

from ...engine.capture.user_call import is_of_user
from .attribute_functions import is_generated
from .name_check import MISSING

_OF_PYTHON = (SimpleNamespace, argparse.Namespace)
"""Classes of Python's own whose instances have the attributes that users give them."""

DICTS = (dict, OrderedDict)
"""The classes of dicts whose items are looked up."""

_MADE_BY_PYTHON = 1 << 9
"""The flag of classes that the statement ``class`` makes."""

_USUAL = [one.__dict__.get("__getattribute__") for one in (object, SimpleNamespace)]
"""The look-up of attributes as Python does it; before 3.13 a namespace had an own name for it."""


_REPLACEABLE = (FunctionType, staticmethod, classmethod)
"""What a class has in its dictionary for a method."""

_DEFINED = (*_REPLACEABLE, property, functools.cached_property)
"""What a class has in its dictionary for a method or a property."""


class Attribute(NamedTuple):
    """An attribute of a module, a class or an instance."""

    holder: Any
    name: str

    def module(self) -> None:
        """Return None: the attribute is not read as a global of a module."""

    def reader(self, cell: str) -> tuple[str, Any]:
        """Return the expression that reads the attribute of what a cell holds, and the cell."""
        return f"{cell}.{self.name}", CellType(self.holder)

    def value(self) -> Any:
        """Return the attribute, `MISSING` if there is none, or if it takes code of the user."""
        return _look_up(self.holder, self.name)


class Definition(NamedTuple):
    """A method or a property, as a class defines or inherits it.

    ``behind`` is what follows the name in the expression that reads the function: a class method
    is another object at each look-up, around the same function.
    """

    holder: type
    name: str
    behind: str

    def module(self) -> None:
        """Return None: the definition is not read as a global of a module."""

    def reader(self, cell: str) -> tuple[str, Any]:
        """Return the expression that reads the definition in the class that a cell holds, and the
        cell."""
        return f"{cell}.{self.name}{self.behind}", CellType(self.holder)

    def value(self) -> Any:
        """Return the function of a method, or a property; `MISSING` if the class has neither."""
        found = _in_bases(self.holder, self.name)
        if type(found) not in _DEFINED:
            return MISSING
        return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found


class Replaced(NamedTuple):
    """Whether an instance has attributes of its own in the place of methods of its class.

    ``name`` has the names of the methods, with blanks between them.
    """

    holder: Any
    name: str

    def module(self) -> None:
        """Return None: the dictionary of an instance is not that of a module."""

    def reader(self, cell: str) -> tuple[str, Any]:
        """Return the expression that looks for the names in the dictionary of the instance that a
        cell holds, and the cell."""
        first, *others = self.name.split(" ")
        tests = [f"{first!r} in (own := {cell}.__dict__)", *[f"{one!r} in own" for one in others]]
        return f"({' or '.join(tests)})", CellType(self.holder)

    def value(self) -> bool:
        """Return whether the instance has an attribute under one of the names."""
        own = _dictionary(self.holder)
        return any(name in own for name in self.name.split(" "))


class Item(NamedTuple):
    """An item of a dict, an ordered one too, or of a list."""

    holder: Any
    name: str | int

    def module(self) -> None:
        """Return None: the item is not read as a global of a module."""

    def reader(self, cell: str) -> tuple[str, Any]:
        """Return the expression that reads the item of what a cell holds, and the cell."""
        return f"{cell}[{self.name!r}]", CellType(self.holder)

    def value(self) -> Any:
        """Return the item, `MISSING` if there is none."""
        try:
            return self.holder[self.name]
        except LookupError:
            return MISSING


class Contents:
    """All items of a list, a set or a dict that a function may go through.

    Attributes
    ----------
    holder : list, set or dict
        Of a dict the contents are the keys and the items.
    name : str
        Stands for all items among the names of parts.
    """

    __slots__ = ("_latest", "holder", "name")

    def __init__(self, holder: Any) -> None:
        self.holder, self.name = holder, "[:]"
        self._latest = _contents(holder)

    def module(self) -> None:
        """Return None: the contents are not read as a global of a module."""

    def reader(self, cell: str) -> tuple[str, Any]:
        """Return the expression that reads the contents from what a cell holds, and the cell."""
        return f"{cell}()", CellType(self.value)

    def value(self) -> tuple[Any, ...]:
        """Return the items: the same tuple as before while they are the same objects."""
        holder, latest = self.holder, self._latest
        found = holder if type(holder) is list else _contents(holder)
        if len(found) == len(latest) and all(map(is_, found, latest)):
            return latest
        self._latest = _contents(holder)
        return self._latest


def _contents(holder: Any) -> tuple[Any, ...]:
    return (*holder, *holder.values()) if type(holder) in DICTS else tuple(holder)


def items(thing: Any, keys: Collection[str | int]) -> Iterator[tuple[Item, Any]]:
    """Yield the items of a dict, or of a list, under certain keys, and their values."""
    kind = type(thing)
    if kind in DICTS or kind is list:
        for key in keys:
            item = Item(thing, key)
            if kind in DICTS or type(key) is int:
                value = item.value()
                if value is not MISSING:
                    yield item, value


def plain_attributes(
    thing: Any, names: Collection[str]
) -> Iterator[tuple[Attribute | Definition, Any]]:
    """Yield the attributes of an object of the user with certain names, and their values.

    Of methods and properties what is yielded is the definition in the class: an instance would give
    another object each time.
    """
    if not names or not _is_of_users(thing):
        return
    for name in _present(thing, names):
        value = _look_up(thing, name)
        if value is not MISSING:
            yield Attribute(thing, name), value
        elif not issubclass(type(thing), ModuleType):
            found = _definition(thing if issubclass(type(thing), type) else type(thing), name)
            if found is not None:
                yield found, found.value()


def _present(thing: Any, names: Collection[str]) -> list[str]:
    """Return those of some names under which an object or its class has anything."""
    owner = thing if issubclass(type(thing), type) else type(thing)
    bases = [one for one in type.__getattribute__(owner, "__mro__") if one is not object]
    dictionaries = [type.__getattribute__(base, "__dict__") for base in bases]
    return sorted(set().union(*[one.keys() & names for one in (_dictionary(thing), *dictionaries)]))


def _definition(owner: type, name: str) -> Definition | None:
    """Return the method or property of a class with a name, None if the class has neither."""
    found = _in_bases(owner, name)
    if type(found) not in _DEFINED or not _is_usual_class(owner) or is_generated(found, owner):
        return None
    return Definition(owner, name, ".__func__" if type(found) is classmethod else "")


def may_replace(thing: Any, name: str) -> bool:
    """Whether an instance may get an attribute of its own in the place of a method of its class,
    which is seen without code of the user.

    A cached property is left out: its first look-up puts the value there. So are special methods,
    which Python looks up in the class alone.
    """
    kind = type(thing)
    if name.startswith("__") or issubclass(kind, type) or not _is_usual_instance(kind):
        return False
    has_dictionary = type(_in_bases(kind, "__dict__")) is GetSetDescriptorType
    return has_dictionary and type(_in_bases(kind, name)) in _REPLACEABLE


def _is_of_users(thing: Any) -> bool:
    kind = type(thing)
    if issubclass(kind, ModuleType):
        file = object.__getattribute__(thing, "__dict__").get("__file__")
        return file is not None and is_of_user(file)
    owner = thing if issubclass(kind, type) else kind
    if any([owner is one for one in _OF_PYTHON]):  # noqa: C419
        return True
    module = type.__getattribute__(owner, "__module__")
    if module == "builtins":  # also that of classes of code that runs in a bare dict
        return bool(type.__getattribute__(owner, "__flags__") & _MADE_BY_PYTHON)
    return not _is_library(module)


def is_of_library(thing: Any) -> bool:
    """Whether a class or a function, of Python or compiled, is from a module that is not the
    user's."""
    return _is_library(getattr(thing, "__module__", None) or type(thing).__module__)


def _is_library(name: str) -> bool:
    """Whether a module of this name is not the user's."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return name in sys.stdlib_module_names or (file is not None and not is_of_user(file))


def _look_up(thing: Any, name: str) -> Any:
    kind = type(thing)
    if issubclass(kind, ModuleType):
        return _dictionary(thing).get(name, MISSING) if kind is ModuleType else MISSING
    if issubclass(kind, type):
        found = _in_bases(thing, name) if _is_usual_class(thing) else MISSING
        return found if _is_plain(found) else MISSING
    if not _is_usual_instance(kind):
        return MISSING
    return _of_instance(thing, name, _in_bases(kind, name))


def _is_usual_class(owner: type) -> bool:
    """Whether attributes of a class are looked up without code of a metaclass."""
    return _in_bases(type(owner), "__getattribute__") is type.__dict__["__getattribute__"]


def _is_usual_instance(kind: type) -> bool:
    """Whether attributes of an instance are looked up as Python does it, but for properties."""
    look_up = _in_bases(kind, "__getattribute__")
    return any([look_up is usual for usual in _USUAL])  # noqa: C419


def _of_instance(thing: Any, name: str, of_class: Any) -> Any:
    """Return an attribute of an instance; ``of_class`` is what its class has under the name."""
    if type(of_class) is MemberDescriptorType:  # a slot
        try:
            return of_class.__get__(thing)
        except AttributeError:
            return MISSING
    if hasattr(type(of_class), "__set__"):  # a property
        return MISSING
    own = _dictionary(thing).get(name, MISSING)
    return own if own is not MISSING or not _is_plain(of_class) else of_class


def _dictionary(thing: Any) -> dict[str, Any]:
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}


def _in_bases(owner: type, name: str) -> Any:
    for base in type.__getattribute__(owner, "__mro__"):
        attributes = type.__getattribute__(base, "__dict__")
        if name in attributes:
            return attributes[name]
    return MISSING


def _is_plain(item: Any) -> bool:
    """Whether what a class has under a name is what its instances give."""
    return not hasattr(type(item), "__get__")


__all__ = [
    "DICTS", "Attribute", "Contents", "Definition", "Item", "Replaced", "is_of_library", "items",
    "may_replace", "plain_attributes",
]  # fmt: skip
