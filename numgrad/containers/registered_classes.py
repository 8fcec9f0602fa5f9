"""Classes that are containers, beside Python's own: dataclasses, classes of attrs, arrays of
xarray, sparse arrays, and classes that users register.

A dataclass is rebuilt field by field, without a call of its ``__init__``: a container of gradients
need not be a valid set of parameters. A field that ``__post_init__`` computes from other fields
would not follow these, and is refused.
"""

import enum
import functools
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import date, time, timedelta, tzinfo
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import optree

from .._errors import ArgTypeError

CALLS, ARGUMENTS, VARIABLES = "numgrad", "numgrad.jit", "numgrad.variables"
"""Namespaces of optree: for arguments and results of functions; for arguments of captured
functions, whose dicts keep their order; for variables of transforms, where settings among the
fields are no leaves."""

_OBJECTS = (
    enum.Enum, slice, range, np.ufunc, ModuleType, FunctionType, BuiltinFunctionType, MethodType,
    functools.partial, set, frozenset, PurePath, date, time, timedelta, tzinfo,
)  # fmt: skip
_SETTINGS = str, bytes, bool, type(None), type, np.dtype, *_OBJECTS
_OF_INTEGERS = frozenset({
    "int", "bool", "str", "None", "Optional", "Union", "Literal", "typing", "tuple", "Tuple",
    "list", "List", "Sequence", "collections", "abc", "dict", "Dict",
})  # fmt: skip

_lock = threading.RLock()
_own: set[type] = set()  # classes that numgrad has registered
_of_users: set[type] = set()


def register(kind: type, flatten: Callable[..., Any], unflatten: Callable[..., Any]) -> None:
    """Make a class of a user a container."""
    with _lock:
        if kind in _of_users:
            raise ArgTypeError(f"register_pytree: {kind.__qualname__} is registered already")
        if kind in _own:
            for namespace in (CALLS, ARGUMENTS, VARIABLES):
                optree.unregister_pytree_node(kind, namespace=namespace)
            _own.discard(kind)
        _of_users.add(kind)
        _register(kind, lambda settings: flatten, unflatten)


def register_own(kind: type, flatten: Callable[..., Any], unflatten: Callable[..., Any]) -> None:
    """Make a class of numgrad a container; its data beside leaves is compared exactly."""
    with _lock:
        _register(kind, lambda settings: flatten, unflatten)
        _own.add(kind)


def open_new(kinds: Iterable[type]) -> bool:
    """Register the dataclasses, classes of attrs and arrays of xarray among ``kinds``; return
    whether one of them was new."""
    found = [kind for kind in kinds if kind not in _LEAVES and _is_container(kind)]
    with _lock:
        new = [kind for kind in found if kind not in _own and kind not in _of_users]
        for kind in new:
            if _is_of_xarray(kind):
                from . import xarray_nodes

                _register(kind, lambda settings: xarray_nodes.flatten, xarray_nodes.unflatten)
            else:
                _register(kind, *_of_fields(kind))
            _own.add(kind)
    return bool(new)


_LEAVES = frozenset({np.ndarray, float, int, bool, complex, str, type(None), np.float64})


def has_fields(kind: type) -> bool:
    """Whether a class is a container because it has fields, and no user has registered it."""
    return kind in _own and _is_of_fields(kind)


def is_compared(kind: type) -> bool:
    """Whether the data that objects of a class hold beside leaves is compared as exactly as by a
    key.

    A class that a user has registered may keep anything there; those of xarray are not compared so,
    either.
    """
    return kind in _own and not _is_of_xarray(kind)


def _register(kind: type, flatten: Callable[[bool], Any], unflatten: Callable[..., Any]) -> None:
    for namespace in (CALLS, ARGUMENTS, VARIABLES):
        optree.register_pytree_node(
            kind, flatten(namespace == VARIABLES), unflatten, namespace=namespace
        )


@functools.lru_cache(256)
def _is_container(kind: type) -> bool:
    return _is_of_xarray(kind) or (_is_of_fields(kind) and not _derived(kind))


def _is_of_fields(kind: type) -> bool:
    has = hasattr(kind, "__dataclass_fields__") or hasattr(kind, "__attrs_attrs__")
    return has and not issubclass(kind, (enum.Enum, np.ndarray))


def _is_of_xarray(kind: type) -> bool:
    names = ("DataArray", "Dataset", "Variable")
    kinds = [k for k in kind.__mro__ if k.__module__.startswith("xarray.core.")]
    return any(k.__name__ in names for k in kinds) and kind.__name__ != "IndexVariable"


# Dataclasses --------------------------------------------------------------------------------------


class _Field(NamedTuple):
    name: str
    is_static: bool  # marked in its metadata
    is_whole: bool  # annotated with integers and settings only


class Rest:
    """The data that a dataclass holds beside its leaves: the names of the fields with leaves, and
    the names and values of others.

    Equal objects have equal values.
    """

    __slots__ = ("fixed", "names")

    def __init__(self, names: tuple[str, ...], fixed: tuple[tuple[str, Any], ...]) -> None:
        self.names, self.fixed = names, fixed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rest) or self.names != other.names:
            return False
        if len(self.fixed) != len(other.fixed):
            return False
        pairs = zip(self.fixed, other.fixed, strict=True)
        return all(n == k and is_equal(v, w) for (n, v), (k, w) in pairs)

    def __hash__(self) -> int:
        return hash(self.names)

    def described(self) -> tuple[Any, ...]:
        """Return all of the data."""
        return self.names, self.fixed

    def __repr__(self) -> str:
        return ", ".join([*self.names, *[f"{name}={value!r}" for name, value in self.fixed]])


def is_equal(a: Any, b: Any) -> bool:
    """Whether two values that are no leaves are of one type and equal."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    try:
        return bool(a == b)
    except Exception:  # a class may raise anything where it is not compared
        return False


def _of_fields(kind: Any) -> tuple[Callable[[bool], Any], Callable[..., Any]]:
    """Return the functions that flatten and rebuild a dataclass, or a class of attrs."""
    fields = [_field(f) for f in _fields(kind)]

    def flatten(settings: bool, value: Any) -> tuple[Any, Rest, Any]:
        names, fixed = [], _beside(kind, value, fields)
        for field in fields:
            item = getattr(value, field.name, _ABSENT)
            if item is _ABSENT:
                continue
            is_fixed = settings and is_setting(item, field.is_whole)
            if is_fixed or field.is_static or _is_object(item):
                fixed.append((field.name, item))
            else:
                names.append(field.name)
        children = [getattr(value, name) for name in names]
        return children, Rest(tuple(names), tuple(fixed)), tuple(names)

    def unflatten(rest: Rest, children: Iterable[Any]) -> Any:
        value = kind.__new__(kind)
        for name, item in (*zip(rest.names, children, strict=True), *rest.fixed):
            object.__setattr__(value, name, item)
        return value

    return lambda settings: functools.partial(flatten, settings), unflatten


_ABSENT: Any = object()


def _fields(kind: Any) -> Sequence[Any]:
    of_attrs = getattr(kind, "__attrs_attrs__", None)
    if of_attrs is not None:
        return of_attrs
    from dataclasses import fields

    return fields(kind)


def _field(field: Any) -> _Field:
    annotation = field.type
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    return _Field(field.name, bool(field.metadata.get("static", False)), words <= _OF_INTEGERS)


def _derived(kind: Any) -> list[str]:
    """Return the names of the fields that ``__post_init__`` computes from others, as far as the
    class tells."""
    if not hasattr(kind, "__post_init__") and not hasattr(kind, "__attrs_post_init__"):
        return []
    made = [_field(f) for f in _fields(kind) if not f.init]
    return [field.name for field in made if not field.is_static and not field.is_whole]


def is_setting(value: Any, is_whole: bool) -> bool:
    """Whether a value is not, and does not hold, an array or a number to differentiate by.

    Integers are settings where the annotation allows nothing else.
    """
    if type(value) in (tuple, list, dict):
        items = list(value.values() if type(value) is dict else value)
        return bool(items) and all(is_setting(item, is_whole) for item in items)
    if isinstance(value, _SETTINGS):
        return True
    if not is_whole:
        return False
    is_number = getattr(value, "shape", ()) == () and hasattr(value, "dtype")
    return isinstance(value, int) or (is_number and value.dtype.kind in "iu")


def _is_object(value: Any) -> bool:
    """Whether a value is a function or a similar object, which captured functions do not take as
    leaves, or a container of settings with such an object."""
    if type(value) in (tuple, list, dict):
        items = value.values() if type(value) is dict else value
        return is_setting(value, False) and any(map(_is_object, items))
    return isinstance(value, _OBJECTS)


def _beside(kind: type, value: Any, fields: Sequence[_Field]) -> list[tuple[str, Any]]:
    """Return the attributes that are no fields, which must be settings.

    `functools.cached_property` computes its attributes anew.
    """
    names = {field.name for field in fields}
    fixed = []
    for name, item in getattr(value, "__dict__", {}).items():
        if name in names or isinstance(getattr(kind, name, None), functools.cached_property):
            continue
        if not is_setting(item, False):
            raise ArgTypeError(_not_following(kind, name))
        fixed.append((name, item))
    return fixed


def not_following(kind: type) -> str:
    """Return advice for a class whose ``__post_init__`` computes a field from others; else an empty
    text."""
    derived = _derived(kind) if _is_of_fields(kind) else []
    return _not_following(kind, derived[0]) if derived else ""


def _not_following(kind: type, name: str) -> str:
    return (
        f"{kind.__name__}.{name} is made when an object is made, and would not follow the fields "
        f"when they get other values: make it a property (@property, or "
        f"@functools.cached_property), mark it as a constant, dataclasses.field(init=False, "
        f"metadata={{'static': True}}), or write ng.func.register_pytree({kind.__name__}, flatten, "
        f"unflatten)"
    )
