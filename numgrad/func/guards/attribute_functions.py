"""The functions that code reaches by attributes: methods, and functions of modules.

No code of the user runs meanwhile: attributes are looked up in the dictionaries of classes and
modules, as an instance or a metaclass may compute them.
"""

import functools
from collections.abc import Collection, Iterator
from types import FunctionType, ModuleType
from typing import Any

from ...engine.capture.user_call import is_of_user


def functions_by_attributes(
    thing: Any, names: Collection[str]
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the objects that some attributes of ``thing`` may run, each with the arguments that
    its calls get before others: ``thing``, or none if the attribute is that of a module.

    For a name that is defined several times in a class and its bases all definitions are yielded.

    Parameters
    ----------
    thing : object
        A module, a class or an instance. For a class or an instance the methods are those of the
        class.
    names : collection of str
        The names of the attributes. Those of modules in a module count for them, too.
    """
    kind = type(thing)
    if issubclass(kind, ModuleType):
        attributes = object.__getattribute__(thing, "__dict__")
        file = attributes.get("__file__")
        if file is not None and not is_of_user(file):
            return  # the module of a library, as those in it
        for found in _at(attributes, names):
            if type(found) is ModuleType:
                yield from functions_by_attributes(found, set(names) - {found.__name__})
            else:
                yield found, ()
        return
    owner = thing if issubclass(kind, type) else kind
    for base in type.__getattribute__(owner, "__mro__"):
        attributes = type.__getattribute__(base, "__dict__")
        for found in map(_function_of, _at(attributes, names)):
            yield found, (thing,)
            if type(found) is FunctionType and not is_of_user(found.__code__.co_filename):
                yield from [(method, (thing,)) for method in _methods_of_user(owner)]


def _at(attributes: Any, names: Collection[str]) -> list[Any]:
    return [attributes[name] for name in names if name in attributes]


def _function_of(item: Any) -> Any:
    """Return the function behind an item in the dictionary of a class, else the item itself."""
    if isinstance(item, (staticmethod, classmethod)):
        return item.__func__
    if isinstance(item, property):
        return item.fget
    return item.func if isinstance(item, functools.cached_property) else item


def _methods_of_user(owner: type) -> list[FunctionType]:
    """Return all methods of a class that are functions of the user's program: a method that a
    library defines for the class may call any of them."""
    bases = type.__getattribute__(owner, "__mro__")
    items = [i for base in bases for i in type.__getattribute__(base, "__dict__").values()]
    found = [item for item in map(_function_of, items) if type(item) is FunctionType]
    return [method for method in found if is_of_user(method.__code__.co_filename)]


__all__ = ["functions_by_attributes"]
