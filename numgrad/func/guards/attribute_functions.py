"""The functions that code reaches by attributes: methods, and functions of modules.

No code of the user runs meanwhile: attributes are looked up in the dictionaries of classes and
modules, as an instance or a metaclass may compute them.
"""

import functools
from collections.abc import Collection, Iterator
from types import FunctionType, ModuleType
from typing import Any

from ...engine.capture.user_call import is_of_user

_GENERATED = ("<string>", "<attrs generated")
"""The beginnings of what stands for the file of code that is made by `dataclasses` or attrs."""

_FIELDS = ("__dataclass_fields__", "__attrs_attrs__")
_COMPARISONS = frozenset(f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge"))


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
        if base is object:
            continue  # no method of it runs code of the user
        attributes = type.__getattribute__(base, "__dict__")
        for found in map(_function_of, _at(attributes, names)):
            if is_generated(found, owner):
                continue  # it reads all fields of the object, whichever the program means
            yield found, (thing,)
            if type(found) is FunctionType and not is_of_user(found.__code__.co_filename):
                yield from [(method, (thing,)) for method in _methods_of_user(owner)]


def _at(attributes: Any, names: Collection[str]) -> list[Any]:
    return [attributes[name] for name in names if name in attributes]


def is_generated(found: Any, owner: type) -> bool:
    """Whether a method is a comparison that `dataclasses` or attrs has made for a class."""
    if type(found) is not FunctionType or found.__name__ not in _COMPARISONS:
        return False
    bases = [type.__getattribute__(one, "__dict__") for one in owner.__mro__]
    has_fields = any(name in base for base in bases for name in _FIELDS)
    return has_fields and found.__code__.co_filename.startswith(_GENERATED)


def _function_of(item: Any) -> Any:
    """Return the function behind an item in the dictionary of a class, else the item itself."""
    if isinstance(item, (staticmethod, classmethod)):
        return item.__func__
    if isinstance(item, property):
        return item.fget
    has_function = isinstance(item, (functools.cached_property, functools.partialmethod))
    return item.func if has_function else item


def _methods_of_user(owner: type) -> list[FunctionType]:
    """Return all methods of a class that are functions of the user's program: a method that a
    library defines for the class may call any of them."""
    bases = type.__getattribute__(owner, "__mro__")
    items = [i for base in bases for i in type.__getattribute__(base, "__dict__").values()]
    found = [item for item in map(_function_of, items) if type(item) is FunctionType]
    return [method for method in found if is_of_user(method.__code__.co_filename)]


__all__ = ["functions_by_attributes", "is_generated"]
